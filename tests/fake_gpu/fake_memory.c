/* SPDX-License-Identifier: BSD-2-Clause */
/* Device memory of the fake driver: addresses without memory. */
#include "fake_gpu/fake_driver.h"

enum { MAX_BLOCKS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	CUdeviceptr address;
	size_t bytes;
} blocks[MAX_BLOCKS];
static size_t block_count;

static int allocate(CUdeviceptr *out, size_t bytes)
{
	static CUdeviceptr next = 0x7f0000000000;
	int status = CUDA_ERROR_OUT_OF_MEMORY;

	if (!context_alive(context_current()))
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&lock);
	if (block_count < MAX_BLOCKS) {
		blocks[block_count].address = *out = next;
		blocks[block_count++].bytes = bytes;
		next += bytes;
		status = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
	return DRIVER_CALL(allocate(address, bytes), "%zu", bytes);
}

static bool is_allocated(CUdeviceptr address, size_t bytes)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < block_count; i++)
		found |= address >= blocks[i].address
		         && address + bytes <= blocks[i].address + blocks[i].bytes;
	pthread_mutex_unlock(&lock);
	return found;
}

static int touch(int kind, CUdeviceptr address, size_t bytes, CUstream stream)
{
	if (!context_alive(context_current()))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!is_allocated(address, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream_valid(stream))
		return CUDA_ERROR_INVALID_HANDLE;
	driver_worked((struct fake_work){ .kind = kind,
	                                  .bytes = bytes,
	                                  .stream = stream_id(stream),
	                                  .correlation = driver_correlation() });
	return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t bytes, CUstream stream)
{
	(void)value;
	return DRIVER_CALL(touch(FAKE_SET, address, bytes, stream), "%u %zu", stream_id(stream),
	                   bytes);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr address, const void *data, size_t bytes, CUstream stream)
{
	(void)data;
	return DRIVER_CALL(touch(FAKE_COPY, address, bytes, stream), "%u %zu", stream_id(stream),
	                   bytes);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return DRIVER_CALL(is_allocated(from, bytes) ? touch(FAKE_COPY, to, bytes, stream)
	                                             : CUDA_ERROR_INVALID_VALUE,
	                   "%u %zu", stream_id(stream), bytes);
}
