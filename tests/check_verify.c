/* SPDX-License-Identifier: BSD-2-Clause */
/* What verification finds, and where. */
#include <time.h>

#include "allocation.h"
#include "base/file.h"
#include "fake_nv.h"
#include "sketches.h"

#define META(more)                                                                                             \
	"{\"kind\":\"recording\",\"chip\":\"FA100\",\"profiler\":\"range\",\"metrics\":[\"fake__a.sum\"]" more \
	"}"
static const char plain_meta[] = META("");
static const char joined[] = META(",\"join\":\"kernel\",\"passes\":2");
static const char bad_formula[] = META(",\"derived\":[{\"name\":\"x\",\"formula\":\"1 +\"}]");

/* "3 D its CRC-32 differs; 0 - byte..." for all problems. */
static const char *problems_of(const struct opk_listing *findings)
{
	static char text[1024];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < opk_listing_count(findings); i++) {
		struct finding finding = finding_of(findings, i);

		if (finding.problem)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu %c %s",
			                         used ? "; " : "", (size_t)finding.section,
			                         finding.type ? sketch_letter(finding.type) : '-',
			                         finding.problem);
	}
	return text;
}

static const struct verify_row {
	struct here here;
	const char *sketch, *meta;
	unsigned pass;
	const char *wanted;
} verify_rows[] = {
	{ HERE, "M A D R D R S E", plain_meta, 0, "" },
	{ HERE, "M C P A D R E", plain_meta, 0, "" },
	{ HERE, "M C P A E", joined, 0, "" },
	{ HERE, "M U D E", plain_meta, 0, "" },
	{ HERE, "M E", plain_meta, 0, "" },
	/* Damage. */
	{ HERE, "M A D R Dx R E", plain_meta, 0,
	  "5 D damaged: its CRC-32 differs from the one stored" },
	{ HERE, "M A D R D Rx Ex", plain_meta, 0,
	  "6 R damaged: its CRC-32 differs from the one stored; "
	  "7 E damaged: its CRC-32 differs from the one stored" },
	{ HERE, "M Ah D E", plain_meta, 0,
	  "0 - damaged: no section header, or one whose checksum differs" },
	{ HERE, "M A Dp E", plain_meta, 0, "0 - the bytes after a section are not zero" },
	{ HERE, "FM D E", plain_meta, 0, "0 - the file header is damaged" },
	{ HERE, "M D R Do E", plain_meta, 0, "4 E sections are missing or were moved" },
	{ HERE, "M D R E M", plain_meta, 0, "0 - there is more after the end section" },
	/* Cut off. */
	{ HERE, "M D R!", plain_meta, 0, "0 - cut off: its end section is missing" },
	{ HERE, "M D Rc", plain_meta, 0,
	  "3 R cut off: the file ends inside of it; 0 - cut off: its end section is missing" },
	{ HERE, "M D Rk", plain_meta, 0,
	  "0 - cut off: the file ends inside a section header; 0 - cut off: its end section is missing" },
	{ HERE, "M D R Eb", plain_meta, 0, "4 E the end section is damaged" },
	{ HERE, "M D R Ec", plain_meta, 0, "4 E cut off: the file ends inside of it" },
	/* Valid sections with wrong content. */
	{ HERE, "M D E", "{}", 0, "1 M metadata: member profiler is missing" },
	{ HERE, "M D E", "[", 0, "1 M JSON, byte 1: a value is needed here" },
	{ HERE, "M D E", bad_formula, 0,
	  "1 M a number, a name or '(' is needed here, not the end" },
	{ HERE, "A M D E", plain_meta, 0, "2 M the metadata is not the first section" },
	{ HERE, "M D M E", plain_meta, 0, "3 M there is other metadata before it" },
	{ HERE, "A D E", plain_meta, 0, "0 M there is no sound metadata section" },
	{ HERE, "", plain_meta, 0,
	  "0 - cut off: its end section is missing; 0 M there is no sound metadata section" },
	{ HERE, "M A D A E", plain_meta, 0, "2 A more than one of it" },
	{ HERE, "M C P E", plain_meta, 0, "" },
	{ HERE, "M C C E", plain_meta, 0, "2 C more than one of it" },
	{ HERE, "M C P P E", joined, 0, "3 P more than one of it" },
	{ HERE, "M D R E", META(",\"groups\":[[0]]"), 0, "" },
	{ HERE, "M D R E", META(",\"join\":\"kernel\",\"groups\":[[0]]"), 0,
	  "1 M made in pass groups by an earlier offpeak" },
	{ HERE, "M C E", META(",\"config_hash\":\"crc32:00000000\""), 0,
	  "2 C the metadata names another config image" },
	{ HERE, "M C F P E", META(",\"rotation\":{\"passes\":2}"), 0, "" },
	{ HERE, "M C F F P E", META(",\"rotation\":{\"passes\":2}"), 0, "3 F more than one of it" },
	{ HERE, "M C P E", META(",\"rotation\":{\"passes\":2}"), 0,
	  "1 M the config image for rotation is missing" },
	{ HERE, "M C F P E", joined, 0, "3 F the metadata have no plan for rotation" },
	{ HERE, "M C F P E",
	  META(",\"rotation\":{\"passes\":2,\"config_hash\":\"crc32:00000000\"}"), 0,
	  "3 F the metadata names another config image" },
	{ HERE, "M D R E", joined, 2, "" },
	{ HERE, "M D R E", joined, 3, "3 R a range is of pass 3, and there are 2" },
	{ HERE, "M D R T E", plain_meta, 0, "" },
	{ HERE, "M D R T D R E", plain_meta, 0, "" },
	{ HERE, "M D T Rl E", plain_meta, 0,
	  "3 T times of 3 samples, and the range table has 4 rows" },
	{ HERE, "M D R R E", plain_meta, 0, "4 R section 2 has another such table already" },
	{ HERE, "M D T R T E", plain_meta, 0, "5 T section 2 has another such table already" },
	{ HERE, "M A R D E", plain_meta, 0, "3 R the image that it describes is not there" },
	{ HERE, "M D Dx R E", plain_meta, 0,
	  "3 D damaged: its CRC-32 differs from the one stored" },
};

