/* SPDX-License-Identifier: BSD-2-Clause */
/* Translates command lines of Nsight Compute to those of offpeak-collect. */
#include "sets/sets_translate.h"

#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/utf8.h"

/* ---- texts */

void translation_lose(struct translation *t, const struct opk_ncu_option *option,
                      const char *reason)
{
	t->failed |= !opk_strlist_take(t->lost,
	                               opk_printf("%s%s%s: %s", option->name,
	                                          option->value ? " " : "",
	                                          option->value ? option->value : "", reason));
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (!opk_in_name(*text) && !strchr("./-+:@%=,", *text))
			return false;
	return true;
}

/* One word of a shell. */
static void put_word(struct opk_buf *out, const char *text)
{
	opk_buf_add_text(out, " ");
	if (*text && is_plain(text)) {
		opk_buf_add_text(out, text);
		return;
	}
	opk_buf_add_text(out, "'");
	for (; *text; text++)
		if (*text == '\'')
			opk_buf_add_text(out, "'\\''");
		else
			opk_buf_add(out, text, 1);
	opk_buf_add_text(out, "'");
}

void translation_put(struct opk_buf *out, const char *name, const char *value)
{
	opk_buf_add_printf(out, " %s", name);
	put_word(out, value);
}

const struct opk_ncu_option *translation_find(const struct translation *t,
                                              enum opk_ncu_meaning meaning)
{
	for (size_t i = t->command->option_count; i-- > 0;)
		if (t->command->options[i].meaning == meaning)
			return &t->command->options[i];
	return NULL;
}

bool option_says(const struct opk_ncu_option *option, const char *value)
{
	return option && !option->replaced && !strcmp(option->value, value);
}

static bool is_off(const struct opk_ncu_option *option)
{
	return option_says(option, "off") || option_says(option, "no") || option_says(option, "0")
	       || option_says(option, "false");
}

bool option_is_number(const char *text)
{
	return *text && !text[opk_span(text, opk_is_digit)];
}

/* ---- options */

static void put_number(struct translation *t, const struct opk_ncu_option *option, const char *name)
{
	if (option->replaced)
		opk_buf_add_printf(&t->launches, " %s %s", name, option->written);
	else if (option_is_number(option->value))
		translation_put(&t->launches, name, option->value);
	else
		translation_lose(t, option, "this is not a number");
}

static void put_nvtx(struct translation *t, const struct opk_ncu_option *option, const char *name)
{
	if (strstr(option->value, "regex:"))
		translation_lose(t, option, "offpeak-collect has no regular expressions of ranges");
	else if (strchr(option->value, ','))
		translation_lose(t, option,
		                 "offpeak-collect does not choose by several ranges at once");
	else if (option->replaced)
		opk_buf_add_printf(&t->launches, " %s %s", name, option->written);
	else
		translation_put(&t->launches, name, option->value);
}

static void put_replay(struct translation *t, const struct opk_ncu_option *option)
{
	if (option_says(option, "kernel") || option_says(option, "application"))
		translation_put(&t->launches, "--replay", option->value);
	else if (option_says(option, "app-range"))
		opk_buf_add_text(&t->launches, " --range user --replay application");
	else if (option_says(option, "range"))
		opk_buf_add_text(&t->launches, " --range user --replay user");
	else
		translation_lose(t, option, "offpeak-collect has nothing like it");
	if (option_says(option, "range"))
		translation_lose(
			t, option,
			"a range is not replayed: its repetitions take the passes in turn (--replay user)");
}

static void put_caches(struct translation *t, const struct opk_ncu_option *option)
{
	const struct opk_ncu_option *replay = translation_find(t, OPK_NCU_REPLAY);

	if (is_off(option) || option_says(option, "none"))
		return;
	if (option_says(option, "all") && replay && !option_says(replay, "kernel"))
		opk_buf_add_text(&t->launches, " --cache-control flush");
	else
		translation_lose(
			t, option,
			"offpeak-collect --cache-control flush goes without kernel replay");
}

static void put_clocks(struct translation *t, const struct opk_ncu_option *option)
{
	if (option_says(option, "none") || option_says(option, "base")
	    || option_says(option, "boost")) {
		translation_put(&t->launches, "--clock-control", option->value);
		translation_put(&t->samples, "--clock-control", option->value);
	} else {
		translation_lose(t, option, "offpeak-collect has nothing like it");
	}
}

static void put_devices(struct translation *t, const struct opk_ncu_option *option)
{
	if (option->replaced || !option_is_number(option->value)) {
		translation_lose(t, option, "offpeak-collect takes all devices or one");
		return;
	}
	translation_put(&t->launches, "--device", option->value);
	translation_put(&t->samples, "--device", option->value);
}

