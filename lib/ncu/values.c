/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of a report's values: those that were measured are a table, those of launches and
 * devices are facts, which offpeak keeps elsewhere.
 */
#include "ncu/values.h"

#include <math.h>
#include <string.h>

#include "base/ascii.h"

/* ---- facts about launches: members of struct opk_range */

static const struct {
	const char *name;
	size_t offset;
	bool plus_1;
	uint32_t least; /* launches without clusters have 0 in reports, and 1 in recordings */
} launch_facts[] = {
#define OF(member) offsetof(struct opk_range, member)
	{ "launch__registers_per_thread", OF(registers), false, 0 },
	{ "launch__shared_mem_per_block_dynamic", OF(shared_bytes), false, 0 },
	{ "launch__shared_mem_per_block_static", OF(static_shared_plus_1), true, 0 },
	{ "launch__cluster_dim_x", OF(cluster[0]), false, 1 },
	{ "launch__cluster_dim_y", OF(cluster[1]), false, 1 },
	{ "launch__cluster_dim_z", OF(cluster[2]), false, 1 },
#undef OF
};

enum { LAUNCH_FACTS = sizeof launch_facts / sizeof *launch_facts };

static void take_launch_fact(struct opk_range *launch, const char *name, double value)
{
	for (size_t i = 0; i < LAUNCH_FACTS; i++) {
		uint32_t *member = (uint32_t *)((char *)launch + launch_facts[i].offset);

		if (!strcmp(launch_facts[i].name, name) && value >= 0 && value < UINT32_MAX)
			*member = value < launch_facts[i].least
			                  ? launch_facts[i].least
			                  : (uint32_t)value + launch_facts[i].plus_1;
	}
}

/* ---- facts about devices */

/* "name" of "device__attribute_display_name". */
static const char *device_fact(const char *name)
{
	const char *fact = opk_attribute_device_fact(name);

	return strcmp(fact, "display_name") ? fact : "name";
}

/* Takes the texts over. The first value of a fact counts. */
static bool put_fact(struct opk_ncu_values *out, char *name, char *value)
{
	opk_autofree char *own_name = name, *own_value = value;
	struct opk_property *added;

	if (name && value && opk_index_find(NULL, &out->fact_names, name))
		return true;
	added = name && value ? opk_list_add(&out->facts) : NULL;
	if (!added)
		return false;
	*added = (struct opk_property){ opk_take(own_name), opk_take(own_value) };
	return opk_index_add(&out->fact_names, added->name, out->facts.count - 1, NULL);
}

/* Facts have the units of the driver's attributes: clocks are in kHz, all else is in base units. */
static bool take_device_fact(struct opk_ncu_values *out, const struct opk_range *launch,
                             const struct opk_ncu_metric *metric, double value, const char *text)
{
	const char *fact = device_fact(metric->name);
	bool in_hz = metric->unit && !strcmp(metric->unit, "cycles/second");

	if (in_hz && opk_ends(fact, "_khz"))
		value /= 1000;
	return put_fact(out,
	                opk_printf("device.%d.%s", launch->device >= 0 ? launch->device : 0, fact),
	                isnan(value) ? opk_strdup(text) : opk_printf("%.17g", value));
}

/* "9.0" as two facts, by which occupancy is computed. */
static bool put_capability(struct opk_ncu_values *out, size_t device, const char *text)
{
	size_t major = strcspn(text, ".");

	return put_fact(out, opk_printf("device.%zu.compute_capability_major", device),
	                opk_strndup(text, major))
	       && put_fact(out, opk_printf("device.%zu.compute_capability_minor", device),
	                   opk_strdup(text[major] ? text + major + 1 : "0"));
}

static bool put_facts(struct opk_ncu_values *out, const struct opk_ncu_report *report)
{
	for (size_t i = 0; i < report->capabilities.count; i++)
		if (report->capabilities.items[i]
		    && !put_capability(out, i, report->capabilities.items[i]))
			return false;
	return report->processes.count != 1
	       || put_fact(out, opk_strdup("command"), opk_strdup(report->processes.items[0]));
}

/* ---- which metrics are values */

enum use {
	USE_VALUE,
	USE_DEVICE,
	USE_LAUNCH,   /* a member of struct opk_range */
	USE_COMPUTED, /* computed by offpeak itself, from members */
	USE_TEXT,
};

static enum use use_of(const char *name)
{
	if (opk_attribute_is_of_device(name))
		return USE_DEVICE;
	for (size_t i = 0; i < LAUNCH_FACTS; i++)
		if (!strcmp(launch_facts[i].name, name))
			return USE_LAUNCH;
	return opk_attribute_is_name(name) ? USE_COMPUTED : USE_VALUE;
}

static enum opk_printed_kind read_value(double *out, const struct opk_ncu_report *report,
                                        const struct opk_ncu_value *value)
{
	return opk_printed_read(out, &report->printed, value->text, value->power);
}

/*
 * Metrics that have texts and no number are not values: "CachePreferNone". Among numbers, texts are
 * counted in `odd`, one for each metric.
 */
