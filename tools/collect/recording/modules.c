/* SPDX-License-Identifier: BSD-2-Clause */
/* Modules as the driver loaded them, until it is known which ones ran. */
#include <zlib.h>

#include "collect/recording/recording.h"

struct kept {
	uint64_t crc;
	size_t size;
	uint8_t *packed; /* deflated */
	size_t packed_size;
	bool has_code, written;
};

static struct {
	pthread_mutex_t lock; /* a signal may end the program while a module is loaded */
	OPK_LIST(struct kept) list;
	struct opk_ctx *ctx;
	bool refused; /* CUPTI does not give CRCs */
} modules = { .lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP };

/* NULL: this module is not known. The lock is held. */
static struct kept *find(uint64_t crc)
{
	for (size_t i = 0; i < modules.list.count; i++)
		if (modules.list.items[i].crc == crc)
			return &modules.list.items[i];
	return NULL;
}

/* Most of a module without code is zero. */
static bool pack(struct kept *kept, const void *data, size_t size)
{
	uLongf room = compressBound(size);

	kept->size = size;
	kept->packed = malloc(room);
	if (!kept->packed || compress2(kept->packed, &room, data, size, Z_BEST_SPEED))
		return false;
	kept->packed_size = room;
	kept->packed = opk_realloc(kept->packed, room);
	return kept->packed != NULL;
}

static void keep(uint64_t crc, const void *cubin, size_t size, bool code)
{
	opk_autofree void *copy = malloc(size);
	struct kept kept = { .crc = crc, .has_code = code }, *added;

	if (!copy || (!modules.ctx && opk_ctx_new(&modules.ctx, NULL)))
		return;
	memcpy(copy, cubin, size);
	if (!code && opk_cubin_remove_code(modules.ctx, copy, size)) {
		say(0, "note: a module of %zu bytes is left out: %s", size,
		    outer_cause(modules.ctx));
		return;
	}
	if (pack(&kept, copy, size) && (added = opk_list_add(&modules.list)))
		*added = kept;
	else
		free(kept.packed);
}

void modules_loaded(const void *cubin, size_t size, bool code)
{
	CUpti_GetCubinCrcParams params = { .size = CUpti_GetCubinCrcParamsSize,
		                           .cubinSize = size,
		                           .cubin = cubin };

	opk_autounlock pthread_mutex_t *held = opk_lock(&modules.lock);

	if (!held || !target.cuptiGetCubinCrc || !size || modules.refused)
		return;
	modules.refused = !TARGET_CALL(cuptiGetCubinCrc, &params);
	if (!modules.refused && !find(params.cubinCrc))
		keep(params.cubinCrc, cubin, size, code);
}

void modules_use(struct segments *segments, uint64_t crc)
{
	pthread_mutex_t *held = opk_lock(&modules.lock);
	struct kept *kept = held ? find(crc) : NULL;
	struct segment segment = { 0 };
	uLongf size;

	if (kept && !kept->written) {
		kept->written = true;
		segment.module = (struct opk_module){ crc, kept->size, kept->has_code, NULL };
		segment.image = malloc(kept->size);
		size = kept->size;
		if (!segment.image
		    || uncompress(segment.image, &size, kept->packed, kept->packed_size))
			segment_clear(&segment);
		free(opk_take(kept->packed));
	}
	opk_unlock(&held);
	if (!segment.image)
		return;
	segment.module.data = segment.image;
	segments_add(segments, &segment);
}
