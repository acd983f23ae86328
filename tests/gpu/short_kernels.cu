// Mixes of kernels of 2 to 200 us: short_kernels MIX [ROUNDS]; without arguments it lists the mixes. In each round each kernel of the mix is launched once,
// in an order that depends on the mix. Rounds are launched back to back after a gate, or one by one with pauses.
// cudaProfilerStart() and cudaProfilerStop() surround them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_profiler_api.h>
#include <time.h>

static const size_t items = (size_t)16 << 20; // of 16 bytes: 256 MiB
static float4 *from, *to;
static float *out;
static unsigned *counts;
static volatile unsigned *gate_of_host;
static unsigned *gate_of_gpu;

// Waits until the host has launched what comes after it.
__global__ void gate(volatile unsigned *open, unsigned number)
{
	while (*open < number) __nanosleep(500);
}

// Many small blocks: what the first wave does is not what later ones do.
__global__ void many_blocks(float *to)
{
	float x = threadIdx.x;

	for (int i = 0; i < 40; i++) x = x * 1.0001f + (float)blockIdx.x;
	if (x == 12345) *to = x;
}

__global__ void many_blocks_more(float *to)
{
	float x = threadIdx.x;

	for (int i = 0; i < 300; i++) x = x * 1.0001f + (float)blockIdx.x;
	if (x == 12345) *to = x;
}

// Copies KB from a place that moves on, so that it is not in L2.
template <int KB>
__global__ void copy(float4 *to, const float4 *from, size_t first, size_t all)
{
	size_t n = (size_t)KB * 64, threads = (size_t)gridDim.x * blockDim.x;

	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
		to[(first + i) % all] = from[(first + i) % all];
}

template <int KB>
__global__ void sum_up(float *to, const float4 *from, size_t first, size_t all)
{
	size_t n = (size_t)KB * 64, threads = (size_t)gridDim.x * blockDim.x;
	float sum = 0;

	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
		float4 x = from[(first + i) % all];
		sum += x.x + x.y + x.z + x.w;
	}
	for (int i = 16; i; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
	if (sum == 12345) *to = sum;
}

// About US us of arithmetic in each block.
template <int US>
__global__ void arithmetic(float *to)
{
	float x = threadIdx.x, y = blockIdx.x;

	for (int i = 0; i < US * 212; i++) x = x * 1.0001f + y;
	if (x == 12345) *to = x;
}

// Blocks of very different lengths: the last ones run alone for long.
template <int US>
__global__ void uneven(float *to)
{
	float x = threadIdx.x;

	for (int i = 0; i < (int)(blockIdx.x % 37) * US * 8; i++) x = x * 1.0001f + 1;
	if (x == 12345) *to = x;
}

// A few blocks only.
template <int US>
__global__ void few(float *to)
{
	float x = threadIdx.x;

	for (int i = 0; i < US * 350; i++) x = x * 1.0001f + 1;
	if (x == 12345) *to = x;
}

