/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics that fit one pass together: from the cache, or asked for and kept there. As text, a line
 * "set NAME PROFILER ORIGIN" and after it lines of "metric NAME" and "left_out NAME", with tabs
 * between; it is the same in the cache.
 */
#include <string.h>
#include <strings.h>

#include "adapters/deflate/deflate.h"
#include "adapters/nv/nv.h"
#include "chip/chip.h"
#include "plan/door.h"
#include "schedule/schedule.h"
#include "set/set.h"

/* ---- which metrics might make a set of one pass, and which of them CUPTI plans in one */

/* A set in the making. */
struct packing {
	struct opk_ctx *ctx;
	const char *chip;
	const char *set;
	enum opk_profiler profiler;
	enum opk_single_pass_origin origin;
	struct opk_strlist names; /* full ones */
	const char **kept;
	size_t kept_count;
	struct opk_buf *text;
	size_t set_count; /* in the text, which also has those that can't be used */
};

static int open_host(struct opk_nv_host **out, const struct packing *p)
{
	return opk_nv_host_new_for_set(out, p->ctx, p->chip, p->profiler, NULL,
	                               p->origin == OPK_SINGLE_PASS_CUPTI ? p->set : NULL);
}

/* ---- packing */

static int fits(bool *out, const struct packing *p, size_t count)
{
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;
	opk_autoresult struct opk_schedule_result result = { 0 };
	int code = open_host(&host, p);

	if (code)
		return code;
	code = opk_nv_add_metrics(p->ctx, host, p->kept, count);
	if (!code) {
		code = opk_schedule_image(&result, p->ctx, host);
	} else if (code != OPK_ENOMEM) {
		/* What is listed need not be schedulable. */
		opk_clear_errors(p->ctx);
		code = OPK_OK;
	}
	*out = result.passes == 1;
	return code;
}

/* Adds those that fit with what is kept, in order: all at once, or else half by half. */
static int pack(struct packing *p, size_t first, size_t count)
{
	const char *const *names = opk_strlist_items(&p->names);
	bool good;
	int code;

	memcpy(p->kept + p->kept_count, names + first, count * sizeof *names);
	code = fits(&good, p, p->kept_count + count);
	if (!code && good)
		p->kept_count += count;
	else if (!code && count > 1) {
		code = pack(p, first, count / 2);
		if (!code)
			code = pack(p, first + count / 2, count - count / 2);
	} else if (!code) {
		opk_buf_add_printf(p->text, "left_out\t%s\n", names[first]);
	}
	return code;
}

static int pack_set(struct packing *p)
{
	int code;

	if (!p->names.count)
		return OPK_OK;
	opk_buf_add_printf(p->text, "set\t%s\t%s\t%s\n", p->set, opk_profiler_name(p->profiler),
	                   opk_single_pass_origin_name(p->origin));
	p->set_count++;
	p->kept_count = 0;
	p->kept = opk_alloc_array(p->names.count, sizeof *p->kept);
	code = p->kept ? pack(p, 0, p->names.count) : opk_nomem(p->ctx, "a single-pass set");
	for (size_t i = 0; !code && i < p->kept_count; i++)
		opk_buf_add_printf(p->text, "metric\t%s\n", p->kept[i]);
	free(opk_take(p->kept));
	return code;
}

/* ---- which metrics */

/* Takes the name where the chip has it, and as a metric of this type; -1: of any. */
static int take_name(bool *taken, struct packing *p, struct opk_nv_host *host, const char *name,
                     int type)
{
	struct opk_metric metric;
	int code = opk_nv_properties(&metric, p->ctx, host, name);

	*taken = !code && (type < 0 || (int)metric.type == type);
	if (code)
		return opk_allow(p->ctx, code, OPK_EUSAGE);
	return !*taken || opk_strlist_add(&p->names, name) ? OPK_OK
	                                                   : opk_nomem(p->ctx, "a single-pass set");
}

/*
 * A base metric by its plainest full name: the types' are tried, as CUPTI 12.x does not know the
 * type of a bare base name, and 13.1 and later have properties for names of any ending. What the
 * chip lacks is skipped.
 */
