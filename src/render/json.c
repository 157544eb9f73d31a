/* Writes the JSON members that several outputs share. */
#include "render/json.h"

#include "base/text.h"

#include <math.h>

void json_text(struct buf *out, const char *text)
{
	if (text)
		text_json(out, text, strlen(text));
	else
		buf_str(out, "null");
}

void json_known(struct buf *out, const char *text)
{
	json_text(out, text && *text ? text : NULL);
}

void json_number(struct buf *out, double value, unsigned digits)
{
	if (!isfinite(value)) {
		buf_str(out, "null");
		return;
	}
	size_t start = out->size;
	buf_printf(out, "%.*f", (int)digits, value);
	if (digits) {
		while (out->data[out->size - 1] == '0')
			out->size--;
		if (out->data[out->size - 1] == '.')
			out->size--;
		out->data[out->size] = '\0';
	}
	if (strcmp(out->data + start, "-0") == 0) {
		out->size = start;
		buf_char(out, '0');
	}
}

void json_texts(struct buf *out, const char *const *texts)
{
	buf_char(out, '[');
	for (size_t i = 0; texts[i]; i++) {
		buf_str(out, i ? ", " : "");
		json_text(out, texts[i]);
	}
	buf_char(out, ']');
}

void json_extent(struct buf *out, const struct extent *extent)
{
	const struct {
		const char *name;
		uint64_t value;
		bool time;
	} numbers[] = {
		{"duration", extent->duration, true}, {"cpu_time", extent->cpu_time, true},
		{"sampled", extent->sampled, true},   {"processes", extent->processes, false},
		{"threads", extent->threads, false},
	};
	buf_char(out, '{');
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		buf_printf(out, "%s\"%s\": ", i ? ", " : "", numbers[i].name);
		if (!numbers[i].value)
			buf_str(out, "null");
		else if (numbers[i].time)
			buf_printf(out, "%.9f", (double)numbers[i].value / 1e9);
		else
			buf_uint(out, numbers[i].value);
	}
	buf_char(out, '}');
}

void json_quality(struct buf *out, const struct profile *profile)
{
	const struct quality *quality = &profile->quality;
	const struct {
		const char *name;
		uint64_t count;
	} counters[] = {
		{"samples", quality->samples},
		{"stacks", quality->stacks},
		{"lost", quality->lost},
		{"lost_records", quality->lost_records},
		{"truncated", quality->truncated},
		{"unresolved", quality->unresolved},
		{"derived", quality->derived},
		{"bad_lines", quality->bad_lines},
		{"cut_stacks", quality->cut_stacks},
		{"overflows", quality->overflows},
		{"filtered", quality->filtered},
	};
	buf_char(out, '{');
	for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
		buf_printf(out, "\"%s\": ", counters[i].name);
		buf_uint(out, counters[i].count);
		buf_str(out, ", ");
	}
	buf_str(out, "\"modules\": [");
	for (size_t i = 0; i < quality->module_count; i++) {
		buf_str(out, i ? ", {\"module\": " : "{\"module\": ");
		json_known(out, profile_text(profile, quality->modules[i].module));
		buf_str(out, ", \"unresolved_frames\": ");
		buf_uint(out, quality->modules[i].frames);
		if (quality->modules[i].advice) {
			buf_str(out, ", \"advice\": ");
			json_text(out, profile_text(profile, quality->modules[i].advice));
		}
		buf_char(out, '}');
	}
	struct buf line CLEANUP_BUF = {0};
	quality_line(quality, &profile->strings, &line);
	buf_char(out, ']');
	if (quality->truncated && quality->truncated_advice) {
		buf_str(out, ", \"truncated_advice\": ");
		json_text(out, profile_text(profile, quality->truncated_advice));
	}
	buf_str(out, ", \"text\": ");
	text_json(out, line.data ? line.data : "", line.size);
	buf_char(out, '}');
}