static void put_interval(struct translation *t, const struct opk_ncu_option *option)
{
	if (option_is_number(option->value) && strtoul(option->value, NULL, 10))
		opk_buf_add_printf(&t->samples, " --interval %sns", option->value);
	else if (!option_says(option, "0"))
		translation_lose(t, option, "this is not a number");
}

static void put_from_start(struct translation *t, const struct opk_ncu_option *option)
{
	if (!is_off(option))
		return;
	translation_put(&t->launches, "--capture-range", "cudaProfilerApi");
	translation_put(&t->samples, "--capture-range", "cudaProfilerApi");
}

static void put_graphs(struct translation *t, const struct opk_ncu_option *option)
{
	if (option_says(option, "graph"))
		opk_buf_add_text(&t->launches, " --push");
	else
		translation_lose(t, option,
		                 "offpeak-collect --push records whole graphs, not their nodes");
}

static void show(struct translation *t, const struct opk_ncu_option *option)
{
	opk_buf_add_printf(&t->shown, "%s%s", t->shown.size ? ", " : "", option->name);
}

/* Why an option has no counterpart, where there is more to say. */
static const char *reason_of(const struct opk_ncu_option *option)
{
	static const struct {
		const char *name, *reason;
	} reasons[] = {
		{ "--launch-skip-before-match",
		  "offpeak-collect counts the launches that its filters choose" },
		{ "--filter-mode", "offpeak-collect counts the launches of all devices together" },
		{ "--target-processes", "offpeak-collect records child processes, too" },
		{ "--kill", "the program runs to its end" },
		{ "--app-replay-match",
		  "runs are matched by kernel, launch shape and index: offpeak eval joins them" },
		{ "--app-replay-mode",
		  "runs are matched by kernel, launch shape and index: offpeak eval joins them" },
		{ "--app-replay-buffer", "each run writes its recording" },
		{ "--import-source",
		  "offpeak-collect --code keeps code, and offpeak show its lines" },
		{ "--warp-sampling-interval",
		  "offpeak-collect --source pc --interval 2^N samples warps" },
		{ "--sampling-interval",
		  "offpeak-collect --source pc --interval 2^N samples warps" },
	};

	for (size_t i = 0; i < COUNT(reasons); i++)
		if (!strcmp(option->name, reasons[i].name))
			return reasons[i].reason;
	return "offpeak-collect has nothing like it";
}

static void put_skip(struct translation *t, const struct opk_ncu_option *option)
{
	put_number(t, option, "--skip");
}

static void put_count(struct translation *t, const struct opk_ncu_option *option)
{
	put_number(t, option, "--count");
}

static void put_include(struct translation *t, const struct opk_ncu_option *option)
{
	put_nvtx(t, option, "--nvtx-include");
}

static void put_exclude(struct translation *t, const struct opk_ncu_option *option)
{
	put_nvtx(t, option, "--nvtx-exclude");
}

static void put_force(struct translation *t, const struct opk_ncu_option *option)
{
	(void)option;
	opk_buf_add_text(&t->launches, " --force");
	opk_buf_add_text(&t->samples, " --force");
}

static void put_verbose(struct translation *t, const struct opk_ncu_option *option)
{
	(void)option;
	opk_buf_add_text(&t->launches, " -v");
	opk_buf_add_text(&t->samples, " -v");
}

static bool numbers_files(const struct opk_ncu_option *export)
{
	return strstr(export->value, "%i");
}

/* The name itself is used in each command. */
static void note_export(struct translation *t, const struct opk_ncu_option *option)
{
	if (numbers_files(option))
		translation_lose(t, option,
		                 "offpeak-collect does not number its files: %p is the process");
}

static void lose_with_reason(struct translation *t, const struct opk_ncu_option *option)
{
	translation_lose(t, option, reason_of(option));
}

