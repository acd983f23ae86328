/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes and reads TIME sections: start and end of each sample on the host's clock. */
#include "container/container.h"

enum { HEADER_SIZE = 8, ENTRY_SIZE = 16 };

/*
 * Samples follow each other and are equally long. So gaps and lengths are small and repeat, and
 * deflate well. Differences may overflow and wrap around; the reader's sums wrap back.
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

bool opk_times_have_device(int64_t device)
{
	return device >= -1 && device <= INT32_MAX;
}

/* What is wrong with a section; NULL: nothing. */
static const char *find_flaw(const void *data, size_t size)
{
	struct opk_reader reader = { .data = data, .left = size };

	if (size % ENTRY_SIZE != HEADER_SIZE)
		return "the times of the samples are not whole entries";
	return opk_times_have_device((int64_t)opk_read_u64(&reader))
	               ? NULL
	               : "the device of the samples is out of range";
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

int opk_time_table_read(struct opk_time_table *table, struct opk_ctx *ctx,
                        const struct opk_file *file, size_t section)
{
	opk_autofree void *data = NULL;
	uint64_t entries = file->sections[section].plain_size / ENTRY_SIZE;
	struct opk_time *grown;
	size_t size, count;
	const char *flaw;
	int code = opk_table_check(ctx, file, section, entries,
	                           (table->count + entries) * OPK_TIME_WEIGHT);

	if (code)
		return opk_file_add_place(ctx, code, file, section);
	TRY(opk_file_read(&data, &size, ctx, file, section));
	flaw = find_flaw(data, size);
	if (flaw)
		return opk_file_add_place(ctx, opk_fail(ctx, OPK_EINPUT, "%s", flaw), file,
		                          section);
	count = size / ENTRY_SIZE;
	if (!count)
		return OPK_OK;
	grown = opk_realloc_array(table->rows, table->count + count, sizeof *grown);
	if (!grown)
		return opk_nomem(ctx, "times of samples");
	table->rows = grown;
	decode(grown + table->count, count, data, size);
	table->count += count;
	return OPK_OK;
}