static int add_name(struct packing *p, struct opk_nv_host *host, const char *name)
{
	bool taken = false;

	if (opk_base_length(name) < strlen(name))
		return take_name(&taken, p, host, name, -1);
	for (int type = OPK_COUNTER; !taken && type <= OPK_THROUGHPUT; type++) {
		opk_autofree char *full = opk_printf("%s%s", name,
		                                     opk_plainest_suffix(
							     (enum opk_metric_type)type));

		TRY(full ? take_name(&taken, p, host, full, type)
		         : opk_nomem(p->ctx, "a single-pass set"));
	}
	return OPK_OK;
}

/* CUPTI lists sets that it can't use: all of GR100's with 13.4 and 13.5. */
static int leave_out_set(struct packing *p, int code)
{
	opk_buf_add_printf(p->text, "unusable\t%s\t%s\n", p->set, opk_innermost(p->ctx));
	return opk_allow(p->ctx, code, code);
}

/* A set of these names that the chip has. */
static int make_set(struct packing *p, const struct opk_strlist *names)
{
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;
	int code;

	/* CUPTI lists a set of GH100's that has no metrics. */
	if (!names->count)
		return OPK_OK;
	code = open_host(&host, p);
	if (code == OPK_EFAILED && p->origin == OPK_SINGLE_PASS_CUPTI)
		return leave_out_set(p, code);
	if (code)
		return code;
	for (size_t i = 0; !code && i < names->count; i++)
		code = add_name(p, host, names->items[i]);
	if (!code)
		code = pack_set(p);
	opk_strlist_clear(&p->names);
	return code ? opk_add(p->ctx, code, "single-pass set %s of %s", p->set, p->chip) : OPK_OK;
}

static int ask_cupti(struct packing *p)
{
	opk_autostrlist struct opk_strlist sets = { 0 };
	int code = opk_nv_single_pass_sets(&sets, p->ctx, p->chip);

	p->origin = OPK_SINGLE_PASS_CUPTI;
	if (code)
		return opk_allow(p->ctx, code, OPK_ENVIDIA);
	for (size_t i = 0; !code && i < sets.count; i++) {
		opk_autostrlist struct opk_strlist names = { 0 };

		p->set = sets.items[i];
		code = opk_nv_single_pass_metrics(&names, p->ctx, p->chip, p->set);
		if (!code)
			code = make_set(p, &names);
	}
	return code;
}

/* SET of "UNIT.SET.metric" and "SET.metric"; 0 where the name has none. */
static size_t find_set(const char **set, const char *name)
{
	const char *end = strrchr(name, '.'),
		   *dot = end ? memrchr(name, '.', (size_t)(end - name)) : NULL;

	*set = dot ? dot + 1 : name;
	return end ? (size_t)(end - *set) : 0;
}

static int collect_sets(struct opk_strlist *sets, struct opk_ctx *ctx,
                        const struct opk_strlist *all)
{
	for (size_t i = 0; i < all->count; i++) {
		const char *set;
		size_t length = find_set(&set, all->items[i]);
		opk_autofree char *name = opk_strndup(set, length);

		if (!name)
			return opk_nomem(ctx, "single-pass sets");
		if (length && !opk_strlist_contains(sets, name) && !opk_strlist_add(sets, name))
			return opk_nomem(ctx, "single-pass sets");
	}
	return OPK_OK;
}

static int ask_names(struct packing *p)
{
	opk_autostrlist struct opk_strlist all = { 0 }, sets = { 0 };
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;

	p->origin = OPK_SINGLE_PASS_EMULATED;
	TRY(open_host(&host, p));
	TRY(opk_nv_all_base_metrics(&all, p->ctx, host));
	TRY(collect_sets(&sets, p->ctx, &all));
	for (size_t i = 0; i < sets.count; i++) {
		opk_autostrlist struct opk_strlist names = { 0 };
		const char *set;

		p->set = sets.items[i];
		for (size_t j = 0; j < all.count; j++) {
			if (find_set(&set, all.items[j]) == strlen(p->set)
			    && !strncmp(set, p->set, strlen(p->set))
			    && !opk_strlist_add(&names, all.items[j]))
				return opk_nomem(p->ctx, "single-pass sets");
		}
		TRY(make_set(p, &names));
	}
	return OPK_OK;
}

