/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares a module with the CRC that names it. CUPTI's CRC covers 28 bytes, spread evenly over the
 * cubin: it finds another build, and cannot find every changed byte.
 */
#include <inttypes.h>

#include "adapters/nv/nv.h"
#include "child/child.h"
#include "repair/repair_inside.h"

/* In the child, since a module may be damaged. */
static int compute(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct opk_module *module = data;
	const void *cubin = opk_child_guarded_copy(module->data, module->size);
	uint64_t crc;

	if (!cubin)
		return opk_nomem(ctx, "a module");
	TRY(opk_blame_image(opk_nv_cubin_crc(&crc, ctx, cubin, module->size)));
	opk_put_number(child, crc);
	return OPK_OK;
}

int opk_module_check_crc(struct opk_ctx *ctx, const struct opk_file *file, size_t section)
{
	const struct opk_contain_options options = {
		.limits = { .memory = (uint64_t)2 << 30, .seconds = 60 },
	};
	opk_autosent struct opk_result result = { 0 };
	opk_autofree void *data = NULL;
	struct opk_module module;
	uint64_t crc;

	TRY(opk_module_read(&module, &data, ctx, file, section));
	if (!module.has_code)
		return OPK_OK;
	/* This loads the library once for the children of all modules. */
	TRY(opk_nv_has_source_lines(ctx));
	TRY(opk_contain(&result, ctx, compute, &module, &options));
	crc = opk_get_number(&result, UINT64_MAX);
	TRY(opk_result_check(&result, ctx));
	return crc == module.crc
	               ? OPK_OK
	               : opk_fail(ctx, OPK_EINPUT,
	                          "its code has the CRC %08" PRIx64 ", and it is named %08" PRIx64,
	                          crc, module.crc);
}
