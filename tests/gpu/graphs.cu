// Captures a stream into a graph, slowly, and launches it three times: graphs [ROUNDS]
// Each round adds a launch of the kernel and one of the graph, and every fourth round a pause.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

__global__ void add(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 0;
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
	for (int i = 0; i < rounds; i++) {
		add<<<n / 256, 256, 0, stream>>>(x, n);
		if (i % 4 == 3)
			usleep(1200000);
		cudaGraphLaunch(exec, stream);
	}
	cudaStreamSynchronize(stream);
	cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
	cudaError_t error = cudaGetLastError();
	const int wanted = 16 + 6 * rounds;
	printf("capture: %s, %g of %d, %s\n", cudaGetErrorString(captured), first, wanted, cudaGetErrorString(error));
	return captured != cudaSuccess || error != cudaSuccess || first != wanted;
}
