/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: occupancy [launch] COUNT
 * Prints a line for each of COUNT launches with different registers, shared memory, carveouts and
 * clusters: what offpeak needs to compute their occupancy, and what CUDA says it is. With `launch`
 * it launches them, too.
 * tests/occupancy_rows reads the lines.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error = (call);                                                        \
		if (error != cudaSuccess) {                                                        \
			fprintf(stderr, "occupancy: line %d: %s\n", __LINE__,                      \
			        cudaGetErrorString(error));                                        \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* ---- kernels: LIVE values in registers, BYTES of static shared memory */

template <int LIVE, int BYTES> __global__ void holds(float *data, int rounds)
{
	__shared__ float shared[BYTES / 4 + 1];
	float values[LIVE];

	for (int i = 0; i < LIVE; i++)
		values[i] = data[i * blockDim.x + threadIdx.x];
	if (BYTES) {
		shared[threadIdx.x % (BYTES / 4 + 1)] = values[0];
		__syncthreads();
		values[0] += shared[(threadIdx.x + 1) % (BYTES / 4 + 1)];
	}
	for (int round = 0; round < rounds; round++)
#pragma unroll
		for (int i = 0; i < LIVE; i++)
			values[i] = values[i] * values[(i + 1) % LIVE] + values[(i + 7) % LIVE];
	for (int i = 0; i < LIVE; i++)
		data[i * blockDim.x + threadIdx.x] = values[i];
}

/* All 16 barriers of a block: which one is known when it runs. */
__global__ void waits(int barrier)
{
	asm volatile("bar.sync %0;" ::"r"(barrier));
}

struct kernel {
	const void *function;
	int barriers, registers, static_bytes, most_threads;
};
static std::vector<kernel> kernels;

static void add_kernel(const void *function, int barriers)
{
	cudaFuncAttributes attributes;

	CHECK(cudaFuncGetAttributes(&attributes, function));
	kernels.push_back({ function, barriers, attributes.numRegs, (int)attributes.sharedSizeBytes,
	                    attributes.maxThreadsPerBlock });
}

template <int LIVE> static void add_sizes()
{
	add_kernel((const void *)holds<LIVE, 0>, 1);
	add_kernel((const void *)holds<LIVE, 1000>, 1);
	add_kernel((const void *)holds<LIVE, 20000>, 1);
	add_kernel((const void *)holds<LIVE, 49000>, 1);
}

template <int... STEPS> static void add_kernels(std::integer_sequence<int, STEPS...>)
{
	(add_sizes<1 + 6 * STEPS>(), ...);
	add_kernel((const void *)waits, 16);
}

/* ---- launches */

struct request {
	const kernel *of;
	int threads, dynamic_bytes, carveout, cluster;
};

static unsigned long long state = 88172645463325252ull;

static unsigned random_below(unsigned most)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % most);
}

/* Every third launch has no dynamic shared memory, and every fourth one that may has clusters. */
static request random_request(const cudaDeviceProp &device)
{
	request r;
	int room;

	r.of = &kernels[random_below((unsigned)kernels.size())];
	r.threads = 1 + (int)random_below(1024);
	room = (int)device.sharedMemPerBlockOptin - r.of->static_bytes;
	r.dynamic_bytes = random_below(3) ? (int)random_below((unsigned)room + 1) >> random_below(8)
	                                  : 0;
	r.carveout = random_below(3) ? (int)random_below(101) : -1;
	r.cluster = device.major >= 9 && !random_below(4) ? 2 << random_below(4) : 1;
	return r;
}

static void set_attributes(const request &r)
{
	const void *function = r.of->function;

	CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
	                           r.dynamic_bytes));
	CHECK(cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
	                           r.carveout));
	if (r.cluster > 1)
		CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed,
		                           1));
}

static cudaLaunchConfig_t config_of(const request &r, cudaLaunchAttribute *attribute)
{
	cudaLaunchConfig_t config = {};

	config.gridDim = dim3((unsigned)r.cluster);
	config.blockDim = dim3((unsigned)r.threads);
	config.dynamicSmemBytes = (size_t)r.dynamic_bytes;
	attribute->id = cudaLaunchAttributeClusterDimension;
	attribute->val.clusterDim.x = (unsigned)r.cluster;
	attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
	config.attrs = attribute;
	config.numAttrs = r.cluster > 1;
	return config;
}

/* -1: CUDA does not say. */
static int ask_blocks(const request &r)
{
	int blocks;

	if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, r.of->function, r.threads,
	                                                  (size_t)r.dynamic_bytes)
	    == cudaSuccess)
		return blocks;
	cudaGetLastError();
	return -1;
}

static int ask_clusters(const request &r)
{
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = config_of(r, &attribute);
	int clusters;

	if (r.cluster < 2)
		return -1;
	if (cudaOccupancyMaxActiveClusters(&clusters, r.of->function, &config) == cudaSuccess)
		return clusters;
	cudaGetLastError();
	return -1;
}

static void launch(const request &r)
{
	static float *data;
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = config_of(r, &attribute);
	int zero = 0;
	void *of_holds[] = { &data, &zero }, *of_waits[] = { &zero };

	if (!data)
		CHECK(cudaMalloc(&data, 256 * 1024 * sizeof *data));
	CHECK(cudaLaunchKernelExC(&config, r.of->function, r.of->barriers > 1 ? of_waits : of_holds));
}

static void print_launch(const request &r, const cudaDeviceProp &device, int blocks, int clusters)
{
	printf("%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", device.major, device.minor,
	       device.multiProcessorCount, r.threads, r.of->registers, r.of->static_bytes,
	       r.dynamic_bytes, r.carveout, r.cluster, r.of->barriers, blocks, clusters);
}

int main(int argc, char **argv)
{
	bool launches = argc > 2 && !strcmp(argv[1], "launch");
	int count = argc > 1 ? atoi(argv[argc - 1]) : 0;
	cudaDeviceProp device;

	CHECK(cudaGetDeviceProperties(&device, 0));
	add_kernels(std::make_integer_sequence<int, 40>());
	printf("major\tminor\tsms\tthreads\tregisters\tstatic\tdynamic\tcarveout\tcluster\tbarriers"
	       "\tblocks\tclusters\n");
	for (int i = 0; i < count;) {
		request r = random_request(device);
		int blocks, clusters;

		set_attributes(r);
		blocks = ask_blocks(r);
		clusters = ask_clusters(r);
		if (launches && (blocks < 1 || (r.cluster > 1 && clusters < 1)))
			continue;
		print_launch(r, device, blocks, clusters);
		if (launches)
			launch(r);
		i++;
	}
	CHECK(cudaDeviceSynchronize());
	return 0;
}
