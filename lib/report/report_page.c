/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the page: text as markup, sections, data blocks, and the template around them. */
#include <math.h>

#include "base/terminal.h"
#include "base/utf8.h"
#include "output/output.h"
#include "report/report_inside.h"

/* ---- text */

static const char *entity(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* Control characters are invisible, and some make a page differ from its look. */
static bool is_control(const char *text, size_t length)
{
	return *text != '\n' && *text != '\t' && opk_terminal_obeys(text, length);
}

void report_text(struct opk_buf *html, const char *text)
{
	size_t left = strlen(text), length;

	for (; left; text += length, left -= length) {
		const char *name = entity(*text);

		length = opk_utf8_length((const unsigned char *)text, left);
		if (name)
			opk_buf_add_text(html, name);
		else if (is_control(text, length))
			opk_buf_add_text(html, "\xef\xbf\xbd");
		else
			opk_buf_add(html, text, length);
		length += !length;
	}
}

void report_number(struct opk_json_writer *json, double number)
{
	char text[32];

	if (!isfinite(number)) {
		opk_json_put_double(json, (double)NAN);
		return;
	}
	if (json->comma)
		opk_buf_add(json->buf, ",", 1);
	json->comma = true;
	snprintf(text, sizeof text, "%.7g", number);
	opk_buf_add_text(json->buf, text);
}

/* ---- names in data */

enum { MOST_NAME = 300, MOST_LONG_NAMES = 4 << 20 };

void report_put_short(struct report_page *page, const char *key, const char *text)
{
	opk_autofree char *fitting = opk_utf8_fit(text, MOST_NAME);

	page->block.failed |= !fitting;
	opk_json_key(&page->json, key);
	opk_json_put_string(&page->json, fitting);
}

void report_put_words(struct report_page *page, const struct opk_summary_column *column)
{
	if (column->words && strcmp(column->words, column->name) != 0)
		opk_json_add_string(&page->json, "words", column->words);
}

void report_put_name(struct report_page *page, const char *name, const char *full)
{
	const char *whole = full && *full ? full : name;
	size_t size = strlen(whole);

	report_put_short(page, "name", name);
	if (size <= MOST_NAME) {
		if (strcmp(whole, name) != 0)
			opk_json_add_string(&page->json, "full", whole);
		return;
	}
	if (size <= MOST_LONG_NAMES - page->long_names) {
		page->long_names += size;
		opk_json_add_string(&page->json, "full", whole);
		return;
	}
	report_put_short(page, "full", whole);
	opk_json_key(&page->json, "cut");
	opk_json_put_bool(&page->json, true);
}

/* ---- articles, sections and data blocks */

void report_begin_run(struct report_page *page, const struct report_run *run, const char *name)
{
	opk_buf_add_printf(&page->html,
	                   "<article class=\"run\" id=\"run-%zu\" data-run=\"%zu\" data-name=\"",
	                   run->number, run->number);
	report_text(&page->html, name);
	opk_buf_add_text(&page->html, "\">\n");
}

void report_end_run(struct report_page *page)
{
	opk_buf_add_text(&page->html, "</article>\n");
}

void report_begin(struct report_page *page, const struct report_run *run,
                  const struct report_part *part, const char *title, const char *intro)
{
	opk_buf_add_printf(&page->html,
	                   "<section class=\"part %s\" id=\"run-%zu-%s\" data-part=\"%s\">\n<h2>",
	                   part->id, run->number, part->id, part->id);
	report_text(&page->html, title);
	opk_buf_add_text(&page->html, "</h2>\n");
	if (*intro) {
		opk_buf_add_text(&page->html, "<p class=\"intro\">");
		report_text(&page->html, intro);
		opk_buf_add_text(&page->html, "</p>\n");
	}
	opk_buf_add_printf(&page->contents, "<a href=\"#run-%zu-%s\" data-run=\"%zu\">",
	                   run->number, part->id, run->number);
	report_text(&page->contents, title);
	opk_buf_add_text(&page->contents, "</a>\n");
}

void report_end(struct report_page *page)
{
	opk_buf_add_text(&page->html, "</section>\n");
}

static void begin_block(struct report_page *page, const struct report_run *run, const char *name,
                        const char *type)
{
	opk_buf_add_printf(&page->html, "<script type=\"%s\" id=\"data-%zu-%s\">", type,
	                   run->number, name);
}

void report_begin_data(struct report_page *page, const struct report_run *run, const char *name)
{
	begin_block(page, run, name, "application/json");
	opk_buf_clear(&page->block);
	page->json = (struct opk_json_writer){ .buf = &page->block };
}

/*
 * Returns the text that replaces a character of JSON, or NULL: it stays. Characters of markup occur
 * only in strings, and are escaped there, so that HTML parsers don't see them. Characters that
 * reorder text become U+FFFD, as they do in HTML.
 */
static const char *instead_of(const char *text, size_t length)
{
	switch (*text) {
	case '<':
		return "\\u003c";
	case '>':
		return "\\u003e";
	case '&':
		return "\\u0026";
	default:
		break;
	}
	if (length == 3 && !memcmp(text, "\xe2\x80\xa8", 3))
		return "\\u2028";
	if (length == 3 && !memcmp(text, "\xe2\x80\xa9", 3))
		return "\\u2029";
	return length > 1 && opk_terminal_obeys(text, length) ? "\xef\xbf\xbd" : NULL;
}

void report_end_data(struct report_page *page)
{
	const char *data = (const char *)page->block.data;
	size_t size = page->block.size, from = 0;
	const char *other;

	for (size_t i = 0, length; i < size; i += length) {
		length = opk_utf8_step(data + i, size - i);
		other = instead_of(data + i, length);
		if (!other)
			continue;
		opk_buf_add(&page->html, data + from, i - from);
		opk_buf_add_text(&page->html, other);
		from = i + length;
	}
	opk_buf_add(&page->html, data + from, size - from);
	page->html.failed |= page->block.failed;
	opk_buf_clear(&page->block);
	opk_buf_add_text(&page->html, "</script>\n");
}

void report_bytes(struct report_page *page, const struct report_run *run, const char *name,
                  const void *data, size_t size)
{
	begin_block(page, run, name, "text/plain");
	report_add_base64(&page->html, data, size);
	opk_buf_add_text(&page->html, "</script>\n");
}

/* ---- units of data */

const char *report_unit(struct report_page *page, const char *unit)
{
	if (!opk_strlist_contains(&page->units, unit))
		page->html.failed |= !opk_strlist_add(&page->units, unit);
	return unit;
}

/* [[FROM, DIVISOR, UNIT]...]: the multiples of a unit, and from which number on each is used. */
static void put_multiples(struct opk_json_writer *json, const char *unit)
{
	static const double from[] = { 0,       1e-300, 1e-6, 1e-3, 1,    1e3,
		                       99999.5, 1e6,    1e9,  1e12, 1e15, 1e18 };
	double last = 0;

	opk_json_key(json, unit);
	opk_json_begin_array(json);
	for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
		struct opk_scale scale;

		opk_scale_find(&scale, unit, from[i]);
		if (scale.divisor == last)
			continue;
		last = scale.divisor;
		opk_json_begin_array(json);
		report_number(json, from[i]);
		report_number(json, scale.divisor);
		opk_json_put_string(json, scale.unit);
		opk_json_end_array(json);
	}
	opk_json_end_array(json);
}

