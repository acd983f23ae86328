// The program of gh100-tensor.opk: a kernel for each type that wmma has, with a known number of operations.
// Each launch has BLOCKS blocks of WARPS warps, and each warp multiplies STEPS tiles of M x N x K: these are
// BLOCKS * WARPS * STEPS * 2 * M * N * K operations.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

enum { BLOCKS = 264, WARPS = 4, STEPS = 64 };

// The values differ: the compiler would multiply equal halves of a tile once.
template <typename Fragment>
__device__ void fill(Fragment &fragment, int step)
{
	for (int i = 0; i < fragment.num_elements; i++)
		fragment.x[i] = (typename Fragment::storage_element_type)(float)((threadIdx.x + i * step) % 7);
}

template <int M, int N, int K, typename In, typename Out>
__device__ void multiply(Out *out)
{
	wmma::fragment<wmma::matrix_a, M, N, K, In, wmma::row_major> a;
	wmma::fragment<wmma::matrix_b, M, N, K, In, wmma::col_major> b;
	wmma::fragment<wmma::accumulator, M, N, K, Out> sum;
	fill(a, 3);
	fill(b, 5);
	wmma::fill_fragment(sum, (Out)0);
	for (int i = 0; i < STEPS; i++) wmma::mma_sync(sum, a, b, sum);
	wmma::store_matrix_sync(out + (blockIdx.x * WARPS + threadIdx.x / 32) * M * N, sum, N, wmma::mem_row_major);
}

__global__ void fp16_fp16(half *out) { multiply<16, 16, 16, half>(out); }
__global__ void fp16_fp32(float *out) { multiply<16, 16, 16, half>(out); }
__global__ void bf16_fp32(float *out) { multiply<16, 16, 16, __nv_bfloat16>(out); }
__global__ void tf32_fp32(float *out) { multiply<16, 16, 8, wmma::precision::tf32>(out); }
__global__ void int8_int32(int *out) { multiply<16, 16, 16, signed char>(out); }
__global__ void fp64_fp64(double *out) { multiply<8, 8, 4, double>(out); }

int main()
{
	void *out;
	cudaMalloc(&out, (size_t)BLOCKS * WARPS * 16 * 16 * 8);
	fp16_fp16<<<BLOCKS, WARPS * 32>>>((half *)out);
	fp16_fp32<<<BLOCKS, WARPS * 32>>>((float *)out);
	bf16_fp32<<<BLOCKS, WARPS * 32>>>((float *)out);
	tf32_fp32<<<BLOCKS, WARPS * 32>>>((float *)out);
	int8_int32<<<BLOCKS, WARPS * 32>>>((int *)out);
	fp64_fp64<<<BLOCKS, WARPS * 32>>>((double *)out);
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	return 0;
}
