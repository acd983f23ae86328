/* SPDX-License-Identifier: BSD-2-Clause */
/* An exported database, and what all its tables refer to: GPUs, domains, the clock, texts. */
#include "nsys/nsys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "chip/chip.h"

/* ---- selecting -------------------------------------------------------------------------- */

bool opk_nsys_has(const struct opk_nsys_source *source, const char *table)
{
	return opk_strlist_contains(&source->tables, table);
}

/* The names of a table's columns, or of the tables: texts in one column of the rows. */
static int read_names(struct opk_strlist *out, struct opk_nsys_source *source, const char *sql,
                      int column)
{
	struct opk_statement *rows;
	bool any;

	TRY(opk_statement_new(&rows, source->sqlite, sql));
	for (;;) {
		const char *name;

		TRY(opk_statement_next(&any, rows));
		if (!any)
			return OPK_OK;
		name = opk_statement_get_text(rows, column);
		if (name && !opk_strlist_add(out, name))
			return opk_nomem(source->ctx, "a database");
	}
}

static int prepare(struct opk_statement **out, struct opk_nsys_source *source,
                   const struct opk_nsys_query *query)
{
	enum { NAME = 1 }; /* of a row of table_info */
	opk_autostrlist struct opk_strlist known = { 0 };
	opk_autobuf struct opk_buf sql = { 0 };
	opk_autofree char *info = opk_printf("PRAGMA table_info(\"%s\")", query->table);
	const struct opk_nsys_column *columns = query->columns;

	if (!info)
		return opk_nomem(source->ctx, "a database");
	TRY(read_names(&known, source, info, NAME));
	for (size_t i = 0; i < query->count; i++)
		if (columns[i].required && !opk_strlist_contains(&known, columns[i].needs))
			return opk_fail(source->ctx, OPK_EINPUT, "the table %s has no column '%s'",
			                query->table, columns[i].needs);
	for (size_t i = 0; i < query->count; i++)
		opk_buf_add_printf(&sql, "%s %s", i ? "," : "SELECT",
		                   opk_strlist_contains(&known, columns[i].needs) ? columns[i].sql
		                                                                  : "NULL");
	opk_buf_add_printf(&sql, " FROM \"%s\" t%s%s", query->table, query->where ? " WHERE " : "",
	                   query->where ? query->where : "");
	opk_buf_add(&sql, "", 1);
	if (sql.failed)
		return opk_nomem(source->ctx, "a database");
	return opk_statement_new(out, source->sqlite, (const char *)sql.data);
}

int opk_nsys_read(struct opk_nsys_source *source, const struct opk_nsys_query *query, void *data)
{
	struct opk_statement *rows;
	bool any = opk_nsys_has(source, query->table);

	if (any)
		TRY(prepare(&rows, source, query));
	while (any) {
		TRY(opk_statement_next(&any, rows));
		if (any)
			TRY(query->take(data, rows));
	}
	return OPK_OK;
}

/* ---- what tables refer to --------------------------------------------------------------- */

static int add_fact(struct opk_nsys_source *source, char *name, const char *value)
{
	struct opk_property *fact = opk_list_add(&source->facts);

	if (fact)
		*fact = (struct opk_property){ name, opk_strdup(value) };
	else
		free(name);
	return fact && name && fact->value ? OPK_OK : opk_nomem(source->ctx, "a database");
}

static int add_device_fact(struct opk_nsys_source *source, int64_t gpu, const char *what,
                           const char *value)
{
	if (!value || !*value)
		return OPK_OK;
	return add_fact(source, opk_printf("device.%" PRId64 ".%s", gpu, what), value);
}

/* UUIDs come with and without "GPU-" in front. */
static int add_uuid(struct opk_nsys_source *source, int64_t gpu, const char *uuid)
{
	opk_autofree char *text = uuid && *uuid
	                                  ? opk_printf("%s%s",
	                                               strncmp(uuid, "GPU-", 4) ? "GPU-" : "", uuid)
	                                  : NULL;

	return add_device_fact(source, gpu, "uuid", text);
}

