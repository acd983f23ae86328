/* SPDX-License-Identifier: BSD-2-Clause */
/* Joins styles and scripts of the data folder, and computes their hashes. */
#include "base/file.h"
#include "base/sha256.h"
#include "chip/chip.h"
#include "picture/svg.h"
#include "report/report_inside.h"

static const char dygraphs_style[] = "report/dygraph.min.css";

/* In the order of joining. */
static const char *const styles[] = { "report/page.css",    "report/table.css",
	                              "report/picture.css", "report/answers.css",
	                              "report/memory.css",  "report/ranks.css",
	                              "report/diff.css",    "report/timeline.css",
	                              "report/source.css" };
static const char *const scripts[] = {
	"report/page.js",          "report/format.js",        "report/answers.js",
	"report/memory.js",        "report/table.js",         "report/kernel.js",
	"report/roofline.js",      "report/ranks.js",         "report/diff.js",
	"report/timeline_data.js", "report/timeline_rows.js", "report/timeline_launch.js",
	"report/timeline.js",      "report/source_pane.js",   "report/source.js"
};

int report_asset(char **out, struct opk_ctx *ctx, const char *name)
{
	opk_autofree char *text = NULL, *path = NULL;

	TRY(opk_data_file(&text, &path, ctx, name));
	if (!text)
		return opk_fail(ctx, OPK_EFAILED,
		                "%s is missing: offpeak is not installed as a whole", path);
	*out = opk_take(text);
	return OPK_OK;
}

static int join(struct opk_buf *out, struct opk_ctx *ctx, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		opk_autofree char *text = NULL;

		TRY(report_asset(&text, ctx, names[i]));
		opk_buf_add_text(out, text);
		opk_buf_add_text(out, "\n");
	}
	return OPK_OK;
}

int report_styles(struct opk_buf *out, struct opk_ctx *ctx, bool dygraphs)
{
	const char *const theirs[] = { dygraphs_style };

	if (dygraphs)
		TRY(join(out, ctx, theirs, 1));
	opk_svg_put_variables(out);
	return join(out, ctx, styles, sizeof styles / sizeof *styles);
}

int report_scripts(struct opk_buf *out, struct opk_ctx *ctx)
{
	return join(out, ctx, scripts, sizeof scripts / sizeof *scripts);
}

void report_add_base64(struct opk_buf *out, const uint8_t *data, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t bits = (uint32_t)data[i] << 16
		                | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0)
		                | (left > 2 ? data[i + 2] : 0);
		char four[4] = { digits[bits >> 18], digits[bits >> 12 & 63],
			         left > 1 ? digits[bits >> 6 & 63] : '=',
			         left > 2 ? digits[bits & 63] : '=' };

		opk_buf_add(out, four, sizeof four);
	}
}

static uint8_t from_hex(const char *digits)
{
	unsigned value = 0;

	sscanf(digits, "%2x", &value);
	return (uint8_t)value;
}

void report_add_hash(struct opk_buf *out, const struct opk_buf *script)
{
	enum { BYTES = (OPK_SHA256_TEXT - 1) / 2 };
	char text[OPK_SHA256_TEXT];
	uint8_t bytes[BYTES];
	struct opk_sha256 hash;

	opk_sha256_begin(&hash);
	opk_sha256_add(&hash, script->data, script->size);
	opk_sha256_end(&hash, text);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = from_hex(text + 2 * i);
	opk_buf_add_text(out, "'sha256-");
	report_add_base64(out, bytes, BYTES);
	opk_buf_add_text(out, "'");
}
