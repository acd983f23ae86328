/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damage: recordings and bare images with bytes changed, moved and missing. Nothing may crash or
 * hang the caller; refused files are refused as bad input only; and a damaged .opk file, or what is
 * recovered from it, may never evaluate to a different value than the sound one. OFFPEAK_TEST_SEED
 * sets the seed, which a failure prints; OFFPEAK_TEST_FILES and OFFPEAK_TEST_IMAGES the numbers of
 * mutants (make mutants).
 */
#include <math.h>
#include <stdint.h>
#include <unistd.h>

#include "base/file.h"
#include "eval/door.h"
#include "set/door.h"
#include "testing.h"

static size_t file_mutants, image_mutants;
enum {
/* A memory checker finds more. */
#ifdef __SANITIZE_ADDRESS__
	USUAL = 200,
#else
	USUAL = 100,
#endif
	USUAL_LONG = 500,
	HOSTILE_FILES = 100,
	WORKED_ON = 100,
	SLICES = 10, /* each kind runs in so many tests */
	MAX_VALUES = 4096,
};

/* The small recordings as shipped; some also twice in a file that merge wrote, packed. */
static const struct sound {
	const char *name;
	bool merged;
} sounds[] = {
	{ "legacy-noinst", false }, { "legacy-noinst", true }, { "simple", false },
	{ "simple", true },         { "nested", false },       { "legacy-user", false },
};
/* Recordings whose images are damaged: evaluation of larger ones takes longer. */
static const char *const image_names[] = { "legacy-noinst", "simple" };

/* ---- random numbers: the same everywhere (xorshift64*) */

static uint64_t seed, state;

static uint64_t next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

static size_t below(size_t limit)
{
	return limit ? (size_t)(next_random() >> 11) % limit : 0;
}

/* Each mutant has its own state, so that it can be made again alone. */
static void start_mutant(uint64_t kind, size_t number)
{
	state = seed * 0x9e3779b97f4a7c15ull + kind * 0xbf58476d1ce4e5b9ull
	        + number * 0x94d049bb133111ebull;
	state = state ? state : 1;
	for (int i = 0; i < 4; i++)
		next_random();
}

/* ---- damage */

struct bytes {
	uint8_t *data;
	size_t size;
};

static struct bytes copy_of(const struct bytes *bytes)
{
	/* Room for insertions. */
	struct bytes copy = { calloc(1, bytes->size + 4096), bytes->size };

	memcpy(copy.data, bytes->data, bytes->size);
	return copy;
}

/* Offsets of the current file's section headers; a bare image has none. */
enum { MAX_HEADERS = 16, HEADER_SIZE = 40 };
static size_t headers[MAX_HEADERS], header_count;

/* Most structure is near the start and the end, and in section headers. */
static size_t some_place(const struct bytes *bytes)
{
	size_t near = bytes->size < 512 ? bytes->size : 512;
	size_t at = header_count ? headers[below(header_count)] + below(HEADER_SIZE) : SIZE_MAX;

	switch (below(4)) {
	case 0:
		return below(near);
	case 1:
		return bytes->size - 1 - below(near);
	case 2:
		return at < bytes->size ? at : below(bytes->size);
	default:
		return below(bytes->size);
	}
}

static size_t some_length(const struct bytes *bytes, size_t at, size_t most)
{
	size_t left = bytes->size - at;

	return 1 + below(left < most ? left : most);
}

static const char *truncate_bytes(struct bytes *bytes)
{
	bytes->size = below(bytes->size);
	return "truncated";
}

static const char *flip_bit(struct bytes *bytes)
{
	bytes->data[some_place(bytes)] ^= (uint8_t)(1u << below(8));
	return "bit flipped";
}

static const char *overwrite(struct bytes *bytes)
{
	size_t at = some_place(bytes), length = some_length(bytes, at, 64);

	for (size_t i = 0; i < length; i++)
		bytes->data[at + i] = (uint8_t)next_random();
	return "overwritten";
}

static const char *zero(struct bytes *bytes)
{
	size_t at = some_place(bytes);

	memset(bytes->data + at, 0, some_length(bytes, at, 4096));
	return "zeroed";
}

