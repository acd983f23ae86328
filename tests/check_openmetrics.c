/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows in Prometheus' text format. */
#include <math.h>

#include "rows.h"
#include "testing.h"

static const struct opk_column prom[] = {
	{ "kernel", OPK_CELL_STRING },   { "device", OPK_CELL_OPTIONAL },
	{ "covered_ns", OPK_CELL_UINT }, { "a.sum", OPK_CELL_DOUBLE },
	{ "b-c.pct", OPK_CELL_DOUBLE },  { "note", OPK_CELL_STRING },
	{ "d", OPK_CELL_OPTIONAL },
};

static void begin_prom(struct writing *w, const struct opk_column *of, size_t count)
{
	begin(w, OPK_FORMAT_OPENMETRICS, 0);
	ck_ok(w->ctx, opk_out_table(w->out, "t", of, count));
	opk_out_role(w->out, 0, OPK_ROLE_LABEL);
	opk_out_role(w->out, 1, OPK_ROLE_LABEL);
}

TEST(families)
{
	opk_autofree char *got = NULL;
	struct writing w;

	begin_prom(&w, prom, COUNT(prom));
	opk_out_constant(w.out, "chip", "GH100");
	opk_out_constant(w.out, "host", "");
	opk_out_unit(w.out, 2, "ns");
	opk_out_unit(w.out, 3, "bytes");
	opk_out_unit(w.out, 4, "percent");
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "f<\"a\\b\">\n" },
	                                                    { .optional = { 0, true } },
	                                                    { .uint = 1500000000 },
	                                                    { .number = 0.1 },
	                                                    { .number = (double)NAN },
	                                                    { .string = "left out" },
	                                                    { .optional = { 7, true } } }));
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "" },
	                                                    { .optional = { 1, false } },
	                                                    { .uint = 1795236601000000001 },
	                                                    { .number = (double)-INFINITY },
	                                                    { .number = (double)INFINITY },
	                                                    { .string = "" },
	                                                    { .optional = { 7, false } } }));
	got = end(&w);
	ck_assert_str_eq(
		got,
		"# HELP offpeak_covered_seconds covered_ns\n"
		"# TYPE offpeak_covered_seconds gauge\n"
		"offpeak_covered_seconds{chip=\"GH100\",kernel=\"f<\\\"a\\\\b\\\">\\n\",device=\"0\"}"
		" 1.500000000\n"
		"offpeak_covered_seconds{chip=\"GH100\"} 1795236601.000000001\n"
		"# HELP offpeak_a_sum_bytes a.sum\n"
		"# TYPE offpeak_a_sum_bytes gauge\n"
		"offpeak_a_sum_bytes{chip=\"GH100\",kernel=\"f<\\\"a\\\\b\\\">\\n\",device=\"0\"}"
		" 0.10000000000000001\n"
		"offpeak_a_sum_bytes{chip=\"GH100\"} -Inf\n"
		"# HELP offpeak_b_c_pct b-c.pct, percent\n"
		"# TYPE offpeak_b_c_pct gauge\n"
		"offpeak_b_c_pct{chip=\"GH100\",kernel=\"f<\\\"a\\\\b\\\">\\n\",device=\"0\"} NaN\n"
		"offpeak_b_c_pct{chip=\"GH100\"} +Inf\n"
		"# HELP offpeak_d d\n"
		"# TYPE offpeak_d gauge\n"
		"offpeak_d{chip=\"GH100\",kernel=\"f<\\\"a\\\\b\\\">\\n\",device=\"0\"} 7\n"
		"# EOF\n");
}

TEST(no_rows)
{
	opk_autofree char *got = NULL;
	struct writing w;

	begin_prom(&w, prom, COUNT(prom));
	got = end(&w);
	ck_assert_str_eq(got, "# EOF\n");
}

/* The metric's name and unit are in each row, and the columns are statistics. */
TEST(statistics)
{
	static const struct opk_column of[] = { { "kernel", OPK_CELL_STRING },
		                                { "metric", OPK_CELL_STRING },
		                                { "unit", OPK_CELL_STRING },
		                                { "count", OPK_CELL_UINT },
		                                { "mean", OPK_CELL_DOUBLE } };
	opk_autofree char *got = NULL;
	struct writing w;

	begin_prom(&w, of, COUNT(of));
	opk_out_role(w.out, 1, OPK_ROLE_NAME);
	opk_out_unit_in(w.out, 2);
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "f" },
	                                                    { .string = "t.sum" },
	                                                    { .string = "nanoseconds" },
	                                                    { .uint = 2 },
	                                                    { .number = 5e8 } }));
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "f" },
	                                                    { .string = "x.avg" },
	                                                    { .string = "cycles" },
	                                                    { .uint = 3 },
	                                                    { .number = 4 } }));
	got = end(&w);
	ck_assert_str_eq(got, "# HELP offpeak_t_sum_count t.sum, count\n"
	                      "# TYPE offpeak_t_sum_count gauge\n"
	                      "offpeak_t_sum_count{kernel=\"f\"} 2\n"
	                      "# HELP offpeak_t_sum_mean_seconds t.sum, mean\n"
	                      "# TYPE offpeak_t_sum_mean_seconds gauge\n"
	                      "offpeak_t_sum_mean_seconds{kernel=\"f\"} 0.5\n"
	                      "# HELP offpeak_x_avg_count x.avg, count\n"
	                      "# TYPE offpeak_x_avg_count gauge\n"
	                      "offpeak_x_avg_count{kernel=\"f\"} 3\n"
	                      "# HELP offpeak_x_avg_mean x.avg, mean, cycles\n"
	                      "# TYPE offpeak_x_avg_mean gauge\n"
	                      "offpeak_x_avg_mean{kernel=\"f\"} 4\n"
	                      "# EOF\n");
}

/* Nothing is written of what a reader would refuse. */
TEST(refused)
{
	static const struct opk_column alike[] = { { "kernel", OPK_CELL_STRING },
		                                   { "host", OPK_CELL_STRING },
		                                   { "a.sum", OPK_CELL_DOUBLE },
		                                   { "a_sum", OPK_CELL_DOUBLE } };
	const union opk_cell cells_of[] = {
		{ .string = "f" }, { .string = "" }, { .number = 1 }, { .number = 2 }
	};

	for (int i = 0; i < 2; i++) {
		struct writing w;

		/* Without the last column the names differ, but not the labels of two rows. */
		begin_prom(&w, alike, (size_t)(4 - i));
		if (i)
			ck_ok(w.ctx, opk_out_row(w.out, cells_of));
		ck_code(w.ctx, opk_out_row(w.out, cells_of), OPK_EUSAGE);
		ck_assert_ptr_nonnull(strstr(opk_error_message(w.ctx, 0),
		                             i ? "two rows have the same labels, {kernel=\"f\"}"
		                               : "'a.sum' and 'a_sum' would both be called"));
		ck_assert_int_eq(opk_out_finish(w.out), OPK_EUSAGE);
		ck_assert_uint_eq(w.buf.size, 0);
		opk_buf_clear(&w.buf);
		opk_out_free(w.out);
		opk_ctx_free(w.ctx);
	}
}
