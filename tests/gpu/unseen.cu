/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels such as programs have, written without knowledge of the tool that is to name what limits
 * them; unseen.tsv says what should.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error = (call);                                                        \
		if (error != cudaSuccess) {                                                        \
			fprintf(stderr, "unseen: line %d: %s\n", __LINE__,                         \
			        cudaGetErrorString(error));                                        \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static __device__ __forceinline__ unsigned thread_number()
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}
static __device__ __forceinline__ unsigned thread_count()
{
	return gridDim.x * blockDim.x;
}
static __host__ __device__ __forceinline__ unsigned mix(unsigned x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}
static __device__ __forceinline__ float warp_sum(float x)
{
	for (int step = 16; step; step /= 2)
		x += __shfl_down_sync(~0u, x, step);
	return x;
}
/* The sum is right in thread 0. */
static __device__ float block_sum(float x)
{
	__shared__ float sums[32];

	x = warp_sum(x);
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		sums[threadIdx.x / 32] = x;
	__syncthreads();
	x = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
	return threadIdx.x < 32 ? warp_sum(x) : 0;
}

/* ---- dense matrices */

/* Blocks of 32 x 32. */
__global__ void transpose_naive(const float *in, float *out, unsigned n)
{
	unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

	out[x * n + y] = in[y * n + x];
}
__global__ void sgemm_naive(const float *__restrict__ a, const float *__restrict__ b,
                            float *__restrict__ c, unsigned n)
{
	unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	float sum = 0;

	for (unsigned k = 0; k < n; k++)
		sum += a[y * n + k] * b[k * n + x];
	c[y * n + x] = sum;
}
__global__ void sgemm_tiled(const float *__restrict__ a, const float *__restrict__ b,
                            float *__restrict__ c, unsigned n)
{
	__shared__ float tile_a[32][32], tile_b[32][32];
	unsigned tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
	float sum = 0;

	for (unsigned start = 0; start < n; start += 32) {
		tile_a[ty][tx] = a[y * n + start + tx];
		tile_b[ty][tx] = b[(start + ty) * n + x];
		__syncthreads();
		for (int k = 0; k < 32; k++)
			sum += tile_a[ty][k] * tile_b[k][tx];
		__syncthreads();
	}
	c[y * n + x] = sum;
}
/*
 * Products of rows of signed bytes, four in an int: `a` and `b` have rows of `depth` ints. A block
 * of 256 threads makes 64 x 64 of them.
 */
__global__ void dot_int8(const int *__restrict__ a, const int *__restrict__ b, int *__restrict__ c,
                         unsigned n, unsigned depth)
{
	__shared__ __align__(16) int tile_a[16][68], tile_b[16][68];
	unsigned t = threadIdx.x, row = t / 4, part = t % 4 * 4, ty = t / 16 * 4, tx = t % 16 * 4;
	int sums[4][4] = {};

	a += blockIdx.y * 64 * depth;
	b += blockIdx.x * 64 * depth;
	for (unsigned start = 0; start < depth; start += 16) {
		int4 x = *(const int4 *)(a + row * depth + start + part);
		int4 y = *(const int4 *)(b + row * depth + start + part);

		__syncthreads();
		tile_a[part][row] = x.x, tile_a[part + 1][row] = x.y;
		tile_a[part + 2][row] = x.z, tile_a[part + 3][row] = x.w;
		tile_b[part][row] = y.x, tile_b[part + 1][row] = y.y;
		tile_b[part + 2][row] = y.z, tile_b[part + 3][row] = y.w;
		__syncthreads();
#pragma unroll
		for (int k = 0; k < 16; k++) {
			int4 p = *(const int4 *)&tile_a[k][ty], q = *(const int4 *)&tile_b[k][tx];
			int ps[4] = {p.x, p.y, p.z, p.w}, qs[4] = {q.x, q.y, q.z, q.w};

#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int j = 0; j < 4; j++)
					sums[i][j] = __dp4a(ps[i], qs[j], sums[i][j]);
		}
	}
	for (int i = 0; i < 4; i++)
		*(int4 *)(c + (blockIdx.y * 64 + ty + i) * n + blockIdx.x * 64 + tx) =
		        make_int4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}

/* ---- grids, rows and tiles */