void report_put_units(struct report_page *page)
{
	/* Scripts use these units for numbers that are not values of metrics. */
	static const char *const always[] = { "", "byte", "byte/second", "nanosecond", "percent" };

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		report_unit(page, always[i]);
	opk_buf_add_text(&page->html, "<script type=\"application/json\" id=\"units\">");
	page->json = (struct opk_json_writer){ .buf = &page->block };
	opk_json_begin_object(&page->json);
	for (size_t i = 0; i < page->units.count; i++)
		put_multiples(&page->json, page->units.items[i]);
	opk_json_end_object(&page->json);
	report_end_data(page);
}

/* ---- the whole */

struct pieces {
	struct opk_buf style, script, library, policy, title, licence;
};

static void clear(struct pieces *pieces)
{
	opk_buf_clear(&pieces->style);
	opk_buf_clear(&pieces->script);
	opk_buf_clear(&pieces->library);
	opk_buf_clear(&pieces->policy);
	opk_buf_clear(&pieces->title);
	opk_buf_clear(&pieces->licence);
}

static int read_dygraphs(struct pieces *pieces, struct opk_ctx *ctx)
{
	opk_autofree char *script = NULL, *licence = NULL;

	TRY(report_asset(&script, ctx, "report/dygraph.min.js"));
	TRY(report_asset(&licence, ctx, "report/dygraphs-licence.txt"));
	opk_buf_add_text(&pieces->library, script);
	opk_buf_add_text(&pieces->licence,
	                 "<details><summary>Timelines are drawn by dygraphs 2.2.1 (MIT licence)"
	                 "</summary><pre>");
	report_text(&pieces->licence, licence);
	opk_buf_add_text(&pieces->licence, "</pre></details>");
	return OPK_OK;
}

