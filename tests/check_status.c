/* SPDX-License-Identifier: BSD-2-Clause */
/* Statuses by name; nv_abi.c compares them with NVIDIA's headers. */
#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"
#include "testing.h"

static size_t count_of(const struct nv_status *table)
{
	size_t count = 0;

	while (table[count].name)
		count++;
	return count;
}

static void check_table(const struct nv_status *table, const char *prefix)
{
	size_t count = count_of(table);

	ck_assert_uint_gt(count, 20);
	ck_assert_int_eq(table[0].number, 0);
	for (size_t i = 0; i < count; i++) {
		const struct nv_status *row = &table[i];

		ck_assert_msg(!strncmp(row->name, prefix, strlen(prefix)), "%s", row->name);
		ck_assert_msg(!row->advice || *row->advice, "%s: empty advice", row->name);
		ck_assert_msg(!i || row->number > row[-1].number, "%s (%d) after %d", row->name,
		              row->number, row[-1].number);
		for (size_t j = 0; j < i; j++)
			ck_assert_msg(strcmp(row->name, table[j].name), "%s twice", row->name);
	}
}

TEST(tables_are_sound)
{
	check_table(nv_cupti_statuses, "CUPTI_");
	check_table(nv_nvpa_statuses, "NVPA_STATUS_");
}

TEST(known_and_unknown)
{
	static const struct {
		struct here here;
		bool nvpa;
		int number;
		const char *wanted;
	} rows[] = {
		{ HERE, false, 0, "CUPTI_SUCCESS" },
		{ HERE, false, 1, "CUPTI_ERROR_INVALID_PARAMETER" },
		{ HERE, false, 15, "CUPTI_ERROR_NOT_INITIALIZED" },
		{ HERE, false, 17, "CUPTI_ERROR_INVALID_METRIC_NAME" },
		{ HERE, false, 27, "CUPTI_ERROR_NOT_SUPPORTED" },
		{ HERE, false, 35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" },
		{ HERE, false, 46, "CUPTI_ERROR_INVALID_CHIP_NAME" },
		{ HERE, false, 999, "CUPTI_ERROR_UNKNOWN" },
		{ HERE, false, 998, "unknown status" },
		{ HERE, false, -1, "unknown status" },
		{ HERE, true, 0, "NVPA_STATUS_SUCCESS" },
		{ HERE, true, 1, "NVPA_STATUS_ERROR" },
		{ HERE, true, 8, "NVPA_STATUS_INVALID_ARGUMENT" },
		{ HERE, true, 17, "NVPA_STATUS_INSUFFICIENT_PRIVILEGE" },
		{ HERE, true, 999, "unknown status" },
		{ HERE, true, -7, "unknown status" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *got = nv_status_name(rows[i].nvpa ? nv_nvpa_statuses
		                                              : nv_cupti_statuses,
		                                 rows[i].number);

		ck_row(&rows[i], !strcmp(got, rows[i].wanted), "got %s", got);
	}
}

static const struct {
	struct here here;
	uint32_t version;
	const char *name;
	bool old;
} releases_rows[] = {
	{ HERE, 0, "", false },
	{ HERE, 18, "CUPTI (API version 18)", true },
	{ HERE, 24, "CUPTI 12.6", true },
	{ HERE, 25, "CUPTI (API version 25)", true },
	{ HERE, 26, "CUPTI 12.8", true },
	{ HERE, 28, "CUPTI 12.9", true },
	{ HERE, 130001, "CUPTI 13.0", false },
	{ HERE, 130100, "CUPTI 13.1", false },
	{ HERE, 141203, "CUPTI 14.12", false },
	{ HERE, UINT32_MAX, "CUPTI 429496.72", false },
};

TEST_EACH(releases, releases_rows)
{
	struct opk_nv_release got = opk_nv_release_of(row->version);

	ck_row(row, !strcmp(got.name, row->name) && got.old == row->old, "got %s", got.name);
}

TEST(failure_messages)
{
	static const struct {
		struct here here;
		int (*start)(struct opk_ctx *ctx, const char *function, int status);
		int status;
		const char *wanted;
	} rows[] = {
		{ HERE, nv_check_cupti, 8, "f: CUPTI_ERROR_OUT_OF_MEMORY (8)" },
		{ HERE, nv_check_cupti, 27,
		  "f: CUPTI_ERROR_NOT_SUPPORTED (27); this chip or profiler does not offer it" },
		{ HERE, nv_check_cupti, 12345, "f: unknown status (12345)" },
		{ HERE, nv_check_nvpw, 8, "f: NVPA_STATUS_INVALID_ARGUMENT (8)" },
		{ HERE, nv_check_nvpw, 12345, "f: unknown status (12345)" },
	};
	freed(opk_ctx) *ctx = new_ctx();

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int code = rows[i].start(ctx, "f", rows[i].status);

		ck_row(&rows[i], code == OPK_EFAILED, "code %d", code);
		ck_row(&rows[i], opk_error_count(ctx) == 1, "%s", errors_of(ctx));
		ck_row(&rows[i], !strcmp(opk_error_message(ctx, 0), rows[i].wanted), "%s",
		       opk_error_message(ctx, 0));
	}
}
