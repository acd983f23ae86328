/* SPDX-License-Identifier: BSD-2-Clause */
/* Chips as NVIDIA's library lists them: profilers, numbers of metrics, names. */
#include "chip/chip.h"

#include <string.h>
#include <strings.h>

#include "adapters/nv/nv.h"
#include "base/listing.h"
#include "base/nearest.h"
#include "base/problems.h"
#include "chip/door.h"

/* A power of two that is more than any chip's number of metrics. */
enum { MAX_STRIDE = 1 << 16 };

struct opk_chips {
	struct opk_strlist names;
	struct opk_chip *chips;
};

OPK_DEFINE_AUTO(opk_chips)

static int fill(struct opk_chips *chips, struct opk_ctx *ctx)
{
	opk_autostrlist struct opk_strlist with_code = { 0 };
	int code;

	TRY(opk_nv_chips(&chips->names, ctx));
	TRY(opk_allow(ctx, opk_code_chips(&with_code, ctx), OPK_EFAILED));
	chips->chips = opk_alloc_array(chips->names.count, sizeof *chips->chips);
	if (!chips->chips)
		return opk_nomem(ctx, "chips");
	for (size_t i = 0; i < chips->names.count; i++) {
		struct opk_chip *chip = &chips->chips[i];

		chip->name = chips->names.items[i];
		chip->sass = opk_strlist_contains(&with_code, chip->name);
		code = opk_nv_host_supported(&chip->range, ctx, chip->name, OPK_PROFILER_RANGE);
		if (!code)
			code = opk_nv_host_supported(&chip->pm_sampling, ctx, chip->name,
			                             OPK_PROFILER_PM);
		if (code)
			return opk_add(ctx, code, "while asking for the profilers of %s",
			               chip->name);
	}
	return OPK_OK;
}

int opk_chips_new(struct opk_chips **out, struct opk_ctx *ctx)
{
	opk_auto(opk_chips) struct opk_chips *chips = opk_alloc(sizeof *chips);

	TRY(chips ? fill(chips, ctx) : opk_nomem(ctx, "chips"));
	*out = opk_take(chips);
	return OPK_OK;
}

void opk_chips_free(struct opk_chips *chips)
{
	if (!chips)
		return;
	opk_strlist_clear(&chips->names);
	free(chips->chips);
	free(chips);
}

size_t opk_chips_count(const struct opk_chips *chips)
{
	return chips->names.count;
}

const struct opk_chip *opk_chips_get(const struct opk_chips *chips, size_t i)
{
	return &chips->chips[i];
}

const struct opk_chip *opk_chips_find(const struct opk_chips *chips, const char *name)
{
	for (size_t i = 0; i < chips->names.count; i++)
		if (!strcasecmp(chips->chips[i].name, name))
			return &chips->chips[i];
	return NULL;
}

int opk_chip_metric_count(size_t *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                          enum opk_profiler profiler)
{
	opk_autostrlist struct opk_strlist names = { 0 };
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;
	int code = opk_nv_host_new(&host, ctx, chip->name, profiler, NULL);

	if (!code)
		code = opk_nv_all_base_metrics(&names, ctx, host);
	if (code)
		return opk_add(ctx, code, "no number of metrics of %s", chip->name);
	*out = names.count;
	return OPK_OK;
}

int opk_chip_metrics_per_pass(size_t *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                              enum opk_profiler profiler)
{
	int code = opk_nv_metrics_per_pass(out, ctx, chip->name, profiler);

	return code ? opk_add(ctx, code, "no number of metrics per pass of %s", chip->name)
	            : OPK_OK;
}

struct scopes {
	bool known, device; /* true for any metric asked about */
};

static int ask_scope(struct scopes *scopes, struct opk_ctx *ctx, struct opk_nv_host *host,
                     const char *name)
{
	enum opk_scope scope;
	int code = opk_nv_scope(&scope, ctx, host, name);

	/* 12.x lists some metrics without properties. */
	if (code)
		return opk_allow(ctx, code, OPK_EUSAGE);
	scopes->known |= scope != OPK_SCOPE_UNKNOWN;
	scopes->device |= scope == OPK_SCOPE_DEVICE;
	return OPK_OK;
}

/*
 * Most units' metrics have one scope, so asks about one metric of each unit first; then about
 * others at strides that halve, as similar metrics are neighbors. With 13.1 a device metric is
 * among the first 12 of 3,000, or the first 250 if only some of a unit's are (GB20B).
 */
