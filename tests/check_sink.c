/* SPDX-License-Identifier: BSD-2-Clause */
/* Output in pieces, to sinks that fail, and with memory that runs out. */
#include <signal.h>
#include <sys/resource.h>

#include "allocation.h"
#include "base/file.h"
#include "rows.h"
#include "testing.h"

/* Takes `left` pieces, then refuses one, then takes again. */
struct sink {
	long left;
	size_t calls, bytes;
};

static int take_some(void *data, const void *bytes, size_t size)
{
	struct sink *sink = data;

	(void)bytes;
	sink->calls++;
	sink->bytes += size;
	return sink->left-- == 0;
}

static struct opk_out *new_out(struct opk_ctx *ctx, enum opk_format format, opk_sink_fn *sink,
                               void *data)
{
	struct opk_out_options options = OPTIONS(options, .format = format);
	struct opk_out *out = NULL;

	ck_ok(ctx, opk_out_new(&out, ctx, &options, sink, data));
	return out;
}

/* 30,000 rows of ten digits: several pieces in each format except tables. */
static int write_much(struct opk_out *out)
{
	static const struct opk_column column = { "c", OPK_CELL_UINT };
	int code = opk_out_table(out, "t", &column, 1);

	for (uint64_t i = 0; !code && i < 30000; i++)
		code = opk_out_row(out, &(union opk_cell){ .uint = 1000000000 + i });
	return code ? code : opk_out_finish(out);
}

CTX_TEST(much_output_comes_in_pieces)
{
	/* Ten digits a row; the header of a table is padded to its column's width. */
	static const size_t wanted[FORMATS] = { 30001 * 11, 2 + 30000 * 11, 30000 * 17 + 29999 + 3,
		                                30000 * 17 };

	for (size_t i = 0; i < FORMATS; i++) {
		struct sink sink = { .left = -1 };
		freed(opk_out) *out = new_out(ctx, (enum opk_format)i, take_some, &sink);

		ck_ok(ctx, write_much(out));
		ck_assert_uint_eq(sink.bytes, wanted[i]);
		ck_assert_uint_gt(sink.calls, i == OPK_FORMAT_TABLE ? 0 : 3);
	}
	opk_out_free(NULL);
}

CTX_TEST(sink_failure)
{
	for (size_t i = 0; i < FORMATS; i++) {
		for (long left = 0; left < (i == OPK_FORMAT_TABLE ? 1 : 3); left++) {
			struct sink sink = { .left = left };
			freed(opk_out) *out = new_out(ctx, (enum opk_format)i, take_some, &sink);

			ck_code(ctx, write_much(out), OPK_EFAILED);
			ck_assert_uint_eq(sink.calls, (size_t)left + 1);
			ck_assert_ptr_nonnull(strstr(errors_of(ctx), "can't write the output"));
		}
	}
}

/* Output with a gap is useless: the last call returns the failure. */
CTX_TEST(sink_failure_sticks)
{
	static const struct opk_column column = { "c", OPK_CELL_UINT };
	struct sink sink = { .left = 1 };
	freed(opk_out) *out = new_out(ctx, OPK_FORMAT_CSV, take_some, &sink);

	ck_ok(ctx, opk_out_table(out, "t", &column, 1));
	for (uint64_t i = 0; i < 30000; i++)
		opk_out_row(out, &(union opk_cell){ .uint = 1000000000 + i });
	ck_code(ctx, opk_out_finish(out), OPK_EFAILED);
	ck_assert_uint_eq(sink.calls, 2);
}

/* The message has the sink's own cause: the file, and the reason. */
CTX_TEST(full_disk_is_told)
{
	char path[] = "/tmp/check_output.XXXXXX";
	struct rlimit usual, small = { .rlim_cur = 4096 };
	struct opk_newfile file;
	struct opk_out *out;

	close(mkstemp(path));
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &usual), 0);
	small.rlim_max = usual.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	ck_ok(ctx, opk_newfile_create(&file, ctx, path, NULL, OPK_OUTPUT_TABLE));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	out = new_out(ctx, OPK_FORMAT_CSV, opk_newfile_write, &file);
	ck_code(ctx, write_much(out), OPK_EFAILED);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &usual), 0);
	opk_out_free(out);
	opk_newfile_discard(&file);
	unlink(path);
	ck_assert_ptr_nonnull(strstr(opk_error_message(ctx, 0), path));
	ck_assert_ptr_nonnull(strstr(opk_error_message(ctx, 0), "File too large"));
}

static int write_all_kinds(struct opk_ctx *ctx, enum opk_format format, bool record)
{
	struct opk_out_options options = OPTIONS(options, .format = format);
	struct sink sink = { .left = -1 };
	freed(opk_out) *out = NULL;
	int code;

	code = opk_out_new(&out, ctx, &options, take_some, &sink);
	if (!code && record)
		code = opk_out_record(out, columns, cells[0], COUNT(columns));
	if (!code)
		code = opk_out_table(out, "t", columns, COUNT(columns));
	if (!code)
		code = opk_out_span(out, "over columns", 1, 2);
	for (size_t i = 0; !code && i < 8; i++) {
		code = opk_out_heading(out, "over rows", "and prose");
		if (!code)
			code = opk_out_row(out, cells[i % 2]);
	}
	if (!code)
		code = opk_out_finish(out);
	return code;
}

CTX_TEST(output_without_memory)
{
	for (size_t i = 0; i < 2 * FORMATS; i++) {
		long n = 0;

		for (; is_short(ctx, n, write_all_kinds(ctx, (enum opk_format)(i / 2), i % 2)); n++)
			;
		ck_assert_int_gt(n, 2);
	}
}