/* "GA102" of "GA102GL", as PCI's names say which board a chip is on. */
static char *copy_chip(const char *name)
{
	static const char *const boards[] = { "GL", "GLM", "M" };

	for (size_t i = 0; opk_chip_known(i); i++) {
		const char *chip = opk_chip_known(i);
		size_t size = strlen(chip);

		if (!strncmp(name, chip, size)
		    && opk_texts_contain(boards, sizeof boards / sizeof *boards, name + size))
			return opk_strdup(chip);
	}
	return opk_strdup(name);
}

static int add_gpu(struct opk_nsys_source *source, int64_t id, const char *chip, int64_t perfworks)
{
	struct opk_nsys_gpu *gpu = opk_list_add(&source->gpus);

	if (!gpu)
		return opk_nomem(source->ctx, "a database");
	*gpu = (struct opk_nsys_gpu){ id, copy_chip(chip ? chip : ""), perfworks };
	return gpu->chip ? OPK_OK : opk_nomem(source->ctx, "a database");
}

static int add_device(struct opk_nsys_source *source, uint32_t process, int64_t number, int64_t gpu)
{
	struct opk_nsys_device *device;

	if (number < 0 || number > INT32_MAX || gpu < 0 || gpu > INT32_MAX)
		return OPK_OK;
	device = opk_list_add(&source->devices);
	if (!device)
		return opk_nomem(source->ctx, "a database");
	*device = (struct opk_nsys_device){ process, (uint32_t)number, (int32_t)gpu };
	return OPK_OK;
}

static int take_gpu(void *data, const struct opk_statement *row)
{
	struct opk_nsys_source *source = data;
	enum { ID, NAME, UUID, PCI, CHIP, NUMBER, PERFWORKS };
	int64_t gpu = opk_statement_get_int(row, ID);
	bool numbered = opk_statement_get_text(row, PERFWORKS);

	TRY(add_device_fact(source, gpu, "name", opk_statement_get_text(row, NAME)));
	TRY(add_uuid(source, gpu, opk_statement_get_text(row, UUID)));
	TRY(add_device_fact(source, gpu, "pci", opk_statement_get_text(row, PCI)));
	TRY(add_gpu(source, gpu, opk_statement_get_text(row, CHIP),
	            numbered ? opk_statement_get_int(row, PERFWORKS) : gpu));
	return opk_statement_get_text(row, NUMBER)
	               ? add_device(source, 0, opk_statement_get_int(row, NUMBER), gpu)
	               : OPK_OK;
}

/* A process may number GPUs differently from the system. */
static int take_number(void *data, const struct opk_statement *row)
{
	struct opk_nsys_source *source = data;
	enum { GPU, NUMBER, PROCESS };
	int64_t process = opk_statement_get_int(row, PROCESS);

	if (process <= 0 || process > UINT32_MAX)
		return OPK_OK;
	return add_device(source, (uint32_t)process, opk_statement_get_int(row, NUMBER),
	                  opk_statement_get_int(row, GPU));
}

static int take_domain(void *data, const struct opk_statement *row)
{
	struct opk_nsys_source *source = data;
	enum { THREAD, NUMBER, TEXT_NUMBER, DIRECT };
	const char *name = opk_statement_get_text(row, DIRECT);
	struct opk_nsys_domain *domain = opk_list_add(&source->domains);

	if (!domain)
		return opk_nomem(source->ctx, "a database");
	name = name && *name ? name : opk_statement_get_text(row, TEXT_NUMBER);
	*domain = (struct opk_nsys_domain){
		.process = opk_nsys_process(opk_statement_get_int(row, THREAD)),
		.number = opk_statement_get_int(row, NUMBER),
		.name = opk_strdup(name ? name : ""),
	};
	return domain->name ? OPK_OK : opk_nomem(source->ctx, "a database");
}

static int take_start(void *data, const struct opk_statement *row)
{
	struct opk_nsys_source *source = data;
	source->base = opk_statement_get_int(row, 0);
	source->has_base = source->base > 0;
	source->base = source->has_base ? source->base : 0;
	return OPK_OK;
}

static int take_host(void *data, const struct opk_statement *row)
{
	struct opk_nsys_source *source = data;
	const char *name = opk_statement_get_text(row, 0);

	return name ? add_fact(source, opk_strdup("hostname"), name) : OPK_OK;
}

static const struct opk_nsys_column gpus[] = { COLUMN("id"),       COLUMN("name"),
	                                       COLUMN("uuid"),     COLUMN("busLocation"),
	                                       COLUMN("chipName"), COLUMN("cuDevice"),
	                                       COLUMN("pwGpuId") };
