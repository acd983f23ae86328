/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels that are each limited by one known thing; limits.tsv says by which. A name that ends with
 * a number has several strengths; "eased" is the same work without the limit.
 */
#include <cuda_fp16.h>
#include <cstdio>
#include <cstdlib>
#include <mma.h>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error = (call);                                                        \
		if (error != cudaSuccess) {                                                        \
			fprintf(stderr, "limits: line %d: %s\n", __LINE__,                         \
			        cudaGetErrorString(error));                                        \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const size_t bytes = (size_t)1 << 30;
typedef unsigned long long u64;

static __device__ __forceinline__ size_t thread_number()
{
	return blockIdx.x * (size_t)blockDim.x + threadIdx.x;
}
static __device__ __forceinline__ size_t thread_count()
{
	return gridDim.x * (size_t)blockDim.x;
}
static __device__ __forceinline__ unsigned mix(unsigned x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

/* ---- DRAM */

template <class T> static __device__ void read_all(const T *in, T *out, size_t n)
{
	T sum = {};

	for (size_t i = thread_number(); i < n; i += thread_count()) {
		T x = in[i];

		*(float *)&sum += *(float *)&x;
	}
	if (*(float *)&sum == 1.5f)
		out[0] = sum;
}
__global__ void dram_read_1(const float *in, float *out, size_t n) { read_all(in, out, n); }
__global__ void dram_read_2(const float4 *in, float4 *out, size_t n) { read_all(in, out, n); }
__global__ void dram_write_1(float *out, size_t n)
{
	for (size_t i = thread_number(); i < n; i += thread_count())
		out[i] = i;
}
__global__ void dram_write_2(float4 *out, size_t n)
{
	for (size_t i = thread_number(); i < n; i += thread_count())
		out[i] = make_float4(i, 1, 2, 3);
}
__global__ void dram_copy_1(const float *in, float *out, size_t n)
{
	for (size_t i = thread_number(); i < n; i += thread_count())
		out[i] = in[i];
}
__global__ void dram_copy_2(const float4 *in, float4 *out, size_t n)
{
	for (size_t i = thread_number(); i < n; i += thread_count())
		out[i] = in[i];
}

/* ---- L2 and L1 */

/* Reads `n` floats `times` times past L1. */
static __device__ void read_past_l1(const float4 *in, float4 *out, unsigned n, int times)
{
	float sum = 0;

	for (int t = 0; t < times; t++)
		for (unsigned i = thread_number(); i < n; i += thread_count())
			sum += __ldcg(&in[(i + t * 977) % n]).x;
	if (sum == 1.5f)
		out->x = sum;
}
__global__ void l2_read_1(const float4 *in, float4 *out, unsigned n, int times) { read_past_l1(in, out, n, times); }
__global__ void l2_read_2(const float4 *in, float4 *out, unsigned n, int times) { read_past_l1(in, out, n, times); }
__global__ void l2_write(float4 *out, unsigned n, int times)
{
	for (int t = 0; t < times; t++)
		for (unsigned i = thread_number(); i < n; i += thread_count())
			out[i] = make_float4(t, i, 1, 2);
}
/* Each block reads its own 16 KiB again and again. */
__global__ void l1_read_1(const float *in, float *out, int times)
{
	const float *own = in + blockIdx.x % 16 * 4096;
	float sum = 0;

	for (int t = 0; t < times; t++)
#pragma unroll
		for (int i = 0; i < 4096; i += 512)
			sum += __ldca(&own[i + (threadIdx.x + t * 32) % 512]);
	if (sum == 1.5f)
		*out = sum;
}
__global__ void l1_read_2(const float4 *in, float *out, int times)
{
	const float4 *own = in + blockIdx.x % 16 * 1024;
	float sum = 0;

	for (int t = 0; t < times; t++)
#pragma unroll
		for (int i = 0; i < 1024; i += 256) {
			float4 x = __ldca(&own[i + (threadIdx.x + t * 32) % 256]);

			sum += x.x + x.y + x.z + x.w;
		}
	if (sum == 1.5f)
		*out = sum;
}
/* A chain of loads, each of whose addresses is the last value. */
static __device__ void chase(const unsigned *next, unsigned *out, unsigned at, int steps)
{
	for (int i = 0; i < steps; i++)
		at = next[at];
	if (at == 0xffffffff)
		*out = at;
}
__global__ void l1_chase(const unsigned *next, unsigned *out, int steps) { chase(next, out, 0, steps); }
__global__ void l2_chase_1(const unsigned *next, unsigned *out, int steps, unsigned n)
{
	chase(next, out, mix(thread_number()) % n, steps);
}
__global__ void l2_chase_2(const unsigned *next, unsigned *out, int steps, unsigned n)
{
	chase(next, out, mix(thread_number()) % n, steps);
}
__global__ void dram_chase_1(const unsigned *next, unsigned *out, int steps, unsigned n)
{
	chase(next, out, mix(thread_number()) % n, steps);
}
__global__ void dram_chase_2(const unsigned *next, unsigned *out, int steps, unsigned n)
{
	chase(next, out, mix(thread_number()) % n, steps);
}

/* ---- shared memory */

template <int Stride> static __device__ void read_shared(float *out, int times)
{
	__shared__ float room[4096];
	float sum = 0;

	for (int i = threadIdx.x; i < 4096; i += blockDim.x)
		room[i] = i;
	__syncthreads();
	for (int t = 0; t < times; t++)
#pragma unroll
		for (int i = 0; i < 8; i++)
			sum += *(volatile float *)&room[(threadIdx.x * Stride + t + i * 64) % 4096];
	if (sum == 1.5f)
		*out = sum;
}
__global__ void shared_read(float *out, int times) { read_shared<1>(out, times); }
__global__ void shared_conflict_1(float *out, int times) { read_shared<4>(out, times); }
__global__ void shared_conflict_2(float *out, int times) { read_shared<32>(out, times); }
__global__ void shared_conflict_1_eased(float *out, int times) { read_shared<1>(out, times); }
__global__ void shared_conflict_2_eased(float *out, int times) { read_shared<1>(out, times); }
__global__ void shared_chase(unsigned *out, int steps)
{
	__shared__ unsigned next[1024];
	unsigned at = threadIdx.x;

	for (int i = threadIdx.x; i < 1024; i += blockDim.x)
		next[i] = (i + 37) % 1024;
	__syncthreads();
	for (int i = 0; i < steps; i++)
		at = next[at];
	if (at == 0xffffffff)
		*out = at;
}
__global__ void shared_atomic(unsigned *out, int times)
{
	__shared__ unsigned count[32];

	if (threadIdx.x < 32)
		count[threadIdx.x] = 0;
	__syncthreads();
	for (int i = 0; i < times; i++)
		atomicExch(&count[(threadIdx.x * i) & 1], i);
	__syncthreads();
	if (count[0] == 0xffffffff)
		*out = 1;
}
__global__ void shuffles(float *out, int times)
{
	float x = threadIdx.x, y = x + 1;

	for (int i = 0; i < times; i++) {
		x = __shfl_xor_sync(~0u, x, 5);
		y = __shfl_xor_sync(~0u, y, 3);
	}
	if (x + y == 1.5f)
		*out = x;
}

/* ---- pipes */

#define CHAINS(T, name, count, first, step)                                                        \
	__global__ void name(T *out, int times, T a, T b)                                          \
	{                                                                                          \
		T x[count];                                                                        \
		for (int i = 0; i < (count); i++)                                                  \
			x[i] = first;                                                              \
		for (int t = 0; t < times; t++)                                                    \
			_Pragma("unroll 16") for (int u = 0; u < 16; u++)                          \
				_Pragma("unroll") for (int i = 0; i < (count); i++) x[i] = step;   \
		T sum = x[0];                                                                      \
		for (int i = 1; i < (count); i++)                                                  \
			sum = sum + x[i];                                                          \
		if (thread_number() == (size_t)times + 123456789)                                  \
			*out = sum;                                                                \
	}
CHAINS(float, fp32_1, 8, threadIdx.x + i, x[i] * a + b)
CHAINS(float, fp32_2, 4, threadIdx.x + i, x[i] * a + b)
CHAINS(double, fp64_1, 8, threadIdx.x + i, x[i] * a + b)
CHAINS(float, fp64_1_eased, 8, threadIdx.x + i, x[i] * a + b)
CHAINS(double, fp64_2, 4, threadIdx.x + i, x[i] + b)
CHAINS(unsigned, logic_1, 8, threadIdx.x + i, (x[i] ^ a) & (b | x[(i + 1) % 8]))
CHAINS(int, logic_2, 6, threadIdx.x + i, max(x[i], a) ^ b)
CHAINS(int, multiply, 8, (int)threadIdx.x + i, x[i] * a + b)
CHAINS(float, sfu_1, 8, threadIdx.x + i, __sinf(x[i]))
CHAINS(float, sfu_1_eased, 8, threadIdx.x + i, x[i] + x[i] * x[i] * a + b)
CHAINS(float, sfu_2, 6, threadIdx.x + i, rsqrtf(x[i]))
CHAINS(float, sfu_3, 4, threadIdx.x + i, exp2f(x[i]))
CHAINS(float, convert_1, 8, threadIdx.x + i, __int2float_rn(__float2int_rn(x[i])) + b)
CHAINS(double, convert_2, 4, threadIdx.x + i, (double)(float)x[i] + b)
CHAINS(float, dependent_1, 1, threadIdx.x, x[i] * a + b)
CHAINS(float, dependent_1_eased, 8, threadIdx.x + i, x[i] * a + b)
CHAINS(float, dependent_2, 2, threadIdx.x + i, x[i] * a + b)
CHAINS(unsigned, dependent_3, 1, threadIdx.x, (x[i] ^ a) + b)

__global__ void fp16(__half2 *out, int times, __half2 a, __half2 b)
{
	__half2 x[8];

	for (int i = 0; i < 8; i++)
		x[i] = __floats2half2_rn(threadIdx.x, i);
	for (int t = 0; t < times * 16; t++)
#pragma unroll
		for (int i = 0; i < 8; i++)
			x[i] = __hfma2(x[i], a, b);
	for (int i = 1; i < 8; i++)
		x[0] = __hadd2(x[0], x[i]);
	if (thread_number() == (size_t)times + 123456789)
		*out = x[0];
}
/* Half of the instructions are for one pipe, half for another: the issue slots are full. */
__global__ void issue_mix(float *out, int times, float a, unsigned b)
{
	float x[6];
	unsigned y[6];

	for (int i = 0; i < 6; i++) {
		x[i] = threadIdx.x + i;
		y[i] = threadIdx.x * i;
	}
	for (int t = 0; t < times * 16; t++)
#pragma unroll
		for (int i = 0; i < 6; i++) {
			x[i] = x[i] * a + a;
			y[i] = (y[i] ^ b) | y[(i + 1) % 6];
		}
	for (int i = 1; i < 6; i++)
		x[0] += x[i] + y[i];
	if (thread_number() == (size_t)times + 123456789)
		*out = x[0] + y[0];
}
template <class A, class B> static __device__ void multiply_tiles(float *out, int times)
{
	using namespace nvcuda::wmma;
	fragment<matrix_a, 16, 16, 16, A, row_major> a;
	fragment<matrix_b, 16, 16, 16, A, col_major> b;
	fragment<accumulator, 16, 16, 16, B> c[4];

	fill_fragment(a, (A)1.0f);
	fill_fragment(b, (A)0.5f);
	for (int i = 0; i < 4; i++)
		fill_fragment(c[i], (B)(float)i);
	for (int t = 0; t < times; t++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			mma_sync(c[i], a, b, c[i]);
	for (int i = 1; i < 4; i++)
		for (int j = 0; j < c[0].num_elements; j++)
			c[0].x[j] = (B)((float)c[0].x[j] + (float)c[i].x[j]);
	if ((float)c[0].x[0] == 1.5f)
		*out = (float)c[0].x[0];
}
__global__ void tensor_1(float *out, int times) { multiply_tiles<__half, float>(out, times); }
__global__ void tensor_2(float *out, int times) { multiply_tiles<__half, __half>(out, times); }

/* ---- parallelism */

/* The same memory-bound work with fewer warps on an SM. */
static __device__ void gather(const float *in, float *out, unsigned n, int times)
{
	float sum = 0;
	unsigned at = mix(thread_number()) % n;

	for (int i = 0; i < times; i++) {
		float x = in[at];

		sum += x;
		at = (at + 7919 * 32 + (unsigned)(x * 0)) % n;
	}
	if (sum == 1.5f)
		*out = sum;
}
__global__ void occupancy_shared(const float *in, float *out, unsigned n, int times)
{
	extern __shared__ float room[];

	if (times < 0)
		room[threadIdx.x] = n;
	gather(in, out, n, times);
}
__global__ void occupancy_shared_eased(const float *in, float *out, unsigned n, int times)
{
	gather(in, out, n, times);
}
__global__ void occupancy_registers_eased(const float *in, float *out, unsigned n, int times)
{
	gather(in, out, n, times);
}
__global__ void __launch_bounds__(256, 1) occupancy_registers(const float *in, float *out, unsigned n, int times)
{
	float kept[180];

#pragma unroll
	for (int i = 0; i < 180; i++)
		kept[i] = in[(threadIdx.x + i) % n];
	gather(in, out, n, times);
#pragma unroll
	for (int i = 1; i < 180; i++)
		kept[0] = kept[0] * kept[i] + i;
	if (kept[0] == 1.5f)
		*out = kept[0];
}
__global__ void occupancy_blocks(const float *in, float *out, unsigned n, int times) { gather(in, out, n, times); }
__global__ void occupancy_blocks_eased(const float *in, float *out, unsigned n, int times) { gather(in, out, n, times); }
/* Time that grows with `times`. */
static __device__ void spin(float *out, int times)
{
	float x = threadIdx.x, y = x + 1, z = y + 1, w = z + 1;

	for (int i = 0; i < times; i++) {
		x = x * 1.0001f + 0.5f;
		y = y * 1.0001f + 0.5f;
		z = z * 1.0001f + 0.5f;
		w = w * 1.0001f + 0.5f;
	}
	if (x + y + z + w == 1.5f)
		*out = x;
}
__global__ void tail_1(float *out, int times) { spin(out, times); }
__global__ void tail_2(float *out, int times) { spin(out, times); }
__global__ void tail_1_eased(float *out, int times) { spin(out, times); }
__global__ void tail_2_eased(float *out, int times) { spin(out, times); }
__global__ void few_blocks_1(float *out, int times) { spin(out, times); }
__global__ void few_blocks_2(float *out, int times) { spin(out, times); }
__global__ void few_blocks_1_eased(float *out, int times) { spin(out, times); }
__global__ void few_blocks_2_eased(float *out, int times) { spin(out, times); }
__global__ void one_block(float *out, int times) { spin(out, times); }
__global__ void one_block_eased(float *out, int times) { spin(out, times); }
__global__ void one_thread(float *out, int times) { spin(out, times); }
__global__ void tiny_1(float *out) { if (out == NULL) asm("trap;"); }
__global__ void tiny_2(float *out) { out[thread_number()] = threadIdx.x; }
/* The work of 16 launches in one. */
__global__ void tiny_2_eased(float *out)
{
	for (int i = 0; i < 16; i++)
		out[thread_number() + i * thread_count()] = threadIdx.x;
}
__global__ void imbalance_1(float *out, int times) { spin(out, blockIdx.x ? times : times * 20); }
__global__ void imbalance_2(float *out, int times) { spin(out, times * (blockIdx.x < gridDim.x / 8 ? 10 : 1)); }
__global__ void imbalance_1_eased(float *out, int times) { spin(out, times); }
__global__ void imbalance_2_eased(float *out, int times) { spin(out, times * 17 / 8); }

/* ---- how memory is used */

template <int Stride> static __device__ void stride(const float *in, float *out, unsigned n)
{
	float sum = 0;

	for (size_t i = thread_number() * Stride; i < n; i += thread_count() * Stride)
		sum += in[i];
	if (sum == 1.5f)
		*out = sum;
}
__global__ void uncoalesced_1(const float *in, float *out, unsigned n) { stride<8>(in, out, n); }
__global__ void uncoalesced_1_eased(const float *in, float *out, unsigned n) { stride<1>(in, out, n); }
__global__ void uncoalesced_2_eased(const float *in, float *out, unsigned n) { stride<1>(in, out, n); }
__global__ void uncoalesced_2(const float *in, float *out, unsigned n) { stride<32>(in, out, n); }
__global__ void uncoalesced_3(const float *in, float *out, unsigned n, int times)
{
	float sum = 0;

	for (int t = 0; t < times; t++)
		for (unsigned i = thread_number(); i < n; i += thread_count())
			sum += __ldcg(&in[(i * 33u + t) % n]);
	if (sum == 1.5f)
		*out = sum;
}
__global__ void uncoalesced_3_eased(const float *in, float *out, unsigned n, int times)
{
	float sum = 0;

	for (int t = 0; t < times; t++)
		for (unsigned i = thread_number(); i < n; i += thread_count())
			sum += __ldcg(&in[(i + 33u * t) % n]);
	if (sum == 1.5f)
		*out = sum;
}
__global__ void gather_random(const float *in, float *out, unsigned n, int times)
{
	float sum = 0;

	for (int t = 0; t < times; t++)
		sum += in[mix(thread_number() * 64 + t) % n];
	if (sum == 1.5f)
		*out = sum;
}
__global__ void spilled(float *out, int times, int shift)
{
	float room[64];

	for (int i = 0; i < 64; i++)
		room[i] = threadIdx.x + i;
	for (int t = 0; t < times; t++)
		room[(t * 7 + shift + threadIdx.x) & 63] += room[(t + shift) & 63];
	float sum = 0;
	for (int i = 0; i < 64; i++)
		sum += room[i];
	if (sum == 1.5f)
		*out = sum;
}
/* As many additions, with indices that the compiler knows. */
__global__ void spilled_eased(float *out, int times, int shift)
{
	float room[64];

	for (int i = 0; i < 64; i++)
		room[i] = threadIdx.x + i;
	for (int t = 0; t < times; t += 64)
#pragma unroll
		for (int i = 0; i < 64; i++)
			room[(i * 7 + 3) & 63] += room[i] + t;
	float sum = 0;
	for (int i = 0; i < 64; i++)
		sum += room[i];
	if (sum == 1.5f)
		*out = sum;
}
__global__ void system_read_eased(const float4 *in, float4 *out, size_t n) { read_all(in, out, n); }
__global__ void system_write_eased(float4 *out, size_t n)
{
	for (size_t i = thread_number(); i < n; i += thread_count())
		out[i] = make_float4(i, 1, 2, 3);
}
__global__ void system_read(const float4 *in, float4 *out, size_t n) { read_all(in, out, n); }
__global__ void system_write(float4 *out, size_t n)
{
	for (size_t i = thread_number(); i < n; i += thread_count())
		out[i] = make_float4(i, 1, 2, 3);
}

/* ---- atomics and waiting */

__global__ void atomic_one_1(float *to, int times)
{
	for (int i = 0; i < times; i++)
		atomicAdd(to, 1.0f + i);
}
/* One atomic of each warp. */
__global__ void atomic_one_1_eased(float *to, int times)
{
	for (int i = 0; i < times; i++) {
		float x = 1.0f + i;

		for (int j = 16; j; j /= 2)
			x += __shfl_xor_sync(~0u, x, j);
		if (!(threadIdx.x & 31))
			atomicAdd(to, x);
	}
}
__global__ void atomic_one_2_eased(unsigned *to, int times)
{
	for (int i = 0; i < times; i++) {
		unsigned x = __reduce_max_sync(~0u, (unsigned)thread_number() + i);

		if (!(threadIdx.x & 31) && atomicMax(to, x) == 0xffffffff)
			to[1] = 1;
	}
}
__global__ void atomic_one_2(unsigned *to, int times)
{
	for (int i = 0; i < times; i++)
		if (atomicMax(to, thread_number() + i) == 0xffffffff)
			to[1] = 1;
}
__global__ void atomic_few(unsigned *to, int times)
{
	for (int i = 0; i < times; i++)
		atomicAdd(&to[mix(thread_number() + i * 99991) & 63], 1u);
}
__global__ void atomic_few_eased(unsigned *to, int times)
{
	for (int i = 0; i < times; i++)
		atomicAdd(&to[(thread_number() * 8 + i * 4096) & 0xfffff], 1u);
}
__global__ void barriers_1(float *out, int times)
{
	float x = threadIdx.x;

#pragma unroll 1
	for (int i = 0; i < times; i++) {
		x = x * 1.5f + 1;
		__syncthreads();
	}
	if (x == 1.5f)
		*out = x;
}
__global__ void barriers_1_eased(float *out, int times)
{
	float x = threadIdx.x;

#pragma unroll 1
	for (int i = 0; i < times; i++)
		x = x * 1.5f + 1;
	if (x == 1.5f)
		*out = x;
}
/* One warp works while the others wait. */
__global__ void barriers_2(float *out, int times)
{
	float x = threadIdx.x;

	for (int i = 0; i < times; i++) {
		if (threadIdx.x / 32 == i % 32)
			for (int j = 0; j < 100; j++)
				x = x * 1.5f + 1;
		__syncthreads();
	}
	if (x == 1.5f)
		*out = x;
}
__global__ void barriers_2_eased(float *out, int times)
{
	float x = threadIdx.x;

	for (int i = 0; i < times; i++)
		if (threadIdx.x / 32 == i % 32)
			for (int j = 0; j < 100; j++)
				x = x * 1.5f + 1;
	if (x == 1.5f)
		*out = x;
}
__global__ void fences_eased(volatile float *out, int times)
{
	for (int i = 0; i < times; i++) {
		out[thread_number()] = i;
		__threadfence_block();
	}
}
__global__ void fences(volatile float *out, int times)
{
	for (int i = 0; i < times; i++) {
		out[thread_number()] = i;
		__threadfence_system();
	}
}
__global__ void sleeping(float *out, int times)
{
	for (int i = 0; i < times; i++)
		__nanosleep(1000);
	if (times < 0)
		*out = 1;
}
/* Threads of a warp take different ways. */
static __device__ __forceinline__ float way(float x, int which, int times)
{
	for (int i = 0; i < times; i++)
		x = x * (1.0f + which) + which;
	return x;
}
__global__ void divergent_1(float *out, int times)
{
	float x = threadIdx.x;

	switch (threadIdx.x & 3) {
	case 0: x = way(x, 1, times); break;
	case 1: x = way(x, 2, times) + 1; break;
	case 2: x = way(x, 3, times) * 2; break;
	default: x = way(x, 4, times) - 5; break;
	}
	if (x == 1.5f)
		*out = x;
}
/* Each thread has its own length. */
__global__ void divergent_2(float *out, int times)
{
	float x = threadIdx.x;

	for (int i = 0; i < times * (int)(threadIdx.x & 31); i++)
		x = x * 1.5f + 1;
	if (x == 1.5f)
		*out = x;
}
__global__ void divergent_2_eased(float *out, int times)
{
	float x = threadIdx.x;

	for (int i = 0; i < times * 31 / 2; i++)
		x = x * 1.5f + 1;
	if (x == 1.5f)
		*out = x;
}
__global__ void divergent_1_eased(float *out, int times)
{
	float x = way(threadIdx.x, 1, times);

	if (x == 1.5f)
		*out = x;
}

/* Code that fits no cache of instructions: every repetition is its own. */
#define R1(n) x = x * a + (n); y = (y ^ (n)) + b; z = z * b + (n);
#define R4(n) R1(n) R1(n + 1) R1(n + 2) R1(n + 3)
#define R16(n) R4(n) R4(n + 4) R4(n + 8) R4(n + 12)
#define R64(n) R16(n) R16(n + 16) R16(n + 32) R16(n + 48)
#define R256(n) R64(n) R64(n + 64) R64(n + 128) R64(n + 192)
#define R1024(n) R256(n) R256(n + 256) R256(n + 512) R256(n + 768)
#define R4096(n) R1024(n) R1024(n + 1024) R1024(n + 2048) R1024(n + 3072)
__global__ void instructions_1(float *out, int times, float a, int b)
{
	float x = threadIdx.x, z = 1;
	int y = threadIdx.x;

	for (int i = 0; i < times; i++) {
		R4096(i)
	}
	if (x + y + z == 1.5f)
		*out = x;
}
__global__ void instructions_2(float *out, int times, float a, int b)
{
	float x = threadIdx.x, z = 1;
	int y = threadIdx.x;

	for (int i = 0; i < times; i++) {
		R4096(i) R4096(i + 5000) R4096(i + 10000)
	}
	if (x + y + z == 1.5f)
		*out = x;
}
/* The same instructions, in a loop. */
static __device__ __forceinline__ void repeat(float *out, int times, float a, int b)
{
	float x = threadIdx.x, z = 1;
	int y = threadIdx.x;

	for (int i = 0; i < times; i++) {
		R64(i)
	}
	if (x + y + z == 1.5f)
		*out = x;
}
__global__ void instructions_1_eased(float *out, int times, float a, int b) { repeat(out, times * 64, a, b); }
__global__ void instructions_2_eased(float *out, int times, float a, int b) { repeat(out, times * 192, a, b); }
__constant__ float table[16384];
__global__ void constants(float *out, int times)
{
	float sum = 0;

	for (int i = 0; i < times; i++)
		sum += table[(i * 1031 + threadIdx.x * 97) & 16383];
	if (sum == 1.5f)
		*out = sum;
}

__global__ void constants_eased(const float *in, float *out, int times)
{
	float sum = 0;

	for (int i = 0; i < times; i++)
		sum += in[(i * 1031 + threadIdx.x * 97) & 16383];
	if (sum == 1.5f)
		*out = sum;
}

/* ---- running them */

static int sms;
static void *device(size_t size)
{
	void *memory;

	CHECK(cudaMalloc(&memory, size));
	CHECK(cudaMemset(memory, 0, size));
	return memory;
}
/* A random cycle through `n` numbers. */
static unsigned *cycle(unsigned n)
{
	unsigned *order = (unsigned *)malloc(n * sizeof *order);
	unsigned *next = (unsigned *)malloc(n * sizeof *next), *memory = (unsigned *)device(n * sizeof *next);

	for (unsigned i = 0; i < n; i++)
		order[i] = i;
	for (unsigned i = n - 1, seed = 1; i; i--) {
		seed = seed * 1664525u + 1013904223u;
		unsigned j = (unsigned)(((u64)seed * i) >> 32), kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
	for (unsigned i = 0; i < n; i++)
		next[order[i]] = order[(i + 1) % n];
	CHECK(cudaMemcpy(memory, next, n * sizeof *next, cudaMemcpyHostToDevice));
	free(order);
	free(next);
	return memory;
}
static const char *only;
#define RUN(kernel, grid, block, shared, ...)                                                      \
	do {                                                                                       \
		if (only && strcmp(only, #kernel) != 0)                                            \
			break;                                                                     \
		kernel<<<grid, block, shared>>>(__VA_ARGS__);                                      \
		CHECK(cudaGetLastError());                                                         \
		CHECK(cudaDeviceSynchronize());                                                    \
	} while (0)

static void run_memory(float *a, float *b)
{
	size_t n = bytes / 2 / sizeof(float);
	unsigned small = (4 << 20) / sizeof(float4), l1 = 2048, l2 = 2 << 20, big = 64 << 20;
	static unsigned *in_l1, *in_l2, *in_dram;
	float4 *host;

	in_l1 = in_l1 ? in_l1 : cycle(l1);
	in_l2 = in_l2 ? in_l2 : cycle(l2);
	in_dram = in_dram ? in_dram : cycle(big);
	CHECK(cudaHostAlloc(&host, 32 << 20, cudaHostAllocMapped));
	RUN(dram_read_1, sms * 8, 256, 0, a, b, n);
	RUN(dram_read_2, sms * 8, 256, 0, (float4 *)a, (float4 *)b, n / 4);
	RUN(dram_write_1, sms * 8, 256, 0, a, n);
	RUN(dram_write_2, sms * 8, 256, 0, (float4 *)a, n / 4);
	CHECK(cudaMemset(a, 0, bytes));
	RUN(dram_copy_1, sms * 8, 256, 0, a, b, n);
	RUN(dram_copy_2, sms * 8, 256, 0, (float4 *)a, (float4 *)b, n / 4);
	RUN(l2_read_1, sms * 8, 256, 0, (float4 *)a, (float4 *)b, small, 100);
	RUN(l2_read_2, sms * 4, 512, 0, (float4 *)a, (float4 *)b, small * 2, 50);
	RUN(l2_write, sms * 8, 256, 0, (float4 *)b, small, 100);
	RUN(l1_read_1, sms * 4, 512, 0, a, b, 400);
	RUN(l1_read_2, sms * 4, 512, 0, (float4 *)a, b, 400);
	RUN(l1_chase, sms, 32, 0, in_l1, (unsigned *)b, 4000);
	RUN(l2_chase_1, sms, 32, 0, in_l2, (unsigned *)b, 600, l2);
	RUN(l2_chase_2, sms, 64, 0, in_l2, (unsigned *)b, 400, l2);
	RUN(dram_chase_1, sms, 32, 0, in_dram, (unsigned *)b, 300, big);
	RUN(dram_chase_2, sms, 128, 0, in_dram, (unsigned *)b, 200, big);
	RUN(uncoalesced_1, sms * 8, 256, 0, a, b, (unsigned)n);
	RUN(uncoalesced_1_eased, sms * 8, 256, 0, a, b, (unsigned)n / 8);
	RUN(uncoalesced_2_eased, sms * 8, 256, 0, a, b, (unsigned)n / 32);
	RUN(uncoalesced_2, sms * 8, 256, 0, a, b, (unsigned)n);
	RUN(uncoalesced_3, sms * 8, 256, 0, a, b, 1u << 20, 20);
	RUN(uncoalesced_3_eased, sms * 8, 256, 0, a, b, 1u << 20, 20);
	RUN(gather_random, sms * 8, 256, 0, a, b, (unsigned)(bytes / 4), 20);
	RUN(spilled, sms * 8, 256, 0, b, 400, 3);
	RUN(spilled_eased, sms * 8, 256, 0, b, 400, 3);
	RUN(system_read_eased, sms, 256, 0, (float4 *)a, (float4 *)b, (size_t)(32 << 20) / 16);
	RUN(system_write_eased, sms, 256, 0, (float4 *)a, (size_t)(32 << 20) / 16);
	RUN(system_read, sms, 256, 0, host, (float4 *)b, (size_t)(32 << 20) / 16);
	RUN(system_write, sms, 256, 0, host, (size_t)(32 << 20) / 16);
	CHECK(cudaFreeHost(host));
}
static void run_pipes(float *b)
{
	int grid = sms * 4, block = 512;

	RUN(shared_read, grid, block, 0, b, 400);
	RUN(shared_conflict_1, grid, block, 0, b, 200);
	RUN(shared_conflict_2, grid, block, 0, b, 40);
	RUN(shared_conflict_1_eased, grid, block, 0, b, 200);
	RUN(shared_conflict_2_eased, grid, block, 0, b, 40);
	RUN(shared_chase, sms, 32, 0, (unsigned *)b, 8000);
	RUN(shared_atomic, sms * 2, 512, 0, (unsigned *)b, 100);
	RUN(shuffles, grid, block, 0, b, 800);
	RUN(fp32_1, grid, block, 0, b, 100, 1.01f, 0.5f);
	RUN(fp32_2, grid, block, 0, b, 200, 1.01f, 0.5f);
	RUN(fp64_1, grid, block, 0, (double *)b, 40, 1.01, 0.5);
	RUN(fp64_1_eased, grid, block, 0, b, 40, 1.01f, 0.5f);
	RUN(fp64_2, grid, block, 0, (double *)b, 80, 1.01, 0.5);
	RUN(logic_1, grid, block, 0, (unsigned *)b, 60, 12345u, 777u);
	RUN(logic_2, grid, block, 0, (int *)b, 60, 12345, 777);
	RUN(multiply, grid, block, 0, (int *)b, 60, 12345, 777);
	RUN(sfu_1, grid, block, 0, b, 20, 1.0f, 0.0f);
	RUN(sfu_1_eased, grid, block, 0, b, 20, 1.0f, 0.0f);
	RUN(sfu_2, grid, block, 0, b, 20, 1.0f, 0.0f);
	RUN(sfu_3, grid, block, 0, b, 30, 1.0f, 0.0f);
	RUN(convert_1, grid, block, 0, b, 20, 1.0f, 0.0f);
	RUN(convert_2, grid, block, 0, (double *)b, 20, 1.0, 0.5);
	RUN(dependent_1, sms, 128, 0, b, 2000, 1.01f, 0.5f);
	RUN(dependent_1_eased, sms, 128, 0, b, 250, 1.01f, 0.5f);
	RUN(dependent_2, sms, 128, 0, b, 2000, 1.01f, 0.5f);
	RUN(dependent_3, sms, 256, 0, (unsigned *)b, 1000, 123u, 77u);
	RUN(fp16, grid, block, 0, (__half2 *)b, 60, __floats2half2_rn(1, 1), __floats2half2_rn(1, 1));
	RUN(issue_mix, grid, block, 0, b, 60, 1.01f, 777u);
	RUN(tensor_1, grid, 256, 0, b, 1000);
	RUN(tensor_2, grid, 256, 0, b, 1000);
}
static void run_parallelism(float *a, float *b)
{
	unsigned n = bytes / 4;
	int full = sms * 8;

	CHECK(cudaFuncSetAttribute(occupancy_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
	RUN(occupancy_shared, sms * 16, 128, 200 << 10, a, b, n, 40);
	RUN(occupancy_shared_eased, sms * 16, 128, 0, a, b, n, 40);
	RUN(occupancy_registers, sms * 8, 256, 0, a, b, n, 40);
	RUN(occupancy_registers_eased, sms * 8, 256, 0, a, b, n, 40);
	RUN(occupancy_blocks, sms * 64, 32, 100 << 6, a, b, n, 40);
	RUN(occupancy_blocks_eased, sms * 8, 256, 0, a, b, n, 40);
	RUN(tail_1, full + 4, 256, 0, b, 20000);
	RUN(tail_2, sms + 10, 1024, 96 << 6, b, 20000);
	RUN(tail_1_eased, full, 256, 0, b, 20000);
	RUN(tail_2_eased, full, 256, 0, b, (int)(20000.0 * (sms + 10) / (2 * sms)));
	RUN(few_blocks_1, 8, 256, 0, b, 20000);
	RUN(few_blocks_2, 60, 256, 0, b, 20000);
	RUN(few_blocks_1_eased, sms, 256, 0, b, 20000 * 8 / sms);
	RUN(few_blocks_2_eased, sms, 256, 0, b, 20000 * 60 / sms);
	RUN(one_block_eased, sms, 128, 0, b, 20000 * 8 / sms);
	RUN(one_block, 1, 1024, 0, b, 20000);
	RUN(one_thread, 1, 1, 0, b, 20000);
	RUN(tiny_1, 1, 32, 0, b);
	RUN(tiny_2, 16, 128, 0, b);
	RUN(tiny_2_eased, 16, 128, 0, b);
	RUN(imbalance_1, sms * 4, 256, 0, b, 2000);
	RUN(imbalance_2, sms * 2, 256, 0, b, 2000);
	RUN(imbalance_1_eased, sms * 4, 256, 0, b, (int)(2000.0 * (sms * 4 + 19) / (sms * 4)));
	RUN(imbalance_2_eased, sms * 2, 256, 0, b, 2000);
}
static void run_waiting(float *a, float *b)
{
	RUN(atomic_one_1, sms * 2, 256, 0, b, 20);
	RUN(atomic_one_2, sms * 2, 256, 0, (unsigned *)b, 20);
	RUN(atomic_one_1_eased, sms * 2, 256, 0, b, 20);
	RUN(atomic_one_2_eased, sms * 2, 256, 0, (unsigned *)b, 20);
	RUN(atomic_few, sms * 2, 256, 0, (unsigned *)b, 40);
	RUN(atomic_few_eased, sms * 2, 256, 0, (unsigned *)b, 40);
	RUN(barriers_1, sms * 2, 1024, 0, b, 2000);
	RUN(barriers_2, sms * 2, 1024, 0, b, 500);
	RUN(barriers_1_eased, sms * 2, 1024, 0, b, 2000);
	RUN(barriers_2_eased, sms * 2, 1024, 0, b, 500);
	RUN(fences_eased, sms * 2, 256, 0, b, 50);
	RUN(fences, sms * 2, 256, 0, b, 50);
	RUN(sleeping, sms * 2, 128, 0, b, 200);
	RUN(divergent_1, sms * 8, 256, 0, b, 2000);
	RUN(divergent_2, sms * 8, 256, 0, b, 100);
	RUN(divergent_1_eased, sms * 8, 256, 0, b, 2000);
	RUN(divergent_2_eased, sms * 8, 256, 0, b, 100);
	RUN(instructions_1, sms, 128, 0, b, 4, 1.01f, 3);
	RUN(instructions_2, sms, 64, 0, b, 4, 1.01f, 3);
	RUN(instructions_1_eased, sms, 128, 0, b, 4, 1.01f, 3);
	RUN(instructions_2_eased, sms, 64, 0, b, 4, 1.01f, 3);
	RUN(constants, sms * 4, 256, 0, b, 100);
	RUN(constants_eased, sms * 4, 256, 0, a, b, 100);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	cudaDeviceProp device_facts;
	float *a, *b;

	only = argc > 2 ? argv[2] : NULL;
	CHECK(cudaGetDeviceProperties(&device_facts, 0));
	sms = device_facts.multiProcessorCount;
	a = (float *)device(bytes);
	b = (float *)device(bytes);
	for (int i = 0; i < times; i++) {
		run_memory(a, b);
		run_pipes(b);
		run_parallelism(a, b);
		run_waiting(a, b);
	}
	return 0;
}
