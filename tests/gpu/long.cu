// Kernels of 3 us to 10 ms that use memory, arithmetic or tensor cores, one after the other in a changing order:
// long [ROUNDS]. Each has a name of its own and, while the clocks do not change, a constant length.
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

enum { BLOCKS = 264, THREADS = 512 };
static const size_t bytes = (size_t)256 << 20;

// About 2.2 bytes a ns in each direction.
template <int US>
__global__ void memory(float4 *to, const float4 *from, size_t items)
{
	size_t all = (size_t)US * 1100000 / sizeof *to, threads = (size_t)gridDim.x * blockDim.x;

	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += threads)
		to[i % items] = from[i % items];
}

// 8 warps a scheduler, and a cycle for each warp's instruction: 1.7 cycles a ns.
template <int US>
__global__ void arithmetic(float *out)
{
	float x = threadIdx.x, y = blockIdx.x;

	for (int i = 0; i < US * 212; i++) x = x * 1.0001f + y;
	if (x == 12345) *out = x;
}

template <int US>
__global__ void tensor(float *out)
{
	wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;

	for (int i = 0; i < a.num_elements; i++) a.x[i] = (float)((threadIdx.x + i * 3) % 7);
	for (int i = 0; i < b.num_elements; i++) b.x[i] = (float)((threadIdx.x + i * 5) % 7);
	wmma::fill_fragment(sum, 0.0f);
	for (int i = 0; i < US * 13; i++) wmma::mma_sync(sum, a, b, sum);
	if (sum.x[0] == 12345) *out = sum.x[0];
}

static float4 *from, *to;
static float *out;

template <int US>
static void launch(int what)
{
	if (what == 0) memory<US><<<BLOCKS, THREADS>>>(to, from, bytes / sizeof *from);
	if (what == 1) arithmetic<US><<<BLOCKS, THREADS>>>(out);
	if (what == 2) tensor<US><<<BLOCKS, THREADS>>>(out);
}

static void launch_any(int kernel)
{
	int what = kernel % 3;

	switch (kernel / 3) {
	case 0: launch<3>(what); break;
	case 1: launch<10>(what); break;
	case 2: launch<30>(what); break;
	case 3: launch<100>(what); break;
	case 4: launch<300>(what); break;
	case 5: launch<1000>(what); break;
	case 6: launch<3000>(what); break;
	default: launch<10000>(what); break;
	}
}

enum { KERNELS = 24 };

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 2, order[KERNELS];
	unsigned random = 12345;

	cudaMalloc(&from, bytes);
	cudaMalloc(&to, bytes);
	cudaMalloc(&out, sizeof *out);
	cudaMemset(from, 0, bytes);
	for (int i = 0; i < KERNELS; i++) order[i] = i;
	for (int round = 0; round < rounds; round++) {
		for (int i = KERNELS - 1; i > 0; i--) {
			random = random * 1664525 + 1013904223;
			int j = (random >> 8) % (i + 1), kept = order[i];
			order[i] = order[j];
			order[j] = kept;
		}
		for (int i = 0; i < KERNELS; i++) launch_any(order[i]);
		if (round % 4 == 3) cudaDeviceSynchronize();
	}
	cudaError_t error = cudaDeviceSynchronize();
	printf("%d rounds: %s\n", rounds, cudaGetErrorString(error));
	return error != cudaSuccess;
}
