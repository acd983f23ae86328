// A stream captured into a graph, slowly, and launched three times.
#include <cstdio>
#include <unistd.h>

__global__ void add(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }

int main()
{
	const int n = 1 << 20;
	float *x, first;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaMalloc(&x, n * sizeof *x);
	cudaMemset(x, 0, n * sizeof *x);
	cudaStreamCreate(&stream);
	add<<<n / 256, 256, 0, stream>>>(x, n);
	cudaStreamSynchronize(stream);
	cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
	for (int i = 0; i < 5; i++) {
		add<<<n / 256, 256, 0, stream>>>(x, n);
		usleep(400000);
	}
	cudaError_t captured = cudaStreamEndCapture(stream, &graph);
	cudaGraphInstantiate(&exec, graph, 0);
	for (int i = 0; i < 3; i++)
		cudaGraphLaunch(exec, stream);
	cudaStreamSynchronize(stream);
	cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
	cudaError_t error = cudaGetLastError();
	printf("capture: %s, %g of 16, %s\n", cudaGetErrorString(captured), first, cudaGetErrorString(error));
	return captured != cudaSuccess || error != cudaSuccess || first != 16;
}
