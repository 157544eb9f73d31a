/* The line that starts a sample in perf script text. */
#ifndef WICK_IMPORT_PERF_HEADER_H
#define WICK_IMPORT_PERF_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_line {
	const char *comm;
	size_t comm_length;
	int32_t pid; /* -1: the line has only one number, the tid */
	int32_t tid;
	const char *pid_text, *tid_text; /* as the line has them; pid_text NULL: only one number */
	size_t pid_length, tid_length;
	const char *event; /* NULL: the line has none that is recognized */
	size_t event_length;
	int64_t period; /* 1 where the line has none */
	bool period_overflow;
	const char
		*rest; /* what follows the event on the line: the frame of a sample without call chain; NULL: nothing */
	size_t rest_length;
};

/* Accepts every layout with a thread name and a number behind it; false when the line is something else. */
bool perf_event_parse(const char *line, size_t length, struct perf_event_line *ret_event);

/*
 * The same as stackcollapse-perf.pl reads it: names of one letter and indented lines are not understood, colons before
 * the ids count as well, and there is no `rest`. A line that it takes for something else gives false.
 */
bool perf_event_parse_perl(const char *line, size_t length, struct perf_event_line *ret_event);

/* A record that perf script prints among the samples (--show-lost-events and so on): lost samples, or 0. */
bool perf_event_is_record(const char *line, size_t length, uint64_t *ret_lost);

#endif
