/* Text of other tools → profile: perf script output and folded stacks, plain or compressed. */
#ifndef WICK_IMPORT_IMPORT_H
#define WICK_IMPORT_IMPORT_H

#include "base/err.h"
#include "profile/profile.h"

/* An input that the caller has opened, and read the start of, to see what it is. */
struct import_opened {
	int fd; /* taken over, also on failure */
	const void *head;
	size_t head_size; /* at most IMPORT_HEAD_MAX */
};
#define IMPORT_HEAD_MAX 64

/* perf script: exactly what stackcollapse-perf.pl makes of it. Its marks and ids become part of the names. */
struct import_perl {
	bool pid, tid; /* java-12, java-12/13 */
	bool kernel, jit; /* _[k], _[j] */
	const char *event; /* the only event that counts; NULL: the first one */
};

struct import_options {
	unsigned threads; /* 0: as many as there are cores */
	bool keep_order; /* keep samples unmerged in input order (flame charts) */
	bool addresses; /* perf script: put the address into the name of frames without a symbol */
	bool source_lines; /* perf script: frames are followed by a line with their source position */
	bool tidy; /* perf script: names are tidied (profile/tidy.h); else they stay whole */
	const struct import_perl *perl; /* NULL: without the peculiarities of that script */
	struct uninliner *uninliner; /* perf script: finds inlined functions that the text omits; NULL: none */
	bool progress; /* show a progress line on a terminal */
	const struct import_opened *opened; /* NULL: the path is opened */
};

/* What went wrong with single lines; the rest of the input was used. */
struct import_report {
	uint64_t bad_lines;
	char first_bad[256]; /* "file:line: reason", empty when there is none */
	uint64_t cut_stacks;
	char first_cut[256]; /* "file:line" of the stack the input ends in */
	char damage[256]; /* why reading stopped before the end, empty when it did not */
};

/*
 * Reads one input ("-" or NULL: standard input) and adds it to `profile`, which was initialised by the caller and stays
 * valid on failure. `report` is added to. Input without a single usable stack fails with ERR_EMPTY or ERR_FORMAT.
 */
int import_file(struct profile *profile, const char *path, const struct import_options *options,
		struct import_report *report, struct err *err);

#endif