static const char *insert(struct bytes *bytes)
{
	size_t at = some_place(bytes), length = 1 + below(64);

	memmove(bytes->data + at + length, bytes->data + at, bytes->size - at);
	for (size_t i = 0; i < length; i++)
		bytes->data[at + i] = (uint8_t)next_random();
	bytes->size += length;
	return "inserted";
}

static const char *cut_out(struct bytes *bytes)
{
	size_t at = some_place(bytes), length = some_length(bytes, at, 64);

	memmove(bytes->data + at, bytes->data + at + length, bytes->size - at - length);
	bytes->size -= length;
	return "removed";
}

/* A large number in the place of a possible count or offset. */
static const char *enlarge(struct bytes *bytes)
{
	static const uint64_t numbers[] = { UINT64_MAX, INT64_MAX, UINT32_MAX, 1u << 31, 1u << 16 };
	size_t at = some_place(bytes) & ~(size_t)7;

	if (at + 8 <= bytes->size)
		memcpy(bytes->data + at, &numbers[below(COUNT(numbers))], 8);
	return "enlarged";
}

static const char *damage(struct bytes *bytes)
{
	static const char *(*const ways[])(struct bytes *) = {
		truncate_bytes, flip_bit, flip_bit, overwrite, zero, insert, cut_out, enlarge,
	};

	return ways[below(COUNT(ways))](bytes);
}

/* ---- recordings, and what they evaluate to */

static struct bytes read_recording(struct opk_ctx *ctx, const char *name)
{
	struct bytes bytes;
	char path[512];
	void *data;

	snprintf(path, sizeof path, TEST_DATA_DIR "/recordings/gh100-%s.opk", name);
	ck_ok(ctx, opk_read_file(&data, &bytes.size, ctx, path));
	bytes.data = data;
	return bytes;
}

/* The scratch file of this process. */
static const char *scratch_path(void)
{
	static char path[64];

	snprintf(path, sizeof path, "/tmp/check_mutants.%ld.opk", (long)getpid());
	return path;
}

static void write_bytes(const struct bytes *bytes)
{
	FILE *file = fopen(scratch_path(), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
	ck_assert_int_eq(fclose(file), 0);
}

/* Also writes the file to the scratch file. */
static struct bytes read_sound(struct opk_ctx *ctx, const struct sound *sound)
{
	struct bytes bytes;
	char path[512];
	const char *paths[] = { path, path };
	void *data;

	snprintf(path, sizeof path, TEST_DATA_DIR "/recordings/gh100-%s.opk", sound->name);
	if (sound->merged) {
		unlink(scratch_path());
		/* The merge notes that the file counts twice. */
		ctx->log = NULL;
		ck_ok(ctx, opk_merge(ctx, paths, COUNT(paths), NULL, scratch_path()));
		ctx->log = unexpected_log;
		ck_ok(ctx, opk_read_file(&data, &bytes.size, ctx, scratch_path()));
		bytes.data = data;
	} else {
		bytes = read_recording(ctx, sound->name);
		write_bytes(&bytes);
	}
	return bytes;
}

struct values {
	double items[MAX_VALUES];
	size_t count;
};

/* All values in order; ends the evaluation. */
static void collect(struct values *values, struct opk_ctx *ctx, struct opk_evaluation *evaluation)
{
	const struct opk_row *row;

	values->count = 0;
	for (;;) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		if (!row)
			break;
		for (size_t i = 0; i < opk_evaluation_metric_count(evaluation); i++)
			if (values->count < MAX_VALUES)
				values->items[values->count++] = row->values[i];
	}
	opk_evaluation_free(evaluation);
}

static bool same_values(const struct values *a, const struct values *b)
{
	return a->count == b->count && !memcmp(a->items, b->items, a->count * sizeof *a->items);
}

/* Opens and evaluates the scratch file; fills `values` on OPK_OK. */
static int evaluate_scratch(struct values *values, struct opk_ctx *ctx)
{
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation = NULL;
	freed(opk_file) *file = NULL;

	TRY(opk_file_open(&file, ctx, scratch_path()));
	ctx->timeout_s = 5;
	TRY(opk_eval_file(&evaluation, ctx, file, &options));
	collect(values, ctx, evaluation);
	return OPK_OK;
}

