/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVTX 3's interface to a tool: its header finds the library that NVTX_INJECTION64_PATH names,
 * calls InitializeInjectionNvtx2() in it, and lets it fill tables of function pointers. It is
 * declared here because these layouts are stable, and NVTX's headers may not be installed.
 */
#ifndef OPK_NVTX_ABI_H
#define OPK_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum nvtx_module { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

enum nvtx_core {
	NVTX_CORE_RANGE_START_EX = 4,
	NVTX_CORE_RANGE_START_A = 5,
	NVTX_CORE_RANGE_START_W = 6,
	NVTX_CORE_RANGE_END = 7,
	NVTX_CORE_RANGE_PUSH_EX = 8,
	NVTX_CORE_RANGE_PUSH_A = 9,
	NVTX_CORE_RANGE_PUSH_W = 10,
	NVTX_CORE_RANGE_POP = 11,
};

enum nvtx_core2 {
	NVTX_CORE2_RANGE_START_EX = 2,
	NVTX_CORE2_RANGE_END = 3,
	NVTX_CORE2_RANGE_PUSH_EX = 4,
	NVTX_CORE2_RANGE_POP = 5,
	NVTX_CORE2_REGISTER_STRING_A = 10,
	NVTX_CORE2_REGISTER_STRING_W = 11,
	NVTX_CORE2_DOMAIN_CREATE_A = 12,
	NVTX_CORE2_DOMAIN_CREATE_W = 13,
	NVTX_CORE2_DOMAIN_DESTROY = 14,
};

enum nvtx_message { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_WIDE = 2, NVTX_MESSAGE_REGISTERED = 3 };

struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *wide;
		const void *registered;
	} message;
};

typedef void (*nvtx_function)(void);

struct nvtx_callbacks {
	size_t size;
	int (*get_module_table)(int module, nvtx_function ***table, unsigned *size);
};

enum { NVTX_TABLE_CALLBACKS = 1 };

typedef const void *nvtx_get_table(uint32_t id);

/* NVTX calls this in a tool; non-zero: the tool is present. */
int InitializeInjectionNvtx2(nvtx_get_table *get_table);

/*
 * Extensions have a separate entry, called for each extension that the program uses. A call of the
 * payload extension may end a range that was pushed without it: NCCL does so.
 */
enum { NVTX_EXTENSION_PAYLOAD = 2 };

enum nvtx_payload {
	NVTX_PAYLOAD_RANGE_PUSH = 3,
	NVTX_PAYLOAD_RANGE_POP = 4,
	NVTX_PAYLOAD_RANGE_START = 5,
	NVTX_PAYLOAD_RANGE_END = 6,
};

struct nvtx_segment {
	size_t id, slot_count;
	nvtx_function *slots;
};

struct nvtx_extension {
	uint16_t version, size, id, compatible;
	size_t segment_count;
	struct nvtx_segment *segments;
	intptr_t (*get_export)(uint32_t id);
	const void *info;
};

int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

#endif
