/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a trace of what Nsight Systems exports to SQLite. */
#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"
#include "chip/chip.h"
#include "config.h"
#include "container/container.h"
#include "nsys/nsys.h"

/* Records of a section. */
enum { SECTION_RECORDS = 8192 };

struct importer {
	struct opk_ctx *ctx;
	struct opk_nsys_imported *counts;
	struct opk_nsys_source source;
	struct opk_nsys_samples samples;
	struct opk_writer *writer;
	OPK_LIST(struct opk_activity) records;
	struct opk_texts texts; /* of all records */
};

/* ---- records ---------------------------------------------------------------------------- */

static int flush(struct importer *in)
{
	size_t count = in->records.count;

	in->records.count = 0;
	return count ? opk_writer_add_activities(in->writer, in->records.items, count) : OPK_OK;
}

/* A number of a column; what does not fit is 0, as what is not known. */
static uint64_t number_of(const struct opk_statement *row, int column, uint64_t most)
{
	int64_t number = opk_statement_get_int(row, column);

	return number < 0 || (uint64_t)number > most ? 0 : (uint64_t)number;
}

static uint32_t small_of(const struct opk_statement *row, int column)
{
	return (uint32_t)number_of(row, column, UINT32_MAX);
}

/* The columns that all queries begin with. */
enum { START, END, PROCESS, CORRELATION, NAME, COMMON };

/* A capture can have begun before the time that counts as 0. SQLite lets a time be a text. */
static bool has_times(const struct importer *in, const struct opk_statement *row)
{
	bool numbers = opk_statement_is_number(row, START) && opk_statement_is_number(row, END);
	int64_t start = opk_statement_get_int(row, START), end = opk_statement_get_int(row, END);
	int64_t sum;

	return numbers && end >= start && !__builtin_add_overflow(in->source.base, start, &sum)
	       && sum >= 0 && !__builtin_add_overflow(in->source.base, end, &sum);
}

/* One odd record stops nothing. */
static bool leaves_out(struct importer *in, const struct opk_statement *row)
{
	bool odd = !has_times(in, row);

	in->counts->odd_records += odd;
	return odd;
}

static int add_record(struct opk_activity **out, struct importer *in,
                      const struct opk_statement *row, enum opk_activity_kind kind)
{
	const char *name = opk_statement_get_text(row, NAME);
	struct opk_activity *record;

	if (in->records.count == SECTION_RECORDS)
		TRY(flush(in));
	record = opk_list_add(&in->records);
	if (!record)
		return opk_nomem(in->ctx, "what ran");
	*record = (struct opk_activity){
		.kind = kind,
		.device = -1,
		.rank = -1,
		.start_ns = (uint64_t)(in->source.base + opk_statement_get_int(row, START)),
		.end_ns = (uint64_t)(in->source.base + opk_statement_get_int(row, END)),
		.process = opk_nsys_process(opk_statement_get_int(row, PROCESS)),
		.correlation = small_of(row, CORRELATION),
		.name = opk_texts_keep(&in->texts, name ? name : ""),
		.symbol = "",
	};
	*out = record;
	return in->texts.failed ? opk_nomem(in->ctx, "what ran") : OPK_OK;
}

/* The columns of work on a GPU. */
enum { DEVICE = COMMON, CONTEXT, STREAM, GRAPH_NODE, ON_GPU };
static int add_ran(struct opk_activity **out, struct importer *in, const struct opk_statement *row,
                   enum opk_activity_kind kind)
{
	TRY(add_record(out, in, row, kind));
	(*out)->device = opk_nsys_device(&in->source, (*out)->process, small_of(row, DEVICE));
	(*out)->context = small_of(row, CONTEXT);
	(*out)->stream = small_of(row, STREAM);
	(*out)->graph_node = number_of(row, GRAPH_NODE, INT64_MAX);
	return OPK_OK;
}

/* ---- tables ----------------------------------------------------------------------------- */

