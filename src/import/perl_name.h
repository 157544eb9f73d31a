/* Names of functions as stackcollapse-perf.pl writes them, to the byte. For everything else there is profile/tidy.h. */
#ifndef WICK_IMPORT_PERL_NAME_H
#define WICK_IMPORT_PERL_NAME_H

#include "import/import.h"
#include "import/perf_frame.h"

/* Appends one function of a line: `part` counts those that a line names, with "->" between, from 0. */
void perl_name(struct buf *out, const struct perf_frame *frame, const char *name, size_t length, size_t part,
	       const struct import_options *options, bool java);

/* Appends what a line of perf script -F+srcline adds to the name of the function before it; often nothing. */
void perl_source(struct buf *out, const char *line, size_t length);

#endif