/* GPUs had this table until the middle of 2021. */
static const struct opk_nsys_column older_gpus[] = { COLUMN("deviceId"),
	                                             COLUMN("name"),
	                                             NOTHING,
	                                             COLUMN("busLocation"),
	                                             NOTHING,
	                                             NOTHING,
	                                             NOTHING };
_Static_assert(sizeof gpus == sizeof older_gpus, "take_gpu() reads both");
static const struct opk_nsys_column numbers[] = { COLUMN("gpuId"), COLUMN("cudaId"),
	                                          COLUMN("pid") };
static const struct opk_nsys_column domains[] = { COLUMN("globalTid"), COLUMN("domainId"),
	                                          TEXT("textId"), COLUMN("text"),
	                                          REQUIRED("eventType") };
static const struct opk_nsys_column starts[] = { COLUMN("utcEpochNs") };
static const struct opk_nsys_column hosts[] = { COLUMN("value"), REQUIRED("name") };

/* Other tables refer to it. */
static const struct opk_nsys_column texts[] = { REQUIRED("id"), REQUIRED("value") };

static const struct opk_nsys_query references[] = {
	QUERY("StringIds", texts, NULL, "0"),
	QUERY("TARGET_INFO_CUDA_DEVICE", numbers, take_number, NULL),
	QUERY("TARGET_INFO_GPU", gpus, take_gpu, NULL),
	QUERY("TARGET_INFO_CUDA_GPU", older_gpus, take_gpu, NULL),
	QUERY("TARGET_INFO_SESSION_START_TIME", starts, take_start, NULL),
	QUERY("TARGET_INFO_SYSTEM_ENV", hosts, take_host, "t.name = 'Hostname' LIMIT 1"),
	/* 75 gives a domain its name. */
	QUERY("NVTX_EVENTS", domains, take_domain, "t.eventType = 75"),
};

static int read_references(struct opk_nsys_source *source)
{
	for (size_t i = 0; i < sizeof references / sizeof *references; i++)
		TRY(opk_nsys_read(source, &references[i], source));
	return OPK_OK;
}

int opk_nsys_open(struct opk_nsys_source *source, struct opk_ctx *ctx, const char *path)
{
	*source = (struct opk_nsys_source){ .ctx = ctx, .path = path };
	if (opk_ends(path, ".nsys-rep") || opk_ends(path, ".qdrep"))
		return opk_fail(ctx, OPK_EINPUT,
		                "%s: this is a report in Nsight Systems' own form: nsys export "
		                "writes an SQLite database of it, which can be read",
		                path);
	TRY(opk_sqlite_open(&source->sqlite, ctx, path));
	TRY(read_names(&source->tables, source,
	               "SELECT name FROM sqlite_master WHERE type = 'table'", 0));
	if (!opk_nsys_has(source, "StringIds"))
		return opk_fail(
			ctx, OPK_EINPUT,
			"%s is not a database of Nsight Systems: it has no table StringIds; "
			"nsys export makes one of a report, of the type sqlite",
			path);
	return read_references(source);
}

void opk_nsys_close(struct opk_nsys_source *source)
{
	opk_sqlite_free(source->sqlite);
	opk_strlist_clear(&source->tables);
	for (size_t i = 0; i < source->facts.count; i++) {
		free((char *)source->facts.items[i].name);
		free((char *)source->facts.items[i].value);
	}
	free(source->facts.items);
	for (size_t i = 0; i < source->domains.count; i++)
		free(source->domains.items[i].name);
	free(source->domains.items);
	free(source->devices.items);
	for (size_t i = 0; i < source->gpus.count; i++)
		free(source->gpus.items[i].chip);
	free(source->gpus.items);
}

/* ---- the chip --------------------------------------------------------------------------- */

enum { ALL_GPUS = -1 };

struct chip_search {
	struct opk_nsys_source *source;
	const char *chip; /* NULL until a GPU has said it */
};