FAKE_TEST_EACH(verifies, verify_rows)
{
	freed(opk_listing) *findings = NULL;

	write_sketch(row->sketch, row->meta, row->pass);
	ck_ok(ctx, opk_verify(&findings, ctx, path, NULL));
	ck_row(row,
	       !strncmp(problems_of(findings), row->wanted, strlen(row->wanted))
	               && !*row->wanted == !*problems_of(findings),
	       "got %s", problems_of(findings));
}

static const struct {
	struct here here;
	uint32_t type;
	const char *payload, *wanted;
} tables_are_read_rows[] = {
	{ HERE, OPK_SECTION_RANGES, "{}", "3 R the range table is not an array" },
	{ HERE, OPK_SECTION_RANGES, "[", "3 R JSON" },
	{ HERE, OPK_SECTION_TIMES, "123", "3 T the times of the samples are not whole entries" },
	{ HERE, OPK_SECTION_TIMES, "\1\1\1\1\1\1\1\1",
	  "3 T the device of the samples is out of range" },
	{ HERE, OPK_SECTION_TIMES, "\xfe\xff\xff\xff\xff\xff\xff\xff",
	  "3 T the device of the samples is out of range" },
	{ HERE, OPK_SECTION_TIMES, "\xff\xff\xff\xff\xff\xff\xff\xff", "" },
	{ HERE, OPK_SECTION_STATS, "[]", "3 S the counts are not an object" },
	{ HERE, OPK_SECTION_STATS, "{}", "" },
};

/* A table is read even if its checksum is correct: its text may be wrong. */
FAKE_TEST_EACH(tables_are_read, tables_are_read_rows)
{
	freed(opk_listing) *findings = NULL;
	struct image image;

	begin_image(&image);
	put(&image, OPK_SECTION_META, plain_meta, strlen(plain_meta));
	put(&image, OPK_SECTION_DATA, "image", 5);
	put(&image, row->type, row->payload, strlen(row->payload));
	put_end(&image);
	write_image(&image);
	ck_ok(ctx, opk_verify(&findings, ctx, path, NULL));
	ck_row(row,
	       !strncmp(problems_of(findings), row->wanted, strlen(row->wanted))
	               && !*row->wanted == !*problems_of(findings),
	       "got %s", problems_of(findings));
}

static const struct deep_row {
	struct here here;
	const char *sketch;
	enum fake_deed deed;
	size_t at;
	int code;
	const char *wanted; /* NULL: valid */
} deep_rows[] = {
	{ HERE, "M A D R D R S E", FAKE_RETURNS, 0, OPK_OK, NULL },
	{ HERE, "M A D E", FAKE_SEGFAULTS, 1, OPK_OK, "3 D NVIDIA's code crashed on these bytes" },
	{ HERE, "M A D R D R E", FAKE_SEGFAULTS, 1, OPK_OK,
	  "0 D NVIDIA's code crashed on these bytes" },
	{ HERE, "M A D R D R!", FAKE_RETURNS, 0, OPK_OK,
	  "0 - cut off: its end section is missing" },
	{ HERE, "M A D R D R!", FAKE_SEGFAULTS, 1, OPK_OK,
	  "0 - cut off: its end section is missing; 0 D NVIDIA's code crashed" },
	{ HERE, "M A D R D Rc", FAKE_RETURNS, 0, OPK_OK,
	  "6 R cut off: the file ends inside of it" },
	/* Numbers of rows and ranges must agree. */
	{ HERE, "M A D Rl E", FAKE_RETURNS, 0, OPK_OK, "3 D " },
	/* A damaged image is not evaluated. */
	{ HERE, "M A Dx R D R E", FAKE_SEGFAULTS, 0, OPK_OK, "3 D damaged: its CRC-32 differs" },
	{ HERE, "M C E", FAKE_SEGFAULTS, 0, OPK_OK, NULL },
};

