/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures: text that stays text, scales, labels that do not overlap, rooflines. */
#include <math.h>

#include "container/door.h"
#include "fake_nv.h"
#include "folder.h"
#include "picture/picture.h"
#include "picture/stack.h"
#include "testing.h"

static struct opk_ctx *ctx;

static void setup(void)
{
	make_folder();
	ck_assert_int_eq(opk_ctx_new(&ctx, NULL), OPK_OK);
}

static void teardown(void)
{
	opk_ctx_free(ctx);
	remove_folder();
}

static size_t count_of(const struct opk_buf *text, const char *part)
{
	size_t count = 0;

	for (const char *at = (const char *)text->data; (at = strstr(at, part)); at++)
		count++;
	return count;
}

/* ---- text ------------------------------------------------------------------------------- */

static const struct {
	struct here here;
	const char *text, *wanted;
} text_rows[] = {
	{ HERE, "a<script>\"&'", "a&lt;script&gt;&quot;&amp;'" },
	{ HERE, "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac" },
	{ HERE, "a\xff\x01\x7f\xc3", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	/* Text after an override of direction would be shown backwards. */
	{ HERE, "\xe2\x80\xaegnp", "\xef\xbf\xbdgnp" },
	/* XML does not allow U+FFFE. */
	{ HERE, "\xef\xbf\xbe\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd" },
};

TEST_EACH(text, text_rows)
{
	opk_autosvg struct opk_svg svg = { .in_page = true };

	opk_svg_put_text(&svg, row->text);
	opk_buf_add(&svg.buf, "", 1);
	ck_row(row, !strcmp((char *)svg.buf.data, row->wanted), "%s", svg.buf.data);
}

static const struct {
	struct here here;
	double number;
	const char *wanted;
} numbers_rows[] = {
	{ HERE, 1, " x=\"1\"" },           { HERE, -0.5, " x=\"-0.5\"" },
	{ HERE, 12.345, " x=\"12.35\"" },  { HERE, 0.05, " x=\"0.05\"" },
	{ HERE, (double)NAN, " x=\"0\"" },
};

TEST_EACH(numbers, numbers_rows)
{
	opk_autosvg struct opk_svg svg = { .in_page = true };

	opk_svg_put_number(&svg, "x", row->number);
	opk_buf_add(&svg.buf, "", 1);
	ck_row(row, !strcmp((char *)svg.buf.data, row->wanted), "%s", svg.buf.data);
}

static const struct {
	struct here here;
	double value;
	const char *unit, *wanted;
} values_rows[] = {
	{ HERE, 3.35e12, "byte/second", "3.35 TB/s" },
	{ HERE, 23232, "nanosecond", "23.2 us" },
	{ HERE, 75.37, "percent", "75.4 %" },
	{ HERE, 1234567, "", "1.23 M" },
	{ HERE, 0.01, "", "0.01" },
	{ HERE, (double)NAN, "", "nan" },
	{ HERE, 999.6, "", "1 k" },
};

TEST_EACH(values, values_rows)
{
	opk_autobuf struct opk_buf out = { 0 };

	opk_put_value(&out, row->value, row->unit);
	opk_buf_add(&out, "", 1);
	ck_row(row, !strcmp((char *)out.data, row->wanted), "%s", out.data);
}

TEST(fitting)
{
	opk_autofree char *all = opk_label_fit("vadd", 100);
	static char endless[64000];
	opk_autofree char *little = NULL;
	opk_autofree char *less = opk_label_fit("void cutlass::Kernel2<cutlass_80_tensorop>", 120);

	ck_assert_str_eq(all, "vadd");
	ck_assert_ptr_nonnull(strstr(less, "\xe2\x80\xa6"));
	ck_assert_double_le(opk_label_width(less), 120);
	ck_assert_double_ge(opk_label_width(less), 90);
	/* Linear time: quadratic time would take half an hour. */
	memset(endless, 'a', sizeof endless - 1);
	endless[sizeof endless - 1] = '\0';
	little = opk_label_fit(endless, 100);
	ck_assert_double_le(opk_label_width(little), 100);
}

/* Where names begin alike, labels have the words in which they differ. */
TEST(labels_that_differ)
{
	static const char *const names[] = {
		"vadd",
		"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma",
		"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3_warpsize1x4x1_ffma",
		"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8_stage3_warpsize1x4x1_ffma",
		"an_only_one_of_so_many_words_that_it_has_no_room_here_but_at_both_of_its_ends",
	};
	static const char *const wanted[] = { "vadd", "tilesize64x64x8_stage3", "tilesize128x64x8",
		                              "nn_n_tilesize128x64x8", "an_only_one_of" };
	opk_autolabels struct opk_labels labels = { NULL, 0 };

	ck_ok(ctx, opk_labels_make(&labels, ctx, names, COUNT(names), 250));
	for (size_t i = 0; i < COUNT(names); i++) {
		ck_assert_msg(strstr(labels.items[i], wanted[i]) != NULL, "%s", labels.items[i]);
		ck_assert_double_le(opk_label_width(labels.items[i]), 250);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(labels.items[i], labels.items[j]);
	}
}

/* ---- scales ----------------------------------------------------------------------------- */

static const struct {
	struct here here;
	struct opk_axis axis;
	double from, to; /* after rounding */
	size_t ticks, major;
} axes_rows[] = {
	{ HERE, { .from = 0, .to = 97 }, 0, 100, 6, 6 },
	{ HERE, { .from = -3, .to = 7 }, -4, 8, 7, 7 },
	{ HERE, { .from = 0.3, .to = 9, .log = true }, 0.2, 10, 6, 6 },
	{ HERE, { .from = 1e-3, .to = 1e3, .log = true }, 1e-3, 1e3, 7, 7 },
	{ HERE, { .from = 1e-30, .to = 1e30, .log = true }, 1e-30, 1e30, 16, 16 },
	/* A single value has a decade on each side. */
	{ HERE, { .from = 1e12, .to = 1e12, .log = true }, 1e11, 1e13, 7, 7 },
	{ HERE, { .from = 2, .to = 2, .log = true }, 0.2, 20, 7, 2 },
	{ HERE, { .from = 5e-7, .to = 5e-7, .log = true }, 5e-8, 5e-6, 7, 2 },
};

TEST_EACH(axes, axes_rows)
{
	struct opk_axis axis = row->axis;
	struct opk_ticks ticks;
	size_t major = 0;

	axis.begin = 10;
	axis.end = 110;
	opk_axis_round(&axis);
	opk_axis_ticks(&ticks, &axis, 5);
	for (size_t j = 0; j < ticks.count; j++)
		major += ticks.major[j];
	ck_row(row, fabs(axis.from - row->from) < 1e-9 * fabs(axis.from) + 1e-40, "from %g",
	       axis.from);
	ck_row(row, fabs(axis.to / row->to - 1) < 1e-9, "to %g", axis.to);
	ck_row(row, ticks.count == row->ticks && major == row->major, "%zu ticks, %zu major",
	       ticks.count, major);
	ck_row(row, fabs(opk_axis_at(&axis, axis.to) - 110) < 1e-9, "no end");
}

TEST(places)
{
	opk_autoboxes struct opk_boxes boxes = { .inside = { 0, 0, 100, 100 } };

	ck_assert(opk_boxes_take(&boxes, &(struct opk_box){ 10, 10, 20, 20 }));
	ck_assert(!opk_boxes_take(&boxes, &(struct opk_box){ 19, 19, 30, 30 }));
	ck_assert(opk_boxes_take(&boxes, &(struct opk_box){ 20, 10, 30, 20 }));
	ck_assert(!opk_boxes_take(&boxes, &(struct opk_box){ 95, 50, 101, 60 }));
	ck_assert_uint_eq(boxes.count, 2);
}

/* ---- rooflines -------------------------------------------------------------------------- */

static const struct opk_roof roofs[] = { { "DRAM", true, 1e12, false, "byte" },
	                                 { "L2", true, 1e13, false, "byte" },
	                                 { "fp32", false, 5e13, true, "flop" } };

/* Kernels with a dot at each of two levels. */
static int draw(struct opk_svg *svg, size_t count, size_t top)
{
	opk_autofree struct opk_drawn *items = opk_alloc_array(count, sizeof *items);
	opk_autofree struct opk_roofline_dot *dots = opk_alloc_array(2 * count, sizeof *dots);
	struct opk_drawn_kernels kernels = { .items = items, .count = count };
	opk_autofree struct opk_roofline_kernel *near = opk_alloc_array(count, sizeof *near);
	struct opk_roofline roofline = { "",        "flop", roofs, COUNT(roofs), dots,
		                         2 * count, near,   count, "Lacks." };
	struct opk_picture_options options = OPK_INIT(options);

	for (size_t i = 0; i < 2 * count; i++)
		dots[i] = (struct opk_roofline_dot){ i / 2, i % 2, 1 + (double)i, 1e12 };
	for (size_t i = 0; i < count; i++) {
		near[i] = (struct opk_roofline_kernel){ "L2 50%", "All <shares>.", .idle = !i };
		items[i] = (struct opk_drawn){ "k<script>", 10, 1.0 / (double)count, NULL };
	}
	options.top = top;
	return opk_draw_roofline(svg, ctx, &roofline, &kernels, &options);
}

TEST(roofline)
{
	opk_autosvg struct opk_svg svg = { 0 }, in_page = { .in_page = true };
	struct opk_buf *file = &svg.buf, *page = &in_page.buf;

	ck_assert_int_eq(draw(&svg, 3, 0), OPK_OK);
	opk_buf_add(file, "", 1);
	ck_assert_uint_eq(count_of(file, "class=\"mark dot "), 6);
	ck_assert_uint_eq(count_of(file, "data-level=\"DRAM\""), 4);
	ck_assert_uint_eq(count_of(file, "data-kernel=\"2\""), 3);
	ck_assert_uint_eq(count_of(file, "<line class=\"roof\""), 3);
	ck_assert_uint_eq(count_of(file, "fp32 50 Tflop/s"), 2);
	ck_assert_uint_eq(count_of(file, "1 kernel without operations."), 1);
	ck_assert_uint_eq(count_of(file, "<script"), 0);
	ck_assert_uint_eq(count_of(file, "k&lt;script&gt;\nL2: 2 flop/byte, 1 Tflop/s\n"
	                                 "All &lt;shares&gt;.\n33.3% of the time"),
	                  1);
	ck_assert_uint_eq(count_of(file, ">k&lt;script&gt;: L2 50%</text>"), 3);
	ck_assert_uint_eq(count_of(file, "1 kernel without operations. Lacks."), 1);
	ck_assert_uint_eq(count_of(file, "<line class=\"roof\" stroke-width=\"1.5\" opacity="), 1);
	ck_assert_uint_eq(count_of(file, "<style>"), 1);
	ck_assert_int_eq(draw(&in_page, 3, 2), OPK_OK);
	opk_buf_add(page, "", 1);
	ck_assert_uint_eq(count_of(page, "class=\"mark dot "), 4);
	ck_assert_uint_eq(count_of(page, "The first 2 of 3 kernels by time."), 1);
	ck_assert_uint_eq(count_of(page, "<style>") + count_of(page, "style=\""), 0);
}

/* More names than fit: the picture says so, and none overlap. */
TEST(crowded)
{
	opk_autosvg struct opk_svg svg = { 0 };
	struct opk_buf *file = &svg.buf;

	ck_assert_int_eq(draw(&svg, 400, 400), OPK_OK);
	opk_buf_add(file, "", 1);
	ck_assert_uint_eq(count_of(file, "class=\"mark dot "), 800);
	ck_assert_uint_eq(count_of(file, "No room for "), 1);
	ck_assert_uint_lt(count_of(file, ">k&lt;script&gt;: L2 50%</text>"), 100);
}

/* Roofs of one height: a gap of half a letter's height is between their names, at any width. */
TEST(roofs_of_one_height)
{
	static const struct opk_roof peaks[] = { { "DRAM", true, 3e12, false, "byte" },
		                                 { "tensor fp8", false, 2.14e15, false, "flop" },
		                                 { "tensor int8", false, 2.14e15, false, "op" },
		                                 { "fp16", false, 2.1e15, false, "flop" } };
	const struct opk_roofline drawn = { "", "op", peaks, COUNT(peaks), .lacks = "" };
	const struct opk_drawn_kernels kernels = { 0 };

	for (int width = 500; width <= 1000; width++) {
		opk_autosvg struct opk_svg svg = { 0 };
		struct opk_picture_options options = OPK_INIT(options);
		double free_until = INFINITY;
		size_t names = 0;

		svg.shapes = opk_listing_new("kind panel~ class x% y% x2% y2% size% points text "
		                             "anchor angle% colour opacity% stroke% kernel~");
		options.width = width;
		ck_assert_int_eq(opk_draw_roofline(&svg, ctx, &drawn, &kernels, &options), OPK_OK);
		for (size_t i = 0; i < opk_listing_count(svg.shapes); i++) {
			const union opk_cell *shape = opk_listing_get(svg.shapes, i);

			if (strcmp(shape[2].string, "muted halo") != 0
			    || strcmp(shape[10].string, "right") != 0)
				continue;
			ck_assert_double_le(shape[3].number, free_until);
			free_until = shape[3].number - opk_label_width(shape[9].string)
			             - OPK_SVG_FONT / 2.0;
			names++;
		}
		ck_assert_uint_ge(names, 2);
	}
}

/* If there are very many kernels, those that took most time are drawn. */
TEST(many)
{
	opk_autosvg struct opk_svg svg = { 0 };
	struct opk_buf *file = &svg.buf;

	ck_assert_int_eq(draw(&svg, 20000, 0), OPK_OK);
	opk_buf_add(file, "", 1);
	ck_assert_uint_eq(count_of(file, "class=\"mark dot "), 2 * OPK_ROOFLINE_KERNELS);
	ck_assert_uint_eq(count_of(file, "The first 300 of 20000 kernels by time."), 1);
}

/* A kernel of one second: operations, bytes of two levels, and their throughputs. */
struct nearness {
	struct here here;
	const char *fp32, *tensor, *other, *dram, *l1, *dram_busy, *l1_busy;
	const char *highest, *text, *lacks;
};

#define NAN_ "(0 * fake__a.sum / (0 * fake__a.sum))"
#define LACKS_L1 "Not recorded: the throughput of L1."

/* A throughput of 1 percent whose parts the library does not name. */
static const char undivided[] = "fake__other_throughput.avg.pct_of_peak_sustained_elapsed";

/* Peaks are 100, for tensor operations 1000, for L1's bytes 200. */
static void put_kernel(const struct nearness *row, const char *tensor_unit)
{
	static const char *const metrics[] = { "fake__a.sum", undivided };
	const char *const formulas[] = { row->fp32, row->tensor, row->other,     row->dram,
		                         row->l1,   "1",         row->dram_busy, row->l1_busy,
		                         "100",     "1000",      "200" };
	static const char *const derived_names[] = { "fp32", "tensor",  "other",      "dram",
		                                     "l1",   "seconds", "dram__busy", "l1busy",
		                                     "p100", "p1000",   "p200" };
	static const char *const work[] = { "fp32", "tensor", "other" };
	struct opk_meta_roof lines[] = {
		{ "DRAM", "dram", "p100", "", *row->dram_busy ? "dram__busy" : "" },
		{ "L1", "l1", "p200", "",
		  row->l1_busy == undivided ? undivided
		  : *row->l1_busy           ? "l1busy"
		                            : "" },
		{ "fp32", "", "p100", "fp32", "" },
		{ "tensor fp8", NULL, "p1000", "tensor", NULL },
		{ "never", "", "p1000", "", "" },
	};
	struct opk_meta_derived derived[COUNT(derived_names)];
	struct opk_meta meta = { .kind = "recording",
		                 .chip = "FA100",
		                 .metrics = metrics,
		                 .metric_count = COUNT(metrics),
		                 .passes = 1,
		                 .derived = derived,
		                 .derived_count = COUNT(derived) };
	const struct opk_range range = { .name = "r", .kernel = "k", .symbol = "", .rank = -1 };
	const struct opk_range ranges[] = { range, range, range };
	char texts[COUNT(derived)][100];
	freed(opk_writer) *writer = NULL;

	for (size_t i = 0; i < COUNT(derived); i++) {
		bool is_number = *formulas[i] && formulas[i] != undivided;

		snprintf(texts[i], sizeof texts[i], "0 * fake__a.sum + %s",
		         is_number ? formulas[i] : "0");
		derived[i] = (struct opk_meta_derived){ derived_names[i], texts[i],
			                                i == 5   ? "second"
			                                : i == 1 ? tensor_unit
			                                : i < 3  ? "flop"
			                                         : "",
			                                "" };
	}
	meta.roofline = (struct opk_meta_roofline){
		"", work, COUNT(work), "seconds", lines, COUNT(lines) - (*row->other == '0')
	};
	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder("near.opk")));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, fake_image(), FAKE_IMAGE_SIZE));
	ck_ok(ctx, opk_writer_add_ranges(writer, ranges, COUNT(ranges), sizeof(struct opk_range)));
	ck_ok(ctx, opk_writer_finish(writer));
}

