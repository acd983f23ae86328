// Reads 64 MiB of host memory over the bus in each launch: links [LAUNCHES]
#include <cstdio>
#include <cstdlib>

__global__ void fetch(const float *host, float *device) { int i = blockIdx.x * 256 + threadIdx.x; device[i] = host[i] * 2; }

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 12, floats = 1 << 24;
	float *host, *device;

	cudaMallocHost(&host, floats * sizeof *host);
	cudaMalloc(&device, floats * sizeof *device);
	for (int i = 0; i < count; i++)
		fetch<<<floats / 256, 256>>>(host, device);
	printf("links: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
