/* SPDX-License-Identifier: BSD-2-Clause */
#include "container/findings.h"

#include "base/mem.h"

int opk_finding_blame(struct opk_finding *finding, struct opk_ctx *ctx, const char *problem)
{
	if (finding->problem)
		return OPK_OK;
	finding->problem = opk_strdup(problem);
	return finding->problem ? OPK_OK : opk_nomem(ctx, "findings");
}

int opk_findings_add(struct opk_findings *findings, struct opk_ctx *ctx, struct opk_finding finding,
                     const char *problem)
{
	struct opk_finding *added = opk_append(&findings->items, &findings->capacity,
	                                       &findings->count, sizeof *added);

	if (!added)
		return opk_nomem(ctx, "findings");
	*added = finding;
	added->problem = NULL;
	return problem ? opk_finding_blame(added, ctx, problem) : OPK_OK;
}

void opk_findings_clear(struct opk_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		free((char *)findings->items[i].problem);
	free(findings->items);
	*findings = (struct opk_findings){ 0 };
}

size_t opk_findings_count(const struct opk_findings *findings)
{
	return findings->count;
}

const struct opk_finding *opk_findings_get(const struct opk_findings *findings, size_t i)
{
	return &findings->items[i];
}

void opk_findings_free(struct opk_findings *findings)
{
	if (!findings)
		return;
	opk_findings_clear(findings);
	free(findings);
}
