/*
 * The whole screen of the terminal: keys one by one, lines drawn in place, everything put back at the end. There is at
 * most one.
 */
#ifndef WICK_BASE_FULLSCREEN_H
#define WICK_BASE_FULLSCREEN_H

#include "base/buf.h"
#include "base/err.h"
#include "base/keys.h"

#include <stdbool.h>

struct fullscreen;

/* 0, or ERR_USAGE when there is no terminal that can be drawn on. */
int fullscreen_possible(struct err *err);
int fullscreen_open(struct fullscreen **ret_screen, struct err *err);
/* Puts the terminal back. NULL is allowed. */
void fullscreen_close(struct fullscreen *screen);
/* The same as far as a dying program must: async-signal-safe, for signal handlers and the out-of-memory handler. */
void fullscreen_restore(void);
/* Puts the terminal back, stops the process as Ctrl-Z does, and takes the screen again when it continues. */
void fullscreen_suspend(struct fullscreen *screen);

/* Becomes readable when keys or a new size may have come. */
int fullscreen_fd(const struct fullscreen *screen);
void fullscreen_size(const struct fullscreen *screen, int *ret_columns, int *ret_rows);
/* Draws the lines of a text, from the top; only what changed since the last call is written. */
void fullscreen_draw(struct fullscreen *screen, const struct buf *text);
/* The next call draws everything: something else may have written to the terminal. */
void fullscreen_forget(struct fullscreen *screen);
/* A key, or false when none is there; ERR_IO in `ret_error` when the terminal is gone. */
bool fullscreen_key(struct fullscreen *screen, bool waited, uint32_t *ret_key, int *ret_error);

#endif