static int find_device_level(struct scopes *scopes, struct opk_ctx *ctx, struct opk_nv_host *host,
                             const struct opk_strlist *names)
{
	for (size_t i = 0; !scopes->device && i < names->count; i++)
		if (!i || !opk_same_hardware_unit(names->items[i - 1], names->items[i]))
			TRY(ask_scope(scopes, ctx, host, names->items[i]));
	if (!scopes->known)
		return opk_fail(ctx, OPK_ENVIDIA,
		                "this libcupti does not report scopes; CUPTI 13.1 and later do");
	for (size_t stride = MAX_STRIDE; stride; stride /= 2)
		for (size_t i = stride; !scopes->device && i < names->count; i += 2 * stride)
			TRY(ask_scope(scopes, ctx, host, names->items[i]));
	return OPK_OK;
}

int opk_chip_device_level(bool *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                          enum opk_profiler profiler)
{
	opk_autostrlist struct opk_strlist names = { 0 };
	struct scopes scopes = { 0 };
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;
	int code = opk_nv_host_new(&host, ctx, chip->name, profiler, NULL);

	if (code)
		return code;
	code = opk_nv_all_base_metrics(&names, ctx, host);
	opk_strlist_sort(&names);
	if (!code)
		code = find_device_level(&scopes, ctx, host, &names);
	if (code)
		return opk_add(ctx, code, "no metrics' scopes of %s", chip->name);
	*out = scopes.device;
	return OPK_OK;
}

/* ---- words that mean one chip */

static bool spelt(char **out, const struct opk_strlist *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcasecmp(names->items[i], name)) {
			*out = opk_strdup(names->items[i]);
			return true;
		}
	return false;
}

static int fail_several(struct opk_ctx *ctx, const char *word, opk_chip_mask meant)
{
	opk_autobuf struct opk_buf list = { 0 };
	opk_autofree char *text = NULL;

	for (size_t i = 0; i < OPK_CHIP_MASK_LATER && opk_chip_known(i); i++)
		if (meant >> i & 1)
			opk_buf_add_printf(&list, "%s%s", list.size ? ", " : "", opk_chip_known(i));
	text = opk_buf_take_text(&list);
	return text ? opk_fail(ctx, OPK_EUSAGE, "'%s' means several chips: %s; which one?", word,
	                       text)
	            : opk_nomem(ctx, "chips");
}

/* A chip that other releases of CUPTI list. */
static int fail_other_release(struct opk_ctx *ctx, const char *word, const char *chip)
{
	const struct opk_nv_release release = opk_nv_release(ctx);
	const struct opk_chip_releases known = opk_chip_get_releases(chip);
	const char *other = known.first ? known.first : known.last;
	int code = opk_fail(ctx, OPK_EUSAGE, "%s does not know %s%s%s%s", release.name, chip,
	                    other ? "; " : "", other ? other : "",
	                    known.first ? " and later do"
	                    : other     ? " and earlier do"
	                                : "");

	return strcasecmp(word, chip) ? opk_add(ctx, code, "'%s' means %s", word, chip) : code;
}

/* `names` are the chips to choose from; `fail` says why a chip that we know is not among them. */
static int resolve(char **out, struct opk_ctx *ctx, const struct opk_strlist *names,
                   const char *name,
                   int fail(struct opk_ctx *ctx, const char *word, const char *chip))
{
	opk_chip_mask meant = opk_chips_meant(name);
	opk_autofree char *spelling = opk_chip_spelling(name);

	if (!spelling)
		return opk_nomem(ctx, "a chip name");
	if (spelt(out, names, spelling))
		return *out ? OPK_OK : opk_nomem(ctx, "a chip name");
	if (meant & (meant - 1))
		return fail_several(ctx, name, meant);
	if (meant)
		return fail(ctx, name, spelling);
	if (strchr(name, ','))
		opk_fail(ctx, OPK_EUSAGE, "'%s' names several chips, where one is wanted", name);
	else if (opk_chip_is_older(name))
		opk_fail(ctx, OPK_EUSAGE,
		         "'%s' is older than Volta: it is not among the chips that CUPTI's "
		         "profilers know",
		         name);
	else
		opk_fail(ctx, OPK_EUSAGE, "unknown chip '%s'" OPK_DID_YOU_MEAN, name,
		         OPK_NEAR(opk_chip_nearest(names, name)));
	return opk_advise(ctx, OPK_EUSAGE, OPK_REMEDY_LIST_CHIPS);
}

int opk_chip_resolve(char **out, struct opk_ctx *ctx, const char *name)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	TRY(opk_nv_chips(&names, ctx));
	return resolve(out, ctx, &names, name, fail_other_release);
}

static int fail_without_code(struct opk_ctx *ctx, const char *word, const char *chip)
{
	(void)word;
	opk_fail(ctx, OPK_EFAILED, "%s is not among the chips that have metrics of instructions",
	         chip);
	return opk_advise(ctx, OPK_EFAILED, OPK_REMEDY_LIST_CHIPS);
}

