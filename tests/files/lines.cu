__device__ __forceinline__ float half(float v)
{
	return v > 8 ? v * .5f : v + 3;
}

__global__ void scale(float *v, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	v[i] = a * v[i];
	v[i + n] = half(v[i]) + a;
}

__global__ void shift(float *v, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		v[i] = half(v[i]) + a;
}
