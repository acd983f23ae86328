/* SPDX-License-Identifier: BSD-2-Clause */
/* Translates command lines of Nsight Compute to those of offpeak-collect. */
#include "sets/sets_collect.h"

#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/utf8.h"

/* A command line in translation. */
struct translation {
	const struct opk_ncu_command *command;
	struct opk_buf launches; /* options of the collector for sets of the profiler range */
	struct opk_buf samples;  /* for sets of the profiler pm */
	struct opk_strlist *lost;
	struct opk_buf shown; /* names of options about how results are shown */
	bool failed;
};

/* ---- texts */

static void lose(struct translation *t, const struct opk_ncu_option *option, const char *reason)
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

static void put_option(struct opk_buf *out, const char *name, const char *value)
{
	opk_buf_add_printf(out, " %s", name);
	put_word(out, value);
}

static const struct opk_ncu_option *find(const struct translation *t, enum opk_ncu_meaning meaning)
{
	for (size_t i = t->command->option_count; i-- > 0;)
		if (t->command->options[i].meaning == meaning)
			return &t->command->options[i];
	return NULL;
}

static bool says(const struct opk_ncu_option *option, const char *value)
{
	return option && !option->replaced && !strcmp(option->value, value);
}

static bool is_off(const struct opk_ncu_option *option)
{
	return says(option, "off") || says(option, "no") || says(option, "0")
	       || says(option, "false");
}

/* ---- kernels */

/* Constructs of Nsight Compute's expressions that POSIX extended ones lack. */
static bool is_posix(const char *regex)
{
	return !strstr(regex, "(?") && !strstr(regex, "*?") && !strstr(regex, "+?")
	       && !strstr(regex, "\\d") && !strstr(regex, "\\D");
}

static void put_escaped(struct opk_buf *out, const char *name)
{
	for (; *name; name++) {
		if (strchr("\\^$.[]|()*+?{}", *name))
			opk_buf_add_text(out, "\\");
		opk_buf_add(out, name, 1);
	}
}

/* "#3" at its end would select the third launch. */
static void put_expression(struct opk_buf *out, const char *regex)
{
	const char *mark = strrchr(regex, '#');

	if (mark && mark[1] && !mark[1 + strspn(mark + 1, "0123456789-")])
		opk_buf_add_printf(out, "%.*s[#]%s", (int)(mark - regex), regex, mark + 1);
	else
		opk_buf_add_text(out, regex);
}

/* The length of the bracket expression that begins here; 0: it does not end. */
static size_t bracket_length(const char *regex)
{
	size_t at = 1 + (regex[1] == '^');

	for (at += regex[at] == ']'; regex[at]; at++)
		if (regex[at] == ']')
			return at + 1;
	return 0;
}

/*
 * Nsight Compute means the name of the function alone, without its namespaces, template arguments
 * and parameters: anchors in the expression are those of this part.
 */
static void put_function(struct opk_buf *out, const char *regex)
{
	size_t size;

	for (; *regex; regex += size) {
		size_t bracket = *regex == '[' ? bracket_length(regex) : 0;

		size = bracket ? bracket : *regex == '\\' && regex[1] ? 2 : 1;
		if (*regex == '^')
			opk_buf_add_text(out, "(^|[ :])");
		else if (*regex == '$')
			opk_buf_add_text(out, "([<(]|$)");
		else
			opk_buf_add(out, regex, size);
	}
}

/* The collector's expression for a name, or for "regex:EXPRESSION"; free(). */
static char *kernel_expression(const struct translation *t, const char *name, bool is_regex)
{
	const struct opk_ncu_option *base = find(t, OPK_NCU_KERNEL_BASE);
	bool mangled = says(base, "mangled"), whole = mangled || says(base, "demangled");
	opk_autobuf struct opk_buf regex = { 0 }, text = { 0 };
	opk_autofree char *inner = NULL;

	if (is_regex) {
		put_expression(&regex, name);
	} else {
		opk_buf_add_text(&regex, "^");
		put_escaped(&regex, name);
		opk_buf_add_text(&regex, "$");
	}
	inner = opk_buf_take_text(&regex);
	opk_buf_add_text(&text, mangled ? "symbol:" : "name:");
	if (inner && whole)
		opk_buf_add_text(&text, inner);
	else if (inner)
		put_function(&text, inner);
	return inner ? opk_buf_take_text(&text) : NULL;
}