/* How each option is translated; without a function, there is nothing to do for it. */
static const struct {
	void (*translate)(struct translation *t, const struct opk_ncu_option *option);
	bool of_launches;     /* not for the program's own ranges */
	const char *harmless; /* a value that says nothing */
} ways[] = {
	[OPK_NCU_KERNEL] = { translate_kernel, true, NULL },
	[OPK_NCU_KERNEL_REGEX] = { translate_kernel, true, NULL },
	[OPK_NCU_KERNEL_ID] = { translate_kernel_id, true, NULL },
	[OPK_NCU_SKIP] = { put_skip, true, NULL },
	[OPK_NCU_COUNT] = { put_count, true, NULL },
	[OPK_NCU_SKIP_ALL] = { lose_with_reason, false, "0" },
	[OPK_NCU_NVTX_INCLUDE] = { put_include, false, NULL },
	[OPK_NCU_NVTX_EXCLUDE] = { put_exclude, false, NULL },
	[OPK_NCU_REPLAY] = { put_replay, false, NULL },
	[OPK_NCU_CACHES] = { put_caches, false, NULL },
	[OPK_NCU_CLOCKS] = { put_clocks, false, NULL },
	[OPK_NCU_DEVICES] = { put_devices, false, NULL },
	[OPK_NCU_FROM_START] = { put_from_start, false, NULL },
	[OPK_NCU_PROCESSES] = { lose_with_reason, false, "all" },
	[OPK_NCU_GRAPHS] = { put_graphs, true, NULL },
	[OPK_NCU_FILTER_MODE] = { lose_with_reason, false, "global" },
	[OPK_NCU_PM_INTERVAL] = { put_interval, false, NULL },
	[OPK_NCU_EXPORT] = { note_export, false, NULL },
	[OPK_NCU_FORCE] = { put_force, false, NULL },
	[OPK_NCU_VERBOSE] = { put_verbose, false, NULL },
	[OPK_NCU_MODE] = { lose_with_reason, false, "launch-and-attach" },
	[OPK_NCU_SHOWING] = { show, false, NULL },
	[OPK_NCU_OTHER] = { lose_with_reason, false, NULL },
};

static void translate(struct translation *t, const struct opk_ncu_option *option)
{
	const struct opk_ncu_option *replay = translation_find(t, OPK_NCU_REPLAY);
	const char *harmless = ways[option->meaning].harmless;

	if (!ways[option->meaning].translate || (harmless && option_says(option, harmless)))
		return;
	if (ways[option->meaning].of_launches
	    && (option_says(replay, "range") || option_says(replay, "app-range")))
		translation_lose(t, option, "it is about launches, but ranges are recorded");
	else
		ways[option->meaning].translate(t, option);
}

/* What Nsight Compute does without being asked. */
static void note_defaults(struct translation *t, struct opk_strlist *defaults)
{
	const struct opk_ncu_option *replay = translation_find(t, OPK_NCU_REPLAY);
	bool flushes = replay && !option_says(replay, "kernel");

	if (!translation_find(t, OPK_NCU_CLOCKS))
		t->failed |= !opk_strlist_add(
			defaults,
			"ncu locks clocks to base: offpeak-collect --clock-control base does "
			"as root");
	if (!translation_find(t, OPK_NCU_CACHES))
		t->failed |= !opk_strlist_add(
			defaults,
			flushes ? "ncu flushes caches: offpeak-collect --cache-control flush does"
				: "ncu flushes caches: offpeak-collect --cache-control flush does "
				  "where launches are not replayed");
}

/* ---- commands */

/* "x.ncu-rep" -> "x-pm.opk", as it is written for a shell; NULL: there is none, or no memory. */
static char *recording_of(const struct translation *t, const char *suffix)
{
	static const char *const endings[] = { ".ncu-rep", ".nsight-cuprof-report", ".opk" };
	const struct opk_ncu_option *option = translation_find(t, OPK_NCU_EXPORT);
	const char *value;
	size_t size;

	if (!option || numbers_files(option))
		return NULL;
	value = option->replaced ? option->written : option->value;
	size = strlen(value);
	for (size_t i = 0; i < COUNT(endings); i++)
		if (opk_ends(value, endings[i])) {
			size -= strlen(endings[i]);
			break;
		}
	return opk_printf("%.*s%s.opk", (int)size, value, suffix);
}

static void put_commands(struct translation *t, struct opk_buf *out,
                         const struct opk_imported_set *set, const char *path, const char *chip)
{
	const struct opk_ncu_command *command = t->command;
	const struct opk_ncu_option *export = translation_find(t, OPK_NCU_EXPORT);
	size_t stem = strlen(path) - strlen(opk_ending(path));
	opk_autofree char *file = opk_printf("%s%.*s%s%s", strchr(path, '/') ? "" : "./", (int)stem,
	                                     path, set->suffix, path + stem);
	opk_autofree char *built = opk_printf("%.*s%s.opk", (int)stem, path, set->suffix);
	opk_autofree char *run = recording_of(t, set->suffix);
	bool samples = set->profiler == OPK_PROFILER_PM;
	const struct opk_buf *options = samples ? &t->samples : &t->launches;

	if (!run || (built && !strcmp(run, built))) {
		free(run);
		run = opk_printf("%.*s%s-run.opk", (int)stem, path, set->suffix);
		export = NULL;
	}
	if (!file || !built || !run) {
		t->failed = true;
		return;
	}
	opk_buf_add_printf(out, "offpeak build --chip %s", chip ? chip : "CHIP");
	put_word(out, file);
	translation_put(out, "-o", built);
	opk_buf_add_printf(out, "\n%s%soffpeak-collect", command->before,
	                   *command->before ? " " : "");
	translation_put(out, "-c", built);
	if (export && export->replaced)
		opk_buf_add_printf(out, " -o %s", run);
	else
		translation_put(out, "-o", run);
	if (options->size)
		opk_buf_add(out, options->data, options->size);
	opk_buf_add_printf(out, " -- %s\n", *command->program ? command->program : "APP");
}

