/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damaged recordings from sketches: "M D R Dx R S E" is metadata, an image with its rows, another
 * one whose payload is damaged, and so on. After a section's letter comes what happened to it:
 *
 *   x  a byte of the payload changed    h  a byte of the header changed
 *   i  bytes came into the payload      r  bytes of the payload are gone
 *   o  all of it is gone                p  a byte of the padding changed
 *   c  the file ends inside the payload k  the file ends inside the header
 *   !  the file ends after it          b  the payload is wrong under a right checksum
 *   l  a table has a row more           g  the last row is of another pass
 *   f  a table has a row fewer
 *
 * M metadata, A availability, C config image, P prefix, D image, R range table, T times, S counts,
 * K records of what ran, B how values were made, O a module, I counts of instructions, U of an
 * unknown type, V of one that names the image before it, E end; F is the file header, before all.
 * Each D, R, T, K, O and I carries its number.
 */
#ifndef OPK_SKETCHES_H
#define OPK_SKETCHES_H

#include "containers.h"
#include "container/container.h"

enum { SKETCH_ROWS = 3 }; /* in each table, and ranges in each of the fake's images */

static const struct {
	char letter;
	uint32_t type;
} sketch_types[] = {
	{ 'M', OPK_SECTION_META },   { 'A', OPK_SECTION_AVAILABILITY },
	{ 'C', OPK_SECTION_CONFIG }, { 'F', OPK_SECTION_ROTATION },
	{ 'P', OPK_SECTION_PREFIX }, { 'D', OPK_SECTION_DATA },
	{ 'R', OPK_SECTION_RANGES }, { 'T', OPK_SECTION_TIMES },
	{ 'S', OPK_SECTION_STATS },  { 'U', 0x41525458 },
	{ 'V', LATER_TABLE },        { 'K', OPK_SECTION_ACTIVITIES },
	{ 'E', OPK_SECTION_END },    { 'B', OPK_SECTION_BAKED },
	{ 'O', OPK_SECTION_CODE },   { 'I', OPK_SECTION_INSTRUCTIONS },
};

static inline uint32_t sketch_type(char letter)
{
	for (size_t i = 0; i < COUNT(sketch_types); i++)
		if (sketch_types[i].letter == letter)
			return sketch_types[i].type;
	ck_abort_msg("no section '%c'", letter);
}

static inline char sketch_letter(uint32_t type)
{
	for (size_t i = 0; i < COUNT(sketch_types); i++)
		if (sketch_types[i].type == type)
			return sketch_types[i].letter;
	return '?';
}

static inline void put_counts(struct opk_buf *payload, unsigned number, size_t count)
{
	static const char *const names[] = { "a" };
	static const uint64_t values[SKETCH_ROWS + 1];
	struct opk_instruction rows[SKETCH_ROWS + 1];

	for (unsigned i = 0; i < count; i++)
		rows[i] = (struct opk_instruction){ .module = number, .offset = 16 * i };
	opk_instructions_encode(payload,
	                        &(struct opk_instruction_table){ names, 1, rows, count, values });
}

static inline void put_numbered(struct image *image, char letter, unsigned number, const char *meta,
                                unsigned pass, char how)
{
	opk_autobuf struct opk_buf payload = { 0 };
	struct opk_range ranges[SKETCH_ROWS + 1];
	struct opk_time times[SKETCH_ROWS + 1];
	struct opk_activity activities[SKETCH_ROWS + 1];
	size_t rows = SKETCH_ROWS + (how == 'l') - (how == 'f');
	bool wrong = how == 'b';

	for (unsigned i = 0; i < rows; i++) {
		ranges[i] = (struct opk_range){
			.launch = number, .pass = pass, .device = -1, .rank = -1
		};
		times[i] = (struct opk_time){ 100 * number + i, 100 * number + i + 1, number };
	}
	ranges[rows - 1].pass += how == 'g';
	switch (letter) {
	case 'M':
		opk_buf_add_text(&payload, meta);
		break;
	case 'R':
		opk_ranges_to_json(&payload, ranges, rows);
		break;
	case 'T':
		opk_times_encode(&payload, times, rows);
		break;
	case 'K':
		for (unsigned i = 0; i < rows; i++)
			activities[i] = (struct opk_activity){ .kind = OPK_ACTIVITY_KERNEL,
				                               .correlation = number };
		opk_activities_encode(&payload, activities, rows);
		break;
	case 'O':
		opk_module_encode(&payload, &(struct opk_module){ .crc = number });
		break;
	case 'B':
		opk_buf_add_text(&payload, "{\"generator\":\"test\"}");
		break;
	case 'I':
		put_counts(&payload, number, rows);
		break;
	case 'S':
		opk_buf_add_text(&payload, "{\"launches\":7}");
		break;
	/* These bytes need padding. */
	default:
		opk_buf_add_printf(&payload, "LOPDATA%1c%c%050u.", 1, (char)number, number);
		break;
	}
	while (letter == 'R' && payload.size % 8 != 4)
		opk_buf_add_text(&payload, " ");
	if (wrong)
		opk_buf_add_text(&payload, "?");
	if (letter == 'E' && wrong)
		put(image, OPK_SECTION_END, payload.data, payload.size);
	else if (letter == 'E')
		put_end(image);
	else
		put(image, sketch_type(letter), payload.data, payload.size);
}