/* True: the collector chooses these kernels. */
static bool put_kernel(struct translation *t, const struct opk_ncu_option *option, const char *name)
{
	bool is_regex = option->meaning == OPK_NCU_KERNEL_REGEX || !strncmp(name, "regex:", 6);
	opk_autofree char *text = NULL;

	name += strncmp(name, "regex:", 6) ? 0 : 6;
	if (option->replaced) {
		lose(t, option, "it has a variable, which only the shell knows");
		return false;
	}
	if (is_regex && !is_posix(name)) {
		lose(t, option, "expressions of offpeak-collect are POSIX extended ones");
		return false;
	}
	text = kernel_expression(t, name, is_regex);
	if (text)
		put_option(&t->launches, "--kernel", text);
	t->failed |= !text;
	return true;
}

static bool is_number(const char *text)
{
	return *text && !text[opk_span(text, opk_is_digit)];
}

/* "CONTEXT:STREAM:[regex:]NAME:INVOCATION", where each may be empty. */
static void put_kernel_id(struct translation *t, const struct opk_ncu_option *option)
{
	const char *stream = strchr(option->value, ':'),
		   *name = stream ? strchr(stream + 1, ':') : NULL,
		   *last = name ? strrchr(name + 1, ':') : NULL;
	opk_autofree char *kernel = last ? opk_strndup(name + 1, (size_t)(last - name - 1)) : NULL;
	unsigned long invocation = last && is_number(last + 1) ? strtoul(last + 1, NULL, 10) : 0;

	if (!kernel || option->replaced || (last[1] && !invocation)) {
		lose(t, option, "only CONTEXT:STREAM:NAME:NUMBER is translated");
		return;
	}
	if (*option->value != ':' || stream[1] != ':')
		lose(t, option, "offpeak-collect does not choose by context and stream");
	if (*kernel && strcmp(kernel, "regex:") && !put_kernel(t, option, kernel))
		return;
	if (invocation && (find(t, OPK_NCU_SKIP) || find(t, OPK_NCU_COUNT)))
		lose(t, option, "its number beside others");
	else if (invocation)
		opk_buf_add_printf(&t->launches, " --skip %lu --count 1", invocation - 1);
}

/* ---- other options */

static void put_number(struct translation *t, const struct opk_ncu_option *option, const char *name)
{
	if (option->replaced)
		opk_buf_add_printf(&t->launches, " %s %s", name, option->written);
	else if (is_number(option->value))
		put_option(&t->launches, name, option->value);
	else
		lose(t, option, "this is not a number");
}

static void put_nvtx(struct translation *t, const struct opk_ncu_option *option, const char *name)
{
	if (strstr(option->value, "regex:"))
		lose(t, option, "offpeak-collect has no regular expressions of ranges");
	else if (strchr(option->value, ','))
		lose(t, option, "offpeak-collect does not choose by several ranges at once");
	else if (option->replaced)
		opk_buf_add_printf(&t->launches, " %s %s", name, option->written);
	else
		put_option(&t->launches, name, option->value);
}

static void put_replay(struct translation *t, const struct opk_ncu_option *option)
{
	if (says(option, "kernel") || says(option, "application"))
		put_option(&t->launches, "--replay", option->value);
	else if (says(option, "app-range"))
		opk_buf_add_text(&t->launches, " --range user --replay application");
	else if (says(option, "range"))
		opk_buf_add_text(&t->launches, " --range user --replay user");
	else
		lose(t, option, "offpeak-collect has nothing like it");
	if (says(option, "range"))
		lose(t, option,
		     "a range is not replayed: its repetitions take the passes in turn (--replay user)");
}

