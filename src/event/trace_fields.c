/* Parses the format of a tracepoint, and reads fields of its raw data. */
#include "event/trace_fields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The number behind "offset:" and the like in a line; false when there is none. */
static bool number_behind(const char *line, const char *end, const char *word, uint32_t *ret_number)
{
	const char *at = memmem(line, (size_t)(end - line), word, strlen(word));
	if (!at || !isdigit((unsigned char)at[strlen(word)]))
		return false;
	unsigned long number = strtoul(at + strlen(word), NULL, 10);
	*ret_number = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
	return true;
}

/* "field:pid_t prev_pid;": the name is the last word of the declaration, and an array's has a bracket behind it. */
static bool declares(const char *declaration, const char *semicolon, const char *name)
{
	size_t length = strlen(name);
	return (size_t)(semicolon - declaration) > length && !memcmp(semicolon - length, name, length) &&
	       !isalnum((unsigned char)semicolon[-(ptrdiff_t)length - 1]) && semicolon[-(ptrdiff_t)length - 1] != '_';
}

bool trace_field_find(const char *format, const char *name, struct trace_field *ret_field)
{
	for (const char *line = format; (line = strstr(line, "field:"));) {
		const char *end = line + strcspn(line, "\n"), *semicolon = memchr(line, ';', (size_t)(end - line));
		struct trace_field field = {0};
		uint32_t is_signed = 0;
		if (semicolon && declares(line, semicolon, name) &&
		    !memmem(line, (size_t)(semicolon - line), "__data_loc", strlen("__data_loc")) &&
		    number_behind(line, end, "offset:", &field.offset) &&
		    number_behind(line, end, "size:", &field.size) && field.size && field.size <= 8 &&
		    !(field.size & (field.size - 1))) {
			number_behind(line, end, "signed:", &is_signed);
			field.is_signed = is_signed;
			*ret_field = field;
			return true;
		}
		line = end;
	}
	return false;
}

/* The last word before the semicolon; empty for arrays. */
static void name_of_line(const char *line, struct buf *ret_name)
{
	const char *end = line + strcspn(line, ";\n"), *start = end;
	while (start > line && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
		start--;
	buf_clear(ret_name);
	buf_add(ret_name, start, *end == ';' ? (size_t)(end - start) : 0);
}

void trace_fields_list(const char *format, struct buf *out)
{
	CLEANUP_BUF struct buf name = {0};
	struct trace_field field;
	size_t before = out->size;
	for (const char *line = format; (line = strstr(line, "field:")); line += strlen("field:")) {
		name_of_line(line, &name);
		if (name.size && strncmp(name.data, "common_", 7) != 0 && trace_field_find(format, name.data, &field))
			buf_printf(out, "%s%s", out->size > before ? ", " : "", name.data);
	}
}

bool trace_field_read(const struct trace_field *field, const struct event_sample *sample, int64_t *ret_value)
{
	uint64_t value = 0;
	if (!field->size || field->size > sizeof value || sample->raw_size < field->size ||
	    field->offset > sample->raw_size - field->size)
		return false;
	const uint8_t *bytes = sample->raw + field->offset;
	for (uint32_t i = 0; i < field->size; i++) /* little-endian, as all machines that wick records on */
		value |= (uint64_t)bytes[i] << 8 * i;
	uint64_t sign = 1ull << (8 * field->size - 1);
	*ret_value = (int64_t)(field->is_signed ? (value ^ sign) - sign : value);
	return true;
}
