/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes what moved between levels of memory, as data for the page's chart of one kernel. */
#include <math.h>

#include "answers/door.h"
#include "report/report_inside.h"

enum { SECTOR = 32, MOST_NAMES = 3 };

/*
 * A value of the chart: of a set's column or metric, the first one that is known. Values with the
 * same key are alternatives.
 */
static const struct value {
	const char *key;
	double factor;
	bool moves; /* the chart is worth drawing */
	const char *names[MOST_NAMES];
} values[] = {
	{ "issue",
	  1,
	  false,
	  { "issue", "sm__issue_active.avg.pct_of_peak_sustained_elapsed",
	    "sm__inst_issued.avg.pct_of_peak_sustained_elapsed" } },
	{ "warps", 1, false, { "occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active" } },
	{ "load",
	  SECTOR,
	  true,
	  { "global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" } },
	{ "store",
	  SECTOR,
	  true,
	  { "global_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" } },
	{ "local_load",
	  SECTOR,
	  false,
	  { "local_loads", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum" } },
	{ "local_store",
	  SECTOR,
	  false,
	  { "local_stores", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum" } },
	{ "l1",
	  1,
	  false,
	  { "l1_part", "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
	    "l1tex__throughput.avg.pct_of_peak_sustained_active" } },
	{ "l1_hits", 1, false, { "l1_hits", "l1tex__t_sector_hit_rate.pct" } },
	{ "shared",
	  1,
	  true,
	  { "shared_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum" } },
	{ "shared_busy",
	  1,
	  false,
	  { "shared_data",
	    "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed" } },
	{ "conflicts", 1, false, { "conflict_percent" } },
	{ "l1_read", 1, true, { "l1tex__m_xbar2l1tex_read_bytes.sum" } },
	{ "l1_read", SECTOR, true, { "lts__t_sectors_srcunit_tex_op_read.sum" } },
	{ "l1_write", 1, true, { "l1tex__m_l1tex2xbar_write_bytes.sum" } },
	{ "l1_write", SECTOR, true, { "lts__t_sectors_srcunit_tex_op_write.sum" } },
	{ "l2_bytes", 1, true, { "lts__t_bytes.sum" } },
	{ "l2_bytes", SECTOR, true, { "l2_sectors", "lts__t_sectors.sum" } },
	{ "l2", 1, false, { "l2", "lts__throughput.avg.pct_of_peak_sustained_elapsed" } },
	{ "l2_hits", 1, false, { "l2_hits", "lts__t_sector_hit_rate.pct" } },
	{ "atomics", 1, false, { "atomic_percent" } },
	{ "dram_read",
	  1,
	  true,
	  { "dram_reads", "dram__bytes_read.sum", "dram__bytes_op_read.sum" } },
	{ "dram_read", SECTOR, true, { "dram__sectors_read.sum" } },
	{ "dram_write",
	  1,
	  true,
	  { "dram_writes", "dram__bytes_write.sum", "dram__bytes_op_write.sum" } },
	{ "dram_write", SECTOR, true, { "dram__sectors_write.sum" } },
	{ "dram_bytes", 1, true, { "dram__bytes.sum" } },
	{ "dram",
	  1,
	  false,
	  { "dram", "dram__throughput.avg.pct_of_peak_sustained_elapsed",
	    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed" } },
	{ "system_read",
	  SECTOR,
	  true,
	  { "system_reads", "lts__t_sectors_srcunit_tex_aperture_sysmem_op_read.sum" } },
	{ "system_write",
	  SECTOR,
	  true,
	  { "system_writes", "lts__t_sectors_srcunit_tex_aperture_sysmem_op_write.sum" } },
	{ "peer_read",
	  SECTOR,
	  true,
	  { "lts__t_sectors_srcunit_tex_aperture_peer_op_read.sum",
	    "lts__t_sectors_aperture_peer_op_read.sum",
	    "lts__t_sectors_srcunit_tex_aperture_peer_lookup_miss.sum" } },
	{ "peer_write",
	  SECTOR,
	  true,
	  { "lts__t_sectors_srcunit_tex_aperture_peer_op_write.sum",
	    "lts__t_sectors_aperture_peer_op_write.sum" } },
};

enum { VALUES = sizeof values / sizeof *values };

/* Where the values of a kernel come from. */
struct source {
	const struct opk_answers *answers;
	const struct opk_answer *answer; /* NULL: unknown */
	const struct opk_statistics *columns;
	const size_t (*places)[MOST_NAMES]; /* of names among the columns */
};

static double find_value(const struct source *of, size_t value)
{
	const char *const *names = values[value].names;
	double number = (double)NAN;

	for (size_t i = 0; isnan(number) && i < MOST_NAMES && names[i]; i++) {
		size_t at = of->places[value][i];

		if (of->answer)
			number = opk_answers_value(of->answers, of->answer, names[i]);
		if (isnan(number) && at != SIZE_MAX)
			number = of->columns[at].mean;
	}
	return number * values[value].factor;
}

static bool put_values(struct report_page *page, const struct source *of)
{
	const char *last = "";
	bool moves = false;

	for (size_t i = 0; i < VALUES; i++) {
		double number = find_value(of, i);

		if (isnan(number) || !strcmp(values[i].key, last))
			continue;
		last = values[i].key;
		moves |= values[i].moves;
		opk_json_key(&page->json, last);
		report_number(&page->json, number);
	}
	return moves;
}

/* ---- rows */

static int index_answers(struct opk_index *index, struct report_page *page,
                         const struct opk_answers *answers)
{
	for (size_t i = 0; answers && i < opk_answers_count(answers); i++)
		if (!opk_index_add(index, opk_answers_get(answers, i)->full, i, NULL))
			return opk_nomem(page->ctx, "a page");
	return OPK_OK;
}

struct chart {
	const struct report_run *run;
	struct opk_index rows, answers;
	size_t places[VALUES][MOST_NAMES];
	bool moves; /* something is known to move */
};

static void clear(struct chart *chart)
{
	opk_index_clear(&chart->rows);
	opk_index_clear(&chart->answers);
}

/* Writes the mean time of a launch, in nanoseconds. */
static void put_time(struct opk_json_writer *json, const struct opk_summary *summary,
                     const struct opk_summary_group *group)
{
	uint64_t count = group->of->range.count;

	if (summary->time != OPK_SUMMARY_NS || isnan(group->time))
		return;
	opk_json_key(json, "time");
	report_number(json, group->time / (double)(count ? count : 1));
}

static void put_row(struct report_page *page, struct chart *chart,
                    const struct opk_summary_group *group)
{
	const struct opk_answers *answers = chart->run->answers;
	const char *name = report_full_name(group);
	struct source of = { .answers = answers,
		             .columns = group->of->columns,
		             .places = (const size_t(*)[MOST_NAMES])chart->places };
	size_t at;

	if (opk_index_find(&at, &chart->answers, name))
		of.answer = opk_answers_get(answers, at);
	opk_json_begin_object(&page->json);
	report_put_short(page, "name", group->name);
	report_put_row(page, &chart->rows, name);
	put_time(&page->json, chart->run->summary, group);
	chart->moves |= put_values(page, &of);
	opk_json_end_object(&page->json);
}

static int begin(struct chart *chart, struct report_page *page)
{
	const struct report_run *run = chart->run;

	TRY(report_index_rows(&chart->rows, page, run));
	TRY(index_answers(&chart->answers, page, run->answers));
	for (size_t i = 0; i < VALUES; i++)
		for (size_t j = 0; j < MOST_NAMES; j++)
			chart->places[i][j] = values[i].names[j]
			                              ? opk_summary_find_metric(run->summary,
			                                                        values[i].names[j])
			                              : SIZE_MAX;
	return OPK_OK;
}

/* Without anything that moves there is no section: `html` and `contents` end as they began. */
int report_write_memory(struct report_page *page, const struct report_run *run,
                        const struct report_part *part)
{
	__attribute__((cleanup(clear))) struct chart chart = { .run = run };
	size_t html = page->html.size, contents = page->contents.size;

	if (!report_has_counters(run))
		return OPK_OK;
	TRY(begin(&chart, page));
	report_begin(
		page, run, part, part->title,
		"What one launch of the chosen kernel moved, how fast over its whole time, and "
		"how busy each part was: means over its launches. Thick arrows are fast; ? is "
		"not known.");
	report_begin_data(page, run, part->id);
	opk_json_begin_array(&page->json);
	for (size_t i = 0; i < run->summary->group_count && i < REPORT_MOST_ANSWERS; i++)
		put_row(page, &chart, &run->summary->groups[i]);
	opk_json_end_array(&page->json);
	report_end_data(page);
	report_end(page);
	if (!chart.moves) {
		page->html.size = html;
		page->contents.size = contents;
	}
	return OPK_OK;
}