static int find_texts(enum use *uses, size_t *odd, struct opk_ctx *ctx,
                      const struct opk_ncu_report *report)
{
	opk_autofree bool *has_number = opk_alloc_array(report->metrics.count + 1,
	                                                sizeof *has_number);
	double number;

	if (!has_number)
		return opk_nomem(ctx, "a report");
	for (size_t i = 0; i < report->values.count; i++) {
		const struct opk_ncu_value *value = &report->values.items[i];
		enum opk_printed_kind kind;

		if (uses[value->metric] != USE_VALUE)
			continue;
		kind = read_value(&number, report, value);
		has_number[value->metric] |= kind == OPK_PRINTED_NUMBER;
		odd[value->metric] += kind == OPK_PRINTED_TEXT;
	}
	for (size_t i = 0; i < report->metrics.count; i++)
		if (odd[i] && !has_number[i])
			uses[i] = USE_TEXT;
	return OPK_OK;
}

/* Numbers the metrics that are values; others get SIZE_MAX. */
static bool number_metrics(struct opk_ncu_values *out, size_t *numbers, const enum use *uses,
                           const size_t *odd, const struct opk_ncu_report *report)
{
	out->names = opk_alloc_array(report->metrics.count + 1, sizeof *out->names);
	out->units = opk_alloc_array(report->metrics.count + 1, sizeof *out->units);
	if (!out->names || !out->units)
		return false;
	for (size_t i = 0; i < report->metrics.count; i++) {
		const struct opk_ncu_metric *metric = &report->metrics.items[i];

		numbers[i] = SIZE_MAX;
		if (uses[i] == USE_TEXT && !opk_strlist_add(&out->texts, metric->name))
			return false;
		if (uses[i] != USE_VALUE)
			continue;
		if (odd[i]
		    && !opk_strlist_take(&out->odd, opk_printf("%zu of %s", odd[i], metric->name)))
			return false;
		numbers[i] = out->metric_count;
		out->names[out->metric_count] = metric->name;
		out->units[out->metric_count++] = metric->unit ? metric->unit : "";
	}
	return true;
}

static bool take_value(struct opk_ncu_values *out, struct opk_ncu_report *report,
                       const struct opk_ncu_value *value, enum use use, size_t number)
{
	struct opk_range *launch = &report->launches.rows.items[value->launch];
	const struct opk_ncu_metric *metric = &report->metrics.items[value->metric];
	enum opk_printed_kind kind;
	double read;

	if (use == USE_COMPUTED || use == USE_TEXT)
		return true;
	kind = read_value(&read, report, value);
	if (use == USE_LAUNCH)
		take_launch_fact(launch, metric->name, read);
	if (use == USE_DEVICE && kind != OPK_PRINTED_NONE)
		return take_device_fact(out, launch, metric, read, value->text);
	if (use == USE_VALUE)
		out->values[value->launch * out->metric_count + number] = read;
	return true;
}

/*
 * Tables of other metrics, one after the other, make a table in which each launch has all metrics.
 * A small file could claim any number of values that way.
 */
static int check_cells(struct opk_ctx *ctx, const struct opk_ncu_report *report, size_t metrics)
{
	enum { FEW_CELLS = 1 << 20 };
	size_t launches = report->launches.rows.count;

	if (metrics * launches <= FEW_CELLS + report->size)
		return OPK_OK;
	return opk_fail(
		ctx, OPK_EINPUT,
		"%s: %zu launches with %zu metrics, of which hardly any launch has more than a "
		"few: there are %zu values; import its tables by themselves",
		report->path, launches, metrics, report->values.count);
}

static int fill(struct opk_ncu_values *out, struct opk_ctx *ctx, struct opk_ncu_report *report,
                const enum use *uses, const size_t *numbers)
{
	size_t cells = out->metric_count * report->launches.rows.count;

	TRY(check_cells(ctx, report, out->metric_count));
	out->values = opk_alloc_array(cells + 1, sizeof *out->values);
	if (!out->values)
		return opk_nomem(ctx, "a report");
	for (size_t i = 0; i < cells; i++)
		out->values[i] = (double)NAN;
	for (size_t i = 0; i < report->values.count; i++) {
		const struct opk_ncu_value *value = &report->values.items[i];

		if (!take_value(out, report, value, uses[value->metric], numbers[value->metric]))
			return opk_nomem(ctx, "a report");
	}
	return put_facts(out, report) ? OPK_OK : opk_nomem(ctx, "a report");
}

int opk_ncu_values_init(struct opk_ncu_values *out, struct opk_ctx *ctx,
                        struct opk_ncu_report *report)
{
	opk_autofree enum use *uses = opk_alloc_array(report->metrics.count + 1, sizeof *uses);
	opk_autofree size_t *numbers = opk_alloc_array(report->metrics.count + 1, sizeof *numbers);
	opk_autofree size_t *odd = opk_alloc_array(report->metrics.count + 1, sizeof *odd);

	*out = (struct opk_ncu_values){ 0 };
	if (!uses || !numbers || !odd)
		return opk_nomem(ctx, "a report");
	for (size_t i = 0; i < report->metrics.count; i++)
		uses[i] = use_of(report->metrics.items[i].name);
	TRY(find_texts(uses, odd, ctx, report));
	if (!number_metrics(out, numbers, uses, odd, report))
		return opk_nomem(ctx, "a report");
	return fill(out, ctx, report, uses, numbers);
}

void opk_ncu_values_clear(struct opk_ncu_values *values)
{
	for (size_t i = 0; i < values->facts.count; i++) {
		free((char *)values->facts.items[i].name);
		free((char *)values->facts.items[i].value);
	}
	free(values->facts.items);
	opk_index_clear(&values->fact_names);
	opk_strlist_clear(&values->texts);
	opk_strlist_clear(&values->odd);
	free(values->names);
	free(values->units);
	free(values->values);
	*values = (struct opk_ncu_values){ 0 };
}
