// Ten kernels, each of which keeps another unit busy for about 0.2 ms on an H100; each in an NVTX range of its name.
//   witness [ROUNDS]   all of them in turn
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <nvtx3/nvToolsExt.h>

constexpr int count = 1 << 24, small = 1 << 18, blocks = 1056, threads = 256;

// DRAM
__global__ void stream(const float4 *in, float4 *out)
{
	for (int i = blockIdx.x * threads + threadIdx.x; i < count / 4; i += blocks * threads) out[i] = in[i];
}

// L2: the data is read repeatedly and fits L2, but not L1
__global__ void second_level(const float4 *in, float4 *out)
{
	float4 sum = {};
	for (int round = 0; round < 8; round++)
		for (int i = threadIdx.x + (blockIdx.x + round) % 64 * threads; i < small; i += 64 * threads) {
			float4 value = __ldcg(&in[i]);
			sum.x += value.x + value.y, sum.y += value.z + value.w;
		}
	out[blockIdx.x * threads + threadIdx.x] = sum;
}

// L1
__global__ void first_level(const float *in, float *out)
{
	float sum = 0;
	for (int i = 0; i < 512; i++) sum += __ldca(&in[(threadIdx.x + i * 8) & 2047]);
	out[blockIdx.x * threads + threadIdx.x] = sum;
}

// Shared memory, with conflicts of banks
__global__ void shared(float *out)
{
	__shared__ float tile[threads * 9];
	float sum = 0;
	for (int i = 0; i < 8; i++) tile[threadIdx.x + i * threads] = threadIdx.x;
	__syncthreads();
	for (int i = 0; i < 512; i++) sum += tile[(threadIdx.x * 4 + i) % (threads * 8)];
	out[blockIdx.x * threads + threadIdx.x] = sum;
}

// Fused multiply-adds, of 32 bits and of 64
template <typename T>
__device__ void chain(T *out, int steps)
{
	T a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
	for (int i = 0; i < steps; i++) a = a * b + c, b = b * c + d, c = c * d + a, d = d * a + b;
	out[blockIdx.x * threads + threadIdx.x] = a + b + c + d;
}
__global__ void single(float *out) { chain(out, 1024); }
__global__ void twice(double *out) { chain(out, 512); }

// Special functions
__global__ void special(float *out)
{
	float x = threadIdx.x * 0.001f;
	for (int i = 0; i < 512; i++) x = __sinf(x) + __expf(x * 0.01f);
	out[blockIdx.x * threads + threadIdx.x] = x;
}

// Integers, and branches on which the threads of a warp diverge
__global__ void branches(unsigned *out)
{
	unsigned x = threadIdx.x * 2654435761u + 1;
	for (int i = 0; i < 256; i++)
		if (x & 1) x = x * 3 + 1 ^ x >> 7;
		else if (x & 2) x = (x >> 1) * 5 + i;
		else x ^= x << 3 | 1;
	out[blockIdx.x * threads + threadIdx.x] = x;
}

// Atomics, which L2 executes
__global__ void atomics(unsigned *out)
{
	for (int i = 0; i < 64; i++) atomicAdd(&out[(blockIdx.x * threads + threadIdx.x) * 17 + i * 31 & 65535], 1);
}

// Tensor cores
__global__ void tensor(float *out)
{
	using namespace nvcuda;
	wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
	for (int i = 0; i < a.num_elements; i++) a.x[i] = __float2half(threadIdx.x % 7), b.x[i] = __float2half(i % 5);
	wmma::fill_fragment(sum, 0.0f);
	for (int i = 0; i < 1024; i++) wmma::mma_sync(sum, a, b, sum);
	wmma::store_matrix_sync(out + (blockIdx.x * (threads / 32) + threadIdx.x / 32) * 256, sum, 16, wmma::mem_row_major);
}

template <typename... Wanted, typename... Given>
static void launch(const char *name, void (*kernel)(Wanted...), Given *...given)
{
	nvtxRangePushA(name);
	kernel<<<blocks, threads>>>((Wanted)given...);
	cudaDeviceSynchronize();
	nvtxRangePop();
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	char *in, *out;
	cudaMalloc(&in, count * sizeof(float));
	cudaMalloc(&out, count * sizeof(float));
	cudaMemset(in, 0, count * sizeof(float));
	cudaMemset(out, 0, count * sizeof(float));
	for (int round = 0; round < rounds; round++) {
		launch("stream", stream, in, out);
		launch("second_level", second_level, in, out);
		launch("first_level", first_level, in, out);
		launch("shared", shared, out);
		launch("single", single, out);
		launch("twice", twice, out);
		launch("special", special, out);
		launch("branches", branches, out);
		launch("atomics", atomics, out);
		launch("tensor", tensor, out);
	}
	cudaError_t error = cudaDeviceSynchronize();
	printf("%d rounds: %s\n", rounds, cudaGetErrorString(error));
	return error != cudaSuccess;
}