__global__ void stencil_5(const float *__restrict__ in, float *__restrict__ out, unsigned n)
{
	unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = y * n + x;

	if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
		out[i] = 0.6f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}
static __device__ __forceinline__ unsigned padded(unsigned i) { return i + i / 32; }
/* Exclusive prefix sums of rows, a row a block of 512 threads; 1024 divides `columns`. */
__global__ void scan_rows(const float *__restrict__ in, float *__restrict__ out, unsigned columns)
{
	__shared__ float tile[1024 + 32];
	const float *from = in + blockIdx.x * columns;
	float *to = out + blockIdx.x * columns, x, y, before = 0;
	unsigned t = threadIdx.x;

	x = from[t];
	y = from[t + 512];
	for (unsigned start = 0; start < columns; start += 1024) {
		unsigned offset = 1;
		float sum;

		tile[padded(t)] = x;
		tile[padded(t + 512)] = y;
		if (start + 1024 < columns) {
			x = from[start + 1024 + t];
			y = from[start + 1024 + t + 512];
		}
		for (unsigned d = 512; d; d /= 2, offset *= 2) {
			__syncthreads();
			if (t < d)
				tile[padded(offset * (2 * t + 2) - 1)] +=
				        tile[padded(offset * (2 * t + 1) - 1)];
		}
		__syncthreads();
		sum = tile[padded(1023)];
		__syncthreads();
		if (t == 0)
			tile[padded(1023)] = 0;
		for (unsigned d = 1; d < 1024; d *= 2) {
			offset /= 2;
			__syncthreads();
			if (t < d) {
				unsigned left = padded(offset * (2 * t + 1) - 1);
				unsigned right = padded(offset * (2 * t + 2) - 1);
				float kept = tile[left];

				tile[left] = tile[right];
				tile[right] += kept;
			}
		}
		__syncthreads();
		to[start + t] = before + tile[padded(t)];
		to[start + t + 512] = before + tile[padded(t + 512)];
		before += sum;
	}
}
/* Two-dimensional prefix sums of tiles of 32 x 32; a tile is a block of 32 threads. */
__global__ void integral_tiles(const float *__restrict__ in, float *__restrict__ out, unsigned n)
{
	__shared__ float tile[32][32];
	unsigned t = threadIdx.x, corner = blockIdx.y * 32 * n + blockIdx.x * 32;
	float sum = 0;

	for (int y = 0; y < 32; y++)
		tile[y][t] = in[corner + y * n + t];
	__syncwarp();
#pragma unroll 1
	for (int x = 0; x < 32; x++) {
		sum += tile[t][x];
		tile[t][x] = sum;
	}
	__syncwarp();
	sum = 0;
	for (int y = 0; y < 32; y++) {
		sum += tile[y][t];
		out[corner + y * n + t] = sum;
	}
}
/* Rows of 768, a row a block of 256 threads. */
__global__ void layernorm_small(const float *__restrict__ in, float *__restrict__ out)
{
	__shared__ float mean, scale;
	float x[3], sum;

	for (int i = 0; i < 3; i++)
		x[i] = in[blockIdx.x * 768 + i * 256 + threadIdx.x];
	sum = block_sum(x[0] + x[1] + x[2]);
	if (threadIdx.x == 0)
		mean = sum / 768;
	__syncthreads();
	for (int i = 0; i < 3; i++)
		x[i] -= mean;
	sum = block_sum(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
	if (threadIdx.x == 0)
		scale = rsqrtf(sum / 768 + 1e-5f);
	__syncthreads();
	for (int i = 0; i < 3; i++)
		out[blockIdx.x * 768 + i * 256 + threadIdx.x] = x[i] * scale;
}
/* Mean and variance of the planes of an image, a plane a block. */
__global__ void three_channels(const float *__restrict__ in, float *__restrict__ out, unsigned n)
{
	const float *plane = in + blockIdx.x * n;
	float sum = 0, squares = 0;

	for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
		sum += plane[i];
		squares += plane[i] * plane[i];
	}
	sum = block_sum(sum);
	squares = block_sum(squares);
	if (threadIdx.x == 0) {
		out[blockIdx.x * 2] = sum / n;
		out[blockIdx.x * 2 + 1] = squares / n - sum / n * (sum / n);
	}
}
/* Sums of segments, a segment a block. */
__global__ void segment_sum(const float *__restrict__ in, const unsigned *__restrict__ starts,
                            float *__restrict__ out)
{
	unsigned end = starts[blockIdx.x + 1];
	float sum = 0;

	for (unsigned i = starts[blockIdx.x] + threadIdx.x; i < end; i += blockDim.x)
		sum += in[i];
	sum = block_sum(sum);
	if (threadIdx.x == 0)
		out[blockIdx.x] = sum;
}

