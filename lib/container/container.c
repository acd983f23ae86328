/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of sections of an open container, and the findings of a damaged one. */
#include "container/container.h"

#include <string.h>

#include "adapters/deflate/deflate.h"
#include "base/file.h"

void opk_section_type_name(char out[5], uint32_t type)
{
	for (int i = 0; i < 4; i++) {
		char c = (char)(type >> (8 * i));

		out[i] = c >= ' ' && c < 0x7f ? c : '?';
	}
	out[4] = '\0';
}

/* A fuzzer can't guess checksums: its build accepts all of them, to reach the code after them. */
bool opk_same_crc(uint32_t stored, uint32_t computed)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	(void)stored, (void)computed;
	return true;
#else
	return stored == computed;
#endif
}

const char *opk_section_text(uint32_t type)
{
	static const struct {
		uint32_t type;
		const char *text;
	} known[] = {
		{ OPK_SECTION_META, "metadata" },
		{ OPK_SECTION_CONFIG, "config image" },
		{ OPK_SECTION_ROTATION, "config image for rotation" },
		{ OPK_SECTION_PREFIX, "counter-data prefix" },
		{ OPK_SECTION_AVAILABILITY, "counter-availability image" },
		{ OPK_SECTION_DATA, "counter data image" },
		{ OPK_SECTION_BAKED, "how values were evaluated" },
		{ OPK_SECTION_VALUES, "values" },
		{ OPK_SECTION_LEFT_OUT, "image that was left out" },
		{ OPK_SECTION_RANGES, "range table" },
		{ OPK_SECTION_TIMES, "times of samples" },
		{ OPK_SECTION_STATS, "counts of the run" },
		{ OPK_SECTION_ACTIVITIES, "records of what ran" },
		{ OPK_SECTION_CODE, "module" },
		{ OPK_SECTION_INSTRUCTIONS, "counts of instructions" },
		{ OPK_SECTION_END, "end" },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].type == type)
			return known[i].text;
	return NULL;
}

size_t opk_file_next_attached(const struct opk_file *file, size_t image, size_t i)
{
	while (++i < file->section_count && i - image <= OPK_LINK_DISTANCE)
		if (file->sections[i].link == image && opk_is_attached(&file->sections[i]))
			return i;
	return SIZE_MAX;
}

/* Only tables, and images with a base, name a section; unknown types may. */
static const char *find_link_flaw(const struct opk_section *section)
{
	if (section->distance > OPK_LINK_DISTANCE || (!section->distance && section->linked_crc))
		return "a section's link is out of range";
	if (opk_is_table(section->type))
		return section->distance ? NULL : "a table names no image";
	if (section->type == OPK_SECTION_DATA && (section->flags & OPK_SECTION_BASED))
		return section->distance ? NULL : "a section names no base";
	return section->distance && opk_section_text(section->type)
	               ? "a section names another one without need"
	               : NULL;
}

const char *opk_section_flaw(const struct opk_section *section)
{
	uint32_t flags = section->flags;
	bool sparse = flags & OPK_SECTION_SPARSE;
	uint64_t most;

	if (flags & ~OPK_SECTION_KNOWN)
		return NULL; /* a filter of a later version: can't be decoded, can be skipped */
	if (!(flags & OPK_SECTION_DEFLATED) && section->plain_size != section->stored_size)
		return "a section's two lengths disagree";
	if (__builtin_mul_overflow(section->stored_size, opk_section_max_ratio(flags), &most)
	    || section->plain_size > most)
		return "a section claims an impossible length";
	if (section->plain_size > OPK_MAX_PLAIN)
		return "a section of more than 4 GiB";
	if (sparse ? !(flags & OPK_SECTION_DEFLATED)
	                     || section->packed_size > section->stored_size * OPK_MAX_RATIO
	           : section->packed_size || (flags & OPK_SECTION_BASED))
		return "a section's packing is out of range";
	if ((flags & OPK_SECTION_XORED)
	    && (!sparse || !section->stride || section->stride >= section->plain_size))
		return "a section's filter is out of range";
	return find_link_flaw(section);
}

bool opk_file_complete(const struct opk_file *file)
{
	return file->complete;
}

uint64_t opk_file_size(const struct opk_file *file)
{
	return file->size;
}

size_t opk_file_section_count(const struct opk_file *file)
{
	return file->section_count;
}

const struct opk_section *opk_file_section(const struct opk_file *file, size_t i)
{
	return &file->sections[i];
}

long opk_file_find(const struct opk_file *file, uint32_t type)
{
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == type)
			return (long)i;
	return -1;
}

