// Many launches of a kernel of about 10 us.
#include <cstdio>
#include <cstdlib>
#include <chrono>
__global__ void spin(float *x, int steps) { float v = x[threadIdx.x]; for (int i = 0; i < steps; i++) v = v * 1.0001f + 0.5f; x[threadIdx.x] = v; }
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000; float *x; 
  auto t00 = std::chrono::steady_clock::now();
  cudaMalloc(&x, 4096); cudaMemset(x, 0, 4096);
  spin<<<132, 256>>>(x, 3000); cudaDeviceSynchronize();
  auto t0 = std::chrono::steady_clock::now();
  for (int i = 0; i < n; i++) spin<<<132, 256>>>(x, 3000);
  cudaError_t e = cudaDeviceSynchronize();
  auto t1 = std::chrono::steady_clock::now();
  printf("%d launches %.3f us each, setup %.3f s, %s\n", n, std::chrono::duration<double>(t1 - t0).count() * 1e6 / n, std::chrono::duration<double>(t0 - t00).count(), cudaGetErrorString(e));
}