static const struct nearness nearness_rows[] = {
	{ HERE, "65", "0", "0", "22.5", "20", "23", "30", "fp32 65%",
	  "Of the peaks: fp32 65%; DRAM 22.5% (dram__busy 23%), L1 10% (l1busy 30%). "
	  "Nearest: fp32.",
	  "" },
	/* Two types: each against its own peak, not their sum. */
	{ HERE, "40", "500", "0", "1", "2", "1", "1", "tensor fp8 50%",
	  "Of the peaks: fp32 40%, tensor fp8 50%; DRAM 1% (dram__busy 1%), "
	  "L1 1% (l1busy 1%). Nearest: tensor fp8.",
	  "" },
	/* A level that moves few bytes may still be busy. */
	{ HERE, "10", "0", "0", "5", "10", "5", "93", "L1 93%",
	  "Of the peaks: fp32 10%; DRAM 5% (dram__busy 5%), L1 5% (l1busy 93%). Nearest: L1.", "" },
	/* A throughput that was not recorded may be higher. */
	{ HERE, "10", "0", "0", "5", "10", "5", "", "fp32 10%",
	  "Of the peaks: fp32 10%; DRAM 5% (dram__busy 5%), L1 5%. Nearest of these: fp32. "
	  "Throughput not known: L1.",
	  LACKS_L1 },
	{ HERE, "10", "0", "0", "5", "10", "5", NAN_, "fp32 10%",
	  "Of the peaks: fp32 10%; DRAM 5% (dram__busy 5%), L1 5%. Nearest of these: fp32. "
	  "Throughput not known: L1.",
	  LACKS_L1 },
	/* A type without a peak: its share is unknown. */
	{ HERE, "10", "0", "30", "5", "10", "5", "5", "fp32 10%",
	  "Of the peaks: fp32 10%, peak not known of 75% of the operations; "
	  "DRAM 5% (dram__busy 5%), L1 5% (l1busy 5%). Nearest of these: fp32.",
	  "Not recorded: which operations each peak limits." },
	{ HERE, "0", "0", "0", "70", "10", "70", "5", "DRAM 70%",
	  "Of the peaks: flop 0; DRAM 70% (dram__busy 70%), L1 5% (l1busy 5%). "
	  "Nearest: DRAM.",
	  "" },
	{ HERE, "10", NAN_, "0", "5", NAN_, "5", "5", "fp32 10%",
	  "Of the peaks: fp32 10%, flop nan; DRAM 5% (dram__busy 5%), L1 nan (l1busy 5%). "
	  "Nearest of these: fp32.",
	  "Not recorded: which operations each peak limits." },
	/* An undivided throughput may have unknown parts. */
	{ HERE, "10", "0", "0", "5", "1", "5", undivided, "fp32 10%",
	  "Of the peaks: fp32 10%; DRAM 5% (dram__busy 5%), L1 0.5% "
	  "(fake__other_throughput at least 1%). Nearest of these: fp32.",
	  "" },
	{ HERE, "0.7", "0", "0", "0.1", "1", "0.1", undivided, "L1 at least 1%",
	  "Of the peaks: fp32 0.7%; DRAM 0.1% (dram__busy 0.1%), L1 0.5% "
	  "(fake__other_throughput at least 1%). Nearest: L1.",
	  "" },
};