static void find_headers(struct opk_ctx *ctx)
{
	freed(opk_file) *file = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, scratch_path()));
	header_count = opk_file_section_count(file);
	ck_assert_uint_le(header_count, MAX_HEADERS);
	for (size_t i = 0; i < header_count; i++)
		headers[i] = opk_file_section(file, i)->offset - HEADER_SIZE;
}

static bool has_message(const struct opk_ctx *ctx)
{
	return opk_error_count(ctx) && *opk_error_message(ctx, opk_error_count(ctx) - 1);
}

/* How often each exit code occurred, for the report. */
struct tally {
	size_t codes[OPK_ENOMEM + 1];
};

static void count_code(struct tally *tally, int code)
{
	ck_assert_msg(code >= OPK_OK && code <= OPK_ENOMEM, "code %d", code);
	tally->codes[code]++;
}

static void tell(const char *kind, const struct tally *tally)
{
	if (!getenv("OFFPEAK_TEST_VERBOSE"))
		return;
	fprintf(stderr, "%s:", kind);
	for (int code = 0; code <= OPK_ENOMEM; code++)
		fprintf(stderr, " %zu", tally->codes[code]);
	fputc('\n', stderr);
}

/* Fails with all that is needed to make the mutant again. */
#define ck_mutant(condition, name, number, how, ...)                                               \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s, mutant %zu (%s), OFFPEAK_TEST_SEED=%ju: ", (name),    \
			        (size_t)(number), how, (uintmax_t)seed);                           \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
			ck_abort_msg("mutant %zu of %s: %s", (size_t)(number), name, #condition);  \
		}                                                                                  \
	} while (0)

/* ---- damaged .opk files */

static void check_file_mutant(struct tally *tally, struct opk_ctx *ctx, const char *name,
                              const struct bytes *sound, const struct values *wanted, size_t number)
{
	static struct values got;
	struct bytes mutant = copy_of(sound);
	const char *how;
	int code;

	start_mutant(1, number);
	how = damage(&mutant);
	write_bytes(&mutant);
	code = evaluate_scratch(&got, ctx);
	count_code(tally, code);
	ck_mutant(code == OPK_OK || code == OPK_EINPUT, name, number, how, "code %d: %s", code,
	          errors_of(ctx));
	ck_mutant(code || same_values(&got, wanted), name, number, how, "other values");
	ck_mutant(!code || has_message(ctx), name, number, how, "no message");
	free(mutant.data);
}

CTX_TEST_TIMES(damaged_files, slice, SLICES)
{
	static struct values wanted;
	struct tally tally = { { 0 } };

	for (size_t n = 0; n < COUNT(sounds); n++) {
		struct bytes sound = read_sound(ctx, &sounds[n]);

		ck_ok(ctx, evaluate_scratch(&wanted, ctx));
		ck_assert_uint_gt(wanted.count, 0);
		find_headers(ctx);
		for (size_t i = slice; i < file_mutants; i += SLICES)
			if (i / SLICES % COUNT(sounds) == n)
				check_file_mutant(&tally, ctx, sounds[n].name, &sound, &wanted, i);
		free(sound.data);
	}
	unlink(scratch_path());
	tell("damaged files", &tally);
}

/* ---- what is recovered of them */

enum { MAX_ROWS = 512 };

/* Rows of one metric, each with its launch; 0: unknown. */
struct rows {
	double values[MAX_ROWS];
	uint64_t launches[MAX_ROWS];
	size_t count;
};

static int evaluate_rows(struct rows *rows, struct opk_ctx *ctx, const char *path)
{
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_row *row;
	int code = opk_file_open(&file, ctx, path);

	rows->count = 0;
	if (!code)
		code = opk_eval_file(&evaluation, ctx, file, NULL);
	while (!code && !(code = opk_evaluation_next(&row, ctx, evaluation)) && row) {
		ck_assert_uint_lt(rows->count, MAX_ROWS);
		rows->values[rows->count] = row->values[0];
		rows->launches[rows->count++] = row->range ? row->range->launch : 0;
	}
	return code;
}

/* Each is a row of the sound file, in order, with its own launch or none. */
static bool is_part(const struct rows *part, const struct rows *sound)
{
	size_t at = 0;

	for (size_t i = 0; i < part->count; i++, at++) {
		while (at < sound->count
		       && (part->launches[i] ? part->launches[i] != sound->launches[at]
		                             : part->values[i] != sound->values[at]))
			at++;
		if (at == sound->count || part->values[i] != sound->values[at])
			return false;
	}
	return true;
}