static int take_kernel(void *data, const struct opk_statement *row)
{
	enum {
		SYMBOL = ON_GPU,
		GRID,
		BLOCK = GRID + 3,
		CLUSTER = BLOCK + 3,
		REGISTERS = CLUSTER + 3,
		STATIC,
		DYNAMIC
	};
	struct importer *in = data;
	const char *symbol = opk_statement_get_text(row, SYMBOL);
	struct opk_activity *record;

	if (leaves_out(in, row))
		return OPK_OK;
	TRY(add_ran(&record, in, row, OPK_ACTIVITY_KERNEL));
	/* Without the name of symbols, it is the same as the other one. */
	if (symbol && strcmp(symbol, record->name) != 0)
		record->symbol = opk_texts_keep(&in->texts, symbol);
	for (int i = 0; i < 3; i++) {
		record->grid[i] = small_of(row, GRID + i);
		record->block[i] = small_of(row, BLOCK + i);
		/* A launch without clusters has 0 there, and 1 in recordings. */
		record->cluster[i] = small_of(row, CLUSTER + i);
		if (!record->cluster[i] && opk_statement_get_text(row, CLUSTER + i))
			record->cluster[i] = 1;
	}
	record->registers = small_of(row, REGISTERS);
	record->static_shared_bytes = small_of(row, STATIC);
	record->shared_bytes = small_of(row, DYNAMIC);
	in->counts->kernels++;
	return OPK_OK;
}

/* A graph that is recorded as a whole is like a kernel, whose shape is not known. */
static int take_graph(void *data, const struct opk_statement *row)
{
	struct importer *in = data;
	opk_autofree char *name = opk_printf("CUDA graph %" PRIu64,
	                                     number_of(row, ON_GPU, INT64_MAX));
	struct opk_activity *record;

	if (!name)
		return opk_nomem(in->ctx, "what ran");
	if (leaves_out(in, row))
		return OPK_OK;
	TRY(add_ran(&record, in, row, OPK_ACTIVITY_KERNEL));
	record->name = opk_texts_keep(&in->texts, name);
	in->counts->graphs++;
	return in->texts.failed ? opk_nomem(in->ctx, "what ran") : OPK_OK;
}

static int take_copy(void *data, const struct opk_statement *row)
{
	/* CUpti_ActivityMemcpyKind, and after it numbers of Nsight Systems. */
	static const char *const names[] = {
		[1] = "memcpy HtoD",          [2] = "memcpy DtoH",
		[3] = "memcpy HtoA",          [4] = "memcpy AtoH",
		[5] = "memcpy AtoA",          [6] = "memcpy AtoD",
		[7] = "memcpy DtoA",          [8] = "memcpy DtoD",
		[9] = "memcpy HtoH",          [10] = "memcpy PtoP",
		[11] = "memcpy unified HtoD", [12] = "memcpy unified DtoH",
		[13] = "memcpy unified DtoD",
	};
	enum { BYTES = ON_GPU, KIND };
	struct importer *in = data;
	struct opk_activity *record;
	uint64_t kind = number_of(row, KIND, sizeof names / sizeof *names - 1);

	if (leaves_out(in, row))
		return OPK_OK;
	TRY(add_ran(&record, in, row, OPK_ACTIVITY_COPY));
	record->name = names[kind] ? names[kind] : "memcpy";
	record->bytes = number_of(row, BYTES, INT64_MAX);
	in->counts->copies++;
	return OPK_OK;
}

static int take_set(void *data, const struct opk_statement *row)
{
	struct importer *in = data;
	struct opk_activity *record;

	if (leaves_out(in, row))
		return OPK_OK;
	TRY(add_ran(&record, in, row, OPK_ACTIVITY_SET));
	record->name = "memset";
	record->bytes = number_of(row, ON_GPU, INT64_MAX);
	in->counts->sets++;
	return OPK_OK;
}

/* A name of the runtime's functions ends in the version of its interface: cudaMalloc_v3020. */
static const char *name_of_call(struct importer *in, const char *name)
{
	const char *end = strrchr(name, '_');
	opk_autofree char *copy = NULL;

	if (!end || end[1] != 'v' || !end[2] || end[2 + strspn(end + 2, "0123456789")])
		return name;
	copy = opk_printf("%.*s", (int)(end - name), name);
	if (!copy)
		in->texts.failed = true;
	return copy ? opk_texts_keep(&in->texts, copy) : name;
}