/* An operation is compared with the peak of its own type: higher roofs do not matter. */
TEST_EACH(nearness, nearness_rows)
{
	freed(opk_ctx) *nv = fake_ctx();
	freed(opk_file) *file = NULL;
	freed(opk_summary) *summary = NULL;
	freed(opk_roofline) *drawn = NULL;

	fake.undivided = true;
	put_kernel(row, "flop");
	ck_ok(nv, opk_file_open(&file, nv, in_folder("near.opk")));
	ck_ok(nv, opk_summary_new(&summary, nv, file, NULL));
	ck_ok(nv, opk_roofline_new(&drawn, nv, summary));
	ck_assert_uint_eq(drawn->kernel_count, 1);
	ck_row(row, !strcmp(drawn->kernels[0].text, row->text), "%s", drawn->kernels[0].text);
	ck_row(row, !strcmp(drawn->kernels[0].highest, row->highest), "%s",
	       drawn->kernels[0].highest);
	ck_row(row, !strcmp(drawn->lacks, row->lacks), "%s", drawn->lacks);
	/* No kernel has these operations. */
	ck_row(row, drawn->roofs[2].idle == !strcmp(row->fp32, "0"), "fp32");
	ck_assert(!drawn->roofs[0].idle);
}

static const struct {
	struct here here;
	const char *tensor, *unit, *wanted, *of_tensor;
} units_of_operations_rows[] = {
	{ HERE, "5", "flop", "flop", "flop" },
	{ HERE, "0", "math_op", "flop", "op" },
	{ HERE, "5", "math_op", "op", "op" },
	{ HERE, NAN_, "math_op", "flop", "op" },
};

