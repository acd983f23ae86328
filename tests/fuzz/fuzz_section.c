/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a section file or a list of names; the output must be YAML. */
#include <string.h>

#include "adapters/yaml/yaml_tree.h"
#include "fuzz.h"
#include "no_child.h"
#include "nsight/door.h"

static void check(struct opk_ctx *ctx, const struct opk_imported_set *set)
{
	opk_auto(opk_source) struct opk_source *source = opk_source_new("set", set->yaml,
	                                                                strlen(set->yaml));
	opk_autoproblems struct opk_problems problems = { 0 };
	struct opk_yaml *root;

	if (opk_yaml_parse(&root, ctx, &problems, source) || problems.count)
		abort();
	opk_yaml_free(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opk_ctx *ctx = fuzz_ctx();
	struct opk_set_import *import;
	char path[32];
	int fd = fuzz_file(path, data, size);

	if (!opk_set_import_new(&import, ctx, &(struct opk_set_import_options){ .path = path })) {
		for (size_t i = 0; i < opk_set_import_count(import); i++)
			check(ctx, opk_set_import_get(import, i));
		opk_set_import_free(import);
	}
	close(fd);
	opk_ctx_free(ctx);
	return 0;
}
