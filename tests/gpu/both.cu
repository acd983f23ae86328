// Launches kernels on every GPU, from a thread for each: both [LAUNCHES]
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

__global__ void spin(float *x, int steps) { float v = x[threadIdx.x]; for (int i = 0; i < steps; i++) v = v * 1.0001f + 0.5f; x[threadIdx.x] = v; }

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 100, devices = 0;
	cudaGetDeviceCount(&devices);
	std::vector<std::thread> threads;
	for (int device = 0; device < devices; device++)
		threads.emplace_back([=] {
			float *x;
			cudaSetDevice(device);
			cudaMalloc(&x, 4096);
			cudaMemset(x, 0, 4096);
			/* Device 1 gets twice as many as device 0, to tell the devices apart. */
			for (int i = 0; i < count * (device + 1); i++)
				spin<<<132, 256>>>(x, 3000);
			printf("device %d: %s\n", device, cudaGetErrorString(cudaDeviceSynchronize()));
		});
	for (auto &thread : threads)
		thread.join();
}