/* Integer operations are not floating-point: if there are any, the unit is just operations. */
TEST_EACH(units_of_operations, units_of_operations_rows)
{
	const struct nearness kernel = { HERE, "65", row->tensor, "0", "22", "20",
		                         "23", "30", "",          "",  "" };
	freed(opk_ctx) *nv = fake_ctx();
	freed(opk_file) *file = NULL;
	freed(opk_summary) *summary = NULL;
	freed(opk_roofline) *drawn = NULL;

	put_kernel(&kernel, row->unit);
	ck_ok(nv, opk_file_open(&file, nv, in_folder("near.opk")));
	ck_ok(nv, opk_summary_new(&summary, nv, file, NULL));
	ck_ok(nv, opk_roofline_new(&drawn, nv, summary));
	ck_row(row, !strcmp(drawn->unit, row->wanted), "%s", drawn->unit);
	ck_row(row, !strcmp(drawn->roofs[0].unit, "byte"), "a level");
	ck_row(row, !strcmp(drawn->roofs[2].unit, "flop"), "fp32");
	ck_row(row, !strcmp(drawn->roofs[3].unit, row->of_tensor), "tensor");
}

/* ---- stacks ----------------------------------------------------------------------------- */

/* Zero is a value; a nan part is shown in its row, and affects no other row. */
TEST(stacks)
{
	static const struct opk_meta_heading heading = { .title = "Parts" };
	const double shares[][2] = { { 0.4, 0.6 }, { 0, 0 }, { NAN, NAN }, { NAN, 0.5 } };
	struct opk_stack_part parts[] = {
		{ .name = "a", .text = (char *)"a", .column = 0, .own = true },
		{ .name = "b", .text = (char *)"b", .column = 1, .own = true },
	};
	struct opk_stack stack = { .heading = &heading, .unit = "", .parts = parts, .count = 2 };
	struct opk_drawn items[COUNT(shares)];
	const struct opk_drawn_kernels kernels = { .items = items, .count = COUNT(items) };
	const struct opk_picture_options options = OPK_INIT(options);
	opk_autosvg struct opk_svg svg = { 0 };
	struct opk_buf *file = &svg.buf;

	for (size_t i = 0; i < COUNT(items); i++)
		items[i] = (struct opk_drawn){ "k", NAN, NAN, shares[i] };
	opk_stack_measure(&stack, &kernels);
	ck_assert(stack.shares);
	ck_assert_int_eq(opk_draw_stack(&svg, ctx, &stack, &kernels, &options), OPK_OK);
	opk_buf_add(file, "", 1);
	ck_assert_uint_eq(count_of(file, "class=\"mark "), 3);
	ck_assert_uint_eq(count_of(file, ">no value</text>"), 1);
	ck_assert_uint_eq(count_of(file, ">0.0%</text>"), 1);
	ck_assert_uint_eq(count_of(file, ">+ nan</text>"), 1);
	ck_assert_uint_eq(count_of(file, "3 values are nan."), 1);
}