/* The lines of `wanted` for this profiler: "pm" and a full name, with a tab between. */
static int ask_offpeak(struct packing *p, const struct opk_strlist *wanted)
{
	opk_autofree char *name = opk_printf("offpeak-%s", opk_profiler_name(p->profiler));

	p->origin = OPK_SINGLE_PASS_OFFPEAK;
	p->set = name;
	return name ? make_set(p, wanted) : opk_nomem(p->ctx, "single-pass sets");
}

/* One list a profiler. */
static int read_wanted(struct opk_strlist lists[2], struct opk_ctx *ctx, char *text,
                       const char *path)
{
	size_t number = 0;

	for (char *line; (line = strsep(&text, "\n"));) {
		const char *profiler_name = strsep(&line, "\t");
		enum opk_profiler profiler;

		number++;
		if (!*profiler_name || *profiler_name == '#')
			continue;
		if (!line || !*line || !opk_profiler_parse(&profiler, profiler_name))
			return opk_fail(ctx, OPK_EINPUT,
			                "%s:%zu: not a profiler and a metric with a tab between",
			                path, number);
		if (!opk_strlist_add(&lists[profiler], line))
			return opk_nomem(ctx, "single-pass sets");
	}
	return OPK_OK;
}

static int ask_profiler(struct packing *p, const struct opk_strlist *wanted)
{
	bool has;
	int code = opk_nv_host_supported(&has, p->ctx, p->chip, p->profiler);

	if (code || !has)
		return code;
	/* NVIDIA's sets are for PM sampling. */
	if (p->profiler == OPK_PROFILER_PM)
		code = ask_cupti(p);
	if (!code && p->profiler == OPK_PROFILER_PM && !p->set_count)
		code = ask_names(p);
	if (!code && !p->set_count)
		code = ask_offpeak(p, wanted);
	return code;
}

/*
 * Asks NVIDIA's libraries. `wanted` is data/single_pass.tsv, possibly empty, and cut into pieces
 * here; `path` is where it came from.
 */
static int ask_all(struct opk_buf *text, struct opk_ctx *ctx, const char *chip, char *wanted,
                   const char *path)
{
	static const enum opk_profiler profilers[] = { OPK_PROFILER_PM, OPK_PROFILER_RANGE };
	opk_autofree char *name = NULL;
	struct opk_strlist lists[2] = { 0 };
	int code = opk_chip_resolve(&name, ctx, chip);

	if (!code)
		code = read_wanted(lists, ctx, wanted, path);
	for (size_t i = 0; !code && i < 2; i++) {
		struct packing p = {
			.ctx = ctx,
			.chip = name,
			.profiler = profilers[i],
			.text = text,
		};

		code = ask_profiler(&p, &lists[profilers[i]]);
	}
	opk_strlist_clear(&lists[0]);
	opk_strlist_clear(&lists[1]);
	return code;
}

/* ---- the text */

static const char kind[] = "single-pass";

static const char *const origins[] = { "cupti", "emulated", "offpeak" };

/* A set that CUPTI lists and can't use, and what it says of that. */
struct unusable {
	const char *name, *reason;
};

struct opk_single_pass_sets {
	char *text; /* cut into pieces */
	struct opk_single_pass_set *sets;
	size_t count;
	const char **metrics, **left_out; /* of all sets */
	struct unusable *unusable;
	size_t unusable_count;
};

const char *opk_single_pass_origin_name(enum opk_single_pass_origin origin)
{
	return origins[origin];
}

/* ---- the text in pieces */

static bool parse_origin(enum opk_single_pass_origin *out, const char *name)
{
	for (size_t i = 0; name && i < sizeof origins / sizeof *origins; i++) {
		if (strcmp(name, origins[i]))
			continue;
		*out = (enum opk_single_pass_origin)i;
		return true;
	}
	return false;
}

static bool take_set(struct opk_single_pass_sets *sets, char *rest, size_t metrics, size_t left_out)
{
	struct opk_single_pass_set *set = &sets->sets[sets->count++];
	const char *profiler;

	set->name = strsep(&rest, "\t");
	profiler = strsep(&rest, "\t");
	set->metrics = sets->metrics + metrics;
	set->left_out = sets->left_out + left_out;
	return profiler && opk_profiler_parse(&set->profiler, profiler)
	       && parse_origin(&set->origin, rest);
}