static inline void remove_bytes(struct opk_buf *buf, size_t at, size_t size)
{
	memmove(buf->data + at, buf->data + at + size, buf->size - at - size);
	buf->size -= size;
}

static inline void insert_bytes(struct opk_buf *buf, size_t at, size_t size)
{
	opk_buf_add(buf, "12345678", size);
	memmove(buf->data + at + size, buf->data + at, buf->size - at - size);
	memset(buf->data + at, 'i', size);
}

/* Damages the section from `start` to the end as the letter says; false: the file ends here. */
static inline bool hurt(struct opk_buf *buf, size_t start, char how)
{
	switch (how) {
	case 'x':
		buf->data[start + 49] ^= 1;
		break;
	case 'h':
		buf->data[start + 9] ^= 0x55;
		break;
	case 'i':
		insert_bytes(buf, start + 52, 5);
		break;
	case 'r':
		remove_bytes(buf, start + 52, 5);
		break;
	case 'o':
		remove_bytes(buf, start, buf->size - start);
		break;
	case 'p':
		buf->data[buf->size - 1] ^= 1;
		break;
	case 'c':
		buf->size = start + 53;
		return false;
	case 'k':
		buf->size = start + 20;
		return false;
	case '!':
		return false;
	default:
		ck_abort_msg("no damage '%c'", how);
	}
	return true;
}

/* Writes the sketch to `path`. */
static inline void write_sketch(const char *sketch, const char *meta, unsigned pass)
{
	unsigned numbers[128] = { 0 };
	struct image image;
	bool more = true;

	begin_image(&image);
	if (*sketch == 'F') {
		image.buf.data[3] ^= 1;
		sketch++;
	}
	for (; more && *sketch; sketch++) {
		size_t start = image.buf.size;
		char letter = *sketch;

		if (letter == ' ')
			continue;
		put_numbered(&image, letter, ++numbers[(unsigned char)letter], meta, pass,
		             sketch[1]);
		sketch += sketch[1] == 'b' || sketch[1] == 'l' || sketch[1] == 'f'
		          || sketch[1] == 'g';
		while (more && sketch[1] && sketch[1] != ' ')
			more = hurt(&image.buf, start, *++sketch);
	}
	write_image(&image);
}

static inline unsigned number_in(struct opk_ctx *ctx, const struct opk_file *file, size_t i)
{
	uint32_t type = file->sections[i].type;
	struct opk_range_table ranges = { 0 };
	struct opk_time_table times = { 0 };
	struct opk_activity_table activities = { 0 };
	opk_autoinstructions struct opk_instruction_block instructions = { 0 };
	opk_autofree void *read = NULL;
	struct opk_module module;
	unsigned number = 0;
	size_t size;

	if (type == OPK_SECTION_RANGES) {
		ck_ok(ctx, opk_range_table_read(&ranges, ctx, file, i));
		ck_assert_uint_eq(ranges.rows.count, SKETCH_ROWS);
		number = (unsigned)ranges.rows.items[0].launch;
	} else if (type == OPK_SECTION_TIMES) {
		ck_ok(ctx, opk_time_table_read(&times, ctx, file, i));
		ck_assert_uint_eq(times.count, SKETCH_ROWS);
		number = (unsigned)times.rows[0].device;
	} else if (type == OPK_SECTION_ACTIVITIES) {
		ck_ok(ctx, opk_activity_table_read(&activities, ctx, file, i));
		ck_assert_uint_eq(activities.count, SKETCH_ROWS);
		number = activities.rows[0].correlation;
	} else if (type == OPK_SECTION_CODE) {
		ck_ok(ctx, opk_module_read(&module, &read, ctx, file, i));
		number = (unsigned)module.crc;
	} else if (type == OPK_SECTION_INSTRUCTIONS) {
		ck_ok(ctx, opk_instruction_block_read(&instructions, ctx, file, i));
		ck_assert_uint_eq(instructions.table.count, SKETCH_ROWS);
		number = (unsigned)instructions.rows[0].module;
	} else if (type != OPK_SECTION_META && type != OPK_SECTION_STATS) {
		opk_autofree uint8_t *data = NULL;

		ck_ok(ctx, opk_file_read((void **)&data, &size, ctx, file, i));
		number = data[8];
	}
	/* A table names its image by number. */
	ck_assert(type != LATER_TABLE || file->sections[i].link != SIZE_MAX);
	if (opk_is_table(type))
		ck_assert_uint_eq(number, number_in(ctx, file, file->sections[i].link));
	opk_range_table_clear(&ranges);
	free(times.rows);
	opk_activity_table_clear(&activities);
	return number;
}

/* The whole file at `path` as a sketch: "M D1 R1 S", with the numbers of sections that have one. */
static inline const char *sketch_of(struct opk_ctx *ctx)
{
	static char text[256];
	freed(opk_file) *file = open_file(ctx);
	size_t used = 0;

	ck_assert(opk_file_complete(file));
	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		char letter = sketch_letter(opk_file_section(file, i)->type);

		used += (size_t)snprintf(text + used, sizeof text - used, "%s%c", i ? " " : "",
		                         letter);
		if (!strchr("MS", letter))
			used += (size_t)snprintf(text + used, sizeof text - used, "%u",
			                         number_in(ctx, file, i));
	}
	return text;
}

#endif