static const struct {
	struct here here;
	double parts[3][2];
	bool shares;
	double most;
	const char *note; /* or NULL */
} stacked[] = {
	{ HERE, { { 0.4, 0.6 }, { 1, 0 }, { 0, 0 } }, true, 1, NULL },
	{ HERE, { { 0.4, 0.6 }, { 0.4, 0.5 }, { 0, 0 } }, false, 1, NULL },
	/* What is known of a kernel may be more than the whole, or infinite. */
	{ HERE, { { 0.4, 0.6 }, { 3, NAN }, { 0, 0 } }, false, 3, "1 value is nan." },
	{ HERE,
	  { { 0.4, 0.6 }, { 0.4, INFINITY }, { NAN, -INFINITY } },
	  true,
	  1,
	  "3 values are nan or infinite." },
	{ HERE,
	  { { NAN, 0.6 }, { 0.4, INFINITY }, { 0, 0 } },
	  false,
	  0.6,
	  "2 values are nan or infinite." },
};

/* Only if no kernel has more than the whole, the axis ends there. */
TEST_EACH(stacks_of_shares, stacked)
{
	static const struct opk_meta_heading heading = { .title = "Parts" };
	struct opk_stack_part parts[] = {
		{ .name = "a", .text = (char *)"a", .column = 0, .own = true },
		{ .name = "b", .text = (char *)"b", .column = 1, .own = true },
	};
	struct opk_stack stack = { .heading = &heading, .unit = "", .parts = parts, .count = 2 };
	struct opk_drawn items[3];
	const struct opk_drawn_kernels kernels = { .items = items, .count = COUNT(items) };
	const struct opk_picture_options options = OPK_INIT(options);
	opk_autosvg struct opk_svg svg = { 0 };

	for (size_t i = 0; i < COUNT(items); i++)
		items[i] = (struct opk_drawn){ "k", NAN, NAN, row->parts[i] };
	opk_stack_measure(&stack, &kernels);
	ck_row(row, stack.shares == row->shares, "shares: %d", stack.shares);
	ck_row(row, stack.most == row->most, "most: %g", stack.most);
	ck_assert_int_eq(opk_draw_stack(&svg, ctx, &stack, &kernels, &options), OPK_OK);
	opk_buf_add(&svg.buf, "", 1);
	ck_row(row, count_of(&svg.buf, row->note ? row->note : " nan") == (row->note ? 1 : 0),
	       "the note");
}

