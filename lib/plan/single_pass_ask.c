/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks which metrics might make a single-pass set, and which of them CUPTI plans in one pass. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "chip/chip.h"
#include "plan/single_pass.h"
#include "schedule/schedule.h"

/* A set in the making. */
struct packing {
	struct opk_ctx *ctx;
	const char *chip;
	const char *set;
	enum opk_profiler profiler;
	enum opk_single_pass_origin origin;
	struct opk_strlist names; /* full names */
	const char **kept;
	size_t kept_count;
	struct opk_buf *text;
	size_t set_count; /* in the text, including sets that can't be used */
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
	int code;

	*out = false;
	TRY(open_host(&host, p));
	code = opk_nv_add_metrics(p->ctx, host, p->kept, count);
	/* Some listed metrics cannot be scheduled. */
	if (code)
		return code == OPK_ENOMEM ? code : opk_allow(p->ctx, code, code);
	TRY(opk_schedule_image(&result, p->ctx, host));
	*out = result.passes == 1;
	return OPK_OK;
}

/* Keeps metrics that fit beside the kept ones, in order: all at once, or else half by half. */
static int pack(struct packing *p, size_t first, size_t count)
{
	const char *const *names = opk_strlist_items(&p->names);
	bool good;

	memcpy(p->kept + p->kept_count, names + first, count * sizeof *names);
	TRY(fits(&good, p, p->kept_count + count));
	if (good) {
		p->kept_count += count;
		return OPK_OK;
	}
	if (count == 1) {
		opk_buf_add_printf(p->text, "left_out\t%s\n", names[first]);
		return OPK_OK;
	}
	TRY(pack(p, first, count / 2));
	return pack(p, first + count / 2, count - count / 2);
}

const char *opk_single_pass_origin_name(enum opk_single_pass_origin origin)
{
	static const char *const origins[] = { "cupti", "emulated", "offpeak" };

	return origins[origin];
}

static int pack_set(struct packing *p)
{
	opk_autofree const char **kept = opk_alloc_array(p->names.count + 1, sizeof *kept);

	if (!p->names.count)
		return OPK_OK;
	if (!kept)
		return opk_nomem(p->ctx, "a single-pass set");
	opk_buf_add_printf(p->text, "set\t%s\t%s\t%s\n", p->set, opk_profiler_name(p->profiler),
	                   opk_single_pass_origin_name(p->origin));
	p->set_count++;
	p->kept_count = 0;
	p->kept = kept;
	TRY(pack(p, 0, p->names.count));
	for (size_t i = 0; i < p->kept_count; i++)
		opk_buf_add_printf(p->text, "metric\t%s\n", kept[i]);
	return OPK_OK;
}

/* ---- which metrics */

/* Takes the name if the chip has it as a metric of this type; -1: any type. */
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
 * Adds the plainest full name of a base metric. It tries each type, because CUPTI 12.x does not
 * know the type of a bare base name, and 13.1 and later have properties for names of any ending.
 * Metrics that the chip lacks are skipped.
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

/* CUPTI lists sets that it can't use: all of GR100's in 13.4 and 13.5. */
static int leave_out_set(struct packing *p, int code)
{
	opk_buf_add_printf(p->text, "unusable\t%s\t%s\n", p->set, opk_innermost(p->ctx));
	return opk_allow(p->ctx, code, code);
}

/* Makes a set of those names that the chip has. */
static int make_set(struct packing *p, const struct opk_strlist *names)
{
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;
	int code;

	/* CUPTI lists a set of GH100 that has no metrics. */
	if (!names->count)
		return OPK_OK;
	code = open_host(&host, p);
	if (code == OPK_EFAILED && p->origin == OPK_SINGLE_PASS_CUPTI)
		return leave_out_set(p, code);
	TRY(code);
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
	for (size_t i = 0; i < sets.count; i++) {
		opk_autostrlist struct opk_strlist names = { 0 };

		p->set = sets.items[i];
		TRY(opk_nv_single_pass_metrics(&names, p->ctx, p->chip, p->set));
		TRY(make_set(p, &names));
	}
	return OPK_OK;
}

/* The length of SET in "UNIT.SET.metric" and "SET.metric"; 0 if the name has none. */
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

/* The lines of `wanted` for this profiler: "pm" and a full name, with a tab between them. */
static int ask_offpeak(struct packing *p, const struct opk_strlist *wanted)
{
	opk_autofree char *name = opk_printf("offpeak-%s", opk_profiler_name(p->profiler));

	p->origin = OPK_SINGLE_PASS_OFFPEAK;
	p->set = name;
	return name ? make_set(p, wanted) : opk_nomem(p->ctx, "single-pass sets");
}

/* Reads one list per profiler. */
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
	bool has, pm = p->profiler == OPK_PROFILER_PM;

	TRY(opk_nv_host_supported(&has, p->ctx, p->chip, p->profiler));
	/* NVIDIA's sets are for PM sampling. */
	if (has && pm)
		TRY(ask_cupti(p));
	if (has && pm && !p->set_count)
		TRY(ask_names(p));
	return has && !p->set_count ? ask_offpeak(p, wanted) : OPK_OK;
}

static void clear_lists(struct opk_strlist (*lists)[2])
{
	opk_strlist_clear(&(*lists)[0]);
	opk_strlist_clear(&(*lists)[1]);
}

int opk_single_pass_ask(struct opk_buf *text, struct opk_ctx *ctx, const char *chip, char *wanted,
                        const char *path)
{
	static const enum opk_profiler profilers[] = { OPK_PROFILER_PM, OPK_PROFILER_RANGE };
	__attribute__((cleanup(clear_lists))) struct opk_strlist lists[2] = { 0 };
	opk_autofree char *name = NULL;

	TRY(opk_chip_resolve(&name, ctx, chip));
	TRY(read_wanted(lists, ctx, wanted, path));
	for (size_t i = 0; i < 2; i++) {
		struct packing p = {
			.ctx = ctx,
			.chip = name,
			.profiler = profilers[i],
			.text = text,
		};

		TRY(ask_profiler(&p, &lists[profilers[i]]));
	}
	return OPK_OK;
}