static void check_recovered(struct tally *tally, struct opk_ctx *ctx, const struct bytes *sound,
                            const struct rows *wanted, size_t number)
{
	struct bytes mutant = copy_of(sound);
	static struct rows got;
	char recovered[80];
	const char *how;
	int code;

	snprintf(recovered, sizeof recovered, "%s.recovered", scratch_path());
	start_mutant(6, number);
	how = damage(&mutant);
	write_bytes(&mutant);
	code = opk_recover(NULL, ctx, scratch_path(), recovered);
	count_code(tally, code);
	ck_mutant(code == OPK_OK || code == OPK_EINPUT, "training", number, how, "code %d", code);
	ck_mutant(!code || has_message(ctx), "training", number, how, "no message");
	if (!code) {
		code = evaluate_rows(&got, ctx, recovered);
		ck_mutant(!code, "training", number, how, "%s", errors_of(ctx));
		ck_mutant(is_part(&got, wanted), "training", number, how, "other rows");
		unlink(recovered);
	}
	free(mutant.data);
}

CTX_TEST_TIMES(recovered_files, slice, SLICES)
{
	static struct rows wanted;
	struct bytes sound = read_recording(ctx, "training");
	struct tally tally = { { 0 } };

	write_bytes(&sound);
	ck_ok(ctx, evaluate_rows(&wanted, ctx, scratch_path()));
	ck_assert_uint_gt(wanted.count, 300);
	find_headers(ctx);
	for (size_t i = slice; i < file_mutants / 5; i += SLICES)
		check_recovered(&tally, ctx, &sound, &wanted, i);
	free(sound.data);
	unlink(scratch_path());
	tell("recovered files", &tally);
}

/* Each byte of some files, or every fifth: a checksum detects each change, and each cut shows. */
CTX_TEST_TIMES(every_byte, which, 2)
{
	static struct values got;
	const char *name = sounds[which].name;
	struct bytes bytes = read_sound(ctx, &sounds[which]);
	size_t size = bytes.size, step = is_long() ? 1 : 5;

	start_mutant(5, 0);
	/* The packed one only if there is time. */
	if (which && file_mutants <= 500)
		size = 0;
	for (size_t i = 0; i < size; i += step) {
		uint8_t sound = bytes.data[i];
		int code;

		bytes.data[i] ^= (uint8_t)(1 + below(255));
		write_bytes(&bytes);
		code = evaluate_scratch(&got, ctx);
		ck_mutant(code == OPK_EINPUT && has_message(ctx), name, i, "byte changed",
		          "code %d", code);
		bytes.data[i] = sound;
	}
	for (bytes.size = 0; bytes.size < size; bytes.size += step) {
		int code;

		write_bytes(&bytes);
		code = evaluate_scratch(&got, ctx);
		ck_mutant(code == OPK_EINPUT && has_message(ctx), name, bytes.size, "cut off",
		          "code %d", code);
	}
	free(bytes.data);
	unlink(scratch_path());
}

/* ---- damaged bare images */

struct recorded_image {
	struct bytes image;
	struct opk_file *file; /* holds the metadata */
	const struct opk_meta *meta;
};

static void load_image(struct recorded_image *recorded, struct opk_ctx *ctx, const char *name)
{
	char path[512];
	void *data = NULL;

	snprintf(path, sizeof path, TEST_DATA_DIR "/recordings/gh100-%s.opk", name);
	ck_ok(ctx, opk_file_open(&recorded->file, ctx, path));
	ck_ok(ctx, opk_file_meta(&recorded->meta, ctx, recorded->file));
	for (size_t i = 0; i < opk_file_section_count(recorded->file); i++)
		if (opk_file_section(recorded->file, i)->type == OPK_SECTION_DATA)
			ck_ok(ctx,
			      opk_file_read(&data, &recorded->image.size, ctx, recorded->file, i));
	ck_assert_ptr_nonnull(data);
	recorded->image.data = data;
}

static void unload_image(struct recorded_image *recorded)
{
	opk_file_free(recorded->file);
	free(recorded->image.data);
}

