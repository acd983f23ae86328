/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings, or images in them, that occur twice. */
#include "container/container.h"
#include "parts.h"

/* Keeps only the last line. */
static char last_line[400];

static void keep_line(void *data, const char *line)
{
	(void)data;
	snprintf(last_line, sizeof last_line, "%s", line);
}

/* Names in the folder for the words of a test: "a b" are a.opk and b.opk. */
static size_t list_names(char names[4][100], const char *words)
{
	size_t count = 0;

	for (const char *at = words; *at; at += strspn(at, " ")) {
		int length = (int)strcspn(at, " ");

		snprintf(names[count++], 100, "%s/%.*s.opk", folder, length, at);
		at += length;
	}
	return count;
}

/* Returns the line with file names instead of paths. */
static const char *without_folder(char out[400], const char *line)
{
	char *to = out;

	while (*line)
		if (!strncmp(line, folder, strlen(folder)))
			line += strlen(folder) + 1;
		else
			*to++ = *line++;
	*to = '\0';
	return out;
}

static void run_in_folder(const char *command)
{
	char line[200];

	snprintf(line, sizeof line, "cd '%s' && %s", folder, command);
	ck_assert_int_eq(system(line), 0);
}

static void merge_named(struct opk_ctx *ctx, const char *one, const char *other, const char *to)
{
	char names[3][100];

	snprintf(names[0], sizeof names[0], "%s/%s.opk", folder, one);
	snprintf(names[1], sizeof names[1], "%s/%s.opk", folder, other);
	snprintf(names[2], sizeof names[2], "%s/%s.opk", folder, to);
	ck_ok(ctx, opk_merge(ctx, (const char *const[]){ names[0], names[1] }, 2, NULL, names[2]));
}

/* Images of the same time on the same GPU are equal, in any file. */
CTX_TEST(what_counts_twice)
{
	static const struct {
		struct here here;
		const char *files, *note; /* without the folder; "": none */
	} rows[] = {
		{ HERE, "a", "" },
		{ HERE, "a b", "" },
		{ HERE, "a a", "a.opk is named twice: it counts twice" },
		{ HERE, "a link", "link.opk is the same file as a.opk: it counts twice" },
		{ HERE, "a b copy", "copy.opk is the same recording as a.opk: it counts twice" },
		{ HERE, "both a",
		  "a.opk: 2 of its 2 images are also in both.opk: they count twice" },
		{ HERE, "a b both",
		  "both.opk: 4 of its 4 images are also in a.opk, b.opk: they count twice" },
		{ HERE, "double",
		  "double.opk: 2 of its 4 images are in it twice: they count twice" },
		/* Without times, files can be compared, but not images. */
		{ HERE, "old", "" },
		{ HERE, "old older", "" },
		{ HERE, "old oldcopy",
		  "oldcopy.opk is the same recording as old.opk: it counts twice" },
	};
	static const struct opk_property run[] = { { "started", "2026-11-22T14:41:08Z" } };
	struct part timed = { .images = true, .ranges = true, .times = true };
	struct part old = { .images = true }, older = old;
	char name[100];

	older.meta.run = run;
	older.meta.run_count = 1;
	ctx->log = keep_line;
	snprintf(name, sizeof name, "%s/a.opk", folder);
	write_part(ctx, &timed, 1, name);
	snprintf(name, sizeof name, "%s/b.opk", folder);
	write_part(ctx, &timed, 2, name);
	snprintf(name, sizeof name, "%s/old.opk", folder);
	write_part(ctx, &old, 1, name);
	snprintf(name, sizeof name, "%s/older.opk", folder);
	write_part(ctx, &older, 1, name);
	run_in_folder("ln -s a.opk link.opk; cp a.opk copy.opk; cp old.opk oldcopy.opk");
	merge_named(ctx, "a", "b", "both");
	ck_assert_str_eq(last_line, "");
	merge_named(ctx, "a", "a", "double");
	ck_assert_ptr_nonnull(strstr(last_line, "a.opk is named twice"));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_file *files[4];
		char names[4][100], found[400];
		size_t count = list_names(names, rows[i].files);

		for (size_t j = 0; j < count; j++)
			ck_ok(ctx, opk_file_open(&files[j], ctx, names[j]));
		*last_line = '\0';
		ck_ok(ctx, opk_twice_check(ctx, files, count, OPK_OK));
		ck_row(&rows[i], !strcmp(without_folder(found, last_line), rows[i].note),
		       "note '%s'", found);
		ck_row(&rows[i],
		       opk_twice_check(ctx, files, count, OPK_EUSAGE)
		               == (*rows[i].note ? OPK_EUSAGE : OPK_OK),
		       "not refused");
		opk_clear_errors(ctx);
		for (size_t j = 0; j < count; j++)
			opk_file_free(files[j]);
	}
	run_in_folder("rm *.opk");
}

/* Compares only names: opens nothing, and ignores missing files. */
CTX_TEST(same_files)
{
	static const struct {
		struct here here;
		const char *files, *note; /* as above */
	} rows[] = {
		{ HERE, "a b copy", "" },
		{ HERE, "a b a", "a.opk is named twice: it counts twice" },
		{ HERE, "a b link", "link.opk is the same file as a.opk: it counts twice" },
		{ HERE, "missing missing", "" },
	};

	ctx->log = keep_line;
	run_in_folder("echo a >a.opk; echo b >b.opk; cp a.opk copy.opk; ln a.opk link.opk");
	for (size_t i = 0; i < COUNT(rows); i++) {
		char names[4][100], found[400];
		const char *paths[] = { names[0], names[1], names[2], names[3] };

		*last_line = '\0';
		ck_ok(ctx, opk_note_same_files(ctx, paths, list_names(names, rows[i].files)));
		ck_row(&rows[i], !strcmp(without_folder(found, last_line), rows[i].note),
		       "note '%s'", found);
	}
	run_in_folder("rm *.opk");
}

SUITE(.set_up = make_path, .tear_down = remove_path);