/* ---- kernels by time -------------------------------------------------------------------- */

static const struct {
	struct here here;
	double times[4];
	const char *texts[4]; /* of the kernels that are not shown, each once */
} unknown_times[] = {
	{ HERE,
	  { 100, NAN, NAN, NAN },
	  { ">3 more<", ">nan<", "3 of the 3 more kernels have no time (nan)." } },
	{ HERE,
	  { 100, 60, 40, NAN },
	  { ">3 more<", ">100 ns<", ">50.0%<", "1 of the 3 more kernels has no time (nan)." } },
	{ HERE, { 100, 60, 40, 0 }, { ">3 more<", ">100 ns<", ">50.0%<" } },
};

/* Time that is unknown is not zero. */
TEST_EACH(kernels_without_time, unknown_times)
{
	struct opk_summary_group groups[4];
	const struct opk_summary summary = { .kind = OPK_SUMMARY_KERNELS,
		                             .time = OPK_SUMMARY_NS,
		                             .groups = groups,
		                             .group_count = COUNT(groups) };
	struct opk_picture_options options = OPK_INIT(options);
	opk_autosvg struct opk_svg svg = { 0 };
	double all = 0;

	for (size_t i = 0; i < COUNT(groups); i++)
		all += isnan(row->times[i]) ? 0 : row->times[i];
	for (size_t i = 0; i < COUNT(groups); i++)
		groups[i] = (struct opk_summary_group){ .name = "k",
			                                .time = row->times[i],
			                                .share = 100 * row->times[i] / all };
	options.top = 1;
	ck_ok(ctx, opk_picture_kernels(&svg, ctx, &summary, &options));
	opk_buf_add(&svg.buf, "", 1);
	for (size_t i = 0; i < COUNT(row->texts) && row->texts[i]; i++)
		ck_row(row, count_of(&svg.buf, row->texts[i]) >= 1, "%s", row->texts[i]);
	ck_row(row, (count_of(&svg.buf, "(nan)") > 0) == isnan(row->times[3]), "the note");
}

