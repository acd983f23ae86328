/* SPDX-License-Identifier: BSD-2-Clause */
/* Remembers PerfWorks' answers about sets of counters: many questions come twice. */
#include "schedule/schedule.h"

/* The key is the sum of 128 bits per counter of the set; its lowest bit is the answer. */
struct opk_answer {
	uint64_t key[2]; /* both 0: a free slot */
};

/* SplitMix64's last step. */
static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
	return z ^ (z >> 31);
}

static struct opk_answer key_of(const size_t *counters, size_t count)
{
	struct opk_answer key = { { 1, 0 } };

	for (size_t i = 0; i < count; i++) {
		key.key[0] += mix(counters[i] * 0x9e3779b97f4a7c15U + 1);
		key.key[1] += mix(counters[i] * 0xd1342543de82ef95U + 2) & ~UINT64_C(1);
	}
	return key;
}

static struct opk_answer *find(const struct opk_answers *answers, const struct opk_answer *key)
{
	size_t i = (size_t)key->key[0] & (answers->capacity - 1);

	while ((answers->slots[i].key[0] || answers->slots[i].key[1])
	       && (answers->slots[i].key[0] != key->key[0]
	           || (answers->slots[i].key[1] | 1) != (key->key[1] | 1)))
		i = (i + 1) & (answers->capacity - 1);
	return &answers->slots[i];
}

static bool grow(struct opk_answers *answers)
{
	struct opk_answers grown = *answers;

	grown.capacity = answers->capacity ? answers->capacity * 2 : 1024;
	grown.slots = opk_alloc_array(grown.capacity, sizeof *grown.slots);
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < answers->capacity; i++)
		if (answers->slots[i].key[0] || answers->slots[i].key[1])
			*find(&grown, &answers->slots[i]) = answers->slots[i];
	free(answers->slots);
	*answers = grown;
	return true;
}

int opk_answers_ask(bool *out, struct opk_ctx *ctx, struct opk_answers *answers,
                    const struct opk_question *question)
{
	struct opk_answer key = key_of(question->counters, question->count), *known;

	if (answers->used * 2 >= answers->capacity && !grow(answers))
		return opk_nomem(ctx, "raw counters");
	known = find(answers, &key);
	if (!known->key[0] && !known->key[1]) {
		TRY(opk_beside_ask(out, ctx, &answers->beside, question));
		*known = key;
		known->key[1] |= *out;
		answers->used++;
	}
	*out = known->key[1] & 1;
	if (*out && !opk_beside_note(&answers->beside, question))
		return opk_nomem(ctx, "raw counters");
	return OPK_OK;
}

void opk_answers_clear(struct opk_answers *answers)
{
	free(opk_take(answers->slots));
	opk_beside_clear(&answers->beside);
	*answers = (struct opk_answers){ 0 };
}
