/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts that tables keep once. */
#include <string.h>

#include "base/utf8.h"
#include "container/container.h"

const char *opk_texts_keep(struct opk_texts *texts, const char *text)
{
	size_t known = texts->list.count;

	if (!*text)
		return "";
	if (opk_index_find(&known, &texts->numbers, text))
		return texts->list.items[known];
	if (opk_strlist_add(&texts->list, text)
	    && opk_index_add(&texts->numbers, texts->list.items[known], known, NULL)) {
		texts->weight += strlen(text) + OPK_TEXT_WEIGHT;
		return texts->list.items[known];
	}
	texts->failed = true;
	return "";
}

const char *opk_texts_keep_kernel(struct opk_texts *texts, const char *text)
{
	opk_autofree char *spelled = NULL;
	const char *kept, *key;
	size_t known;

	if (!*text || opk_index_find(&known, &texts->kernels, text))
		return *text ? texts->list.items[known] : "";
	spelled = opk_kernel_spell(text);
	kept = opk_texts_keep(texts, spelled ? spelled : "");
	key = opk_texts_keep(texts, text);
	if (!spelled || texts->failed || !opk_index_find(&known, &texts->numbers, kept)
	    || !opk_index_add(&texts->kernels, key, known, NULL))
		texts->failed = true;
	return kept;
}

void opk_texts_clear(struct opk_texts *texts)
{
	opk_strlist_clear(&texts->list);
	opk_index_clear(&texts->numbers);
	opk_index_clear(&texts->kernels);
}

uint32_t opk_section_texts_put(struct opk_section_texts *texts, const char *text)
{
	opk_autofree char *repaired = NULL;
	size_t number = texts->list.count;

	if (!text || !*text)
		return 0;
	if (opk_index_find(&number, &texts->numbers, text))
		return (uint32_t)number + 1;
	repaired = opk_utf8_repair(text);
	if (repaired)
		opk_buf_add(&texts->bytes, repaired, strlen(repaired) + 1);
	if (!repaired || !opk_strlist_add(&texts->list, text)
	    || !opk_index_add(&texts->numbers, texts->list.items[number], number, NULL))
		texts->failed = true;
	texts->failed |= texts->bytes.failed;
	return (uint32_t)number + 1;
}

void opk_section_texts_clear(struct opk_section_texts *texts)
{
	opk_buf_clear(&texts->bytes);
	opk_strlist_clear(&texts->list);
	opk_index_clear(&texts->numbers);
}