static void put_caches(struct translation *t, const struct opk_ncu_option *option)
{
	const struct opk_ncu_option *replay = find(t, OPK_NCU_REPLAY);

	if (is_off(option) || says(option, "none"))
		return;
	if (says(option, "all") && replay && !says(replay, "kernel"))
		opk_buf_add_text(&t->launches, " --cache-control flush");
	else
		lose(t, option, "offpeak-collect --cache-control flush goes without kernel replay");
}

static void put_clocks(struct translation *t, const struct opk_ncu_option *option)
{
	if (says(option, "none") || says(option, "base") || says(option, "boost")) {
		put_option(&t->launches, "--clock-control", option->value);
		put_option(&t->samples, "--clock-control", option->value);
	} else {
		lose(t, option, "offpeak-collect has nothing like it");
	}
}

static void put_devices(struct translation *t, const struct opk_ncu_option *option)
{
	if (option->replaced || !is_number(option->value)) {
		lose(t, option, "offpeak-collect takes all devices or one");
		return;
	}
	put_option(&t->launches, "--device", option->value);
	put_option(&t->samples, "--device", option->value);
}

static void put_interval(struct translation *t, const struct opk_ncu_option *option)
{
	if (is_number(option->value) && strtoul(option->value, NULL, 10))
		opk_buf_add_printf(&t->samples, " --interval %sns", option->value);
	else if (!says(option, "0"))
		lose(t, option, "this is not a number");
}

static void put_from_start(struct translation *t, const struct opk_ncu_option *option)
{
	if (!is_off(option))
		return;
	put_option(&t->launches, "--capture-range", "cudaProfilerApi");
	put_option(&t->samples, "--capture-range", "cudaProfilerApi");
}

