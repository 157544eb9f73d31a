/*
 * Debug files from the net, by the debuginfod protocol. Its client library is loaded when it is first wanted; without
 * DEBUGINFOD_URLS in the environment nothing is ever requested. All downloads together share one budget of time and
 * bytes, so that a slow server costs a known time.
 */
#ifndef WICK_SYMBOL_DEBUGINFOD_H
#define WICK_SYMBOL_DEBUGINFOD_H

#include "base/err.h"
#include "object/build_id.h"

#include <stdbool.h>

struct debuginfod_options {
	double seconds; /* for all downloads together */
	uint64_t bytes;
	void *context;
	/* Called about once a second while waiting; `total` 0 when it is not known. May be NULL. */
	void (*progress)(void *context, const char *what, uint64_t done, uint64_t total);
};

struct debuginfod;

/* Whether DEBUGINFOD_URLS is set. */
bool debuginfod_is_enabled(void);

/*
 * ERR_EMPTY when DEBUGINFOD_URLS is not set, ERR_UNSUPPORTED when the library is not installed (the text names the
 * package). `options` is copied.
 */
int debuginfod_open(struct debuginfod **ret_client, const struct debuginfod_options *options, struct err *err);
void debuginfod_close(struct debuginfod *client);

enum debuginfod_kind { DEBUGINFOD_DEBUG, DEBUGINFOD_EXECUTABLE };

/*
 * Downloads (or finds in the client's cache) the file and gives its path, which the caller frees. `what` names the
 * module for the progress. ERR_LIMIT: the budget is used up; ERR_EMPTY: no server has it; ERR_IO: another failure.
 */
int debuginfod_fetch(struct debuginfod *client, const struct build_id *build_id, enum debuginfod_kind kind,
		     const char *what, char **ret_path, struct err *err);

#endif
