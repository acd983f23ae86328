/* SPDX-License-Identifier: BSD-2-Clause */
#include "nsight/section_passes.h"

#include <string.h>

#include "base/mem.h"

enum { MAX_GROUPS = 1000 };

static struct opk_pass_group *find(struct opk_pass_groups *groups, const char *name)
{
	struct opk_pass_group *added;

	for (size_t i = 0; i < groups->count; i++)
		if (!strcmp(groups->items[i].name, name))
			return &groups->items[i];
	if (groups->count >= MAX_GROUPS)
		return NULL;
	if (!opk_grow(&groups->items, &groups->capacity, groups->count, sizeof *added)) {
		groups->failed = true;
		return NULL;
	}
	added = &groups->items[groups->count++];
	*added = (struct opk_pass_group){ .name = name };
	return added;
}

opk_chip_mask opk_pass_chips(struct opk_pass_groups *groups, const char *group, opk_chip_mask chips,
                             size_t pass)
{
	struct opk_pass_group *found = find(groups, group ? group : "");
	opk_chip_mask out = 0;

	for (size_t i = 0; found && i < OPK_PASS_CHIPS; i++) {
		opk_chip_mask chip = chips & (opk_chip_mask)1 << i;

		if (chip & ~found->seen) {
			found->pass[i] = groups->passes[i];
			groups->passes[i] += groups->passes[i] < UINT8_MAX;
		}
		found->seen |= chip;
		if (chip && found->pass[i] == pass)
			out |= chip;
	}
	return out;
}

void opk_pass_groups_clear(struct opk_pass_groups *groups)
{
	free(groups->items);
	*groups = (struct opk_pass_groups){ 0 };
}