static void put_graphs(struct translation *t, const struct opk_ncu_option *option)
{
	if (says(option, "graph"))
		opk_buf_add_text(&t->launches, " --push");
	else
		lose(t, option, "offpeak-collect --push records whole graphs, not their nodes");
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

/* For its own ranges the collector takes no filters of launches. */
static bool is_for_launches_alone(const struct opk_ncu_option *option)
{
	switch (option->meaning) {
	case OPK_NCU_KERNEL:
	case OPK_NCU_KERNEL_REGEX:
	case OPK_NCU_KERNEL_ID:
	case OPK_NCU_SKIP:
	case OPK_NCU_COUNT:
	case OPK_NCU_GRAPHS:
		return true;
	default:
		return false;
	}
}

static void translate(struct translation *t, const struct opk_ncu_option *option)
{
	const struct opk_ncu_option *replay = find(t, OPK_NCU_REPLAY);

	if (is_for_launches_alone(option) && (says(replay, "range") || says(replay, "app-range"))) {
		lose(t, option, "it is about launches, but ranges are recorded");
		return;
	}
	switch (option->meaning) {
	case OPK_NCU_KERNEL:
	case OPK_NCU_KERNEL_REGEX:
		put_kernel(t, option, option->value);
		break;
	case OPK_NCU_KERNEL_ID:
		put_kernel_id(t, option);
		break;
	case OPK_NCU_SKIP:
		put_number(t, option, "--skip");
		break;
	case OPK_NCU_COUNT:
		put_number(t, option, "--count");
		break;
	case OPK_NCU_NVTX_INCLUDE:
		put_nvtx(t, option, "--nvtx-include");
		break;
	case OPK_NCU_NVTX_EXCLUDE:
		put_nvtx(t, option, "--nvtx-exclude");
		break;
	case OPK_NCU_REPLAY:
		put_replay(t, option);
		break;
	case OPK_NCU_CACHES:
		put_caches(t, option);
		break;
	case OPK_NCU_CLOCKS:
		put_clocks(t, option);
		break;
	case OPK_NCU_DEVICES:
		put_devices(t, option);
		break;
	case OPK_NCU_FROM_START:
		put_from_start(t, option);
		break;
	case OPK_NCU_GRAPHS:
		put_graphs(t, option);
		break;
	case OPK_NCU_PM_INTERVAL:
		put_interval(t, option);
		break;
	case OPK_NCU_FORCE:
		opk_buf_add_text(&t->launches, " --force");
		opk_buf_add_text(&t->samples, " --force");
		break;
	case OPK_NCU_VERBOSE:
		opk_buf_add_text(&t->launches, " -v");
		opk_buf_add_text(&t->samples, " -v");
		break;
	case OPK_NCU_SHOWING:
		show(t, option);
		break;
	case OPK_NCU_PROCESSES:
		if (!says(option, "all"))
			lose(t, option, reason_of(option));
		break;
	case OPK_NCU_FILTER_MODE:
		if (!says(option, "global"))
			lose(t, option, reason_of(option));
		break;
	case OPK_NCU_MODE:
		if (!says(option, "launch-and-attach"))
			lose(t, option, reason_of(option));
		break;
	case OPK_NCU_SKIP_ALL:
		if (!says(option, "0"))
			lose(t, option, reason_of(option));
		break;
	case OPK_NCU_OTHER:
		lose(t, option, reason_of(option));
		break;
	default:
		break;
	}
}

/* What Nsight Compute does without being asked. */
static void note_defaults(struct translation *t, struct opk_strlist *defaults)
{
	const struct opk_ncu_option *replay = find(t, OPK_NCU_REPLAY);
	bool flushes = replay && !says(replay, "kernel");

	if (!find(t, OPK_NCU_CLOCKS))
		t->failed |= !opk_strlist_add(
			defaults,
			"ncu locks clocks to base: offpeak-collect --clock-control base does "
			"as root");
	if (!find(t, OPK_NCU_CACHES))
		t->failed |= !opk_strlist_add(
			defaults,
			flushes ? "ncu flushes caches: offpeak-collect --cache-control flush does"
				: "ncu flushes caches: offpeak-collect --cache-control flush does "
				  "where launches are not replayed");
}

/* ---- commands */

/* "x.ncu-rep" -> "x.opk", as it is written for a shell; NULL: there is none, or no memory. */
static char *recording_of(struct translation *t)
{
	static const char *const endings[] = { ".ncu-rep", ".nsight-cuprof-report", ".opk" };
	const struct opk_ncu_option *option = find(t, OPK_NCU_EXPORT);
	size_t size;

	if (!option)
		return NULL;
	if (strstr(option->value, "%i")) {
		lose(t, option, "offpeak-collect does not number its files: %p is the process");
		return NULL;
	}
	if (option->replaced)
		return opk_printf("%s.opk", option->written);
	size = strlen(option->value);
	for (size_t i = 0; i < COUNT(endings); i++)
		if (opk_ends(option->value, endings[i])) {
			size -= strlen(endings[i]);
			break;
		}
	return opk_printf("%.*s.opk", (int)size, option->value);
}

static void put_commands(struct translation *t, struct opk_buf *out,
                         const struct opk_imported_set *set, const char *path, const char *chip)
{
	const struct opk_ncu_command *command = t->command;
	const struct opk_ncu_option *export = find(t, OPK_NCU_EXPORT);
	size_t stem = strlen(path) - strlen(opk_ending(path));
	opk_autofree char *file = opk_printf("%s%.*s%s%s", strchr(path, '/') ? "" : "./", (int)stem,
	                                     path, set->suffix, path + stem);
	opk_autofree char *built = opk_printf("%.*s%s.opk", (int)stem, path, set->suffix);
	opk_autofree char *run = *set->suffix ? NULL : recording_of(t);
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
	put_option(out, "-o", built);
	opk_buf_add_printf(out, "\n%s%soffpeak-collect", command->before,
	                   *command->before ? " " : "");
	put_option(out, "-c", built);
	if (export && export->replaced)
		opk_buf_add_printf(out, " -o %s", run);
	else
		put_option(out, "-o", run);
	if (options->size)
		opk_buf_add(out, options->data, options->size);
	opk_buf_add_printf(out, " -- %s\n", *command->program ? command->program : "APP");
}

int sets_collect_init(struct sets_collect *out, struct app *app,
                      const struct opk_set_import *import, const char *path, const char *chip)
{
	struct translation t = { .command = opk_set_import_command(import), .lost = &out->lost };

	*out = (struct sets_collect){ 0 };
	for (size_t i = 0; i < t.command->option_count; i++)
		translate(&t, &t.command->options[i]);
	note_defaults(&t, &out->defaults);
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