/* ---- timelines -------------------------------------------------------------------------- */

static int draw_timeline(struct opk_picture **out, double width)
{
	freed(opk_file) *file = NULL;
	struct opk_picture_options options = OPK_INIT(options);

	TRY(opk_file_open(&file, ctx, in_folder("ran.opk")));
	options.width = width;
	return opk_picture_new(out, ctx, file, OPK_PICTURE_TIMELINE, &options);
}

static void put_trace(const struct opk_activity *ran, size_t count)
{
	static const struct opk_meta meta = {
		.kind = "recording", .chip = "GH100", .profiler = OPK_PROFILER_PM, .mode = "trace"
	};
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder("ran.opk")));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_add_activities(writer, ran, count));
	ck_ok(ctx, opk_writer_finish(writer));
}

/* Doubles have a resolution of only 256 ns for host times. */
TEST(short_timelines)
{
	const uint64_t base = 1790000000000000001;
	const struct opk_activity ran[] = {
		{ .kind = OPK_ACTIVITY_KERNEL, .name = "a", .start_ns = base, .end_ns = base + 50 },
		{ .kind = OPK_ACTIVITY_KERNEL,
		  .name = "b",
		  .start_ns = base + 100,
		  .end_ns = base + 200 },
	};
	struct opk_picture *drawn = NULL;
	const union opk_cell *row;

	put_trace(ran, COUNT(ran));
	ck_assert_int_eq(draw_timeline(&drawn, 1010), OPK_OK);
	/* 700 pixels for 200 ns, below one line with the colours of two kernels. */
	ck_assert_ptr_nonnull(strstr(opk_picture_svg(drawn), "x=\"290\" y=\"62\" width=\"175\""));
	ck_assert_ptr_nonnull(strstr(opk_picture_svg(drawn), "x=\"640\" y=\"62\" width=\"350\""));
	ck_assert_ptr_nonnull(strstr(opk_picture_svg(drawn), ">100 ns<"));
	/* A row and a bar are at their places in the picture, and times are exact. */
	row = opk_listing_get(opk_picture_list(drawn, OPK_PICTURE_PANELS), 0);
	ck_assert_double_eq(row[0].number, 290);
	ck_assert_double_eq(row[5].number, 200);
	row = opk_listing_get(opk_picture_list(drawn, OPK_PICTURE_RAN), 1);
	ck_assert_uint_eq(row[2].uint, base + 100);
	ck_assert_str_eq(row[4].string, "b");
	opk_picture_free(drawn);
	ck_assert_int_eq(draw_timeline(&drawn, 509), OPK_EUSAGE);
	ck_assert_int_eq(draw_timeline(&drawn, 510), OPK_OK);
	opk_picture_free(drawn);
}

