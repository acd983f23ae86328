/* SPDX-License-Identifier: BSD-2-Clause */
/* Modules: their names, and the source lines of their instructions. */
#include "adapters/nv/nv_table.h"

#include "base/mem.h"

int opk_nv_has_source_lines(struct opk_ctx *ctx)
{
	struct opk_nv *nv;

	return nv_need(&nv, ctx, NV_FEATURE_SOURCE_LINES);
}

int opk_nv_source_line(struct opk_nv_line *line, struct opk_ctx *ctx, const void *cubin,
                       size_t size, const char *function, uint64_t offset)
{
	struct nv_SourceLine params = {
		.size = NV_SIZE_SourceLine,
		.cubin = cubin,
		.functionName = function,
		.cubinSize = size,
		.pcOffset = offset,
	};
	opk_autofree char *file = NULL, *folder = NULL;
	struct opk_nv *nv;
	int status;

	TRY(nv_need(&nv, ctx, NV_FEATURE_SOURCE_LINES));
	status = NV_CALL(nv, cuptiGetSassToSourceCorrelation, &params);
	file = params.fileName;
	folder = params.dirName;
	/* A module without lines is an unknown error to CUPTI. */
	if (status || !params.lineNumber || !file || !*file)
		return OPK_OK;
	line->number = params.lineNumber;
	line->path = *file == '/' || !folder || !*folder ? opk_strdup(file)
	                                                 : opk_printf("%s/%s", folder, file);
	return line->path ? OPK_OK : opk_nomem(ctx, "a path");
}

int opk_nv_cubin_crc(uint64_t *crc, struct opk_ctx *ctx, const void *cubin, size_t size)
{
	struct nv_CubinCrc params = { .size = NV_SIZE_CubinCrc, .cubin = cubin, .cubinSize = size };
	struct opk_nv *nv;

	TRY(nv_need(&nv, ctx, NV_FEATURE_SOURCE_LINES));
	TRY(NV_CUPTI(nv, ctx, cuptiGetCubinCrc, &params));
	*crc = params.cubinCrc;
	return OPK_OK;
}
