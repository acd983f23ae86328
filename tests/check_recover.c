/* SPDX-License-Identifier: BSD-2-Clause */
/* Damaged recordings: recovers undamaged sections, and no row gets another image. */
#include "allocation.h"
#include "base/file.h"
#include "eval/door.h"
#include "fake_nv.h"
#include "sketches.h"

#define META(more)                                                                                             \
	"{\"kind\":\"recording\",\"chip\":\"FA100\",\"profiler\":\"range\",\"metrics\":[\"fake__a.sum\"]" more \
	"}"
static const char plain_meta[] = META("");

static char torn[80];

/* Recovers `torn` to `path`. */
static int recover(struct opk_listing **findings, struct opk_ctx *ctx, const char *sketch,
                   const char *meta, unsigned pass)
{
	write_sketch(sketch, meta, pass);
	snprintf(torn, sizeof torn, "%s/torn", folder);
	ck_assert_int_eq(rename(path, torn), 0);
	return opk_recover(findings, ctx, torn, path);
}

static void tidy(void)
{
	unlink(torn);
	unlink(path);
}

static const struct recovery_row {
	struct here here;
	const char *sketch;
	const char *wanted; /* NULL: refused */
	const char *told;   /* the error, or one of the drops */
} recovery_rows[] = {
	/* Whole. */
	{ HERE, "M A D R D R S E", "M A1 D1 R1 D2 R2 S", NULL },
	{ HERE, "M C P A D R E", "M C1 P1 A1 D1 R1", NULL },
	{ HERE, "M D E", "M D1", NULL },
	{ HERE, "M U D U E", "M U1 D1 U2", NULL },
	/* Activities belong to no image, and are enough for a recording. */
	{ HERE, "M A K D R K S E", "M A1 K1 D1 R1 K2 S", NULL },
	{ HERE, "M K K!", "M K1 K2 S", "cut off 1" },
	{ HERE, "M K Kc", "M K1 S", "records of kernels that were damaged 1" },
	{ HERE, "M Kx K D R E", "M K2 D1 R1 S", "records of kernels that were damaged 1" },
	{ HERE, "M Kb K D R E", "M K2 D1 R1 S", "records of kernels that were damaged 1" },
	{ HERE, "M K Dx R E", "M K1 S", "images that were damaged 1" },
	{ HERE, "M Kx E", NULL, "nothing that was recorded is whole" },
	/* Counts of instructions, too; modules alone are not. */
	{ HERE, "M O I O I S E", "M O1 I1 O2 I2 S", NULL },
	{ HERE, "M O I O I!", "M O1 I1 O2 I2 S", "cut off 1" },
	{ HERE, "M O I Oc", "M O1 I1 S", "modules that were damaged 1" },
	{ HERE, "M O Ix O I Ic", "M O1 O2 I2 S", "counts of instructions that were damaged 2" },
	{ HERE, "M Ox I E", "M I1 S", "modules that were damaged 1" },
	{ HERE, "M Ob Ib D R E", "M D1 R1 S", "counts of instructions that were damaged 1" },
	{ HERE, "M O E", NULL, "nothing that was recorded is whole" },
	/* Imports of older versions have values after this section: none is there. */
	{ HERE, "M K B!", "M K1 S", "cut off 1" },
	{ HERE, "M B!", NULL, "nothing that was recorded is whole" },
	/* Killed: between sections, inside a payload, inside a header. */
	{ HERE, "M A D R D R!", "M A1 D1 R1 D2 R2 S", "cut off 1" },
	{ HERE, "M A D R D Rc", "M A1 D1 R1 D2 S", "of which no more is known 1" },
	{ HERE, "M A D R Dc", "M A1 D1 R1 S", "images that were damaged 1" },
	{ HERE, "M A D R Dk", "M A1 D1 R1 S", "cut off 1" },
	{ HERE, "M A D T D!", "M A1 D1 T1 S", "whose rows were damaged 1" },
	{ HERE, "M A D T D T!", "M A1 D1 T1 D2 T2 S", "cut off 1" },
	{ HERE, "M A D!", "M A1 D1 S", "cut off 1" },
	{ HERE, "M A D R S Ec", "M A1 D1 R1 S", NULL },
	{ HERE, "M A D R S Ex", "M A1 D1 R1 S", NULL },
	{ HERE, "M A D R S Eh", "M A1 D1 R1 S S", "cut off 1" },
	/* The rows of a damaged image are lost, and no others. */
	{ HERE, "M A D R Dx R D R S E", "M A1 D1 R1 D3 R3 S S", "counter data was damaged 3" },
	{ HERE, "M A Dx R D R S E", "M A1 D2 R2 S S", "images that were damaged 1" },
	{ HERE, "M A D R D R Dx R E", "M A1 D1 R1 D2 R2 S", "images that were damaged 1" },
	{ HERE, "M A D T Dx T D T E", "M A1 D1 T1 D3 T3 S", "counter data was damaged 3" },
	{ HERE, "M A D R Dh R D R E", "M A1 D1 R1 D3 R3 S",
	  "stretches of the file that were damaged 1" },
	{ HERE, "M A D R Di R D R E", "M A1 D1 R1 D3 R3 S", "images that were damaged 1" },
	{ HERE, "M A D R Dr R D R E", "M A1 D1 R1 D3 R3 S", "images that were damaged 1" },
	/* Damaged rows: their image keeps its ranges, and gets no other image's rows. */
	{ HERE, "M A D R D Rx D R E", "M A1 D1 R1 D2 D3 R3 S", "of which no more is known 1" },
	{ HERE, "M A D R D Rh D R E", "M A1 D1 R1 D2 D3 R3 S", "of which no more is known 1" },
	{ HERE, "M A D R D Rr D R E", "M A1 D1 R1 D2 D3 R3 S", "of which no more is known 1" },
	{ HERE, "M A D T D Tx D T E", "M A1 D1 T1 D3 T3 S", "whose rows were damaged 1" },
	{ HERE, "M A D Rx E", "M A1 D1 S", "other sections that were damaged 1" },
	/* Rows and the image after them in one damaged stretch. */
	{ HERE, "M A D Rh Dh R D R E", "M A1 D1 D3 R3 S",
	  "stretches of the file that were damaged 1" },
	{ HERE, "M A D Rr Dh R D R E", "M A1 D1 D3 R3 S",
	  "stretches of the file that were damaged 1" },
	{ HERE, "M A D Rho Dr R D R E", "M A1 D1 D3 R3 S", "of which no more is known 1" },
	/* Tables still find their images if an earlier section is lost. */
	{ HERE, "M Ah D R D R!", "M D1 R1 D2 R2 S", "cut off 1" },
	{ HERE, "M C Dh R D R E", "M C1 D2 R2 S", "counter data was damaged 3" },
	/* A table that names no image of the file, and a second table of one image. */
	{ HERE, "M A R D E", "M A1 D1 S", "counter data was damaged 3" },
	{ HERE, "M D R R E", "M D1 R1 S", "other sections that were damaged 1" },
	/* Both tables. */
	{ HERE, "M D R T D T R E", "M D1 R1 T1 D2 T2 R2", NULL },
	{ HERE, "M D R T D Tx R D T R E", "M D1 R1 T1 D3 T3 R3 S", "whose rows were damaged 1" },
	{ HERE, "M D R T D T Rx D T R E", "M D1 R1 T1 D2 T2 D3 T3 R3 S", "no more is known 1" },
	/* Tables that all readers refuse: of unequal length, and with passes that do not exist. */
	{ HERE, "M D T Rl E", "M D1 T1 S", "other sections that were damaged 1" },
	{ HERE, "M D T Rl D T R E", "M D1 T1 D2 T2 R2 S", "no more is known 1" },
	{ HERE, "M D Rl T D T R E", "M D1 T1 D2 T2 R2 S", "no more is known 1" },
	/* Complete files with more or fewer rows than ranges. */
	{ HERE, "M D Rl E", "M D1 S", "other sections that were damaged 1" },
	{ HERE, "M D Rf E", "M D1 S", "other sections that were damaged 1" },
	{ HERE, "M D Tl E", "M D1 S", "other sections that were damaged 1" },
	{ HERE, "M D R D Rf D R E", "M D1 R1 D2 D3 R3 S", "no more is known 1" },
	{ HERE, "M D T D Tf D T E", "M D1 T1 D3 T3 S", "whose rows were damaged 1" },
	{ HERE, "M D Rl Tl E", "M D1 S", "other sections that were damaged 2" },
	{ HERE, "M D T Rg D T R E", "M D2 T2 R2 S", "other sections that were damaged 1" },
	/* Config images and prefixes are numbered by their order. */
	{ HERE, "M C P C P D E", "M C1 P1 C2 P2 D1", NULL },
	{ HERE, "M C P Cx P D E", "M C1 P1 D1 S", "other sections that were damaged 1" },
	{ HERE, "M Ch P C P D E", "M D1 S", "stretches of the file that were damaged 1" },
	{ HERE, "M A C Dx R D R E", "M A1 C1 D2 R2 S", "images that were damaged 1" },
	/* A section that names an image stays with it, whether or not its type is known. */
	{ HERE, "M D V R D R V E", "M D1 V1 R1 D2 R2 V2", NULL },
	{ HERE, "M D V R D V!", "M D1 V1 R1 D2 V2 S", "cut off 1" },
	{ HERE, "M D R Dx V R D R V E", "M D1 R1 D3 R3 V2 S",
	  "other sections that were damaged 1" },
	/* Damage to the file header, to padding, and to sections beside images and tables. */
	{ HERE, "FM A D R E", "M A1 D1 R1", NULL },
	{ HERE, "M Ap D Rp D R E", "M A1 D1 R1 D2 R2", NULL },
	{ HERE, "M A D R Sx E", "M A1 D1 R1 S", "other sections that were damaged 1" },
	{ HERE, "M Ax D R E", "M D1 R1 S", "other sections that were damaged 1" },
	{ HERE, "M Ux D R E", "M D1 R1 S", "other sections that were damaged 1" },
	/* Each section is valid, but some are missing: no table gets another image. */
	{ HERE, "M D R D Ro Do R E", "M D1 R1 D2 S", "counter data was damaged 3" },
	{ HERE, "M D R D Ro Do R E", "M D1 R1 D2 S", "of which no more is known 1" },
	{ HERE, "M A D Ro E", "M A1 D1 S", "sections are missing or were moved 1" },
	{ HERE, "M A Do R D R D R!", "M A1 D2 R2 D3 R3 S", "counter data was damaged 3" },
	/* The checksum is correct, the content is not. */
	{ HERE, "M A D R D Rb D R E", "M A1 D1 R1 D2 D3 R3 S", "of which no more is known 1" },
	{ HERE, "M A D R Sb E", "M A1 D1 R1 S", "other sections that were damaged 1" },
	{ HERE, "M A D R Eb", "M A1 D1 R1", NULL },
	{ HERE, "M A D R M E", "M A1 D1 R1 S", "other sections that were damaged 1" },
	/* A second file after the end does not belong to this one. */
	{ HERE, "M D R E M D R E", "M D1 R1", NULL },
	/* Nothing is left to evaluate. */
	{ HERE, "Mx D R E", NULL, "its metadata is lost" },
	{ HERE, "Mh D R E", NULL, "its metadata is lost" },
	{ HERE, "Mb D R E", NULL, "its metadata is lost" },
	{ HERE, "M Dx R E", NULL, "nothing that was recorded is whole" },
	{ HERE, "M A!", NULL, "nothing that was recorded is whole" },
	{ HERE, "M E", NULL, "nothing that was recorded is whole" },
	{ HERE, "", NULL, "its metadata is lost" },
	{ HERE, "F", NULL, "there is no section in it" },
	{ HERE, "FMh", NULL, "there is no section in it" },
};

