// Steps of nested ranges, by NVTX or by offpeak_range.h, which marks steps 10 to 12, too: steps [nvtx|header] [STEPS]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nvtx3/nvToolsExt.h>
#include "offpeak_range.h"

__global__ void forward(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = x[i] * 0.5f + 1.0f; }
__global__ void backward(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) for (int k = 0; k < 20; k++) x[i] = x[i] * 0.9f + 0.1f; }

static bool header;
static void push(const char *name) { if (header) offpeak_range_push(name); else nvtxRangePushA(name); }
static void pop() { if (header) offpeak_range_pop(); else nvtxRangePop(); }

int main(int argc, char **argv)
{
	header = argc > 1 && !strcmp(argv[1], "header");
	int steps = argc > 2 ? atoi(argv[2]) : 10, n = 1 << 20;
	nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
	float *x;
	cudaMalloc(&x, n * sizeof *x);
	cudaMemset(x, 0, n * sizeof *x);
	for (int step = 0; step < steps; step++) {
		if (header && step == 10)
			offpeak_start();
		if (header && step == 13)
			offpeak_stop();
		push("step");
		push("forward");
		forward<<<n / 256, 256>>>(x, n);
		pop();
		push("back/ward");
		backward<<<n / 256, 256>>>(x, n);
		if (!header) {
			nvtxEventAttributes_t event = { 0 };
			event.version = NVTX_VERSION;
			event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
			event.messageType = NVTX_MESSAGE_TYPE_ASCII;
			event.message.ascii = "update";
			nvtxDomainRangePushEx(domain, &event);
			forward<<<n / 256, 256>>>(x, n);
			nvtxDomainRangePop(domain);
		}
		pop();
		pop();
	}
	cudaError_t error = cudaDeviceSynchronize();
	printf("%d steps: %s\n", steps, cudaGetErrorString(error));
	return error != cudaSuccess;
}