static int take_call(void *data, const struct opk_statement *row)
{
	struct importer *in = data;
	struct opk_activity *record;

	if (leaves_out(in, row))
		return OPK_OK;
	TRY(add_record(&record, in, row, OPK_ACTIVITY_CALL));
	record->name = name_of_call(in, record->name);
	record->thread = opk_nsys_thread(opk_statement_get_int(row, PROCESS));
	in->counts->calls++;
	return in->texts.failed ? opk_nomem(in->ctx, "calls") : OPK_OK;
}

/* The columns of NVTX, and the types of ranges that were pushed or started. */
enum { TEXT = COMMON, DOMAIN, TYPE, PUSHED = 59, STARTED = 60 };

/* An open range has no end, or in older versions 0 or -1. */
static bool is_open(const struct opk_statement *row)
{
	int64_t start = opk_statement_get_int(row, START), end = opk_statement_get_int(row, END);

	return ((!end || end == -1) && end < start);
}

static int add_range(struct importer *in, const struct opk_statement *row)
{
	const char *text = opk_statement_get_text(row, TEXT);
	opk_autofree char *name = NULL;
	struct opk_activity *record;
	const char *domain;

	TRY(add_record(&record, in, row, OPK_ACTIVITY_RANGE));
	domain = opk_nsys_domain(&in->source, record->process, opk_statement_get_int(row, DOMAIN));
	name = opk_printf("%s%s%s", domain, *domain ? "@" : "",
	                  text && *text ? text : record->name);
	record->name = name ? opk_texts_keep(&in->texts, name) : "";
	record->correlation = 0;
	if (opk_statement_get_int(row, TYPE) == PUSHED)
		record->thread = opk_nsys_thread(opk_statement_get_int(row, PROCESS));
	in->counts->ranges++;
	return !name || in->texts.failed ? opk_nomem(in->ctx, "NVTX ranges") : OPK_OK;
}

/* What programs say about themselves stops nothing. */
static int take_range(void *data, const struct opk_statement *row)
{
	int64_t type = opk_statement_get_int(row, TYPE);
	struct importer *in = data;

	if ((type == PUSHED || type == STARTED) && is_open(row)) {
		in->counts->open_ranges++;
		return OPK_OK;
	}
	if ((type == PUSHED || type == STARTED) && has_times(in, row))
		return add_range(in, row);
	in->counts->odd_ranges++;
	return OPK_OK;
}

#define RECORD(process, ...)                                                                       \
	REQUIRED("start"), REQUIRED("end"), COLUMN(process), COLUMN("correlationId"), __VA_ARGS__
#define ON_GPU_RECORD(...)                                                                         \
	RECORD("globalPid", __VA_ARGS__), COLUMN("deviceId"), COLUMN("contextId"),                 \
		COLUMN("streamId"), COLUMN("graphNodeId")

static const struct opk_nsys_column kernels[] = {
	ON_GPU_RECORD(TEXT("demangledName")),
	TEXT("mangledName"),
	COLUMN("gridX"),
	COLUMN("gridY"),
	COLUMN("gridZ"),
	COLUMN("blockX"),
	COLUMN("blockY"),
	COLUMN("blockZ"),
	COLUMN("clusterX"),
	COLUMN("clusterY"),
	COLUMN("clusterZ"),
	COLUMN("registersPerThread"),
	COLUMN("staticSharedMemory"),
	COLUMN("dynamicSharedMemory"),
};
static const struct opk_nsys_column graphs[] = { ON_GPU_RECORD(NOTHING), COLUMN("graphId") };
static const struct opk_nsys_column copies[] = { ON_GPU_RECORD(NOTHING), COLUMN("bytes"),
	                                         COLUMN("copyKind") };
