/* SPDX-License-Identifier: BSD-2-Clause */
#include "repair/recover.h"

/* One way through the parts, from the first or from the last. */
struct pass {
	struct opk_recovered *parts;
	size_t count;
	bool broken; /* before the first part */
	bool backwards;
	unsigned kinds; /* all tables that the file has */
	unsigned seen;  /* tables that the image at hand has, damaged or not */
	struct opk_recovered *image;
	bool excused; /* a table without image stands behind a loss */
	bool regular;
};

/* Between two parts that are neighbours on the way; 0 and `count` are the ends of it. */
static bool is_broken(const struct pass *p, size_t step)
{
	size_t before = p->backwards ? p->count - step : step;

	return before ? p->parts[before - 1].breaks : p->broken;
}

/* An image without all its tables is as it should be where something is missing next to it. */
static void close_image(struct pass *p, bool excused)
{
	if (p->image && p->seen != p->kinds && !excused)
		p->regular = false;
	p->image = NULL;
	p->seen = 0;
	p->excused = excused;
}

static void take_table(struct pass *p, struct opk_recovered *table)
{
	if (!p->image || (p->seen & table->table)) {
		p->regular = p->regular && p->excused;
		return;
	}
	p->seen |= table->table;
	if (!p->image->sound || !table->sound)
		return;
	p->image->tables |= table->table;
	table->tables = table->table;
}

static bool pair_up(struct pass p)
{
	p.regular = true;
	for (size_t i = 0; i < p.count; i++) {
		p.parts[i].tables = 0;
		p.kinds |= p.parts[i].table;
	}
	for (size_t step = 0; step < p.count; step++) {
		struct opk_recovered *part = &p.parts[p.backwards ? p.count - 1 - step : step];

		if (is_broken(&p, step))
			close_image(&p, true);
		if (part->table) {
			take_table(&p, part);
			continue;
		}
		close_image(&p, false);
		p.image = part;
	}
	close_image(&p, is_broken(&p, p.count));
	return p.regular;
}

bool opk_recover_pairs(bool *before, struct opk_recovered *parts, size_t count, bool broken)
{
	struct pass forwards = { .parts = parts, .count = count, .broken = broken };
	struct pass backwards = forwards;
	bool behind_images, before_images;

	backwards.backwards = true;
	before_images = pair_up(backwards);
	behind_images = pair_up(forwards);
	*before = before_images && !behind_images;
	if (*before)
		pair_up(backwards);
	for (size_t i = 0; i < count; i++)
		if (parts[i].table)
			return before_images != behind_images;
	return true;
}

bool opk_recover_fits(const struct opk_recovered *parts, size_t count, bool before)
{
	const struct opk_recovered *image = NULL;

	for (size_t step = 0; step < count; step++) {
		const struct opk_recovered *part = &parts[before ? count - 1 - step : step];

		if (!part->table)
			image = part;
		else if (part->tables && image && image->ranges != OPK_UNCOUNTED
		         && part->rows != image->ranges)
			return false;
	}
	return true;
}