/* The page can't load, send or embed anything, and only its own scripts run. */
static void write_policy(struct pieces *pieces)
{
	struct opk_buf *policy = &pieces->policy;

	opk_buf_add_text(policy, "default-src 'none'; base-uri 'none'; form-action 'none'; "
	                         "img-src data:; script-src ");
	report_add_hash(policy, &pieces->script);
	if (pieces->library.size) {
		opk_buf_add_text(policy, " ");
		report_add_hash(policy, &pieces->library);
	}
	opk_buf_add_text(policy, "; style-src ");
	report_add_hash(policy, &pieces->style);
}

static void add_element(struct opk_buf *out, const char *name, const struct opk_buf *text)
{
	if (!text->size)
		return;
	opk_buf_add_printf(out, "<%s>", name);
	opk_buf_add(out, text->data, text->size);
	opk_buf_add_printf(out, "</%s>\n", name);
}

static void add_buf(struct opk_buf *out, const struct opk_buf *text)
{
	opk_buf_add(out, text->data, text->size);
	out->failed |= text->failed;
}

/* Replaces an "@word@" of the template. */
static bool fill(struct opk_buf *out, const struct report_page *page, const struct pieces *pieces,
                 const char *word, size_t length)
{
	if (length == 6 && !strncmp(word, "policy", length))
		add_buf(out, &pieces->policy);
	else if (length == 5 && !strncmp(word, "title", length))
		add_buf(out, &pieces->title);
	else if (length == 5 && !strncmp(word, "style", length))
		add_element(out, "style", &pieces->style);
	else if (length == 8 && !strncmp(word, "contents", length))
		add_buf(out, &page->contents);
	else if (length == 4 && !strncmp(word, "runs", length))
		add_buf(out, &page->html);
	else if (length == 7 && !strncmp(word, "licence", length))
		add_buf(out, &pieces->licence);
	else if (length == 7 && !strncmp(word, "version", length))
		opk_buf_add_text(out, opk_version());
	else if (length == 7 && !strncmp(word, "scripts", length)) {
		add_element(out, "script", &pieces->library);
		add_element(out, "script", &pieces->script);
	} else {
		return false;
	}
	return true;
}

static int fill_template(struct opk_buf *out, const struct report_page *page,
                         const struct pieces *pieces)
{
	opk_autofree char *text = NULL;
	const char *at, *word, *end;

	TRY(report_asset(&text, page->ctx, "report/page.html"));
	for (at = text; (word = strchr(at, '@')); at = end + 1) {
		opk_buf_add(out, at, (size_t)(word - at));
		end = strchr(++word, '@');
		if (!end || !fill(out, page, pieces, word, (size_t)(end - word)))
			return opk_fail(page->ctx, OPK_EFAILED,
			                "page.html: nothing is called @%.*s@",
			                end ? (int)(end - word) : 20, word);
	}
	opk_buf_add_text(out, at);
	return OPK_OK;
}

int report_assemble(struct opk_buf *out, const struct report_page *page, const char *title)
{
	__attribute__((cleanup(clear))) struct pieces pieces = { 0 };
	int code = report_styles(&pieces.style, page->ctx, page->needs_dygraphs);

	if (!code)
		code = report_scripts(&pieces.script, page->ctx);
	if (!code && page->needs_dygraphs)
		code = read_dygraphs(&pieces, page->ctx);
	if (code)
		return code;
	report_text(&pieces.title, title);
	write_policy(&pieces);
	code = fill_template(out, page, &pieces);
	return code || !out->failed ? code : opk_nomem(page->ctx, "a page");
}
