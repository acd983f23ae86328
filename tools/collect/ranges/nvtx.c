/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles the program's NVTX calls: changes a thread's stack of ranges, or the process's ranges. */
#include "base/utf8.h"
#include "collect/ranges/nvtx_abi.h"
#include "collect/ranges/ranges.h"

/* Handles for programs (nvtxDomainHandle_t, nvtxStringHandle_t) are pointers to UTF-8 names. */

/* NULL for NULL, and when out of memory; free(). */
static char *from_wide(const wchar_t *text)
{
	char *name = text ? malloc(4 * wcslen(text) + 1) : NULL;
	size_t size = 0;

	if (!name)
		return NULL;
	for (; *text; text++)
		size += opk_utf8_encode(name + size, (uint32_t)*text);
	name[size] = '\0';
	return name;
}

/* NULL means an empty name, or the default domain. */
static int push(const char *domain, const char *name)
{
	return user_range_push(domain ? domain : "", name ? name : "");
}

static uint64_t start(const char *domain, const char *name)
{
	return started_range_begin(domain ? domain : "", name ? name : "");
}

/* The name of an event; free *made. */
static const char *name_of(const struct nvtx_attributes *event, char **made)
{
	if (!event)
		return NULL;
	if (event->message_type == NVTX_MESSAGE_REGISTERED)
		return event->message.registered;
	if (event->message_type != NVTX_MESSAGE_WIDE)
		return event->message.ascii;
	*made = from_wide(event->message.wide);
	return *made;
}

static int domain_push_ex(const char *domain, const struct nvtx_attributes *event)
{
	opk_autofree char *made = NULL;

	return push(domain, name_of(event, &made));
}

static uint64_t domain_start_ex(const char *domain, const struct nvtx_attributes *event)
{
	opk_autofree char *made = NULL;

	return start(domain, name_of(event, &made));
}

static void domain_end(const char *domain, uint64_t id)
{
	(void)domain;
	started_range_end(id);
}

static uint64_t range_start_ex(const struct nvtx_attributes *event)
{
	return domain_start_ex(NULL, event);
}

static uint64_t range_start_a(const char *message)
{
	return start(NULL, message);
}

static uint64_t range_start_w(const wchar_t *message)
{
	opk_autofree char *name = from_wide(message);

	return start(NULL, name);
}

static int range_push_ex(const struct nvtx_attributes *event)
{
	return domain_push_ex(NULL, event);
}

static int range_push_a(const char *message)
{
	return push(NULL, message);
}

static int range_push_w(const wchar_t *message)
{
	opk_autofree char *name = from_wide(message);

	return push(NULL, name);
}

static int domain_pop(const char *domain)
{
	return user_range_pop(domain ? domain : "");
}

static int range_pop(void)
{
	return domain_pop(NULL);
}

static char *domain_create_a(const char *text)
{
	return strdup(text ? text : "");
}

static char *domain_create_w(const wchar_t *text)
{
	return from_wide(text ? text : L"");
}

/* Registered strings live as long as the process: NVTX can't unregister them. */
static char *register_a(const char *domain, const char *text)
{
	(void)domain;
	return domain_create_a(text);
}

static char *register_w(const char *domain, const wchar_t *text)
{
	(void)domain;
	return domain_create_w(text);
}

/* A payload's layout is registered by the program: names in payloads are not read. */
static int push_payload(const char *domain, const void *payload, size_t count)
{
	(void)payload, (void)count;
	return push(domain, NULL);
}

static int pop_payload(const char *domain, const void *payload, size_t count)
{
	(void)payload, (void)count;
	return domain_pop(domain);
}

static uint64_t start_payload(const char *domain, const void *payload, size_t count)
{
	(void)payload, (void)count;
	return start(domain, NULL);
}

static void end_payload(const char *domain, uint64_t id, const void *payload, size_t count)
{
	(void)payload, (void)count;
	domain_end(domain, id);
}

struct entry {
	unsigned id;
	nvtx_function function;
};

#define ENTRY(id, function)                                                                        \
	{                                                                                          \
		id, (nvtx_function)function                                                        \
	}

static const struct entry core[] = {
	ENTRY(NVTX_CORE_RANGE_START_EX, range_start_ex),
	ENTRY(NVTX_CORE_RANGE_START_A, range_start_a),
	ENTRY(NVTX_CORE_RANGE_START_W, range_start_w),
	ENTRY(NVTX_CORE_RANGE_END, started_range_end),
	ENTRY(NVTX_CORE_RANGE_PUSH_EX, range_push_ex),
	ENTRY(NVTX_CORE_RANGE_PUSH_A, range_push_a),
	ENTRY(NVTX_CORE_RANGE_PUSH_W, range_push_w),
	ENTRY(NVTX_CORE_RANGE_POP, range_pop),
	{ 0, NULL },
};

static const struct entry core2[] = {
	ENTRY(NVTX_CORE2_RANGE_START_EX, domain_start_ex),
	ENTRY(NVTX_CORE2_RANGE_END, domain_end),
	ENTRY(NVTX_CORE2_RANGE_PUSH_EX, domain_push_ex),
	ENTRY(NVTX_CORE2_RANGE_POP, domain_pop),
	ENTRY(NVTX_CORE2_REGISTER_STRING_A, register_a),
	ENTRY(NVTX_CORE2_REGISTER_STRING_W, register_w),
	ENTRY(NVTX_CORE2_DOMAIN_CREATE_A, domain_create_a),
	ENTRY(NVTX_CORE2_DOMAIN_CREATE_W, domain_create_w),
	/* Open ranges of the domain have copies of its name. */
	ENTRY(NVTX_CORE2_DOMAIN_DESTROY, free),
	{ 0, NULL },
};

static const struct entry payload[] = {
	ENTRY(NVTX_PAYLOAD_RANGE_PUSH, push_payload),
	ENTRY(NVTX_PAYLOAD_RANGE_POP, pop_payload),
	ENTRY(NVTX_PAYLOAD_RANGE_START, start_payload),
	ENTRY(NVTX_PAYLOAD_RANGE_END, end_payload),
	{ 0, NULL },
};

static void fill(const struct nvtx_callbacks *callbacks, int module, const struct entry *entries)
{
	nvtx_function **table = NULL;
	unsigned size = 0;

	if (!callbacks->get_module_table(module, &table, &size) || !table)
		return;
	for (; entries->function; entries++)
		if (entries->id < size && table[entries->id])
			*table[entries->id] = entries->function;
}

EXPORT int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
	const struct nvtx_callbacks *callbacks = get_table(NVTX_TABLE_CALLBACKS);

	if (!callbacks || callbacks->size < sizeof *callbacks)
		return 0;
	fill(callbacks, NVTX_MODULE_CORE, core);
	fill(callbacks, NVTX_MODULE_CORE2, core2);
	return 1;
}

/* Functions of extensions without an entry here do nothing, as without a tool. */
EXPORT int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
	const struct entry *entry = payload;

	if (!extension || extension->size < sizeof *extension)
		return 0;
	if (extension->id != NVTX_EXTENSION_PAYLOAD || !extension->segment_count)
		return 1;
	for (; entry->function; entry++)
		if (entry->id < extension->segments->slot_count)
			extension->segments->slots[entry->id] = entry->function;
	return 1;
}
