// Five kernels of a small solver; the argument is the number of steps. Built with -DAFTER it is the same program after a
// change: transpose goes through shared memory, which makes it faster, and axpy reads its scale from memory in each
// thread, with a stride, which makes it slower.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

constexpr int side = 2048, count = side * side;

#ifdef AFTER
__global__ void axpy(const float *scales, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	y[i] += scales[(i * 33) & (count - 1)] * x[i];
}

__global__ void transpose(const float *in, float *out)
{
	__shared__ float tile[32][33];
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	tile[threadIdx.y][threadIdx.x] = in[y * side + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
	out[y * side + x] = tile[threadIdx.x][threadIdx.y];
}
#else
__global__ void axpy(const float *scales, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	y[i] += scales[0] * x[i];
}

__global__ void transpose(const float *in, float *out)
{
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	out[x * side + y] = in[y * side + x];
}
#endif

__global__ void stencil(const float *in, float *out)
{
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
	int left = x ? x - 1 : x, right = x < side - 1 ? x + 1 : x, up = y ? y - 1 : y, down = y < side - 1 ? y + 1 : y;
	out[y * side + x] = 0.2f * (in[y * side + x] + in[y * side + left] + in[y * side + right] + in[up * side + x] +
		in[down * side + x]);
}

__global__ void relax(float *x, int steps)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float value = x[i];
	for (int step = 0; step < steps; step++)
		value = value * 0.999f + 0.001f;
	x[i] = value;
}

__global__ void norm(const float *x, float *sum)
{
	__shared__ float part[256];
	float mine = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
		mine += x[i] * x[i];
	part[threadIdx.x] = mine;
	for (int width = blockDim.x / 2; width; width /= 2) {
		__syncthreads();
		if (threadIdx.x < width)
			part[threadIdx.x] += part[threadIdx.x + width];
	}
	if (!threadIdx.x)
		atomicAdd(sum, part[0]);
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 1;
	float *scales, *x, *y, *sum;
	cudaMalloc(&scales, count * 4), cudaMalloc(&x, count * 4), cudaMalloc(&y, count * 4), cudaMalloc(&sum, 4);
	cudaMemset(scales, 0, count * 4), cudaMemset(x, 0, count * 4), cudaMemset(y, 0, count * 4), cudaMemset(sum, 0, 4);
	for (int step = 0; step < steps; step++) {
		stencil<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(x, y);
		transpose<<<dim3(side / 32, side / 32), dim3(32, 32)>>>(y, x);
		axpy<<<count / 256, 256>>>(scales, x, y);
		relax<<<count / 256, 256>>>(y, 200);
		norm<<<528, 256>>>(y, sum);
	}
	cudaError_t error = cudaDeviceSynchronize();
	printf("%s\n", cudaGetErrorString(error));
	return error != cudaSuccess;
}
