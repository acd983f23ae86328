/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of the fake program that mark ranges, by NVTX and by offpeak's own header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/app.h"

static int missing(const char *header)
{
	fprintf(stderr, "fake_app: built without %s\n", header);
	exit(72);
}

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif

enum { MAX_DOMAINS = 16, MAX_STARTED = 16 };

static struct {
	char name[64];
	nvtxDomainHandle_t handle;
} domains[MAX_DOMAINS];
/* Ranges of the process by name; any thread may end one. */
static struct {
	char name[64];
	nvtxRangeId_t id;
} started[MAX_STARTED];

static nvtxDomainHandle_t domain_of(const char *name)
{
	size_t i = 0;

	while (i < MAX_DOMAINS - 1 && domains[i].name[0] && strcmp(domains[i].name, name))
		i++;
	if (!domains[i].name[0]) {
		snprintf(domains[i].name, sizeof domains[i].name, "%s", name);
		domains[i].handle = nvtxDomainCreateA(name);
	}
	return domains[i].handle;
}

static nvtxEventAttributes_t attributes_of(const char *name)
{
	nvtxEventAttributes_t attributes = {
		.version = NVTX_VERSION,
		.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
		.messageType = NVTX_MESSAGE_TYPE_ASCII,
	};

	attributes.message.ascii = name;
	return attributes;
}

static int word_nvtx_push(const char *const *fields)
{
	nvtxRangePushA(fields[0]);
	return 0;
}

static int word_nvtx_push_ex(const char *const *fields)
{
	nvtxEventAttributes_t attributes = attributes_of(fields[0]);

	nvtxRangePushEx(&attributes);
	return 0;
}

static int word_nvtx_pop(const char *const *fields)
{
	(void)fields;
	nvtxRangePop();
	return 0;
}

/* DOMAIN:NAME */
static int word_nvtx_domain_push(const char *const *fields)
{
	nvtxEventAttributes_t attributes = attributes_of(fields[1]);

	nvtxDomainRangePushEx(domain_of(fields[0]), &attributes);
	return 0;
}

/* DOMAIN:NAME, the name registered first */
static int word_nvtx_registered_push(const char *const *fields)
{
	nvtxDomainHandle_t domain = domain_of(fields[0]);
	nvtxEventAttributes_t attributes = attributes_of(NULL);

	attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	attributes.message.registered = nvtxDomainRegisterStringA(domain, fields[1]);
	nvtxDomainRangePushEx(domain, &attributes);
	return 0;
}

static int word_nvtx_domain_pop(const char *const *fields)
{
	nvtxDomainRangePop(domain_of(fields[0]));
	return 0;
}

/* As NCCL does: pops with the payload extension a range that was pushed without it. */
static int word_nvtx_payload_pop(const char *const *fields)
{
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
	nvtxRangePopPayload(domain_of(fields[0]), NULL, 0);
	return 0;
#else
	(void)fields;
	return missing("nvtx3/nvToolsExtPayload.h");
#endif
}

static int keep_started(const char *name, nvtxRangeId_t id)
{
	size_t i = 0;

	while (i < MAX_STARTED - 1 && started[i].name[0] && strcmp(started[i].name, name))
		i++;
	snprintf(started[i].name, sizeof started[i].name, "%s", name);
	started[i].id = id;
	return 0;
}

static int word_nvtx_start(const char *const *fields)
{
	return keep_started(fields[0], nvtxRangeStartA(fields[0]));
}

/* DOMAIN:NAME */
static int word_nvtx_domain_start(const char *const *fields)
{
	nvtxEventAttributes_t attributes = attributes_of(fields[1]);

	return keep_started(fields[1], nvtxDomainRangeStartEx(domain_of(fields[0]), &attributes));
}

static int word_nvtx_end(const char *const *fields)
{
	for (size_t i = 0; i < MAX_STARTED; i++)
		if (!strcmp(started[i].name, fields[0]))
			nvtxRangeEnd(started[i].id);
	return 0;
}

static int word_nvtx_mark(const char *const *fields)
{
	nvtxMarkA(fields[0]);
	return 0;
}
#else
static int no_nvtx(const char *const *fields)
{
	(void)fields;
	return missing("nvtx3/nvToolsExt.h");
}
#define word_nvtx_push no_nvtx
#define word_nvtx_push_ex no_nvtx
#define word_nvtx_pop no_nvtx
#define word_nvtx_domain_push no_nvtx
#define word_nvtx_registered_push no_nvtx
#define word_nvtx_domain_pop no_nvtx
#define word_nvtx_payload_pop no_nvtx
#define word_nvtx_start no_nvtx
#define word_nvtx_domain_start no_nvtx
#define word_nvtx_end no_nvtx
#define word_nvtx_mark no_nvtx
#endif

#if __has_include(<offpeak_range.h>)
#include <offpeak_range.h>

static int word_push(const char *const *fields)
{
	offpeak_range_push(fields[0]);
	return 0;
}

static int word_pop(const char *const *fields)
{
	(void)fields;
	offpeak_range_pop();
	return 0;
}

static int word_start(const char *const *fields)
{
	(void)fields;
	offpeak_start();
	return 0;
}

static int word_stop(const char *const *fields)
{
	(void)fields;
	offpeak_stop();
	return 0;
}
#else
static int no_header(const char *const *fields)
{
	(void)fields;
	return missing("offpeak_range.h");
}
#define word_push no_header
#define word_pop no_header
#define word_start no_header
#define word_stop no_header
#endif

/* Prints which headers the program was built with: "nvtx payload offpeak_range" or less. */
static int word_headers(const char *const *fields)
{
	(void)fields;
	(void)missing;
#if __has_include(<nvtx3/nvToolsExt.h>)
	fputs("nvtx ", stdout);
#endif
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
	fputs("payload ", stdout);
#endif
#if __has_include(<offpeak_range.h>)
	fputs("offpeak_range", stdout);
#endif
	putchar('\n');
	return 0;
}

const struct word range_words[] = {
	{ "nvtxpush", word_nvtx_push },
	{ "nvtxpushex", word_nvtx_push_ex },
	{ "nvtxpop", word_nvtx_pop },
	{ "nvtxdpush", word_nvtx_domain_push },
	{ "nvtxrpush", word_nvtx_registered_push },
	{ "nvtxdpop", word_nvtx_domain_pop },
	{ "nvtxppop", word_nvtx_payload_pop },
	{ "nvtxstart", word_nvtx_start },
	{ "nvtxdstart", word_nvtx_domain_start },
	{ "nvtxend", word_nvtx_end },
	{ "nvtxmark", word_nvtx_mark },
	{ "push", word_push },
	{ "pop", word_pop },
	{ "start", word_start },
	{ "stop", word_stop },
	{ "headers", word_headers },
	{ 0 },
};
