/* SPDX-License-Identifier: BSD-2-Clause */
/* All full names of a catalog, for tests of their properties. */
#ifndef OPK_CATALOGS_H
#define OPK_CATALOGS_H

#include "chip/chip.h"
#include "chip/door.h"
#include "plan/door.h"
#include "testing.h"

static inline size_t total(const struct opk_catalog *catalog)
{
	size_t count = 0;

	for (size_t i = 0; i < opk_catalog_count(catalog); i++)
		count += opk_catalog_submetric_count(catalog, opk_catalog_get(catalog, i));
	return count;
}

/* All full names; the caller frees them. */
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
	struct opk_metric_list_options options = OPK_INIT(options);
	size_t count;
	opk_autofree struct opk_full_name *names = all_names(catalog, &count);

	options.processes = 2;
	return opk_catalog_count_passes(catalog, ctx, names, count, &options);
}

/* Checks that both have the same metrics, with the same properties and full names. */
static inline void check_same(const struct opk_catalog *a, const struct opk_catalog *b)
{
	ck_assert_uint_eq(opk_catalog_count(a), opk_catalog_count(b));
	for (size_t i = 0; i < opk_catalog_count(a); i++) {
		const struct opk_metric *one = opk_catalog_get(a, i),
					*other = opk_catalog_get(b, i);

		ck_assert_str_eq(one->name, other->name);
		ck_assert_msg(one->type == other->type, "%s: a %s", one->name,
		              opk_metric_type_name(one->type));
		ck_assert_str_eq(one->hw_unit, other->hw_unit);
		ck_assert_str_eq(one->dim_unit, other->dim_unit);
		ck_assert_str_eq(one->description, other->description);
		ck_assert_uint_eq(opk_catalog_submetric_count(a, one),
		                  opk_catalog_submetric_count(b, other));
		for (size_t j = 0; j < opk_catalog_submetric_count(a, one); j++) {
			struct opk_submetric x = opk_catalog_submetric(a, one, j);
			struct opk_submetric y = opk_catalog_submetric(b, other, j);

			ck_assert_str_eq(x.suffix, y.suffix);
			ck_assert_str_eq(x.dim_unit, y.dim_unit);
		}
	}
}

#endif