static size_t count_lines(const char *text)
{
	size_t count = 1;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* False where the text is not ours, or memory is out: then it is asked for. */
static bool cut(struct opk_single_pass_sets *sets)
{
	size_t lines = count_lines(sets->text), metrics = 0, left_out = 0;
	char *rest = sets->text;

	sets->sets = opk_alloc_array(lines, sizeof *sets->sets);
	sets->metrics = opk_alloc_array(lines, sizeof *sets->metrics);
	sets->left_out = opk_alloc_array(lines, sizeof *sets->left_out);
	sets->unusable = opk_alloc_array(lines, sizeof *sets->unusable);
	if (!sets->sets || !sets->metrics || !sets->left_out || !sets->unusable)
		return false;
	for (char *line; (line = strsep(&rest, "\n"));) {
		const char *what = strsep(&line, "\t");
		struct opk_single_pass_set *set = &sets->sets[sets->count ? sets->count - 1 : 0];

		if (!line && !*what)
			continue;
		if (line && !strcmp(what, "set")) {
			if (!take_set(sets, line, metrics, left_out))
				return false;
		} else if (line && sets->count && !strcmp(what, "metric")) {
			sets->metrics[metrics++] = line;
			set->metric_count++;
		} else if (line && sets->count && !strcmp(what, "left_out")) {
			sets->left_out[left_out++] = line;
			set->left_out_count++;
		} else if (line && !strcmp(what, "unusable")) {
			const char *name = strsep(&line, "\t");

			if (!line)
				return false;
			sets->unusable[sets->unusable_count++] = (struct unusable){ name, line };
		} else {
			return false;
		}
	}
	return true;
}

static void forget(struct opk_single_pass_sets *sets)
{
	free(opk_take(sets->text));
	free(opk_take(sets->sets));
	free(opk_take(sets->metrics));
	free(opk_take(sets->left_out));
	free(opk_take(sets->unusable));
	sets->count = sets->unusable_count = 0;
}

/* ---- all of it */

/* Asks, and keeps the answer under the name `whom`, which may be NULL. */
static int ask(struct opk_single_pass_sets *sets, struct opk_ctx *ctx, const char *chip,
               char *wanted, const char *path, const char *whom)
{
	opk_autobuf struct opk_buf text = { 0 };

	TRY(ask_all(&text, ctx, chip, wanted, path));
	sets->text = opk_buf_take_text(&text);
	if (sets->text)
		opk_cache_store(ctx, kind, whom, sets->text, strlen(sets->text));
	return sets->text && cut(sets) ? OPK_OK : opk_nomem(ctx, "single-pass sets");
}

static int fill(struct opk_single_pass_sets *sets, struct opk_ctx *ctx, const char *chip)
{
	opk_autofree char *name = opk_chip_spelling(chip), *whom = NULL;
	opk_autofree char *path = NULL, *wanted = NULL;
	size_t size;

	TRY(name ? opk_data_file(&wanted, &path, ctx, "single_pass.tsv")
	         : opk_nomem(ctx, "single-pass sets"));
	if (!wanted && !(wanted = opk_strdup("")))
		return opk_nomem(ctx, "single-pass sets");
	whom = opk_cache_whom(ctx, "single-pass sets %08x %s\n",
	                      opk_crc32(0, wanted, strlen(wanted)), name);
	sets->text = opk_cache_load(&size, ctx, kind, whom);
	if (sets->text && cut(sets))
		return OPK_OK;
	forget(sets);
	return ask(sets, ctx, chip, wanted, path, whom);
}

/* CUPTI's sets that are left out, with the reason of the first. */
static void note_unusable(const struct opk_single_pass_sets *sets, struct opk_ctx *ctx,
                          const char *chip)
{
	opk_autobuf struct opk_buf names = { 0 };

	for (size_t i = 0; i < sets->unusable_count; i++)
		opk_buf_add_printf(&names, "%s %s", i ? "," : "", sets->unusable[i].name);
	if (sets->unusable_count && !names.failed)
		opk_log(ctx, "single-pass sets that CUPTI lists for %s, but can't use (%s):%.*s",
		        chip, sets->unusable->reason, (int)names.size, (const char *)names.data);
}

static int new_sets(struct opk_single_pass_sets **out, struct opk_ctx *ctx, const char *chip)
{
	struct opk_single_pass_sets *sets = opk_alloc(sizeof *sets);
	int code = sets ? fill(sets, ctx, chip) : opk_nomem(ctx, "single-pass sets");

	if (code) {
		opk_single_pass_sets_free(sets);
		return opk_add(ctx, code, "no single-pass sets of %s", chip);
	}
	*out = sets;
	return OPK_OK;
}

int opk_single_pass_sets_new(struct opk_single_pass_sets **out, struct opk_ctx *ctx,
                             const char *chip)
{
	TRY(new_sets(out, ctx, chip));
	note_unusable(*out, ctx, chip);
	return OPK_OK;
}

void opk_single_pass_sets_free(struct opk_single_pass_sets *sets)
{
	if (!sets)
		return;
	forget(sets);
	free(sets);
}

size_t opk_single_pass_sets_count(const struct opk_single_pass_sets *sets)
{
	return sets->count;
}

const struct opk_single_pass_set *opk_single_pass_sets_get(const struct opk_single_pass_sets *sets,
                                                           size_t i)
{
	return &sets->sets[i];
}

const struct opk_single_pass_set *opk_single_pass_sets_find(const struct opk_single_pass_sets *sets,
                                                            const char *name)
{
	for (size_t i = 0; i < sets->count; i++)
		if (!strcasecmp(sets->sets[i].name, name))
			return &sets->sets[i];
	return NULL;
}

int opk_set_from_single_pass(struct opk_set **out, struct opk_ctx *ctx,
                             const struct opk_single_pass_set *single)
{
	opk_auto(opk_set) struct opk_set *set = opk_set_create(single->name, "");
	bool ok = set != NULL;

	for (size_t i = 0; ok && i < single->metric_count; i++)
		ok = opk_set_add_name(set, single->metrics[i]);
	if (!ok || !opk_set_complete(set))
		return opk_nomem(ctx, "a metric set");
	set->has_profiler = true;
	set->profiler = single->profiler;
	if (single->origin == OPK_SINGLE_PASS_CUPTI
	    && !(set->single_pass = opk_strdup(single->name)))
		return opk_nomem(ctx, "a metric set");
	*out = opk_take(set);
	return OPK_OK;
}

/* ---- by name */

OPK_DEFINE_AUTO(opk_single_pass_sets)

static int fail_unknown_set(struct opk_ctx *ctx, const struct opk_single_pass_sets *sets,
                            const char *name, const char *chip)
{
	struct opk_nv_release release;

	for (size_t i = 0; i < sets->unusable_count; i++)
		if (!strcasecmp(sets->unusable[i].name, name))
			return opk_fail(
				ctx, OPK_EFAILED,
				"single-pass set '%s': CUPTI lists it for %s, but can't use it: %s",
				name, chip, sets->unusable[i].reason);
	release = opk_nv_release(ctx);
	return opk_fail(
		ctx, OPK_EUSAGE,
		"%s has no single-pass set '%s' with %s%s; 'offpeak sets --single-pass %s' lists "
		"them",
		chip, name, release.name,
		release.lists_sets ? "" : ", and NVIDIA's own come with 13.2 and later", chip);
}

static int find_single_pass(struct opk_set **out, struct opk_ctx *ctx, const char *name,
                            const char *chip)
{
	opk_auto(opk_single_pass_sets) struct opk_single_pass_sets *sets = NULL;
	const struct opk_single_pass_set *single;

	TRY(new_sets(&sets, ctx, chip));
	single = opk_single_pass_sets_find(sets, name);
	if (single)
		return opk_set_from_single_pass(out, ctx, single);
	return fail_unknown_set(ctx, sets, name, chip);
}

int opk_set_find_on(struct opk_set **out, struct opk_ctx *ctx, const char *spec, const char *chip)
{
	static const char prefix[] = "single-pass:";

	if (!strncmp(spec, prefix, sizeof prefix - 1))
		return find_single_pass(out, ctx, spec + sizeof prefix - 1, chip);
	return opk_set_find(out, ctx, spec);
}