FAKE_TEST_EACH(verifies_deeply, deep_rows)
{
	struct opk_verify_options options = OPTIONS(options, .deep = true);
	freed(opk_listing) *findings = NULL;
	int code;

	fake.evaluate_deed = row->deed;
	fake.evaluate_at = row->at;
	ctx->timeout_s = 20;
	write_sketch(row->sketch, plain_meta, 0);
	code = opk_verify(&findings, ctx, path, &options);
	ck_row(row, code == row->code, "code %d: %s", code, errors_of(ctx));
	ck_row(row,
	       row->wanted ? strncmp(problems_of(findings), row->wanted, strlen(row->wanted)) == 0
	                   : !*problems_of(findings),
	       "got %s", problems_of(findings));
}

FAKE_TEST(not_a_container)
{
	static const struct {
		struct here here;
		const char *bytes;
		size_t size;
		const char *wanted;
	} rows[] = {
		{ HERE, "", 0, "too short for an .opk file" },
		{ HERE, "a text that is long enough to be one", 36, "not an .opk file" },
		{ HERE, "\x89OPK\r\n\x1a\n\1\0\0\0\0\0\0\0", 16, "format version 1" },
	};
	struct opk_listing *findings = NULL;

	for (size_t i = 0; i < COUNT(rows); i++) {
		write_bytes(rows[i].bytes, rows[i].size);
		ck_row(&rows[i], opk_verify(&findings, ctx, path, NULL) == OPK_EINPUT, "is one");
		ck_row(&rows[i], told(ctx, rows[i].wanted), "%s", errors_of(ctx));
	}
	ck_code(ctx, opk_verify(&findings, ctx, "/nowhere", NULL), OPK_EINPUT);
	ck_code(ctx, opk_verify(&findings, ctx, "/dev/null", NULL), OPK_EINPUT);
}

/* The time is linear in the number of sections, not quadratic. */
FAKE_TEST(many_sections)
{
	freed(opk_listing) *findings = NULL;
	struct image image;
	clock_t start;

	begin_image(&image);
	put(&image, OPK_SECTION_META, plain_meta, strlen(plain_meta));
	for (int i = 0; i < 200000; i++)
		put(&image, OPK_SECTION_CONFIG, "", 0);
	put_end(&image);
	write_image(&image);
	start = clock();
	ck_ok(ctx, opk_verify(&findings, ctx, path, NULL));
	ck_assert((clock() - start) / CLOCKS_PER_SEC < 15);
}

/* Any changed byte is found, in its section. */
FAKE_TEST(every_byte_is_found)
{
	opk_autofree uint8_t *bytes = NULL;
	struct opk_listing *findings;
	size_t size;

	write_sketch("M A D R S E", plain_meta, 0);
	ck_ok(ctx, opk_read_file((void **)&bytes, &size, ctx, path));
	for (size_t at = 0; at < size; at++) {
		bool found = false;

		bytes[at] ^= 0x10;
		write_bytes(bytes, size);
		bytes[at] ^= 0x10;
		/* A file of another version is refused. */
		if (at >= 8 && at < 12) {
			ck_code(ctx, opk_verify(&findings, ctx, path, NULL), OPK_EINPUT);
			continue;
		}
		ck_ok(ctx, opk_verify(&findings, ctx, path, NULL));
		for (size_t i = 0; i < opk_listing_count(findings); i++) {
			struct finding finding = finding_of(findings, i);

			found = found
			        || (finding.problem && finding.byte <= at
			            && at < finding.byte + finding.size);
		}
		ck_assert_msg(found, "byte %zu: %s", at, problems_of(findings));
		opk_listing_free(findings);
	}
}

FAKE_TEST(without_memory)
{
	long n = 0;

	write_sketch("M C A D R T Dx E", META(",\"config_hash\":\"crc32:00000000\""), 0);
	for (;; n++) {
		struct opk_listing *findings = NULL;

		fail_allocation(n);
		if (!was_short(ctx, n, opk_verify(&findings, ctx, path, NULL))) {
			opk_listing_free(findings);
			break;
		}
	}
	ck_assert_int_gt(n, 20);
}

SUITE(.set_up = make_path, .tear_down = remove_path);
