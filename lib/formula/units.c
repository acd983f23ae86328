/* SPDX-License-Identifier: BSD-2-Clause */
/* Units: their names, products of powers, reading and writing. */
#include "formula/formula.h"

#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"

/* ---- names ------------------------------------------------------------------------------ */

/* All units of any chip in CUDA 13.0's libraries; plural NULL: the name and an s. */
static const struct known {
	const char *name, *plural;
} known[] = {
	{ "L2_tag", "l2_tags" },
	{ "attribute", NULL },
	{ "branch_target", NULL },
	{ "byte", NULL },
	{ "cga", NULL },
	{ "crop_subpacket", NULL },
	{ "cta", NULL },
	{ "ctc_cycle", NULL },
	{ "dram_cycle", NULL },
	{ "fbp_cycle", NULL },
	{ "fe_op", NULL },
	{ "gcc_request", NULL },
	{ "gpc_cycle", NULL },
	{ "idc_request", NULL },
	{ "instruction", NULL },
	{ "kilobyte", NULL },
	{ "l1data_bank_access", "l1data_bank_accesses" },
	{ "l1data_bank_conflict", NULL },
	{ "l1tex_line", NULL },
	{ "l1tex_request", NULL },
	{ "l1tex_tag", NULL },
	{ "l1tex_wavefront", NULL },
	{ "l2_request", NULL },
	{ "l2_sector", NULL },
	{ "lrc_req", NULL },
	{ "lrc_sector", NULL },
	{ "math_op", NULL },
	{ "mcc_cycle", NULL },
	{ "nanosecond", NULL },
	{ "nvdec_cycle", NULL },
	{ "nvdla_cycle", NULL },
	{ "nvenc_cycle", NULL },
	{ "nvlrx_cycle", NULL },
	{ "nvltx_cycle", NULL },
	{ "ofa_cycle", NULL },
	{ "pcie_cycle", NULL },
	{ "pcie_request", NULL },
	{ "percent", "percent" },
	{ "pixel", NULL },
	{ "pixel_shader_barrier", NULL },
	{ "plane_equation", NULL },
	{ "primitive", NULL },
	{ "pva_cycle", NULL },
	{ "pvavpu_cycle", NULL },
	{ "quad", NULL },
	{ "ray", NULL },
	{ "register", NULL },
	{ "rf_quantum", "rf_quanta" },
	{ "sample", NULL },
	{ "second", NULL },
	{ "sys_cycle", NULL },
	{ "sysl2_request", NULL },
	{ "sysl2_sector", NULL },
	{ "sysl2_tag", NULL },
	{ "syslrc_request", NULL },
	{ "syslrc_sector", NULL },
	{ "thread", NULL },
	{ "tmem_access", "tmem_accesses" },
	{ "vertex", NULL },
	{ "vic_cycle", NULL },
	{ "warp", NULL },
	{ "workid", NULL },
	{ "workload", NULL },
	{ "z_occluder", NULL },
	{ "zrop_subpacket", NULL },
};

enum { KNOWN = sizeof known / sizeof *known };

const char *opk_unit_known(size_t i, const char **plural)
{
	if (i >= KNOWN)
		return NULL;
	*plural = known[i].plural;
	return known[i].name;
}

static bool is_plural(const struct known *unit, const char *text, size_t length)
{
	size_t size = strlen(unit->plural ? unit->plural : unit->name);

	if (unit->plural)
		return length == size && !memcmp(text, unit->plural, length);
	return length == size + 1 && text[size] == 's' && !memcmp(text, unit->name, size);
}

static const char *find_known(const char *text, size_t length)
{
	for (size_t i = 0; i < KNOWN; i++)
		if ((strlen(known[i].name) == length && !memcmp(known[i].name, text, length))
		    || is_plural(&known[i], text, length))
			return known[i].name;
	return NULL;
}

/* ---- products --------------------------------------------------------------------------- */

static bool add_factor(struct opk_unit *unit, const char *name, size_t length, int power)
{
	size_t at = 0;
	int order = 1;

	while (at < unit->count) {
		struct opk_unit_factor *factor = &unit->factors[at];

		order = strncmp(factor->name, name, length);
		order = order ? order : factor->name[length] != '\0';
		if (order >= 0)
			break;
		at++;
	}
	if (at == unit->count || order) {
		if (unit->count == OPK_MAX_UNIT_FACTORS)
			return false;
		memmove(&unit->factors[at + 1], &unit->factors[at],
		        (unit->count - at) * sizeof *unit->factors);
		unit->factors[at] = (struct opk_unit_factor){ 0 };
		memcpy(unit->factors[at].name, name, length);
		unit->count++;
	}
	unit->factors[at].power += power;
	if (!unit->factors[at].power) {
		unit->count--;
		memmove(&unit->factors[at], &unit->factors[at + 1],
		        (unit->count - at) * sizeof *unit->factors);
		return true;
	}
	return abs(unit->factors[at].power) <= OPK_MAX_UNIT_POWER;
}

bool opk_unit_multiply(struct opk_unit *a, const struct opk_unit *b, int power)
{
	struct opk_unit product = *a;

	for (size_t i = 0; i < b->count; i++) {
		const struct opk_unit_factor *factor = &b->factors[i];

		if (!add_factor(&product, factor->name, strlen(factor->name),
		                factor->power * power))
			return false;
	}
	*a = product;
	return true;
}

bool opk_unit_root(struct opk_unit *unit)
{
	for (size_t i = 0; i < unit->count; i++)
		if (unit->factors[i].power % 2)
			return false;
	for (size_t i = 0; i < unit->count; i++)
		unit->factors[i].power /= 2;
	return true;
}