__global__ void histogram(unsigned *counts, const float4 *from, size_t first, size_t all)
{
	__shared__ unsigned bins[256];

	bins[threadIdx.x] = 0;
	__syncthreads();
	for (int i = 0; i < 32; i++) {
		size_t at = first + ((size_t)blockIdx.x * 32 + i) * 256 + threadIdx.x;
		atomicAdd(&bins[((unsigned)at * 2654435761u + (unsigned)from[at % all].x) >> 24], 1);
	}
	__syncthreads();
	atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// Three phases: reads, arithmetic, writes.
__global__ void phases(float4 *to, const float4 *from, size_t first, size_t all)
{
	size_t threads = (size_t)gridDim.x * blockDim.x, me = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	float4 x = { 0, 0, 0, 0 };

	for (int i = 0; i < 16; i++) {
		float4 y = from[(first + i * threads + me) % all];
		x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
	}
	for (int i = 0; i < 3000; i++) x.x = x.x * 1.0001f + x.y;
	for (int i = 0; i < 8; i++) to[(first + i * threads + me) % all] = x;
}

// A matrix product of 1024 by 1024 by DEPTH, in tiles.
template <int DEPTH>
__global__ void product(float *c, const float *a, const float *b)
{
	__shared__ float as[32][33], bs[32][33];
	int x = threadIdx.x, y = threadIdx.y, n = 1024;
	float sum = 0;

	for (int k = 0; k < DEPTH; k += 32) {
		as[y][x] = a[(blockIdx.y * 32 + y) * n + k + x];
		bs[y][x] = b[(k + y) * n + blockIdx.x * 32 + x];
		__syncthreads();
		for (int i = 0; i < 32; i++) sum += as[y][i] * bs[i][x];
		__syncthreads();
	}
	c[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x] = sum;
}

static unsigned random_state = 12345;

static unsigned draw(unsigned n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

enum kernel { MANY, MANY_MORE, COPY_1M, COPY_8M, COPY_32M, COPY_96M, SUM_4M, SUM_64M, SUM_256M, FMA_3, FMA_10, FMA_40,
	FMA_150, UNEVEN_8, UNEVEN_40, FEW_3, FEW_30, HISTOGRAM, PHASES, PRODUCT_64, PRODUCT_1024, GRIDS };

static size_t place;

static void launch(enum kernel kernel, cudaStream_t stream)
{
	const float *a = (const float *)from, *b = a + (1 << 20);
	size_t first = place, all = items;

	place = (place + ((size_t)6 << 20)) % items;
	switch (kernel) {
	case MANY: many_blocks<<<4096, 64, 0, stream>>>(out); break;
	case MANY_MORE: many_blocks_more<<<16384, 128, 0, stream>>>(out); break;
	case COPY_1M: copy<1024><<<256, 256, 0, stream>>>(to, from, first, all); break;
	case COPY_8M: copy<8192><<<2048, 256, 0, stream>>>(to, from, first, all); break;
	case COPY_32M: copy<32768><<<528, 512, 0, stream>>>(to, from, first, all); break;
	case COPY_96M: copy<98304><<<8192, 512, 0, stream>>>(to, from, first, all); break;
	case SUM_4M: sum_up<4096><<<264, 512, 0, stream>>>(out, from, first, all); break;
	case SUM_64M: sum_up<65536><<<4096, 256, 0, stream>>>(out, from, first, all); break;
	case SUM_256M: sum_up<262144><<<1056, 512, 0, stream>>>(out, from, first, all); break;
	case FMA_3: arithmetic<3><<<264, 512, 0, stream>>>(out); break;
	case FMA_10: arithmetic<10><<<264, 512, 0, stream>>>(out); break;
	case FMA_40: arithmetic<40><<<264, 512, 0, stream>>>(out); break;
	case FMA_150: arithmetic<150><<<264, 512, 0, stream>>>(out); break;
	case UNEVEN_8: uneven<8><<<1320, 256, 0, stream>>>(out); break;
	case UNEVEN_40: uneven<40><<<2000, 256, 0, stream>>>(out); break;
	case FEW_3: few<3><<<16, 128, 0, stream>>>(out); break;
	case FEW_30: few<30><<<40, 256, 0, stream>>>(out); break;
	case HISTOGRAM: histogram<<<512, 256, 0, stream>>>(counts, from, first, all); break;
	case PHASES: phases<<<264, 512, 0, stream>>>(to, from, first, all); break;
	case PRODUCT_64: product<64><<<dim3(32, 32), dim3(32, 32), 0, stream>>>(out, a, b); break;
	case PRODUCT_1024: product<1024><<<dim3(32, 32), dim3(32, 32), 0, stream>>>(out, a, b); break;
	case GRIDS: arithmetic<7><<<66 << draw(4), 256, 0, stream>>>(out); break;
	}
}

enum order { FIXED, PERMUTED, DRAWN };

// pause: the most us between launches; < 0: back to back.
struct mix {
	const char *name;
	enum order order;
	int pause, streams, count;
	enum kernel kernels[12];
};

static const struct mix mixes[] = {
	{ "one", FIXED, 30, 1, 1, { MANY } },
	{ "permuted", PERMUTED, -1, 1, 6, { MANY, COPY_8M, FMA_10, UNEVEN_8, PRODUCT_64, HISTOGRAM } },
	{ "fixed", FIXED, -1, 1, 5, { MANY, SUM_4M, FMA_3, PRODUCT_64, COPY_8M } },
	{ "memory", PERMUTED, -1, 1, 5, { COPY_1M, COPY_32M, COPY_96M, SUM_64M, SUM_256M } },
	{ "long", PERMUTED, -1, 1, 6, { FMA_150, FEW_3, MANY_MORE, SUM_256M, FEW_30, COPY_1M } },
	{ "pauses", PERMUTED, 20, 1, 6, { MANY, SUM_4M, FMA_10, PHASES, UNEVEN_8, FEW_3 } },
	{ "tails", PERMUTED, -1, 1, 5, { UNEVEN_40, UNEVEN_8, PHASES, MANY_MORE, PRODUCT_1024 } },
	{ "grids", DRAWN, -1, 1, 4, { GRIDS, MANY, FMA_3, COPY_8M } },
	{ "streams", PERMUTED, -1, 2, 5, { FEW_30, FEW_3, MANY, FMA_3, COPY_1M } },
	{ "tiny", PERMUTED, -1, 1, 5, { FEW_3, FMA_3, COPY_1M, MANY, SUM_4M } },
	{ "step", FIXED, 5, 1, 12,
	  { SUM_4M, PRODUCT_64, MANY, PRODUCT_1024, COPY_8M, HISTOGRAM, FMA_10, SUM_64M, FEW_3, PHASES, UNEVEN_8, COPY_32M } },
};

// alone0 to alone20: one of the kernels, with pauses, so that its samples are its own.
static struct mix alone = { "alone", FIXED, 60, 1, 1, {} };

static long now()
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void wait_us(int us)
{
	for (long end = now() + us * 1000L; now() < end;)
		;
}

static void run_round(const struct mix *mix, cudaStream_t *streams)
{
	int order[12];

	for (int i = 0; i < mix->count; i++)
		order[i] = mix->order == DRAWN ? (int)draw(mix->count) : i;
	for (int i = mix->count - 1; i > 0 && mix->order == PERMUTED; i--) {
		int j = draw(i + 1), kept = order[i];
		order[i] = order[j];
		order[j] = kept;
	}
	for (int i = 0; i < mix->count; i++) {
		launch(mix->kernels[order[i]], streams[i % mix->streams]);
		if (mix->pause < 0)
			continue;
		cudaDeviceSynchronize();
		wait_us(draw(mix->pause + 1));
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1000, batch;
	const struct mix *mix = NULL;
	cudaStream_t streams[2];
	unsigned gates = 0;

	for (const struct mix &one : mixes) {
		if (argc > 1 && !strcmp(argv[1], one.name)) mix = &one;
		if (argc < 2) puts(one.name);
	}
	if (argc > 1 && !strncmp(argv[1], "alone", 5) && atoi(argv[1] + 5) < GRIDS) {
		alone.kernels[0] = (enum kernel)atoi(argv[1] + 5);
		mix = &alone;
	}
	if (!mix) return argc > 1;
	cudaMalloc(&from, items * 16);
	cudaMalloc(&to, items * 16);
	cudaMalloc(&out, 8 << 20);
	cudaMalloc(&counts, 256 * sizeof *counts);
	cudaMemset(from, 0, items * 16);
	cudaHostAlloc((void **)&gate_of_host, sizeof *gate_of_host, cudaHostAllocMapped);
	cudaHostGetDevicePointer((void **)&gate_of_gpu, (void *)gate_of_host, 0);
	*gate_of_host = 0;
	for (cudaStream_t &stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	for (int i = 0; i < 3; i++) run_round(mix, streams);
	cudaDeviceSynchronize();
	batch = getenv("UNGATED") ? 0 : 240 / mix->count;
	cudaProfilerStart();
	for (int i = 0; i < rounds; i++) {
		bool gated = mix->pause < 0 && batch && i % batch == 0;

		if (gated) {
			cudaDeviceSynchronize();
			gates++;
			for (int j = 0; j < mix->streams; j++) gate<<<1, 1, 0, streams[j]>>>(gate_of_gpu, gates);
		}
		run_round(mix, streams);
		if (mix->pause < 0 && batch && (i % batch == batch - 1 || i == rounds - 1))
			*gate_of_host = gates;
	}
	cudaError_t error = cudaDeviceSynchronize();
	cudaProfilerStop();
	printf("%s, %d rounds: %s\n", mix->name, rounds, cudaGetErrorString(error));
	return error != cudaSuccess;
}