/* Any reader accepts the recovered file. */
static bool is_readable(struct opk_ctx *ctx)
{
	const struct opk_segment *segments;
	freed(opk_file) *file = open_file(ctx);
	size_t count;
	int code = opk_file_segments(&segments, &count, ctx, file);

	return !code;
}

/* "REASON COUNT" is among the drops. */
static bool is_dropped(struct opk_ctx *ctx, const char *told)
{
	freed(opk_file) *file = open_file(ctx);
	const struct opk_stats *stats;
	bool found = false;

	ck_ok(ctx, opk_file_stats(&stats, ctx, file));
	for (size_t i = 0; stats && i < stats->drop_count; i++) {
		char text[200], *words;

		snprintf(text, sizeof text, "%s %ju", stats->drops[i].reason,
		         (uintmax_t)stats->drops[i].count);
		words = strdup(told);
		/* The beginning of the reason is enough. */
		if (strrchr(words, ' '))
			*strrchr(words, ' ') = '\0';
		found = found
		        || (strstr(text, words) && !strcmp(strrchr(text, ' '), strrchr(told, ' ')));
		free(words);
	}
	return found;
}

FAKE_TEST_EACH(recovers, recovery_rows)
{
	struct opk_listing *findings = NULL;
	int code = recover(&findings, ctx, row->sketch, plain_meta, 0);

	ck_row(row, code == (row->wanted ? OPK_OK : OPK_EINPUT), "code %d: %s", code,
	       errors_of(ctx));
	ck_row(row, !findings == !!code, "findings after code %d", code);
	if (row->wanted) {
		ck_row(row, is_readable(ctx), "%s", errors_of(ctx));
		ck_row(row, !strcmp(sketch_of(ctx), row->wanted), "got %s", sketch_of(ctx));
		ck_row(row, !row->told || is_dropped(ctx, row->told), "no drop '%s'", row->told);
	} else {
		ck_row(row, told(ctx, row->told), "%s", errors_of(ctx));
		ck_row(row, entries(false) == 1, "something was left behind");
	}
	opk_listing_free(findings);
	tidy();
}

