/* What the terminal can do, and the progress line. */
#ifndef WICK_BASE_TERM_H
#define WICK_BASE_TERM_H

#include <stdbool.h>
#include <stdint.h>

/* Columns of the terminal behind `fd`; COLUMNS in the environment wins; `otherwise` when it is not a terminal. */
int term_width(int fd, int otherwise);
/* True when color should be written to `fd`: a terminal, TERM is not dumb, NO_COLOR is not set. */
bool term_colour(int fd);

/*
 * A progress line on standard error, only when that is a terminal, and only for work that lasts longer than a blink.
 * One thread or many may report; the line is redrawn at most ten times a second.
 */
struct progress;
/* `total` 0 when it is not known. `unit` is "B" for bytes (shown as MB) or a word such as "samples". */
struct progress *progress_new(const char *what, const char *unit, uint64_t total);
void progress_add(struct progress *progress, uint64_t done);
/* Clears the line. NULL is allowed in both. */
void progress_free(struct progress *progress);

#endif