static int evaluate_image(struct values *values, struct opk_ctx *ctx,
                          const struct recorded_image *recorded, const struct bytes *image)
{
	struct opk_eval_options options = OPTIONS(options, .metrics = recorded->meta->metrics,
	                                          .metric_count = recorded->meta->metric_count);
	struct opk_evaluation *evaluation;
	int code;

	ctx->timeout_s = 2;
	code = opk_eval_image(&evaluation, ctx, image->data, image->size, &options);
	if (!code)
		collect(values, ctx, evaluation);
	return code;
}

/* The bytes at the end of an allocation of exactly their size. */
static struct bytes trimmed(struct bytes *bytes)
{
	struct bytes exact = { malloc(bytes->size + 1), bytes->size };

	memcpy(exact.data, bytes->data, bytes->size);
	free(bytes->data);
	return exact;
}

static void check_image_mutant(struct tally *tally, struct opk_ctx *ctx, const char *name,
                               const struct recorded_image *recorded, size_t number)
{
	static struct values got;
	struct bytes mutant = copy_of(&recorded->image);
	const char *how;
	int code;

	start_mutant(2, number);
	how = damage(&mutant);
	mutant = trimmed(&mutant);
	code = evaluate_image(&got, ctx, recorded, &mutant);
	count_code(tally, code);
	ck_mutant(code == OPK_OK || code == OPK_EINPUT, name, number, how, "code %d: %s", code,
	          errors_of(ctx));
	ck_mutant(!code || has_message(ctx), name, number, how, "no message");
	free(mutant.data);
}

CTX_TEST_TIMES(damaged_images, slice, SLICES)
{
	struct tally tally = { { 0 } };

	for (size_t n = 0; n < COUNT(image_names); n++) {
		struct recorded_image recorded;

		load_image(&recorded, ctx, image_names[n]);
		for (size_t i = slice; i < image_mutants; i += SLICES)
			if (i / SLICES % COUNT(image_names) == n)
				check_image_mutant(&tally, ctx, image_names[n], &recorded, i);
		unload_image(&recorded);
	}
	tell("damaged images", &tally);
}

/* ---- hostile files: damage under a correct checksum */

static void write_hostile(struct opk_ctx *ctx, const struct recorded_image *recorded,
                          const struct bytes *image)
{
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, scratch_path()));
	ck_ok(ctx, opk_writer_add_meta(writer, recorded->meta));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, image->data, image->size));
	ck_ok(ctx, opk_writer_finish(writer));
}

static void check_hostile(struct tally *tally, struct opk_ctx *ctx, const char *name,
                          const struct recorded_image *recorded, size_t number)
{
	static struct values got;
	struct bytes mutant = copy_of(&recorded->image);
	const char *how;
	int code;

	start_mutant(3, number);
	how = damage(&mutant);
	write_hostile(ctx, recorded, &mutant);
	/* Damaged counters may give any share. */
	ctx->log = NULL;
	code = evaluate_scratch(&got, ctx);
	count_code(tally, code);
	ck_mutant(code == OPK_OK || code == OPK_EINPUT, name, number, how, "code %d: %s", code,
	          errors_of(ctx));
	ck_mutant(!code || has_message(ctx), name, number, how, "no message");
	free(mutant.data);
}

CTX_TEST_TIMES(hostile_files, slice, SLICES)
{
	struct tally tally = { { 0 } };

	for (size_t n = 0; n < COUNT(image_names); n++) {
		struct recorded_image recorded;

		load_image(&recorded, ctx, image_names[n]);
		for (size_t i = slice; i < image_mutants / 5; i += SLICES)
			if (i / SLICES % COUNT(image_names) == n)
				check_hostile(&tally, ctx, image_names[n], &recorded, i);
		unload_image(&recorded);
	}
	unlink(scratch_path());
	tell("hostile files", &tally);
}

/* ---- commands on the same files: a valid file results, or none */

static int work_on_scratch(struct opk_ctx *ctx, bool sum, const char *made)
{
	const char *path = scratch_path();
	struct opk_sum_options options = OPTIONS(options, .key = "device");
	freed(opk_file) *file = NULL;

	ctx->timeout_s = 5;
	if (sum)
		return opk_sum(ctx, &path, 1, &options, made);
	ck_ok(ctx, opk_file_open(&file, ctx, path));
	return opk_trim(ctx, file, made);
}

