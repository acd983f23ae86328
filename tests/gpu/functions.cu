// Ten functions in three modules: compiled three times, with PART 1, 2 and 3, and -lineinfo.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void second(float *p, int n);
void third(float *p, unsigned *u, int n);

#define AT (blockIdx.x * blockDim.x + threadIdx.x)

static __device__ __noinline__ float far_away(float x, int k)
{
	for (int i = 0; i < k; i++)
		x = x * 0.999f + 1;
	return x;
}

#if PART == 1
__global__ void scale(float *p, int n)
{
	int i = AT;
	if (i < n)
		p[i] *= 2;
}

__global__ void strided(float *p, int n)
{
	int i = AT;
	if (i < n / 32)
		p[i * 32] += 1;
}

__global__ void divergent(float *p, int n)
{
	int i = AT;
	if (i < n) {
		if (i % 3 == 0)
			p[i] = sinf(p[i]);
		else if (i % 3 == 1)
			p[i] = sqrtf(fabsf(p[i]));
		else
			p[i] += 1;
	}
}

template <int N> __global__ void unrolled(float *p, int n)
{
	int i = AT;
	float x = i < n ? p[i] : 0;
#pragma unroll
	for (int j = 0; j < N; j++)
		x = x * 1.5f + j;
	if (i < n)
		p[i] = x;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, n = 1 << 20;
	auto begun = std::chrono::steady_clock::now();
	float *p;
	unsigned *u;

	cudaMalloc(&p, n * sizeof *p);
	cudaMalloc(&u, n * sizeof *u);
	cudaMemset(p, 0, n * sizeof *p);
	cudaMemset(u, 0, n * sizeof *u);
	for (int i = 0; i < times; i++) {
		if (i == 1) {
			cudaDeviceSynchronize();
			begun = std::chrono::steady_clock::now();
		}
		scale<<<n / 256, 256>>>(p, n);
		strided<<<n / 256, 256>>>(p, n);
		divergent<<<n / 256, 256>>>(p, n);
		unrolled<8><<<n / 256, 256>>>(p, n);
		unrolled<40><<<n / 256, 256>>>(p, n);
		second(p, n);
		third(p, u, n);
	}
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
	if (times > 1)
		printf("%.2f us a launch\n", taken.count() * 1e6 / (times - 1) / 10);
	return 0;
}
#elif PART == 2
__global__ void called(float *p, int n)
{
	int i = AT;
	if (i < n)
		p[i] = far_away(p[i], 20);
}

__global__ void shared_sum(float *p, int n)
{
	__shared__ float part[256];
	part[threadIdx.x] = p[AT];
	__syncthreads();
	for (int s = 128; s; s /= 2) {
		if (threadIdx.x < s)
			part[threadIdx.x] += part[threadIdx.x + s];
		__syncthreads();
	}
	if (!threadIdx.x)
		p[AT] = part[0];
}

void second(float *p, int n)
{
	called<<<n / 256, 256>>>(p, n);
	shared_sum<<<n / 256, 256>>>(p, n);
}
#else
__global__ void count(unsigned *u, const float *p, int n)
{
	int i = AT;
	if (i < n)
		atomicAdd(&u[(unsigned)p[i] & 255], 1u);
}

__global__ void called_too(float *p, int n)
{
	int i = AT;
	if (i < n)
		p[i] += far_away(p[i], i & 7);
}

__global__ void conflicts(float *p, int n)
{
	__shared__ float tile[32 * 8];
	int t = threadIdx.x;

	tile[t % 32 * 8 + t / 32] = p[AT];
	__syncthreads();
	p[AT] = tile[t];
}

void third(float *p, unsigned *u, int n)
{
	count<<<n / 256, 256>>>(u, p, n);
	called_too<<<n / 256, 256>>>(p, n);
	conflicts<<<n / 256, 256>>>(p, n);
}
#endif