bool opk_unit_equal(const struct opk_unit *a, const struct opk_unit *b)
{
	bool same = a->count == b->count;

	for (size_t i = 0; same && i < a->count; i++)
		same = a->factors[i].power == b->factors[i].power
		       && !strcmp(a->factors[i].name, b->factors[i].name);
	return same;
}

/* ---- reading ---------------------------------------------------------------------------- */

struct parser {
	struct opk_unit *unit;
	const char *text;
	size_t at;
	const char *problem;
};

static bool problem(struct parser *p, const char *what)
{
	p->problem = what;
	return false;
}

static void skip_blanks(struct parser *p)
{
	while (opk_is_blank(p->text[p->at]))
		p->at++;
}

/*
 * The length of the first of several known names that are joined without a sign; 0 for any other
 * text. Scans from the end, so that it looks at each position once.
 */
static size_t first_of_joined(const char *text, size_t length)
{
	size_t first[OPK_MAX_UNIT_NAME * 4] = { 0 };

	if (length >= sizeof first / sizeof *first)
		return 0;
	for (size_t at = length; at-- > 0;)
		for (size_t i = 0; i < KNOWN; i++) {
			size_t size = strlen(known[i].name);

			if (size <= length - at && size > first[at]
			    && !memcmp(text + at, known[i].name, size)
			    && (at + size == length || first[at + size]))
				first[at] = size;
		}
	return first[0];
}

static bool add_name(struct parser *p, const char *name, size_t length, int power)
{
	const char *singular = find_known(name, length);

	if (length == strlen("unitless") && !memcmp(name, "unitless", length))
		return true;
	if (singular)
		return add_factor(p->unit, singular, strlen(singular), power);
	for (size_t first; length && (first = first_of_joined(name, length)); length -= first) {
		if (!add_factor(p->unit, name, first, power))
			return false;
		name += first;
	}
	return !length || add_factor(p->unit, name, length, power);
}

/* Parses "^2"; the power is 1 without it. */
static bool parse_power(struct parser *p, int *power)
{
	bool negative;

	*power = 1;
	skip_blanks(p);
	if (p->text[p->at] != '^')
		return true;
	p->at++;
	skip_blanks(p);
	negative = p->text[p->at] == '-';
	p->at += negative;
	if (!opk_is_digit(p->text[p->at]))
		return problem(p, "a power is a whole number");
	for (*power = 0; opk_is_digit(p->text[p->at]); p->at++) {
		*power = *power * 10 + (p->text[p->at] - '0');
		if (*power > OPK_MAX_UNIT_POWER)
			return problem(p, "powers go up to 99");
	}
	*power = negative ? -*power : *power;
	return true;
}

static bool parse_factor(struct parser *p, int sign)
{
	const char *name;
	size_t length;
	int power;

	skip_blanks(p);
	name = p->text + p->at;
	if (*name == '1' && !opk_in_name(name[1])) {
		p->at++;
		return true;
	}
	if (!opk_is_letter(*name))
		return problem(p, "the name of a unit is needed");
	length = opk_span(name, opk_in_name);
	if (length >= OPK_MAX_UNIT_NAME && !first_of_joined(name, length))
		return problem(p, "this name is too long");
	p->at += length;
	if (!parse_power(p, &power))
		return false;
	return !power || add_name(p, name, length, sign * power)
	       || problem(p, "too many factors, or too high a power");
}

static bool parse(struct parser *p)
{
	int sign = 1;

	skip_blanks(p);
	if (!p->text[p->at])
		return true;
	for (;;) {
		if (!parse_factor(p, sign))
			return false;
		skip_blanks(p);
		if (!p->text[p->at])
			return true;
		if (p->text[p->at] != '*' && p->text[p->at] != '/')
			return problem(p, "'*', '/' or the end is needed");
		sign = p->text[p->at++] == '*' ? 1 : -1;
	}
}

int opk_unit_parse(struct opk_unit *out, struct opk_ctx *ctx, const char *text)
{
	struct opk_unit unit = { 0 };
	struct parser p = { .unit = &unit, .text = text };

	if (!parse(&p))
		return opk_fail(ctx, OPK_EINPUT, "'%.100s' is not a unit: byte %zu: %s", text, p.at,
		                p.problem);
	*out = unit;
	return OPK_OK;
}

bool opk_unit_try(struct opk_unit *out, const char *text)
{
	struct opk_unit unit = { 0 };

	if (!parse(&(struct parser){ .unit = &unit, .text = text }))
		return false;
	*out = unit;
	return true;
}

/* ---- writing ---------------------------------------------------------------------------- */

static void put_factors(struct opk_buf *buf, const struct opk_unit *unit, bool below)
{
	for (size_t i = 0; i < unit->count; i++) {
		const struct opk_unit_factor *factor = &unit->factors[i];
		int power = abs(factor->power);

		if ((factor->power < 0) != below)
			continue;
		if (below)
			opk_buf_add_text(buf, buf->size ? "/" : "1/");
		else if (buf->size)
			opk_buf_add_text(buf, "*");
		opk_buf_add_text(buf, factor->name);
		if (power > 1)
			opk_buf_add_printf(buf, "^%d", power);
	}
}

char *opk_unit_text(const struct opk_unit *unit)
{
	opk_autobuf struct opk_buf buf = { 0 };

	put_factors(&buf, unit, false);
	put_factors(&buf, unit, true);
	return opk_buf_take_text(&buf);
}