static int join_chip(struct chip_search *search, int64_t gpu)
{
	struct opk_nsys_source *source = search->source;

	for (size_t i = 0; i < source->gpus.count; i++) {
		const struct opk_nsys_gpu *of = &source->gpus.items[i];

		if ((gpu != ALL_GPUS && of->id != gpu) || !*of->chip)
			continue;
		source->needs_chip = search->chip && strcmp(search->chip, of->chip) != 0;
		if (source->needs_chip)
			return opk_fail(source->ctx, OPK_EUSAGE,
			                "%s: GPUs of several chips, %s and %s: a recording has "
			                "one: name the chip",
			                source->path, search->chip, of->chip);
		search->chip = of->chip;
	}
	return OPK_OK;
}

static int join_ran(void *data, const struct opk_statement *row)
{
	enum { PROCESS, DEVICE };
	struct chip_search *search = data;
	uint32_t process = opk_nsys_process(opk_statement_get_int(row, PROCESS));
	uint32_t device = (uint32_t)opk_statement_get_int(row, DEVICE);

	return join_chip(search, opk_nsys_device(search->source, process, device));
}

static int join_sampled(void *data, const struct opk_statement *row)
{
	struct chip_search *search = data;

	return join_chip(search,
	                 opk_nsys_sampled_gpu(search->source, opk_statement_get_int(row, 0)));
}

static const struct opk_nsys_column of_ran[] = { COLUMN("globalPid"), COLUMN("deviceId") };
static const struct opk_nsys_column of_samples[] = { COLUMN("typeId") };
static const struct opk_nsys_query uses[] = {
	QUERY(OPK_NSYS_KERNELS, of_ran, join_ran, "1 GROUP BY 1, 2"),
	QUERY(OPK_NSYS_COPIES, of_ran, join_ran, "1 GROUP BY 1, 2"),
	QUERY(OPK_NSYS_SETS, of_ran, join_ran, "1 GROUP BY 1, 2"),
	QUERY(OPK_NSYS_GRAPHS, of_ran, join_ran, "1 GROUP BY 1, 2"),
	QUERY(OPK_NSYS_SAMPLES, of_samples, join_sampled, "1 GROUP BY 1"),
};

/* The database may name a chip that is not known here, or in a way that means several. */
static int find_named(const char **out, struct opk_nsys_source *source, const char *name)
{
	opk_chip_mask meant = opk_chips_meant(name);

	for (size_t i = 0; opk_chip_known(i); i++)
		if (meant == (opk_chip_mask)1 << i) {
			*out = opk_chip_known(i);
			return OPK_OK;
		}
	source->needs_chip = true;
	return opk_advise(
		source->ctx,
		opk_fail(source->ctx, OPK_EINPUT,
	                 "%s says that its GPUs have the chip '%.50s', which is not known: "
	                 "name the chip",
	                 source->path, name),
		OPK_REMEDY_LIST_CHIPS);
}

int opk_nsys_chip(const char **out, struct opk_nsys_source *source)
{
	struct chip_search search = { .source = source };

	for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
		TRY(opk_nsys_read(source, &uses[i], &search));
	if (!search.chip)
		TRY(join_chip(&search, ALL_GPUS));
	source->needs_chip = !search.chip;
	if (!search.chip)
		return opk_fail(source->ctx, OPK_EUSAGE,
		                "%s does not say which chip its GPUs have: name the chip",
		                source->path);
	return find_named(out, source, search.chip);
}

int32_t opk_nsys_device(const struct opk_nsys_source *source, uint32_t process, uint32_t number)
{
	for (size_t i = 0; i < source->devices.count; i++) {
		const struct opk_nsys_device *device = &source->devices.items[i];

		if ((device->process == process || !device->process) && device->number == number)
			return device->gpu;
	}
	return number <= INT32_MAX ? (int32_t)number : -1;
}

int32_t opk_nsys_sampled_gpu(const struct opk_nsys_source *source, int64_t type)
{
	int64_t number = type & 0xff;

	for (size_t i = 0; i < source->gpus.count; i++)
		if (source->gpus.items[i].perfworks == number && source->gpus.items[i].id >= 0
		    && source->gpus.items[i].id <= INT32_MAX)
			return (int32_t)source->gpus.items[i].id;
	return (int32_t)number;
}

const char *opk_nsys_domain(const struct opk_nsys_source *source, uint32_t process, int64_t domain)
{
	for (size_t i = 0; domain && i < source->domains.count; i++)
		if (source->domains.items[i].process == process
		    && source->domains.items[i].number == domain)
			return source->domains.items[i].name;
	return "";
}