/* ---- simulation */

/* 128 divides `n`, and a block has 128 threads. */
__global__ void nbody(const float4 *__restrict__ bodies, float4 *__restrict__ forces, unsigned n)
{
	__shared__ float4 tile[128];
	float4 me = bodies[thread_number()];
	float x = 0, y = 0, z = 0;

	for (unsigned start = 0; start < n; start += 128) {
		__syncthreads();
		tile[threadIdx.x] = bodies[start + threadIdx.x];
		__syncthreads();
#pragma unroll 16
		for (int i = 0; i < 128; i++) {
			float4 other = tile[i];
			float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
			float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
			float f = other.w * r * r * r;

			x += dx * f;
			y += dy * f;
			z += dz * f;
		}
	}
	forces[thread_number()] = make_float4(x, y, z, 0);
}
/* Of the places in k space that an image was sampled at, a place and its weight. */
#define SAMPLES 2048
__constant__ float4 samples[SAMPLES];
__global__ void mri_q(const float4 *__restrict__ voxels, float2 *__restrict__ out)
{
	float4 v = voxels[thread_number()];
	float real = 0, imaginary = 0;

#pragma unroll 8
	for (int i = 0; i < SAMPLES; i++) {
		float4 s = samples[i];
		float sine, cosine;

		__sincosf(s.x * v.x + s.y * v.y + s.z * v.z, &sine, &cosine);
		real += s.w * cosine;
		imaginary += s.w * sine;
	}
	out[thread_number()] = make_float2(real, imaginary);
}
/* The samples come through L1: then the pipe of sine and cosine should be the limit. */
__global__ void mri_q_eased(const float4 *__restrict__ voxels, const float4 *__restrict__ from, float2 *__restrict__ out)
{
	float4 v = voxels[thread_number()];
	float real = 0, imaginary = 0;

#pragma unroll 8
	for (int i = 0; i < SAMPLES; i++) {
		float4 s = __ldg(&from[i]);
		float sine, cosine;

		__sincosf(s.x * v.x + s.y * v.y + s.z * v.z, &sine, &cosine);
		real += s.w * cosine;
		imaginary += s.w * sine;
	}
	out[thread_number()] = make_float2(real, imaginary);
}
static __device__ __forceinline__ unsigned xorshift(unsigned &x)
{
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}
static __device__ __forceinline__ float fraction(unsigned x)
{
	return __uint_as_float(0x3f800000u | x >> 9) - 1;
}
__global__ void monte_carlo(unsigned *out, unsigned samples_each)
{
	unsigned state = mix(thread_number() + 1) | 1, inside = 0;

	for (unsigned i = 0; i < samples_each; i++) {
		float x = fraction(xorshift(state)), y = fraction(xorshift(state));

		inside += x * x + y * y < 1;
	}
	out[thread_number()] = inside;
}
/* The area of the Mandelbrot set, from random points. */
__global__ void mandelbrot_area(unsigned *out, unsigned samples_each, unsigned most)
{
	unsigned state = mix(thread_number() + 1) | 1, inside = 0;

	for (unsigned i = 0; i < samples_each; i++) {
		double cx = xorshift(state) * (2.5 / 4294967296.) - 2;
		double cy = xorshift(state) * (1.25 / 4294967296.), x = 0, y = 0;
		unsigned n = 0;

		while (n < most && x * x + y * y < 4) {
			double kept = x * x - y * y + cx;

			y = 2 * x * y + cy;
			x = kept;
			n++;
		}
		inside += n == most;
	}
	out[thread_number()] = inside;
}
/* y' = rate y (1 - y), a start value a thread. */
__global__ void logistic_rk4(const float *__restrict__ in, float *__restrict__ out, unsigned steps,
                             float rate, float h)
{
	float y = in[thread_number()];

	for (unsigned i = 0; i < steps; i++) {
		float k1 = rate * y * (1 - y), y2 = y + h / 2 * k1;
		float k2 = rate * y2 * (1 - y2), y3 = y + h / 2 * k2;
		float k3 = rate * y3 * (1 - y3), y4 = y + h * k3;
		float k4 = rate * y4 * (1 - y4);

		y += h / 6 * (k1 + 2 * (k2 + k3) + k4);
	}
	out[thread_number()] = y;
}