static const struct opk_nsys_column sets[] = { ON_GPU_RECORD(NOTHING), COLUMN("bytes") };
static const struct opk_nsys_column calls[] = { RECORD("globalTid", TEXT("nameId")) };
static const struct opk_nsys_column ranges[] = { RECORD("globalTid", TEXT("textId")),
	                                         COLUMN("text"), COLUMN("domainId"),
	                                         REQUIRED("eventType") };

static const struct opk_nsys_query tables[] = {
	QUERY(OPK_NSYS_KERNELS, kernels, take_kernel, NULL),
	QUERY(OPK_NSYS_GRAPHS, graphs, take_graph, NULL),
	QUERY(OPK_NSYS_COPIES, copies, take_copy, NULL),
	QUERY(OPK_NSYS_SETS, sets, take_set, NULL),
	QUERY("CUPTI_ACTIVITY_KIND_RUNTIME", calls, take_call, NULL),
	/* Others are categories, marks, names of threads, and begins and ends of domains. */
	QUERY("NVTX_EVENTS", ranges, take_range, "t.eventType NOT IN (33, 34, 39, 75, 76)"),
};

/* ---- the recording ---------------------------------------------------------------------- */

static bool ran(const struct opk_nsys_imported *counts)
{
	return counts->kernels || counts->graphs || counts->copies || counts->sets;
}

static int write_recording(struct importer *in, const char *chip, const char *path)
{
	bool sampled = in->samples.ends.count;
	const struct opk_meta meta = {
		.kind = "recording",
		.generator = "offpeak " PACKAGE_VERSION,
		.chip = chip,
		.profiler = OPK_PROFILER_PM,
		.keep_instances = true,
		.mode = sampled ? "sampling" : "trace",
		.backend = sampled ? "pm-sampling" : "activity",
		.metrics = in->samples.names,
		.metric_count = sampled ? in->samples.metric_count : 0,
		.passes = sampled,
		.source = opk_base_name(in->source.path),
		.run = in->source.facts.items,
		.run_count = in->source.facts.count,
	};

	TRY(opk_writer_new_made(&in->writer, in->ctx, path, OPK_OUTPUT_IMPORTED));
	TRY(opk_writer_add_meta(in->writer, &meta));
	if (sampled)
		TRY(opk_nsys_samples_place(&in->samples, in->writer, &in->source));
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		TRY(opk_nsys_read(&in->source, &tables[i], in));
	TRY(flush(in));
	if (!sampled && !ran(in->counts))
		return opk_fail(in->ctx, OPK_EFAILED, "%s: %s", in->source.path,
		                in->counts->odd_records
		                        ? "nothing that ran is left"
		                        : "nothing ran on a GPU: Nsight Systems has to trace CUDA");
	if (sampled)
		TRY(opk_nsys_samples_write(&in->samples, in->writer, in->ctx));
	return opk_writer_finish(in->writer);
}

static void clear(struct importer *in)
{
	opk_writer_free(in->writer);
	free(in->records.items);
	opk_texts_clear(&in->texts);
	opk_nsys_samples_clear(&in->samples);
	opk_nsys_close(&in->source);
}

void opk_nsys_imported_clear(struct opk_nsys_imported *imported)
{
	opk_strlist_clear(&imported->labels);
	opk_strlist_clear(&imported->second);
}

int opk_nsys_import(struct opk_nsys_imported *out, struct opk_ctx *ctx, const char *database,
                    const char *wanted, const char *path)
{
	__attribute__((cleanup(clear))) struct importer in = { .ctx = ctx, .counts = out };
	const char *chip = NULL;
	int code;

	*out = (struct opk_nsys_imported){ 0 };
	if (wanted)
		TRY(opk_chip_named(&chip, ctx, wanted));
	TRY(opk_check_output(ctx, path, OPK_OUTPUT_IMPORTED));
	TRY(opk_nsys_open(&in.source, ctx, database));
	out->no_clock = !in.source.has_base;
	code = chip ? OPK_OK : opk_nsys_chip(&chip, &in.source);
	out->needs_chip = in.source.needs_chip;
	if (code)
		return code;
	TRY(opk_nsys_samples_read(&in.samples, out, &in.source, chip));
	return write_recording(&in, chip, path);
}
