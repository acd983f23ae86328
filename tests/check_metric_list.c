/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of metrics, and their Arrow streams, over the fake. */
#include <errno.h>

#include "allocation.h"
#include "fake_nv.h"
#include "folder.h"
#include "testing.h"

static const char *const all[] = { "*" }, *const one[] = { "fake__r*" },
			 *const sums[] = { "*.sum" }, *const none[] = { "x*" };

/* "NAME UNIT PASSES" of each metric, joined by "; ", and the numbers of metrics left out. */
static const char *text_of(const struct opk_listing *list, const size_t left_out[2])
{
	static char text[8192];
	FILE *file = fmemopen(text, sizeof text, "w");
	size_t columns;

	text[0] = '\0';
	opk_listing_columns(list, &columns);
	for (size_t i = 0; i < opk_listing_count(list); i++) {
		const union opk_cell *row = opk_listing_get(list, i);

		fprintf(file, "%s%s %s ", i ? "; " : "", row[0].string, row[3].string);
		if (columns == 6)
			fprintf(file, "-");
		else if (row[6].optional.known)
			fprintf(file, "%d", (int)row[6].optional.uint);
		else
			fprintf(file, "%s", row[8].string);
	}
	fprintf(file, " - %zu %zu", left_out[0], left_out[1]);
	fclose(file);
	return text;
}

static const struct {
	struct here here;
	const char *const *glob;
	bool submetrics, passes;
	size_t max_passes;
	const char *wanted;
} lists_rows[] = {
	{ HERE, all, false, false, 0,
	  "fake__a bytes -; fake__b bytes -; fake__c bytes -; fake__listed bytes -; fake__ratio bytes -; fake__throughput bytes - - 0 0" },
	{ HERE, one, false, true, 0, "fake__ratio bytes 2 - 0 0" },
	{ HERE, sums, true, true, 0,
	  "fake__a.sum bytes 1; fake__b.sum bytes 1; fake__c.sum bytes 1; fake__listed.sum bytes CUPTI_ERROR_UNKNOWN - 0 0" },
	{ HERE, all, false, false, 1,
	  "fake__a bytes 1; fake__b bytes 1; fake__c bytes 1; fake__throughput bytes 1 - 1 1" },
	{ HERE, none, true, true, 0, " - 0 0" },
};

FAKE_TEST_EACH(lists, lists_rows)
{
	freed(opk_listing) *list = NULL;
	size_t left_out[2];
	const char *text;
	struct opk_metric_list_options options = OPTIONS(options, .globs = row->glob,
	                                                 .glob_count = 1,
	                                                 .submetrics = row->submetrics,
	                                                 .passes = row->passes,
	                                                 .max_passes = row->max_passes,
	                                                 .refused = &left_out[0],
	                                                 .costly = &left_out[1]);

	ck_ok(ctx, opk_metric_list(&list, ctx, "fa100", OPK_PROFILER_RANGE, &options));
	text = text_of(list, left_out);
	ck_row(row, !strcmp(text, row->wanted), "got %s", text);
}

FAKE_TEST(refused)
{
	struct opk_metric_list_options options = OPK_INIT(options);
	struct opk_listing *list = NULL;

	ck_code(ctx, opk_metric_list(&list, ctx, "FA10", OPK_PROFILER_RANGE, NULL), OPK_EUSAGE);
	options.scope = OPK_SCOPE_DEVICE;
	ck_fails(ctx, opk_metric_list(&list, ctx, "FA100", OPK_PROFILER_RANGE, &options),
	         OPK_ENVIDIA, "13.1");
	ck_assert_ptr_null(list);
}

/* A stream of a list that was freed. */
static int export(struct ArrowArrayStream *stream, struct opk_ctx *ctx)
{
	struct opk_metric_list_options options = OPTIONS(options, .passes = true);
	freed(opk_listing) *list = NULL;

	TRY(opk_metric_list(&list, ctx, "FA100", OPK_PROFILER_RANGE, &options));
	return opk_listing_export_arrow(stream, list);
}

TEST(streams)
{
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch, end;
	struct opk_ctx *ctx = fake_ctx();

	ck_ok(ctx, export(&stream, ctx));
	opk_ctx_free(ctx);
	ck_assert_int_eq(stream.get_schema(&stream, &schema), 0);
	ck_assert_int_eq(schema.n_children, 9);
	ck_assert_str_eq(schema.children[6]->name, "passes");
	ck_assert_str_eq(schema.children[6]->format, "l");
	ck_assert_int_eq(stream.get_next(&stream, &batch), 0);
	ck_assert_int_eq(stream.get_next(&stream, &end), 0);
	ck_assert_ptr_null(end.release);
	ck_assert_ptr_null(stream.get_last_error(&stream));
	stream.release(&stream);
	/* Passes of refused metrics are null, and only these metrics have a status. */
	ck_assert_int_gt(batch.children[6]->null_count, 0);
	ck_assert_int_eq(batch.children[6]->null_count + batch.children[8]->null_count,
	                 batch.length);
	batch.release(&batch);
	schema.release(&schema);
}

FAKE_TEST(early_release)
{
	struct ArrowArrayStream stream;

	ck_ok(ctx, export(&stream, ctx));
	stream.release(&stream);
}

FAKE_TEST(out_of_memory)
{
	struct ArrowArrayStream stream = { 0 };
	freed(opk_listing) *list = NULL;
	bool failed;
	long i = 0;
	int code;

	ck_ok(ctx, opk_metric_list(&list, ctx, "FA100", OPK_PROFILER_RANGE, NULL));
	do {
		fail_allocation(i++);
		code = opk_listing_export_arrow(&stream, list);
		ck_assert(code == OPK_OK || code == OPK_ENOMEM);
		if (!code) {
			struct ArrowArray batch = { 0 };

			code = stream.get_next(&stream, &batch);
			ck_assert(code == 0 || code == ENOMEM);
			if (!code)
				batch.release(&batch);
			stream.release(&stream);
		}
		failed = allocation_failed();
		/* A failed allocation may leave a result: a smaller buffer can suffice. */
		ck_assert(!code || failed);
	} while (failed);
	ck_assert_int_gt(i, 20);
}
