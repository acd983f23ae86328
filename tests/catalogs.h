/* SPDX-License-Identifier: BSD-2-Clause */
/* All full names of a catalog, for tests of what is known of them. */
#ifndef OPK_CATALOGS_H
#define OPK_CATALOGS_H

#include "domain/catalog.h"
#include "testing.h"

static inline size_t total(const struct opk_catalog *catalog)
{
	size_t count = 0;

	for (size_t i = 0; i < opk_catalog_count(catalog); i++)
		count += opk_catalog_submetric_count(catalog, opk_catalog_get(catalog, i));
	return count;
}

/* All full names; free(). */
static inline struct opk_full_name *all_names(const struct opk_catalog *catalog, size_t *count)
{
	struct opk_full_name *names = calloc(total(catalog) + 1, sizeof *names);

	*count = 0;
	for (size_t i = 0; i < opk_catalog_count(catalog); i++) {
		const struct opk_metric *metric = opk_catalog_get(catalog, i);

		for (size_t j = 0; j < opk_catalog_submetric_count(catalog, metric); j++)
			names[(*count)++] = (struct opk_full_name){ metric, j };
	}
	return names;
}

static inline int count_all(struct opk_catalog *catalog, struct opk_ctx *ctx)
{
	struct opk_pass_options options = OPK_INIT(options);
	size_t count;
	opk_autofree struct opk_full_name *names = all_names(catalog, &count);

	options.processes = 2;
	return opk_catalog_count_passes(catalog, ctx, names, count, &options);
}

#endif