/* If ranges have one pass, an image without rows could be of any pass. */
static const struct pass_row {
	struct here here;
	const char *meta;
	unsigned pass;
	const char *sketch, *wanted;
} pass_rows[] = {
	{ HERE, META(",\"join\":\"kernel\""), 0, "M D R D Rx E", "M D1 R1 S" },
	{ HERE, META(",\"join\":\"kernel\""), 0, "M D R D R!", "M D1 R1 D2 R2 S" },
	{ HERE, META(",\"join\":\"kernel\""), 0, "M Ah D R D R!", "M D1 R1 D2 R2 S" },
	{ HERE, META(",\"passes\":1"), 1, "M D R D Rx E", "M D1 R1 S" },
	{ HERE, META(",\"passes\":1"), 0, "M D R D Rx E", "M D1 R1 D2 S" },
	{ HERE, META(",\"passes\":1"), 1, "M D Rx E", "M D1 S" },
	{ HERE, META(",\"passes\":1"), 1, "M D Rl D R E", "M D2 R2 S" },
	{ HERE, META(",\"join\":\"name\",\"passes\":1"), 1, "M D Rf E", NULL },
	{ HERE, META(",\"join\":\"name\",\"passes\":1"), 1, "M D Rx E", NULL },
	{ HERE, META(",\"passes\":2"), 1, "M D Rg D R E", "M D2 R2 S" },
	{ HERE, META(",\"passes\":2"), 2, "M D Rg D R E", "M D2 R2 S" },
	{ HERE, META(",\"passes\":2"), 3, "M D R E", NULL },
};

