/* SPDX-License-Identifier: BSD-2-Clause */
#include "domain/chip.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "adapters/nv/nv.h"
#include "base/nearest.h"

struct opk_chips {
	struct opk_strlist names;
	struct opk_chip *chips;
};

static int fill(struct opk_chips *chips, struct opk_ctx *ctx)
{
	int code = opk_nv_chips(&chips->names, ctx);

	if (code)
		return code;
	chips->chips = opk_alloc_array(chips->names.count, sizeof *chips->chips);
	if (!chips->chips)
		return opk_nomem(ctx, "chips");
	for (size_t i = 0; i < chips->names.count; i++) {
		struct opk_chip *chip = &chips->chips[i];

		chip->name = chips->names.items[i];
		code = opk_nv_host_supported(&chip->range, ctx, chip->name, OPK_PROFILER_RANGE);
		if (!code)
			code = opk_nv_host_supported(&chip->pm_sampling, ctx, chip->name,
			                             OPK_PROFILER_PM);
		if (code)
			return opk_add(ctx, code, "while asking for the profilers of %s", chip->name);
	}
	return OPK_OK;
}

int opk_chips_new(struct opk_chips **out, struct opk_ctx *ctx)
{
	struct opk_chips *chips = opk_alloc(sizeof *chips);
	int code = chips ? fill(chips, ctx) : opk_nomem(ctx, "chips");

	if (code) {
		opk_chips_free(chips);
		return code;
	}
	*out = chips;
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

/* Without their properties, for which CUPTI 13.1 takes seconds a chip. */
int opk_chip_metric_count(size_t *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                          enum opk_profiler profiler)
{
	opk_autostrlist struct opk_strlist names = { 0 };
	struct opk_nv_host *host;
	int code = opk_nv_host_new(&host, ctx, chip->name, profiler, NULL);

	if (!code) {
		code = opk_nv_all_base_metrics(&names, ctx, host);
		opk_nv_host_free(host);
	}
	if (code)
		return opk_add(ctx, code, "no number of metrics of %s", chip->name);
	*out = names.count;
	return OPK_OK;
}

int opk_chip_metrics_per_pass(size_t *out, struct opk_ctx *ctx, const struct opk_chip *chip,
                              enum opk_profiler profiler)
{
	int code = opk_nv_metrics_per_pass(out, ctx, chip->name, profiler);

	return code ? opk_add(ctx, code, "no number of metrics per pass of %s", chip->name) : OPK_OK;
}

char *opk_chip_upper(const char *name)
{
	char *copy = opk_strdup(name);

	for (char *c = copy; c && *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return copy;
}

int opk_chip_resolve(char **out, struct opk_ctx *ctx, const char *name)
{
	opk_autostrlist struct opk_strlist names = { 0 };
	struct opk_nearest nearest = { .name = name };
	int code = opk_nv_chips(&names, ctx);

	if (code)
		return code;
	for (size_t i = 0; i < names.count; i++) {
		if (strcasecmp(names.items[i], name)) {
			opk_nearest_try(&nearest, names.items[i]);
			continue;
		}
		*out = opk_strdup(names.items[i]);
		return *out ? OPK_OK : opk_nomem(ctx, "a chip name");
	}
	return opk_fail(ctx, OPK_EUSAGE, "unknown chip '%s'%s%s%s; 'offpeak chips' lists them", name,
	                nearest.best ? ", did you mean " : "", nearest.best ? nearest.best : "",
	                nearest.best ? "?" : "");
}
