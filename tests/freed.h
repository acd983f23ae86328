/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects that are freed at the end of their block: freed(opk_file) *file = NULL; */
#ifndef OPK_FREED_H
#define OPK_FREED_H

#define freed(type) __attribute__((cleanup(free_##type))) struct type

/* The library has such functions for a few types; tests have them for all. */
#define DEFINE_FREED(type)                                                                         \
	struct type;                                                                               \
	void type##_free(struct type *object);                                                     \
	static inline void free_##type(struct type **object)                                       \
	{                                                                                          \
		type##_free(*object);                                                              \
	}

DEFINE_FREED(opk_aggregate)
DEFINE_FREED(opk_catalog)
DEFINE_FREED(opk_chips)
DEFINE_FREED(opk_ctx)
DEFINE_FREED(opk_database)
DEFINE_FREED(opk_description)
DEFINE_FREED(opk_diff)
DEFINE_FREED(opk_evaluation)
DEFINE_FREED(opk_file)
DEFINE_FREED(opk_filter)
DEFINE_FREED(opk_formula)
DEFINE_FREED(opk_json)
DEFINE_FREED(opk_legacy)
DEFINE_FREED(opk_listing)
DEFINE_FREED(opk_matcher)
DEFINE_FREED(opk_ncu_report)
DEFINE_FREED(opk_nv_combiner)
DEFINE_FREED(opk_nv_evaluator)
DEFINE_FREED(opk_nv_host)
DEFINE_FREED(opk_nv_scheduler)
DEFINE_FREED(opk_out)
DEFINE_FREED(opk_picture)
DEFINE_FREED(opk_plan)
DEFINE_FREED(opk_plan_detail)
DEFINE_FREED(opk_plan_split)
DEFINE_FREED(opk_roofline)
DEFINE_FREED(opk_set)
DEFINE_FREED(opk_set_import)
DEFINE_FREED(opk_single_pass_sets)
DEFINE_FREED(opk_summary)
DEFINE_FREED(opk_table)
DEFINE_FREED(opk_writer)
DEFINE_FREED(opk_yaml)

#endif
