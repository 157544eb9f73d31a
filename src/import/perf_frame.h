/* One line of a stack in perf script text → the functions it names. */
#ifndef WICK_IMPORT_PERF_FRAME_H
#define WICK_IMPORT_PERF_FRAME_H

#include "base/buf.h"
#include "profile/profile.h"

#include <stdbool.h>

struct perf_frame {
	const char *address;
	size_t address_length;
	const char *symbol; /* raw, without its +0x offset */
	size_t symbol_length;
	const char *module;
	size_t module_length;
};

/* Takes a line apart; false when it is no line of a stack. The parts point into the line. */
bool perf_frame_split(const char *line, size_t length, struct perf_frame *ret_frame);
/* The same as stackcollapse-perf.pl does it, to whom "(/x (deleted))" is a module called "deleted)". */
bool perf_frame_split_perl(const char *line, size_t length, struct perf_frame *ret_frame);

/*
 * Calls `add` for each function of the frame, outermost first (a line names several when a Java agent wrote
 * "caller->inlined callee"). `name` is whole or tidied (profile/tidy.h). None at all for lines that name a process.
 */
struct perf_frame_style {
	bool tidy; /* without parameters and so on */
	bool java; /* with `tidy`: the thread is called "java" */
	bool addresses; /* show the address where there is no symbol */
};
void perf_frame_functions(const struct perf_frame *frame, struct perf_frame_style style, struct buf *scratch,
			  void (*add)(void *context, const char *name, size_t length, enum frame_kind kind),
			  void *context);

#endif