int opk_file_add_place(struct opk_ctx *ctx, int code, const struct opk_file *file, size_t i)
{
	char type[5];

	opk_section_type_name(type, file->sections[i].type);
	return opk_add(ctx, code, "%s: section %zu (%s)",
	               opk_section_path(file, &file->sections[i]), opk_section_number(file, i),
	               type);
}

/* Small, as threads of other programs may have little stack. */
enum { PIECE = 1 << 16 };

int opk_section_crc(uint32_t *crc, struct opk_ctx *ctx, const struct opk_file *file,
                    const struct opk_section *section)
{
	uint64_t at = section->offset, left = section->stored_size;
	size_t most = left < PIECE ? (size_t)left : PIECE;
	opk_autofree uint8_t *piece = opk_realloc(NULL, most + 1);

	if (!piece)
		return opk_nomem(ctx, "a section");
	*crc = 0;
	while (left) {
		size_t size = left < most ? (size_t)left : most;

		if (!opk_section_pread(file, section, piece, size, at))
			return opk_fail_errno(ctx, OPK_EINPUT, "can't read",
			                      opk_section_path(file, section));
		*crc = opk_crc32(*crc, piece, size);
		at += size;
		left -= size;
	}
	return OPK_OK;
}

bool opk_file_lacks_values(const struct opk_file *file)
{
	return !file->complete && opk_file_find(file, OPK_SECTION_LEFT_OUT) >= 0
	       && (opk_file_find(file, OPK_SECTION_BAKED) < 0
	           || opk_file_find(file, OPK_SECTION_VALUES) < 0);
}

static int fail_without_values(struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_meta *meta;
	const char *maker;

	TRY(opk_file_meta(&meta, ctx, file));
	maker = opk_output_maker(opk_output_of_meta(meta));
	return opk_fail(ctx, OPK_EINPUT,
	                "%s: cut off before the end of its values, and without images none of them "
	                "can be read: %s it again",
	                file->path, maker ? maker : "make");
}

int opk_file_check_complete(struct opk_ctx *ctx, struct opk_file *file, enum opk_remedy remedy)
{
	if (file->complete)
		return OPK_OK;
	if (opk_file_lacks_values(file))
		return fail_without_values(ctx, file);
	opk_fail(ctx, OPK_EINPUT, "%s: cut off: its end section is missing", file->path);
	return opk_advise(ctx, OPK_EINPUT, remedy);
}

int opk_file_verify(struct opk_ctx *ctx, const struct opk_file *file, size_t i)
{
	uint32_t crc;
	int code = opk_section_crc(&crc, ctx, file, &file->sections[i]);

	if (!code && !opk_same_crc(file->sections[i].crc, crc))
		code = opk_fail(ctx, OPK_EINPUT, "damaged: its CRC-32 differs from the one stored");
	return code ? opk_file_add_place(ctx, code, file, i) : OPK_OK;
}

int opk_table_check(struct opk_ctx *ctx, const struct opk_file *file, size_t section, uint64_t rows,
                    uint64_t weight)
{
	size_t image = file->sections[section].link;

	if (rows > OPK_FEW_ROWS && image != SIZE_MAX
	    && file->sections[image].type == OPK_SECTION_DATA
	    && rows > file->sections[image].plain_size / OPK_MIN_RANGE)
		return opk_fail(ctx, OPK_EINPUT, "%ju rows for an image of %ju bytes",
		                (uintmax_t)rows, (uintmax_t)file->sections[image].plain_size);
	if (weight > opk_table_limit(file))
		return opk_fail(ctx, OPK_EINPUT,
		                "its rows and those before it would take %ju bytes, and those of a "
		                "file of this size at most %ju",
		                (uintmax_t)weight, (uintmax_t)opk_table_limit(file));
	return OPK_OK;
}

/* ---- findings --------------------------------------------------------------------------- */

int opk_finding_blame(struct opk_finding *finding, struct opk_ctx *ctx, const char *problem)
{
	if (finding->problem)
		return OPK_OK;
	finding->problem = opk_strdup(problem);
	return finding->problem ? OPK_OK : opk_nomem(ctx, "findings");
}

int opk_findings_add(struct opk_findings *findings, struct opk_ctx *ctx, struct opk_finding finding,
                     const char *problem)
{
	struct opk_finding *added = opk_append(&findings->items, &findings->capacity,
	                                       &findings->count, sizeof *added);

	if (!added)
		return opk_nomem(ctx, "findings");
	*added = finding;
	added->problem = NULL;
	return problem ? opk_finding_blame(added, ctx, problem) : OPK_OK;
}

void opk_findings_clear(struct opk_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		free(findings->items[i].problem);
	free(findings->items);
	*findings = (struct opk_findings){ 0 };
}
