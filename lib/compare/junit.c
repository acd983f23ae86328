/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the results of rules as JUnit's XML. */
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/utf8.h"
#include "compare/compare.h"

/* Control characters, which XML 1.0 forbids even escaped, and invalid UTF-8 become U+FFFD. */
static void put_character(struct opk_buf *out, const char *text, size_t length)
{
	static const char not_characters[][4] = { "\xef\xbf\xbe", "\xef\xbf\xbf" };
	bool bad = length == 1 && (unsigned char)*text < ' ' && !strchr("\t\n\r", *text);

	for (size_t i = 0; i < 2; i++)
		bad |= length == 3 && !memcmp(text, not_characters[i], 3);
	if (bad)
		opk_buf_add_text(out, "\xef\xbf\xbd");
	else if (length == 1 && strchr("&<>\"'\t\n\r", *text))
		opk_buf_add_printf(out, "&#%d;", *text);
	else
		opk_buf_add(out, text, length);
}

static void put_text(struct opk_buf *out, const char *text)
{
	opk_autofree char *repaired = opk_utf8_repair(text);
	size_t length;

	out->failed |= !repaired;
	for (const char *at = repaired; at && *at; at += length) {
		length = opk_utf8_length((const unsigned char *)at, strlen(at));
		put_character(out, at, length);
	}
}

static void put_attribute(struct opk_buf *out, const char *name, const char *text)
{
	opk_buf_add_printf(out, " %s=\"", name);
	put_text(out, text);
	opk_buf_add_text(out, "\"");
}

static void put_case(struct opk_buf *out, const struct opk_diff_judged *judged)
{
	opk_buf_add_text(out, "    <testcase");
	put_attribute(out, "classname", judged->rule->text);
	put_attribute(out, "name", *judged->row_name ? judged->row_name : "all rows");
	if (!judged->broken) {
		opk_buf_add_text(out, "/>\n");
		return;
	}
	opk_buf_add_text(out, ">\n      <failure");
	put_attribute(out, "message", judged->text);
	opk_buf_add_text(out, ">");
	put_text(out, judged->rule->reason);
	opk_buf_add_text(out, "</failure>\n    </testcase>\n");
}

static void put_all(struct opk_buf *out, const struct opk_diff *diff)
{
	opk_buf_add_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	opk_buf_add_printf(out,
	                   "<testsuites tests=\"%zu\" failures=\"%zu\">\n"
	                   "  <testsuite name=\"offpeak diff\" tests=\"%zu\" failures=\"%zu\">\n",
	                   diff->found.judged.count, diff->found.broken, diff->found.judged.count,
	                   diff->found.broken);
	for (size_t i = 0; i < diff->found.judged.count; i++)
		put_case(out, &diff->found.judged.items[i]);
	opk_buf_add_text(out, "  </testsuite>\n</testsuites>\n");
}

int opk_diff_write_junit(const struct opk_diff *diff, struct opk_ctx *ctx, const char *path)
{
	opk_autonewfile struct opk_newfile file = { 0 };
	opk_autobuf struct opk_buf out = { 0 };

	put_all(&out, diff);
	if (out.failed)
		return opk_nomem(ctx, "a judgement");
	TRY(opk_newfile_create(&file, ctx, path, opk_check_output, OPK_OUTPUT_JUNIT));
	TRY(opk_newfile_write(&file, out.data, out.size));
	return opk_newfile_commit(&file);
}
