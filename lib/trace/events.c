/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes events as JSON, one per line, to the sink. */
#include "trace/trace_inside.h"

#include <string.h>

#include "base/number_text.h"

enum { WORTHWHILE = 64 << 10 };

static int pass_on(struct opk_trace_out *out)
{
	int code = out->text.failed ? opk_nomem(out->ctx, "a trace")
	                            : opk_check_interrupt(out->ctx);

	if (!code && out->text.size)
		code = out->gzip ? opk_gzip_write(out->gzip, out->text.data, out->text.size)
		                 : out->sink.write(out->sink.data, out->text.data, out->text.size);
	out->text.size = 0;
	return code;
}

int opk_trace_open(struct opk_trace_out *out, bool gzip)
{
	out->json.buf = &out->text;
	opk_buf_add_text(&out->text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return gzip ? opk_gzip_new(&out->gzip, out->ctx, out->sink.write, out->sink.data) : OPK_OK;
}

void opk_trace_next_event(struct opk_trace_out *out)
{
	opk_buf_add_text(&out->text, out->events++ ? ",\n" : "\n");
	out->json.comma = false;
}

void opk_trace_begin_event(struct opk_trace_out *out, const char *phase, uint32_t process,
                           uint32_t thread)
{
	opk_trace_next_event(out);
	opk_json_begin_object(&out->json);
	opk_json_key(&out->json, "ph");
	opk_json_put_string(&out->json, phase);
	opk_json_add_u64(&out->json, "pid", process);
	opk_json_add_u64(&out->json, "tid", thread);
}

int opk_trace_end_event(struct opk_trace_out *out)
{
	opk_json_end_object(&out->json);
	return opk_trace_flush(out);
}

int opk_trace_flush(struct opk_trace_out *out)
{
	return out->text.size < WORTHWHILE && !out->text.failed ? OPK_OK : pass_on(out);
}

void opk_trace_add_time(struct opk_buf *text, uint64_t ns)
{
	char digits[OPK_NUMBER_SIZE + 4];
	size_t size = opk_format_u64(digits, ns / 1000);

	digits[size] = '.';
	digits[size + 1] = (char)('0' + ns / 100 % 10);
	digits[size + 2] = (char)('0' + ns / 10 % 10);
	digits[size + 3] = (char)('0' + ns % 10);
	opk_buf_add(text, digits, size + 4);
}

void opk_trace_put_time(struct opk_trace_out *out, const char *name, uint64_t ns)
{
	opk_json_key(&out->json, name);
	opk_trace_add_time(&out->text, ns);
	out->json.comma = true;
}

static void put_shape(struct opk_json_writer *json, const char *name, const uint32_t shape[3])
{
	char text[40];

	snprintf(text, sizeof text, "%ux%ux%u", shape[0], shape[1], shape[2]);
	opk_json_add_string(json, name, shape[0] ? text : NULL);
}

void opk_trace_put_launch(struct opk_json_writer *json, const struct opk_range *range)
{
	opk_json_add_string(json, "kernel", range->kernel);
	put_shape(json, "grid", range->grid);
	put_shape(json, "block", range->block);
	opk_json_add_u64(json, "registers", range->registers);
	opk_json_add_u64(json, "shared_bytes", range->shared_bytes);
}

void opk_trace_end_events(struct opk_trace_out *out)
{
	opk_buf_add_text(&out->text, "\n]");
	out->json.comma = true;
}

int opk_trace_close(struct opk_trace_out *out)
{
	int code;

	opk_buf_add_text(&out->text, "}\n");
	code = pass_on(out);
	return code || !out->gzip ? code : opk_gzip_finish(out->gzip);
}

void opk_trace_out_clear(struct opk_trace_out *out)
{
	opk_gzip_free(out->gzip);
	opk_buf_clear(&out->text);
}