TEST(recovers_passes)
{
	for (size_t i = 0; i < COUNT(pass_rows); i++) {
		const struct pass_row *row = &pass_rows[i];
		struct opk_ctx *ctx = fake_ctx();
		int code = recover(NULL, ctx, row->sketch, row->meta, row->pass);

		ck_row(row, code == (row->wanted ? OPK_OK : OPK_EINPUT), "code %d: %s", code,
		       errors_of(ctx));
		ck_row(row, !row->wanted || is_readable(ctx), "%s", errors_of(ctx));
		if (row->wanted)
			ck_row(row, !strcmp(sketch_of(ctx), row->wanted), "got %s", sketch_of(ctx));
		opk_ctx_free(ctx);
		tidy();
	}
}

static char noted[200];

static void note(void *data, const char *message)
{
	(void)data;
	snprintf(noted, sizeof noted, "%s", message);
}

static struct opk_ctx *ctx_without_libraries(void)
{
	struct opk_ctx_options options = OPTIONS(options, .cuda_dir = "/nowhere", .log = note);
	struct opk_ctx *ctx = NULL;

	ck_assert_int_eq(opk_ctx_new(&ctx, &options), OPK_OK);
	*noted = '\0';
	return ctx;
}

/* Without a library that counts them, images and rows are not compared, and a note says so. */
TEST(without_libraries)
{
	struct opk_ctx *ctx = ctx_without_libraries();

	ck_ok(ctx, recover(NULL, ctx, "M D R D!", plain_meta, 0));
	ck_assert_str_eq(sketch_of(ctx), "M D1 R1 D2 S");
	ck_assert_ptr_nonnull(strstr(noted, "rows are not compared"));
	tidy();
	ck_ok(ctx, recover(NULL, ctx, "M D T Rl E", plain_meta, 0));
	ck_assert_str_eq(sketch_of(ctx), "M D1 T1 S");
	opk_ctx_free(ctx);
	tidy();
}