/* ---- tables, lists and text */

__global__ void histogram_global(const float *__restrict__ in, unsigned *bins, unsigned n)
{
	for (unsigned i = thread_number(); i < n; i += thread_count())
		atomicAdd(&bins[(unsigned)(in[i] * 16) & 15], 1);
}
/* A warp a row; `x` has at least as many numbers as the columns say. */
__global__ void spmv_random(const unsigned *__restrict__ starts, const unsigned *__restrict__ columns,
                            const float *__restrict__ values, const float *__restrict__ x,
                            float *__restrict__ y, unsigned rows)
{
	unsigned row = thread_number() / 32, lane = threadIdx.x % 32;
	float sum = 0;

	if (row >= rows)
		return;
	for (unsigned i = starts[row] + lane; i < starts[row + 1]; i += 32)
		sum += values[i] * x[columns[i]];
	sum = warp_sum(sum);
	if (lane == 0)
		y[row] = sum;
}
__constant__ unsigned boxes[4][256];
__global__ void substitute(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned rounds)
{
	unsigned x = in[thread_number()];

	for (unsigned i = 0; i < rounds; i++)
		x = boxes[0][x & 255] ^ boxes[1][x >> 8 & 255] ^ boxes[2][x >> 16 & 255] ^
		    boxes[3][x >> 24] ^ i;
	out[thread_number()] = x;
}
/* The table has 1 << 22 places, of which half are 0, for free. */
__global__ void hash_probe(const unsigned *__restrict__ keys, const unsigned *__restrict__ table,
                           unsigned *__restrict__ out, unsigned n)
{
	unsigned found = 0;

	for (unsigned i = thread_number(); i < n; i += thread_count()) {
		unsigned key = keys[i] & ~1u, place = mix(key) >> 10, there;

		while ((there = table[place]) != 0 && there != key)
			place = (place + 1) & ((1u << 22) - 1);
		found += there != 0;
	}
	out[thread_number()] = found;
}
struct node {
	unsigned next;
	float weight;
	unsigned name[2];
};
__global__ void list_walk(const struct node *__restrict__ nodes, float *__restrict__ out,
                          unsigned mask, unsigned steps)
{
	unsigned at = mix(thread_number()) & mask;
	float sum = 0;

	for (unsigned i = 0; i < steps; i++) {
		uint2 n = *(const uint2 *)&nodes[at];

		sum += __uint_as_float(n.y);
		at = n.x;
	}
	out[thread_number()] = sum + at;
}
struct particle {
	float x, y, z, mass, vx, vy, vz, kind;
};
__global__ void aos_member(const struct particle *__restrict__ in, float *__restrict__ out, unsigned n)
{
	float sum = 0;

	for (unsigned i = thread_number(); i < n; i += thread_count())
		sum += in[i].mass;
	out[thread_number()] = sum;
}
struct queue {
	unsigned lock, head;
	float sum;
};
/* Blocks take pieces of 128 numbers from a queue that a lock guards, until it is empty. */
__global__ void locked_queue(struct queue *queue, const float *__restrict__ in, float *__restrict__ out,
                             unsigned pieces)
{
	__shared__ unsigned piece;
	float sum = 0;

	for (;;) {
		if (threadIdx.x == 0) {
			while (atomicCAS(&queue->lock, 0, 1) != 0)
				;
			__threadfence();
			piece = *(volatile unsigned *)&queue->head;
			*(volatile unsigned *)&queue->head = piece + 1;
			*(volatile float *)&queue->sum = *(volatile float *)&queue->sum + sum;
			__threadfence();
			atomicExch(&queue->lock, 0);
		}
		__syncthreads();
		if (piece >= pieces)
			break;
		sum = in[piece * 128 + threadIdx.x];
		out[piece * 128 + threadIdx.x] = sqrtf(sum);
		sum = block_sum(sum);
		__syncthreads();
	}
}
/* The edit distances of a word a thread and one text. */
#define TEXT 128
__global__ void edit_distance(const unsigned char *__restrict__ words,
                              const unsigned char *__restrict__ text, int *__restrict__ out,
                              unsigned length)
{
	int row[TEXT + 1];

#pragma unroll 1
	for (int j = 0; j <= TEXT; j++)
		row[j] = j;
#pragma unroll 1
	for (unsigned i = 0; i < length; i++) {
		int corner = i, left = i + 1, letter = words[i * thread_count() + thread_number()] & 3;

		row[0] = left;
#pragma unroll 4
		for (int j = 1; j <= TEXT; j++) {
			int up = row[j];

			left = min(min(left, up) + 1, corner + (letter != (text[j - 1] & 3)));
			corner = up;
			row[j] = left;
		}
	}
	out[thread_number()] = row[TEXT];
}
/* `host` is memory of the host, which has `mask` + 1 numbers. */
__global__ void gather_host(const unsigned *host, unsigned *out, unsigned mask, unsigned each)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < each; i++)
		sum += host[mix(i * thread_count() + thread_number()) & mask];
	out[thread_number()] = sum;
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
/* Device memory with the `size` bytes at `from`, which are freed. */
static void *moved(void *from, size_t size)
{
	void *memory = device(size);

	CHECK(cudaMemcpy(memory, from, size, cudaMemcpyHostToDevice));
	free(from);
	return memory;
}
static unsigned next_random()
{
	static unsigned x = 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	return x ^= x << 5;
}
/* `n` numbers from 0 to 1. */
static float *random_floats(size_t n)
{
	float *memory = (float *)malloc(n * sizeof *memory);

	for (size_t i = 0; i < n; i++)
		memory[i] = (next_random() >> 8) / 16777216.f;
	return (float *)moved(memory, n * sizeof *memory);
}
static unsigned *random_below(size_t n, unsigned mask)
{
	unsigned *memory = (unsigned *)malloc(n * sizeof *memory);

	for (size_t i = 0; i < n; i++)
		memory[i] = next_random() & mask;
	return (unsigned *)moved(memory, n * sizeof *memory);
}
static unsigned *random_table(size_t n)
{
	unsigned *memory = (unsigned *)malloc(n * sizeof *memory);

	for (size_t i = 0; i < n; i++)
		memory[i] = next_random() >> 31 ? next_random() | 1 : 0;
	return (unsigned *)moved(memory, n * sizeof *memory);
}
/* One list of all of `n` nodes, a power of two, in an order that looks random. */
static struct node *random_list(unsigned n)
{
	struct node *memory = (struct node *)malloc(n * sizeof *memory);

