/* SPDX-License-Identifier: BSD-2-Clause */
/* Real recordings: any evaluator and number of processes gives the same bits and errors. */
#include "containers.h"
#include "eval/door.h"
#include "real.h"
#include "container/container.h"

/* Recordings that golden_paths.sh lacks: several images, groups of metrics. */
static const char *const recordings[] = {
	"legacy-user", "training", "training-pm", "roofline", "training-gemm", "training-nvtx",
};

struct manner {
	size_t workers;
	bool cupti_only;
};
static const struct manner manners[] = {
	{ 1, true }, { 2, true }, { 1, false }, { 2, false }, { 7, false }
};

static int evaluate(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                    const struct manner *manner, const char *const *metrics, size_t count)
{
	struct opk_eval_options options =
		OPTIONS(options, .workers = manner->workers,
	                .inside = &(struct opk_eval_inside){ .cupti_only = manner->cupti_only },
	                .metrics = metrics, .metric_count = count);

	return opk_eval_file(out, ctx, file, &options);
}

/* All values, names and times, one after the other. */
static void collect(struct opk_buf *out, struct opk_ctx *ctx, struct opk_file *file,
                    const struct manner *manner)
{
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_row *row;

	ck_ok(ctx, evaluate(&evaluation, ctx, file, manner, NULL, 0));
	for (;;) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		if (!row)
			break;
		opk_buf_add(out, row->values,
		            opk_evaluation_metric_count(evaluation) * sizeof(double));
		opk_buf_add_text(out, row->name);
		opk_buf_add_u64(out, row->start_ns);
		opk_buf_add_u64(out, row->end_ns);
	}
}

CTX_TEST_EACH(same_bits_in_any_manner, recordings)
{
	opk_autobuf struct opk_buf wanted = { 0 };
	opk_autofree char *name = opk_printf(TEST_DATA_DIR "/recordings/gh100-%s.opk", *row);
	freed(opk_file) *file = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, name));
	collect(&wanted, ctx, file, &manners[0]);
	for (size_t i = 1; i < COUNT(manners); i++) {
		opk_autobuf struct opk_buf got = { 0 };

		collect(&got, ctx, file, &manners[i]);
		ck_assert_msg(got.size == wanted.size && !memcmp(got.data, wanted.data, got.size),
		              "%s: %zu workers, cupti %d", name, manners[i].workers,
		              manners[i].cupti_only);
	}
}

/* ---- devices that differ ------------------------------------------------------------------ */

/* A byte of this image is the device's number of units: 528 SMSPs become 464. */
enum { UNITS = 552 };
static const char *const peaks[] = { "sm__inst_executed.sum.peak_sustained",
	                             "sm__inst_executed.sum" };

static void write_devices(struct opk_ctx *ctx)
{
	freed(opk_file) *file = NULL;
	const struct opk_meta *meta;
	freed(opk_writer) *writer = NULL;
	opk_autofree uint8_t *image = NULL;
	size_t size;

	ck_ok(ctx, opk_file_open(&file, ctx, TEST_DATA_DIR "/recordings/gh100-legacy-noinst.opk"));
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_ok(ctx, opk_file_read((void **)&image, &size, ctx, file,
	                         (size_t)opk_file_find(file, OPK_SECTION_DATA)));
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add_meta(writer, meta));
	for (int i = 0; i < 3; i++) {
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, image, size));
		image[UNITS] ^= 1;
	}
	ck_ok(ctx, opk_writer_finish(writer));
}

CTX_TEST(each_image_has_its_devices_peaks)
{
	freed(opk_file) *file = NULL;

	write_devices(ctx);
	ck_ok(ctx, opk_file_open(&file, ctx, path));
	for (size_t i = 0; i < COUNT(manners); i++) {
		freed(opk_evaluation) *evaluation = NULL;
		const struct opk_row *row;

		ck_ok(ctx, evaluate(&evaluation, ctx, file, &manners[i], peaks, COUNT(peaks)));
		/* Two ranges in each image. */
		for (int j = 0; j < 6; j++) {
			ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
			ck_assert_ptr_nonnull(row);
			ck_assert_double_eq(row->values[0], j / 2 == 1 ? 464 : 528);
		}
	}
}

/* ---- errors ------------------------------------------------------------------------------- */

/* A copy of the recording with one byte changed in some images' payloads. */
static void write_damaged(struct opk_ctx *ctx, unsigned damaged)
{
	opk_autobuf struct opk_buf bytes = { 0 };
	struct opk_file *file;
	unsigned images = 0;
	uint8_t piece[4096];
	size_t got;
	FILE *from = fopen(TEST_DATA_DIR "/recordings/gh100-training.opk", "r");

	ck_assert_ptr_nonnull(from);
	while ((got = fread(piece, 1, sizeof piece, from)))
		opk_buf_add(&bytes, piece, got);
	fclose(from);
	ck_ok(ctx, opk_file_open(&file, ctx, TEST_DATA_DIR "/recordings/gh100-training.opk"));
	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		const struct opk_section *section = opk_file_section(file, i);

		if (section->type == OPK_SECTION_DATA && damaged >> images++ & 1)
			bytes.data[section->offset + 100] ^= 1;
	}
	opk_file_free(file);
	write_bytes(bytes.data, bytes.size);
}

