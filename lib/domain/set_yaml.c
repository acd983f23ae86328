/* SPDX-License-Identifier: BSD-2-Clause */
/* The YAML form of a metric set, docs/metric-sets.md. */
#include <string.h>

#include "adapters/yaml/yaml_tree.h"
#include "base/nearest.h"
#include "domain/set.h"

enum { MAX_FILE = 1 << 20, MAX_METRICS = 10000 };

struct loader {
	struct opk_ctx *ctx;
	const char *path;
	struct opk_set *set;
};

static int replace_text(struct loader *l, char **field, const struct opk_yaml *value)
{
	char *copy;

	if (value->kind != OPK_YAML_SCALAR || !*value->text)
		return opk_yaml_fail(l->ctx, l->path, value, "text is needed here");
	copy = opk_strdup(value->text);
	if (!copy)
		return opk_nomem(l->ctx, "a metric set");
	free(*field);
	*field = copy;
	return OPK_OK;
}

static int read_name(struct loader *l, const struct opk_yaml *value)
{
	return replace_text(l, &l->set->name, value);
}

static int read_description(struct loader *l, const struct opk_yaml *value)
{
	return replace_text(l, &l->set->description, value);
}

static int read_profiler(struct loader *l, const struct opk_yaml *value)
{
	l->set->has_profiler = true;
	if (value->kind == OPK_YAML_SCALAR && opk_profiler_parse(&l->set->profiler, value->text))
		return OPK_OK;
	return opk_yaml_fail(l->ctx, l->path, value, "profiler must be range or pm");
}

static int check_list(struct loader *l, const struct opk_yaml *value, const char *of)
{
	if (value->kind != OPK_YAML_LIST || !value->count)
		return opk_yaml_fail(l->ctx, l->path, value, "a list of %s is needed here", of);
	if (value->count > MAX_METRICS)
		return opk_yaml_fail(l->ctx, l->path, value, "more than %d %s", MAX_METRICS, of);
	for (size_t i = 0; i < value->count; i++)
		if (value->items[i].kind != OPK_YAML_SCALAR || !*value->items[i].text)
			return opk_yaml_fail(l->ctx, l->path, &value->items[i],
			                     "one of the %s is needed here, as plain text", of);
	return OPK_OK;
}

static char *place_of(const struct loader *l, const struct opk_yaml *item)
{
	return opk_printf("%s:%zu:%zu", l->path, item->line, item->column);
}

static int read_chips(struct loader *l, const struct opk_yaml *value)
{
	int code = check_list(l, value, "chips");

	for (size_t i = 0; !code && i < value->count; i++) {
		if (opk_strlist_contains(&l->set->chips, value->items[i].text))
			code = opk_yaml_fail(l->ctx, l->path, &value->items[i],
			                     "chip %s is listed twice", value->items[i].text);
		else if (!opk_strlist_add(&l->set->chips, value->items[i].text)
		         || !opk_strlist_take(&l->set->chip_places, place_of(l, &value->items[i])))
			code = opk_nomem(l->ctx, "a metric set");
	}
	return code;
}

static int add_metric(struct loader *l, const struct opk_yaml *item)
{
	opk_autofree char *place = place_of(l, item);

	if (strpbrk(item->text, " \t\n,\""))
		return opk_yaml_fail(l->ctx, l->path, item, "'%s' is no metric name", item->text);
	for (size_t i = 0; i < l->set->metrics.count; i++)
		if (!strcmp(l->set->metrics.items[i], item->text))
			return opk_yaml_fail(l->ctx, l->path, item,
			                     "metric %s is listed twice, first at %s", item->text,
			                     l->set->places.items[i]);
	if (!place || !opk_set_add_metric(l->set, item->text, place))
		return opk_nomem(l->ctx, "a metric set");
	return OPK_OK;
}

static int read_metrics(struct loader *l, const struct opk_yaml *value)
{
	int code = check_list(l, value, "metrics");

	for (size_t i = 0; !code && i < value->count; i++)
		code = add_metric(l, &value->items[i]);
	return code;
}

static const struct key {
	const char *name;
	int (*read)(struct loader *l, const struct opk_yaml *value);
} keys[] = {
	{ "name", read_name },   { "description", read_description }, { "profiler", read_profiler },
	{ "chips", read_chips }, { "metrics", read_metrics },
};

enum { KEY_COUNT = sizeof keys / sizeof *keys };

static int read_key(struct loader *l, const struct opk_yaml *key, const struct opk_yaml *value)
{
	struct opk_nearest nearest = { .name = key->text };

	for (size_t i = 0; i < KEY_COUNT; i++) {
		if (!strcmp(keys[i].name, key->text))
			return keys[i].read(l, value);
		opk_nearest_try(&nearest, keys[i].name);
	}
	return opk_yaml_fail(l->ctx, l->path, key, "unknown key '%s'%s%s%s", key->text,
	                     nearest.best ? ", did you mean " : "", nearest.best ? nearest.best : "",
	                     nearest.best ? "?" : "");
}

static int read_root(struct loader *l, const struct opk_yaml *root)
{
	if (root->kind != OPK_YAML_MAP)
		return opk_yaml_fail(l->ctx, l->path, root,
		                     "a metric set is a map with name, description and metrics");
	for (size_t i = 0; i + 1 < root->count; i += 2) {
		int code = read_key(l, &root->items[i], &root->items[i + 1]);

		if (code)
			return code;
	}
	if (!*l->set->name)
		return opk_yaml_fail(l->ctx, l->path, root, "the key 'name' is missing");
	if (!l->set->metrics.count)
		return opk_yaml_fail(l->ctx, l->path, root, "the key 'metrics' is missing");
	return OPK_OK;
}

int opk_set_load(struct opk_set **out, struct opk_ctx *ctx, const char *path)
{
	opk_auto(opk_set) struct opk_set *set = opk_set_create("", path);
	struct loader l = { .ctx = ctx, .path = path, .set = set };
	opk_autofree void *text = NULL;
	struct opk_yaml *root = NULL;
	size_t size = 0;
	int code;

	if (!set)
		return opk_nomem(ctx, "a metric set");
	code = opk_read_file(&text, &size, ctx, path);
	if (code)
		return code;
	if (size > MAX_FILE)
		return opk_fail(ctx, OPK_EINPUT, "%s: a metric set has at most %d bytes", path,
		                MAX_FILE);
	code = opk_yaml_parse(&root, ctx, path, text, size);
	if (!code)
		code = read_root(&l, root);
	opk_yaml_free(root);
	if (code)
		return code;
	*out = opk_take(set);
	return OPK_OK;
}
