/* The raw data of tracepoints, as the kernel's format files describe it. */
#ifndef WICK_EVENT_TRACE_FIELDS_H
#define WICK_EVENT_TRACE_FIELDS_H

#include "base/buf.h"
#include "event/event.h"

/* Where a number lies in the raw data. */
struct trace_field {
	uint32_t offset, size; /* size 0: there is no such field */
	bool is_signed;
};

/*
 * Finds a field of whole numbers in the text of a format file (".../events/sched/sched_switch/format"). False when
 * there is none of that name, or it is text or an array.
 */
bool trace_field_find(const char *format, const char *name, struct trace_field *ret_field);

/* Adds the names of the fields that trace_field_find() finds, "a, b", without those that every tracepoint has. */
void trace_fields_list(const char *format, struct buf *out);

/* The value of a field; false when the raw data is too short for it. */
bool trace_field_read(const struct trace_field *field, const struct event_sample *sample, int64_t *ret_value);

#endif