static bool has_samples(const struct opk_set_import *import)
{
	for (size_t i = 0; i < opk_set_import_count(import); i++)
		if (opk_set_import_get(import, i)->profiler == OPK_PROFILER_PM)
			return true;
	return false;
}

static bool chooses_launches(const struct opk_ncu_option *option)
{
	return ways[option->meaning].of_launches || option->meaning == OPK_NCU_NVTX_INCLUDE
	       || option->meaning == OPK_NCU_NVTX_EXCLUDE;
}

int sets_collect_init(struct sets_collect *out, struct app *app,
                      const struct opk_set_import *import, const char *path, const char *chip)
{
	struct translation t = { .command = opk_set_import_command(import), .lost = &out->lost };
	bool samples = has_samples(import);

	*out = (struct sets_collect){ 0 };
	for (size_t i = 0; i < t.command->option_count; i++)
		translate(&t, &t.command->options[i]);
	for (size_t i = 0; samples && i < t.command->option_count; i++)
		if (chooses_launches(&t.command->options[i]))
			translation_lose(&t, &t.command->options[i],
			                 "not for the samples, which are of the whole run");
	note_defaults(&t, &out->defaults);
	if (*t.command->around)
		t.failed |= !opk_strlist_take(
			&out->lost, opk_printf("'%s': what the shell does around the command",
		                               t.command->around));
	if (t.shown.size) {
		opk_buf_add_text(
			&t.shown,
			": how results are shown; offpeak show, eval and report show recordings");
		t.failed |= !opk_strlist_take(&out->lost, opk_buf_take_text(&t.shown));
	}
	for (size_t i = 0; i < opk_set_import_count(import); i++)
		put_commands(&t, &out->text, opk_set_import_get(import, i), path, chip);
	t.failed |= t.launches.failed || t.samples.failed || out->text.failed;
	opk_buf_clear(&t.launches);
	opk_buf_clear(&t.samples);
	opk_buf_clear(&t.shown);
	return t.failed ? app_nomem(app) : OPK_OK;
}

void sets_collect_clear(struct sets_collect *collect)
{
	opk_buf_clear(&collect->text);
	opk_strlist_clear(&collect->lost);
	opk_strlist_clear(&collect->defaults);
}

/* ---- comments */

static void put_comment(struct opk_buf *out, const char *text, size_t size)
{
	opk_autofree char *line = opk_strndup(text, size);
	opk_autofree char *clean = line ? opk_utf8_repair(line) : NULL;

	for (char *c = clean; c && *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = ' ';
	opk_buf_add_printf(out, "#     %s\n", clean ? clean : "");
	out->failed |= !clean;
}

static void put_comments(struct opk_buf *out, const char *title, const struct opk_strlist *lines)
{
	if (lines->count)
		opk_buf_add_printf(out, "# %s:\n", title);
	for (size_t i = 0; i < lines->count; i++)
		put_comment(out, lines->items[i], strlen(lines->items[i]));
}

char *sets_collect_yaml(const struct sets_collect *collect, const char *yaml)
{
	opk_autobuf struct opk_buf out = { 0 };
	size_t first = strcspn(yaml, "\n") + 1;
	const char *text = (const char *)collect->text.data, *end = text + collect->text.size;

	opk_buf_add(&out, yaml, first);
	opk_buf_add_text(&out, "# Its commands:\n");
	for (size_t size; text < end; text += size + 1) {
		size = (size_t)((const char *)memchr(text, '\n', (size_t)(end - text)) - text);
		put_comment(&out, text, size);
	}
	put_comments(&out, "Without being asked", &collect->defaults);
	put_comments(&out, "Not translated", &collect->lost);
	opk_buf_add_text(&out, yaml + first);
	return opk_buf_take_text(&out);
}