static void check_worked_on(struct tally *tally, struct opk_ctx *ctx, const char *name,
                            const struct recorded_image *recorded, size_t number)
{
	struct bytes mutant = copy_of(&recorded->image);
	struct opk_file *file;
	char made[80];
	const char *how;
	int code;

	snprintf(made, sizeof made, "%s.made", scratch_path());
	start_mutant(6, number);
	how = damage(&mutant);
	write_hostile(ctx, recorded, &mutant);
	code = work_on_scratch(ctx, number % 2, made);
	count_code(tally, code);
	ck_mutant(code == OPK_OK || code == OPK_EINPUT, name, number, how, "code %d: %s", code,
	          errors_of(ctx));
	ck_mutant(!code || has_message(ctx), name, number, how, "no message");
	ck_mutant(!code == !access(made, F_OK), name, number, how, "a file is left, or none made");
	if (!code) {
		ck_ok(ctx, opk_file_open(&file, ctx, made));
		ck_assert(opk_file_complete(file));
		opk_file_free(file);
	}
	unlink(made);
	free(mutant.data);
}

CTX_TEST_TIMES(hostile_files_worked_on, slice, SLICES)
{
	struct tally tally = { { 0 } };

	for (size_t n = 0; n < COUNT(image_names); n++) {
		struct recorded_image recorded;

		load_image(&recorded, ctx, image_names[n]);
		for (size_t i = slice; i < enough(WORKED_ON); i += SLICES)
			if (i / SLICES % COUNT(image_names) == n)
				check_worked_on(&tally, ctx, image_names[n], &recorded, i);
		unload_image(&recorded);
	}
	unlink(scratch_path());
	tell("worked on", &tally);
}

/* ---- a damaged built set: it opens or not, and its sections can be read or not */

static void check_set_mutant(struct opk_ctx *ctx, const struct bytes *sound, size_t number)
{
	struct bytes mutant = copy_of(sound);
	freed(opk_file) *file = NULL;
	const struct opk_meta *meta;
	const char *how;
	int code;

	start_mutant(4, number);
	how = damage(&mutant);
	write_bytes(&mutant);
	code = opk_file_open(&file, ctx, scratch_path());
	ck_mutant(!code || code == OPK_EINPUT, "a built set", number, how, "code %d", code);
	ck_mutant(!code || has_message(ctx), "a built set", number, how, "no message");
	for (size_t i = 0; !code && i < opk_file_section_count(file); i++) {
		void *data = NULL;
		size_t size;
		int read = opk_file_read(&data, &size, ctx, file, i);

		ck_mutant(!read || read == OPK_EINPUT, "a built set", number, how, "read %d", read);
		free(data);
	}
	if (!code)
		opk_file_meta(&meta, ctx, file);
	free(mutant.data);
}

CTX_TEST(damaged_sets)
{
	struct opk_plan_options options = OPTIONS(options, .chip = "GH100");
	struct opk_build_options build = OPK_INIT(build);
	freed(opk_set) *set = NULL;
	struct bytes sound;
	freed(opk_plan) *plan = NULL;
	void *data;

	ck_ok(ctx, opk_set_from_names(&set, ctx, "dram__bytes.sum,sm__cycles_active.avg"));
	ck_ok(ctx, opk_plan_new(&plan, ctx, set, &options));
	ck_ok(ctx, opk_build(ctx, plan, &build, scratch_path()));
	ck_ok(ctx, opk_read_file(&data, &sound.size, ctx, scratch_path()));
	sound.data = data;
	for (size_t i = 0; i < file_mutants; i++)
		check_set_mutant(ctx, &sound, i);
	free(sound.data);
	unlink(scratch_path());
}

static size_t from_environment(const char *name, size_t usual)
{
	const char *given = getenv(name);

	return given ? (size_t)strtoull(given, NULL, 0) : usual;
}

static void read_environment(void)
{
	const char *given = getenv("OFFPEAK_TEST_SEED");
	size_t usual = is_long() ? USUAL_LONG : USUAL;

	seed = given ? strtoull(given, NULL, 0) : 20240607;
	file_mutants = from_environment("OFFPEAK_TEST_FILES", usual);
	image_mutants = from_environment("OFFPEAK_TEST_IMAGES", usual);
}

SUITE(.once = read_environment, .needs = have_cupti, .seconds = 300);