/* Numbers are of the GPUs that are drawn, and all of these are of one height. */
TEST(timelines_of_many_gpus)
{
	enum { GPUS = 20, SHOWN = 16 };
	struct opk_activity ran[GPUS];
	freed(opk_picture) *drawn = NULL;
	const struct opk_listing *list;

	for (int i = 0; i < GPUS; i++)
		ran[i] = (struct opk_activity){ .kind = OPK_ACTIVITY_KERNEL,
			                        .name = "a",
			                        .device = i,
			                        .rank = -1,
			                        .start_ns = 1000,
			                        .end_ns = 2000 };
	put_trace(ran, GPUS);
	ck_ok(ctx, draw_timeline(&drawn, 1000));
	ck_assert_ptr_nonnull(strstr(opk_picture_svg(drawn), "The first 16 of 20 GPUs."));
	list = opk_picture_list(drawn, OPK_PICTURE_RAN);
	ck_assert_uint_eq(opk_listing_count(list), SHOWN);
	ck_assert_str_eq(opk_listing_get(list, SHOWN - 1)[0].string, "GPU 15");
	/* Below the legend's line each has a heading, a lane and a gap; then the axis. */
	ck_assert_ptr_nonnull(strstr(opk_picture_svg(drawn), "viewBox=\"0 0 1000 942\""));
}

static const struct {
	struct here here;
	uint64_t start, end;
	const char *metric;
	const char *wanted; /* the error, or NULL */
} refused[] = {
	{ HERE, 10, 20, NULL, NULL },
	{ HERE, 10, 10, NULL, NULL },
	{ HERE, 0, 0, NULL, "no timeline: no record of what ran has a time, of 1" },
	{ HERE, 10, 20, "fake__a.sum", "no timeline of metrics: the recording has no PM samples" },
};

/* What can't be drawn is said, and no option does nothing. */
TEST_EACH(timelines_of_a_trace, refused)
{
	const struct opk_activity ran = {
		.kind = OPK_ACTIVITY_KERNEL, .name = "a", .start_ns = row->start, .end_ns = row->end
	};
	struct opk_eval_options eval = OPK_INIT(eval);
	struct opk_picture_options options = OPK_INIT(options);
	freed(opk_picture) *drawn = NULL;
	freed(opk_file) *file = NULL;
	int code;

	put_trace(&ran, 1);
	ck_ok(ctx, opk_file_open(&file, ctx, in_folder("ran.opk")));
	eval.metrics = &row->metric;
	eval.metric_count = row->metric != NULL;
	options.eval = &eval;
	code = opk_picture_new(&drawn, ctx, file, OPK_PICTURE_TIMELINE, &options);
	ck_row(row, code == (row->wanted ? OPK_EUSAGE : OPK_OK), "code %d", code);
	if (row->wanted)
		ck_row(row, strstr(errors_of(ctx), row->wanted), "%s", errors_of(ctx));
}

SUITE(.set_up = setup, .tear_down = teardown);