/* The damaged image that comes first in the file is reported, even if another is found first. */
CTX_TEST(same_error_in_any_manner)
{
	static const struct {
		struct here here;
		unsigned damaged; /* a bit for each image; images are sections 3, 5, 7, ... */
		const char *wanted;
	} rows[] = {
		{ HERE, 1, "section 3 (DATA)" },   { HERE, 2, "section 5 (DATA)" },
		{ HERE, 32, "section 13 (DATA)" }, { HERE, 63, "section 3 (DATA)" },
		{ HERE, 40, "section 9 (DATA)" },
	};

	for (size_t d = 0; d < COUNT(rows); d++) {
		freed(opk_file) *file = NULL;

		write_damaged(ctx, rows[d].damaged);
		ck_ok(ctx, opk_file_open(&file, ctx, path));
		for (size_t i = 0; i < COUNT(manners); i++) {
			struct opk_evaluation *evaluation = NULL;
			int code = evaluate(&evaluation, ctx, file, &manners[i], NULL, 0);

			ck_row(&rows[d], code == OPK_EINPUT && !evaluation, "code %d", code);
			ck_row(&rows[d], strstr(errors_of(ctx), rows[d].wanted), "%s",
			       errors_of(ctx));
		}
	}
}

/* ---- many files --------------------------------------------------------------------------- */

/* All values and names of an evaluation. */
static void gather(struct opk_buf *out, struct opk_ctx *ctx, struct opk_evaluation *evaluation)
{
	const struct opk_row *row;

	for (;;) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		if (!row)
			return;
		opk_buf_add(out, row->values,
		            opk_evaluation_metric_count(evaluation) * sizeof(double));
		opk_buf_add_text(out, row->name);
	}
}

/* Every recording three times: each child has several, and each is in several children. */
CTX_TEST(many_files_as_each_alone)
{
	enum { MANY = 3 * COUNT(recordings) };
	struct opk_evaluation *evaluations[MANY], *alone;
	struct opk_file *files[MANY];

	for (size_t i = 0; i < MANY; i++) {
		opk_autofree char *name = opk_printf(TEST_DATA_DIR "/recordings/gh100-%s.opk",
		                                     recordings[i % COUNT(recordings)]);

		ck_ok(ctx, opk_file_open(&files[i], ctx, name));
	}
	for (size_t workers = 0; workers < 4; workers += is_long() ? 1 : 2) {
		struct opk_eval_options options = OPTIONS(options, .workers = workers);

		ck_ok(ctx, opk_eval_files(evaluations, ctx, files, MANY, &options));
		for (size_t i = 0; i < MANY; i++) {
			opk_autobuf struct opk_buf together = { 0 }, wanted = { 0 };

			gather(&together, ctx, evaluations[i]);
			opk_evaluation_free(evaluations[i]);
			if (i >= COUNT(recordings))
				continue;
			ck_ok(ctx, opk_eval_file(&alone, ctx, files[i], NULL));
			gather(&wanted, ctx, alone);
			opk_evaluation_free(alone);
			ck_assert_uint_eq(together.size, wanted.size);
			ck_assert_mem_eq(together.data, wanted.data, wanted.size);
		}
	}
	for (size_t i = 0; i < MANY; i++)
		opk_file_free(files[i]);
}

/* One damaged file among many is named, and there is no result for the others. */
CTX_TEST(one_of_many_is_damaged)
{
	enum { MANY = 9 };

	write_damaged(ctx, 4);
	for (size_t damaged = 0; damaged < MANY; damaged += 4) {
		struct opk_evaluation *evaluations[MANY];
		struct opk_file *files[MANY];

		for (size_t i = 0; i < MANY; i++)
			ck_ok(ctx, opk_file_open(&files[i], ctx,
			                         i == damaged ? path
			                                      : TEST_DATA_DIR
			                                 "/recordings/gh100-simple.opk"));
		ck_fails(ctx, opk_eval_files(evaluations, ctx, files, MANY, NULL), OPK_EINPUT,
		         path);
		ck_assert_ptr_nonnull(strstr(errors_of(ctx), "section 7 (DATA)"));
		for (size_t i = 0; i < MANY; i++) {
			ck_assert_ptr_null(evaluations[i]);
			opk_file_free(files[i]);
		}
	}
}

static bool has_metrics(void)
{
	struct opk_ctx *ctx = new_ctx();
	bool has = have_cupti() && version_of(ctx) >= CUPTI_13_0;

	opk_ctx_free(ctx);
	if (!has)
		printf("skipped: CUPTI before 13.0 lacks metrics of the recordings\n");
	return has;
}

SUITE(.set_up = make_path, .tear_down = remove_path, .needs = has_metrics);
