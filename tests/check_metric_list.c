/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of metrics, and their Arrow streams, over the fake. */
#include "allocation.h"
#include "fake_nv.h"
#include "folder.h"
#include "testing.h"

static const char *const all[] = { "*" }, *const one[] = { "fake__r*" },
			 *const sums[] = { "*.sum" }, *const none[] = { "x*" };

/* "NAME UNIT PASSES" for each, with "; " between, and how many were left out. */
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

START_TEST(lists)
{
	static const struct {
		struct here here;
		const char *const *glob;
		bool submetrics, passes;
		size_t max_passes;
		const char *wanted;
	} rows[] = {
		{ HERE, all, false, false, 0,
		  "fake__a bytes -; fake__b bytes -; fake__c bytes -; fake__listed bytes -; fake__ratio bytes -; fake__throughput bytes - - 0 0" },
		{ HERE, one, false, true, 0, "fake__ratio bytes 2 - 0 0" },
		{ HERE, sums, true, true, 0,
		  "fake__a.sum bytes 1; fake__b.sum bytes 1; fake__c.sum bytes 1; fake__listed.sum bytes CUPTI_ERROR_UNKNOWN - 0 0" },
		{ HERE, all, false, false, 1,
		  "fake__a bytes 1; fake__b bytes 1; fake__c bytes 1; fake__throughput bytes 1 - 1 1" },
		{ HERE, none, true, true, 0, " - 0 0" },
	};
	struct opk_ctx *ctx = fake_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_metric_list_options options = OPK_INIT(options);
		struct opk_listing *list;
		size_t left_out[2];
		const char *text;

		options.globs = rows[i].glob;
		options.glob_count = 1;
		options.submetrics = rows[i].submetrics;
		options.passes = rows[i].passes;
		options.max_passes = rows[i].max_passes;
		options.refused = &left_out[0];
		options.costly = &left_out[1];
		ck_ok(ctx, opk_metric_list(&list, ctx, "fa100", OPK_PROFILER_RANGE, &options));
		text = text_of(list, left_out);
		ck_row(&rows[i], !strcmp(text, rows[i].wanted), "got %s", text);
		opk_listing_free(list);
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(refused)
{
	struct opk_metric_list_options options = OPK_INIT(options);
	struct opk_listing *list = NULL;
	struct opk_ctx *ctx = fake_ctx();

	ck_code(ctx, opk_metric_list(&list, ctx, "FA10", OPK_PROFILER_RANGE, NULL), OPK_EUSAGE);
	options.scope = OPK_SCOPE_DEVICE;
	ck_code(ctx, opk_metric_list(&list, ctx, "FA100", OPK_PROFILER_RANGE, &options),
	        OPK_ENVIDIA);
	ck_assert(told(ctx, "13.1"));
	ck_assert_ptr_null(list);
	opk_ctx_free(ctx);
}
END_TEST

/* A stream of a list that is gone. */
static int export(struct ArrowArrayStream *stream, struct opk_ctx *ctx)
{
	struct opk_metric_list_options options = OPK_INIT(options);
	struct opk_listing *list = NULL;
	int code;

	options.passes = true;
	code = opk_metric_list(&list, ctx, "FA100", OPK_PROFILER_RANGE, &options);
	if (!code)
		code = opk_listing_export_arrow(stream, list);
	opk_listing_free(list);
	return code;
}

START_TEST(streams)
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
	/* Passes of what is refused are null, and it alone has a status. */
	ck_assert_int_gt(batch.children[6]->null_count, 0);
	ck_assert_int_eq(batch.children[6]->null_count + batch.children[8]->null_count,
	                 batch.length);
	batch.release(&batch);
	schema.release(&schema);
}
END_TEST

START_TEST(early_release)
{
	struct ArrowArrayStream stream;
	struct opk_ctx *ctx = fake_ctx();

	ck_ok(ctx, export(&stream, ctx));
	stream.release(&stream);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(out_of_memory)
{
	struct ArrowArrayStream stream = { 0 };
	struct opk_ctx *ctx = fake_ctx();
	struct opk_listing *list;
	bool failed;
	long i = 0;
	int code;

	ck_ok(ctx, opk_metric_list(&list, ctx, "FA100", OPK_PROFILER_RANGE, NULL));
	do {
		fail_allocation(i++);
		code = opk_listing_export_arrow(&stream, list);
		failed = allocation_failed();
		/* Buffers may be larger than they need to be. */
		ck_assert(code == OPK_OK || (failed && code == OPK_ENOMEM));
		if (!code)
			stream.release(&stream);
	} while (failed);
	ck_assert_int_gt(i, 20);
	opk_listing_free(list);
	opk_ctx_free(ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("metric list");
	TCase *tests = tcase_create("lists");

	suite_add_tcase(suite, tests);
	tcase_add_test(tests, lists);
	tcase_add_test(tests, refused);
	tcase_add_test(tests, streams);
	tcase_add_test(tests, early_release);
	tcase_add_test(tests, out_of_memory);
	return run_suite(suite);
}
