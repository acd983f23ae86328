__global__ void scale(float *v, float a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	v[i] = a * v[i];
	v[i + n] = v[i] + a;
}