	for (unsigned i = 0; i < n; i++) {
		memory[i].next = (i * 1664525u + 1013904223u) & (n - 1);
		memory[i].weight = 1;
		memory[i].name[0] = memory[i].name[1] = i;
	}
	return (struct node *)moved(memory, n * sizeof *memory);
}
/* Where `n` rows of `each` start, but row `longer` has `many`. */
static unsigned *row_starts(unsigned n, unsigned each, unsigned longer, unsigned many)
{
	unsigned *memory = (unsigned *)malloc((n + 1) * sizeof *memory), at = 0;

	for (unsigned i = 0; i <= n; i++) {
		memory[i] = at;
		at += i == longer ? many : each;
	}
	return (unsigned *)moved(memory, (n + 1) * sizeof *memory);
}
static void fill_constants()
{
	static float4 places[SAMPLES];
	static unsigned words[4][256];

	for (int i = 0; i < SAMPLES; i++)
		places[i] = make_float4(next_random() >> 26, next_random() >> 26, next_random() >> 26, 1);
	for (int i = 0; i < 4 * 256; i++)
		words[i / 256][i % 256] = next_random();
	CHECK(cudaMemcpyToSymbol(samples, places, sizeof places));
	CHECK(cudaMemcpyToSymbol(boxes, words, sizeof words));
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

/* `a` and `b` have 64 Mi numbers. */
static void run_dense(const float *a, float *b)
{
	const unsigned n = 8192, small = 2048;

	RUN(transpose_naive, dim3(n / 32, n / 32), dim3(32, 32), 0, a, b, n);
	RUN(sgemm_naive, dim3(small / 32, small / 32), dim3(32, 32), 0, a, a + small * small, b, small);
	RUN(sgemm_tiled, dim3(small / 32, small / 32), dim3(32, 32), 0, a, a + small * small, b, small);
	RUN(dot_int8, dim3(small / 64, small / 64), 256, 0, (const int *)a,
	    (const int *)a + small * small, (int *)b, small, small / 4);
	RUN(stencil_5, dim3(n / 32, n / 8), dim3(32, 8), 0, a, b, n);
	RUN(integral_tiles, dim3(n / 32, n / 32), 32, 0, a, b, n);
}
static void run_rows(const float *a, float *b)
{
	const unsigned segments = 2048;
	static unsigned *starts;

	starts = starts ? starts : row_starts(segments, 4096, 700, 1 << 20);
	/* 1 << 17 numbers a row, for at most 512 rows */
	RUN(scan_rows, min(sms, 512), 512, 0, a, b, 1u << 17);
	RUN(layernorm_small, 24, 256, 0, a, b);
	RUN(three_channels, 3, 1024, 0, a, b, 2u << 20);
	RUN(segment_sum, segments, 256, 0, a, starts, b);
}
static void run_simulations(const float *a, float *b)
{
	RUN(nbody, sms * 4, 128, 0, (const float4 *)a, (float4 *)b, (unsigned)sms * 512);
	RUN(mri_q, sms * 8, 256, 0, (const float4 *)a, (float2 *)b);
	RUN(mri_q_eased, sms * 8, 256, 0, (const float4 *)a, (const float4 *)a, (float2 *)b);
	RUN(monte_carlo, sms * 8, 256, 0, (unsigned *)b, 2000);
	RUN(mandelbrot_area, sms * 8, 256, 0, (unsigned *)b, 4, 512);
	RUN(logistic_rk4, sms, 128, 0, a, b, 8000, 1.5f, 0.001f);
}
static void run_tables(const float *a, float *b)
{
	const unsigned rows = 1 << 20, numbers = 64 << 20, nodes = 32 << 20, in_host = 16 << 20;
	static unsigned *starts, *columns, *table, *bins, *host;
	static float *values;
	static struct node *list;
	static struct queue *queue;

	if (!starts) {
		starts = row_starts(rows, 32, rows, 0);
		columns = random_below(rows * 32, numbers - 1);
		values = random_floats(rows * 32);
		table = random_table(1 << 22);
		list = random_list(nodes);
		bins = (unsigned *)device(16 * sizeof *bins);
		queue = (struct queue *)device(sizeof *queue);
		CHECK(cudaHostAlloc(&host, in_host * sizeof *host, cudaHostAllocMapped));
		memset(host, 1, in_host * sizeof *host);
	}
	CHECK(cudaMemset(queue, 0, sizeof *queue));
	RUN(histogram_global, sms * 8, 256, 0, a, bins, 4u << 20);
	RUN(spmv_random, rows / 8, 256, 0, starts, columns, values, a, b, rows);
	RUN(substitute, sms * 8, 256, 0, columns, (unsigned *)b, 64);
	RUN(hash_probe, sms * 8, 256, 0, columns, table, (unsigned *)b, 16u << 20);
	RUN(list_walk, sms, 64, 0, list, b, nodes - 1, 400);
	RUN(aos_member, sms * 8, 256, 0, (const struct particle *)a, b, 8u << 20);
	RUN(locked_queue, sms, 128, 0, queue, a, b, 1024);
	RUN(edit_distance, sms * 4, 256, 0, (const unsigned char *)columns, (const unsigned char *)table,
	    (int *)b, 32);
	RUN(gather_host, sms * 4, 256, 0, host, (unsigned *)b, in_host - 1, 4);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	cudaDeviceProp device_facts;
	float *a, *b;

	only = argc > 2 ? argv[2] : NULL;
	CHECK(cudaGetDeviceProperties(&device_facts, 0));
	sms = device_facts.multiProcessorCount;
	a = random_floats(64 << 20);
	b = (float *)device((size_t)(64 << 20) * sizeof *b);
	fill_constants();
	for (int i = 0; i < times; i++) {
		run_dense(a, b);
		run_rows(a, b);
		run_simulations(a, b);
		run_tables(a, b);
	}
	return 0;
}
