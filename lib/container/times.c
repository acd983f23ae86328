/* SPDX-License-Identifier: BSD-2-Clause */
/* The TIME sections: when each sample was, on the host's clock. */
#include "container/container.h"

enum { HEADER_SIZE = 8, ENTRY_SIZE = 16 };

struct opk_time_storage {
	struct opk_time *times;
	size_t count;
};

/*
 * Samples follow upon each other and last equally long, so gap and length are small and repeat:
 * that deflates. Differences wrap around, which reading undoes.
 */
void opk_times_encode(struct opk_buf *out, const struct opk_time *times, size_t count)
{
	uint64_t end = 0;

	opk_buf_add_u64(out, count ? (uint64_t)times[0].device : 0);
	for (size_t i = 0; i < count; i++) {
		opk_buf_add_u64(out, times[i].start - end);
		opk_buf_add_u64(out, times[i].end - times[i].start);
		end = times[i].end;
	}
}

size_t opk_times_count(uint64_t size)
{
	return (size_t)(size / ENTRY_SIZE);
}

static void decode(struct opk_time *times, size_t count, const void *data, size_t size)
{
	struct opk_reader reader = { .data = data, .left = size };
	int64_t device = (int64_t)opk_read_u64(&reader);
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		times[i].device = device;
		times[i].start = end + opk_read_u64(&reader);
		times[i].end = times[i].start + opk_read_u64(&reader);
		end = times[i].end;
	}
}

static int add_section(struct opk_time_storage *storage, struct opk_ctx *ctx,
                       const struct opk_file *file, size_t section)
{
	opk_autofree void *data = NULL;
	struct opk_time *grown;
	size_t size, count;
	int code = opk_file_read(&data, &size, ctx, file, section);

	if (code)
		return code;
	if (size % ENTRY_SIZE != HEADER_SIZE) {
		opk_fail(ctx, OPK_EINPUT, "the times of the samples are no whole entries");
		return opk_file_add_place(ctx, OPK_EINPUT, file, section);
	}
	count = opk_times_count(size);
	if (!count)
		return OPK_OK;
	grown = opk_realloc_array(storage->times, storage->count + count, sizeof *grown);
	if (!grown)
		return opk_nomem(ctx, "times of samples");
	storage->times = grown;
	decode(grown + storage->count, count, data, size);
	storage->count += count;
	return OPK_OK;
}

int opk_file_times(const struct opk_time **times, size_t *count, struct opk_ctx *ctx,
                   struct opk_file *file)
{
	struct opk_time_storage *storage = file->times;
	int code;

	if (!storage) {
		storage = opk_alloc(sizeof *storage);
		code = storage ? OPK_OK : opk_nomem(ctx, "times of samples");
		for (size_t i = 0; !code && i < file->section_count; i++)
			if (file->sections[i].type == OPK_SECTION_TIMES)
				code = add_section(storage, ctx, file, i);
		if (code) {
			opk_time_storage_free(storage);
			return code;
		}
		file->times = storage;
	}
	*times = storage->times;
	*count = storage->count;
	return OPK_OK;
}

void opk_time_storage_free(struct opk_time_storage *storage)
{
	if (!storage)
		return;
	free(storage->times);
	free(storage);
}
