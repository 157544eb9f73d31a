/*
 * One list of failures, and the context that goes with one.
 *
 * Functions that can fail return 0 or a negative code of this list. What the user should read goes into the
 * `struct err` the caller passed (NULL is allowed); only src/cmd/ prints it and turns it into an exit code.
 */
#ifndef WICK_BASE_ERR_H
#define WICK_BASE_ERR_H

#define ERR_LIST(X)                                                  \
	X(ERR_IO, 1, "input or output failed")                       \
	X(ERR_OPEN, 2, "cannot open")                                \
	X(ERR_FORMAT, 3, "unknown format")                           \
	X(ERR_EMPTY, 4, "nothing to show")                           \
	X(ERR_USAGE, 5, "wrong usage")                               \
	X(ERR_LIMIT, 6, "too large")                                 \
	X(ERR_PIPE, 7, "the output was closed by its reader")        \
	X(ERR_SYSTEM, 8, "a system call failed")                     \
	X(ERR_UNSUPPORTED, 9, "not supported by this build of wick") \
	X(ERR_DENIED, 10, "permission denied")

enum err_code {
#define ERR_ENUM(name, number, text) name = -(number),
	ERR_LIST(ERR_ENUM)
#undef ERR_ENUM
};

struct err {
	int code;
	char text[768];
};

/* Formats the context and returns `code`, so that a failing path reads `return err_set(err, ERR_OPEN, …)`. */
int err_set(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The sentence of a code, for failures that came without context. */
const char *err_name(int code);

/* What to print: the context when there is one, else the sentence of its code. */
const char *err_text(const struct err *err);

#endif