int opk_chip_resolve_for(char **out, struct opk_ctx *ctx, const char *name,
                         enum opk_profiler profiler)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	if (!opk_profiler_is_code(profiler))
		return opk_chip_resolve(out, ctx, name);
	TRY(opk_code_chips(&names, ctx));
	return resolve(out, ctx, &names, name, fail_without_code);
}

int opk_chips_resolve(const struct opk_chip **out, struct opk_ctx *ctx,
                      const struct opk_chips *chips, const char *name)
{
	opk_autofree char *known = NULL;

	TRY(opk_chip_resolve(&known, ctx, name));
	*out = opk_chips_find(chips, known);
	return OPK_OK;
}

/* ---- as a list */

/* Columns that come first, that OPK_CHIP_LIMITS and OPK_CHIP_COUNTS add, and at most. */
enum { PLAIN = 3, LIMITS = 3, COUNTS = 2, COLUMNS = 12 };

/* A number of metrics; absent if the chip lacks the profiler, or the library the function. */
static int ask_number(union opk_cell *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                      enum opk_profiler profiler,
                      int ask(size_t *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                              enum opk_profiler profiler))
{
	bool has = profiler == OPK_PROFILER_PM ? chip->pm_sampling : chip->range;
	size_t count = 0;
	int code = has ? ask(&count, ctx, chip, profiler) : OPK_OK;

	*out = cell_known(count, has && !code);
	return opk_allow(ctx, code, OPK_ENVIDIA);
}

static int ask_limits(union opk_cell out[LIMITS], struct opk_ctx *ctx, const struct opk_chip *chip)
{
	bool device = false;
	int code;

	TRY(ask_number(&out[0], ctx, chip, OPK_PROFILER_RANGE, opk_chip_metrics_per_pass));
	TRY(ask_number(&out[1], ctx, chip, OPK_PROFILER_PM, opk_chip_metrics_per_pass));
	/* All metrics of PM sampling count the whole device. */
	code = chip->range ? opk_chip_device_level(&device, ctx, chip, OPK_PROFILER_RANGE)
	                   : OPK_ENVIDIA;
	out[2] = cell_known(device, !code);
	return opk_allow(ctx, code, OPK_ENVIDIA);
}

static int list_chip(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_chip *chip,
                     unsigned wanted)
{
	const struct opk_chip_facts facts = opk_chip_get_facts(chip->name);
	union opk_cell cells[COLUMNS] = { cell_text(chip->name), cell_flag(chip->range),
		                          cell_flag(chip->pm_sampling) };
	union opk_cell *next = cells + PLAIN;

	if (wanted & OPK_CHIP_FACTS) {
		*next++ = cell_text(facts.architecture);
		*next++ = cell_text(facts.compute_capability);
		*next++ = cell_list(facts.products, facts.product_count);
	}
	if (wanted & OPK_CHIP_LIMITS) {
		TRY(ask_limits(next, ctx, chip));
		next += LIMITS;
	}
	if (wanted & OPK_CHIP_COUNTS) {
		TRY(ask_number(&next[0], ctx, chip, OPK_PROFILER_RANGE, opk_chip_metric_count));
		TRY(ask_number(&next[1], ctx, chip, OPK_PROFILER_PM, opk_chip_metric_count));
		next += COUNTS;
	}
	*next = cell_flag(chip->sass);
	opk_listing_add(rows, cells);
	return OPK_OK;
}

static struct opk_listing *new_list(unsigned wanted)
{
	opk_autofree char *columns = opk_printf(
		"chip range? pm_sampling?%s%s%s sass?",
		wanted & OPK_CHIP_FACTS ? " architecture compute_capability products*" : "",
		wanted & OPK_CHIP_LIMITS ? " metrics_per_pass~ pm_metrics_per_pass~ device_level!"
					 : "",
		wanted & OPK_CHIP_COUNTS ? " range_metrics~ pm_metrics~" : "");

	return opk_listing_new(columns);
}

int opk_chip_list(struct opk_listing **out, struct opk_ctx *ctx, const char *chip, unsigned wanted)
{
	opk_auto(opk_chips) struct opk_chips *chips = NULL;
	opk_auto(opk_listing) struct opk_listing *rows = NULL;
	const struct opk_chip *one = NULL;

	TRY(opk_chips_new(&chips, ctx));
	if (chip)
		TRY(opk_chips_resolve(&one, ctx, chips, chip));
	rows = new_list(wanted);
	for (size_t i = 0; i < opk_chips_count(chips); i++) {
		if (!one || one == opk_chips_get(chips, i))
			TRY(list_chip(rows, ctx, opk_chips_get(chips, i), wanted));
	}
	return opk_listing_finish(out, ctx, opk_take(rows));
}
