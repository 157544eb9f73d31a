/* Names of events as perf writes them. */
#ifndef WICK_PROFILE_EVENT_NAME_H
#define WICK_PROFILE_EVENT_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The part of a name that says what is counted: "cycles" of "cycles:u", "cycles:P", "cpu_core/cycles/" and
 * "cpu/cycles/ppp". Points into `name`.
 */
const char *event_base(const char *name, size_t *ret_length);
/* Do two names differ at most in where and how precisely is counted? */
bool event_is_same(const char *a, const char *b);

#endif