/* Evaluated directly, a file without an end gives each row to its own range. */
TEST(evaluated_without_an_end)
{
	static const struct {
		struct here here;
		const char *sketch;
		size_t rows; /* 0: refused */
	} rows[] = {
		{ HERE, "M A D R D R!", 6 },
		{ HERE, "M A D R D!", 6 },
		{ HERE, "M A D!", 3 },
		{ HERE, "M C R D!", 0 },
		{ HERE, "M A D D!", 6 },
		{ HERE, "M A D R D Ro D R!", 9 },
		{ HERE, "M A D R Do R D R!", 0 },
		{ HERE, "M A D R D Rl!", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_eval_options options = OPTIONS(options, .allow_incomplete = true);
		struct opk_evaluation *evaluation = NULL;
		struct opk_ctx *ctx = fake_ctx();
		struct opk_file *file = NULL;
		int code;

		write_sketch(rows[i].sketch, plain_meta, 0);
		code = opk_file_open(&file, ctx, path);
		if (!code)
			code = opk_eval_file(&evaluation, ctx, file, &options);
		ck_row(&rows[i], code == (rows[i].rows ? OPK_OK : OPK_EINPUT), "code %d: %s", code,
		       errors_of(ctx));
		ck_row(&rows[i], code || opk_evaluation_row_count(evaluation) == rows[i].rows,
		       "%ju rows", (uintmax_t)opk_evaluation_row_count(evaluation));
		opk_evaluation_free(evaluation);
		opk_file_free(file);
		opk_ctx_free(ctx);
		tidy();
	}
}

static const struct {
	struct here here;
	const char *sketch, *wanted; /* NULL: refused */
} resumed_rows[] = {
	{ HERE, "M A D R D R!", "M A1 D1 R1 D2 R2 S" },
	{ HERE, "M A D R D Rc", "M A1 D1 R1 S" },
	{ HERE, "M A D R D!", "M A1 D1 R1 S" },
	{ HERE, "M A D T S!", "M A1 D1 T1 S S" },
	{ HERE, "M A D R S Ec", "M A1 D1 R1 S S" },
	{ HERE, "M!", "M S" },
	{ HERE, "Mc", "S" },
	{ HERE, "M D R E", NULL },
};

/* A file that is continued after a cut equals one that was never cut. */
TEST_EACH(resumed, resumed_rows)
{
	static const struct opk_stats stats = { .launches = 7 };
	struct opk_ctx *ctx = fake_ctx();
	struct opk_writer *writer = NULL;
	struct opk_file *file;
	int code;

	write_sketch(row->sketch, plain_meta, 0);
	file = open_file(ctx);
	code = opk_writer_resume(&writer, ctx, file);
	ck_row(row, code == (row->wanted ? OPK_OK : OPK_EUSAGE), "code %d", code);
	if (!code)
		code = opk_writer_add_stats(writer, &stats);
	if (!code)
		ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	opk_file_free(file);
	file = open_file(ctx);
	ck_row(row, opk_file_complete(file), "not complete");
	opk_file_free(file);
	ck_row(row, !row->wanted || !strcmp(sketch_of(ctx), row->wanted), "got %s", sketch_of(ctx));
	opk_ctx_free(ctx);
	tidy();
}

static const struct {
	struct here here;
	const char *sketches[2];
	const char *wanted; /* NULL: refused */
} merged_in_one_order_rows[] = {
	{ HERE, { "M D R E", "M D R E" }, "M D1 R1 D1 R1" },
	{ HERE, { "M D R D R E", "M D R D R E" }, "M D1 R1 D2 R2 D1 R1 D2 R2" },
	{ HERE, { "M D T R D R T E", "M D T R E" }, "M D1 T1 R1 D2 R2 T2 D1 T1 R1" },
	{ HERE, { "M D S E", "M S D S E" }, "M D1 S S D1 S" },
	{ HERE, { "M D V R E", "M D R V E" }, "M D1 V1 R1 D1 R1 V1" },
	/* A module is there once. */
	{ HERE, { "M O I E", "M I O O E" }, "M O1 I1 I1 O2" },
	{ HERE, { "M O D R I E", "M D R O I E" }, "M O1 D1 R1 I1 D1 R1 I1" },
	{ HERE, { "M R D E", "M D R E" }, NULL },
	{ HERE, { "M D R E", "M R D R E" }, NULL },
	{ HERE, { "M D R E", "M D R R E" }, NULL },
	{ HERE, { "M D T T E", "M D T E" }, NULL },
	{ HERE, { "M D R T E", "M D T Rl E" }, NULL },
};

/* After a merge no table belongs to another file's image. */
TEST_EACH(merged_in_one_order, merged_in_one_order_rows)
{
	struct opk_ctx *ctx = fake_ctx();
	char first[100], second[100];
	const char *parts[] = { first, second };
	int code;

	snprintf(first, sizeof first, "%s/first", folder);
	snprintf(second, sizeof second, "%s/second", folder);
	write_sketch(row->sketches[0], plain_meta, 0);
	ck_assert_int_eq(rename(path, first), 0);
	write_sketch(row->sketches[1], plain_meta, 0);
	ck_assert_int_eq(rename(path, second), 0);
	ctx->log = NULL; /* some parts are equal, and a note says so */
	code = opk_merge(ctx, parts, COUNT(parts), NULL, path);
	ck_row(row, code == (row->wanted ? OPK_OK : OPK_EINPUT), "code %d: %s", code,
	       errors_of(ctx));
	ck_row(row, code || !strcmp(sketch_of(ctx), row->wanted), "got %s", sketch_of(ctx));
	unlink(first);
	unlink(second);
	opk_ctx_free(ctx);
	tidy();
}

/* For damage at any byte, the original stays, and the findings name the place. */
FAKE_TEST(findings_have_places)
{
	static const char sketch[] = "M D R Di R D R E";
	struct opk_listing *findings;
	opk_autofree uint8_t *before = NULL, *after = NULL;
	size_t size, size_after, lost = 0;
	uint64_t at = 16;

	ck_ok(ctx, recover(&findings, ctx, sketch, plain_meta, 0));
	ck_ok(ctx, opk_read_file((void **)&after, &size_after, ctx, torn));
	rename(torn, path);
	write_sketch(sketch, plain_meta, 0);
	ck_ok(ctx, opk_read_file((void **)&before, &size, ctx, path));
	ck_assert(size == size_after && !memcmp(before, after, size));
	for (size_t i = 0; i < opk_listing_count(findings); i++) {
		struct finding finding = finding_of(findings, i);

		/* The findings cover the file without gaps. */
		ck_assert_uint_eq(finding.byte, at);
		at += finding.size;
		lost += finding.problem != NULL;
	}
	ck_assert_uint_eq(at, size);
	/* The image, the bytes moved out of it, and its rows. */
	ck_assert_uint_eq(lost, 3);
	opk_listing_free(findings);
	tidy();
}

FAKE_TEST(original_stays)
{
	char other[100];

	write_sketch("M D R!", plain_meta, 0);
	ck_code(ctx, opk_recover(NULL, ctx, path, path), OPK_EUSAGE);
	snprintf(other, sizeof other, "%s/./t.opk", folder);
	ck_fails(ctx, opk_recover(NULL, ctx, path, other), OPK_EUSAGE,
	         "is the damaged file itself");
	ck_code(ctx, opk_recover(NULL, ctx, path, "/nowhere/x.opk"), OPK_EFAILED);
	ck_fails(ctx, opk_recover(NULL, ctx, "/nowhere/x.opk", other), OPK_EUSAGE,
	         "exists and is a recording: it is not replaced");
	snprintf(other, sizeof other, "%s/new.opk", folder);
	ck_code(ctx, opk_recover(NULL, ctx, "/nowhere/x.opk", other), OPK_EINPUT);
	ck_assert_uint_eq(entries(false), 1);
}

FAKE_TEST(without_memory)
{
	long n = 0;

	for (;; n++) {
		struct opk_listing *findings = NULL;

		write_sketch("M A D R Dx R Rh D R S", plain_meta, 0);
		snprintf(torn, sizeof torn, "%s/torn", folder);
		ck_assert_int_eq(rename(path, torn), 0);
		fail_allocation(n);
		if (!was_short(ctx, n, opk_recover(&findings, ctx, torn, path))) {
			opk_listing_free(findings);
			break;
		}
		ck_assert_uint_eq(entries(false), 1);
	}
	ck_assert_int_gt(n, 50);
	tidy();
}

/* Puts an image equal to the one before the last section; its payload does not refer to it. */
static void put_equal(struct image *image, size_t size)
{
	const uint8_t packed[] = { (uint8_t)(size / 64), 0 };
	freed(opk_ctx) *ctx = new_ctx();
	opk_autofree void *payload = NULL;
	size_t payload_size;
	struct opk_section section = {
		.type = OPK_SECTION_DATA,
		.flags = OPK_SECTION_DEFLATED | OPK_SECTION_SPARSE | OPK_SECTION_BASED,
		.plain_size = size,
		.distance = 2,
		.linked_crc = crc_back(image, 2),
	};

	ck_ok(ctx, opk_deflate(&payload, &payload_size, ctx, packed, sizeof packed, false));
	section.stored_size = payload_size;
	section.crc = opk_crc32(0, payload, payload_size);
	put_raw(image, &section, sizeof packed, payload, payload_size);
}

static void put_named(struct image *image, const char *name)
{
	char text[32];

	snprintf(text, sizeof text, "[{\"name\":\"%s\"}]", name);
	put(image, OPK_SECTION_RANGES, text, strlen(text));
}

/* Only a section with an encoding of a later version is lost. */
FAKE_TEST(later_encodings)
{
	const struct opk_section section = { .type = LATER_TABLE,
		                             .flags = 16,
		                             .stored_size = 8,
		                             .plain_size = 100,
		                             .crc = opk_crc32(0, "12345678", 8) };
	struct image image;

	begin_image(&image);
	put_numbered(&image, 'M', 1, plain_meta, 0, ' ');
	put_numbered(&image, 'D', 1, plain_meta, 0, ' ');
	put_raw(&image, &section, 0, "12345678", 8);
	put_numbered(&image, 'R', 1, plain_meta, 0, ' ');
	put_end(&image);
	write_image(&image);
	snprintf(torn, sizeof torn, "%s/torn", folder);
	ck_assert_int_eq(rename(path, torn), 0);
	ck_ok(ctx, opk_recover(NULL, ctx, torn, path));
	ck_assert(is_dropped(ctx, "other sections that were damaged 1"));
	ck_assert_str_eq(sketch_of(ctx), "M D1 R1 S");
	tidy();
}

/* Two images with two bases and equal differences are not mixed up. */
TEST(like_images_on_other_bases)
{
	struct opk_ctx *ctx = ctx_without_libraries();
	const struct opk_segment *segments;
	struct opk_file *file;
	struct image image;
	size_t count, from = 0, to = 0;

	begin_image(&image);
	put(&image, OPK_SECTION_META, plain_meta, strlen(plain_meta));
	for (char letter = 'a'; letter <= 'b'; letter++) {
		uint8_t data[256];

		memset(data, letter, sizeof data);
		put(&image, OPK_SECTION_DATA, data, sizeof data);
		put_named(&image, (char[]){ letter, '1', '\0' });
		put_equal(&image, sizeof data);
		from = letter == 'a' ? image.buf.size : from;
		to = image.buf.size;
		put_named(&image, (char[]){ letter, '2', '\0' });
	}
	put_end(&image);
	memset(image.buf.data + from, 0, to - from);
	write_image(&image);
	snprintf(torn, sizeof torn, "%s/torn", folder);
	ck_assert_int_eq(rename(path, torn), 0);
	ck_ok(ctx, opk_recover(NULL, ctx, torn, path));
	file = open_file(ctx);
	ck_ok(ctx, opk_file_segments(&segments, &count, ctx, file));
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(segments[0].ranges[0].name, "a1");
	ck_assert(!segments[1].has_ranges);
	opk_file_free(file);
	opk_ctx_free(ctx);
	tidy();
}

SUITE(.set_up = make_path, .tear_down = remove_path);
