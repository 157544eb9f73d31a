/* Names and ids against the lists of a filter; NULL lists take everything. */
#ifndef WICK_PROFILE_MATCH_H
#define WICK_PROFILE_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Patterns as of fnmatch(3), ended by NULL. */
bool match_text(const char *const *patterns, const char *text);
/*
 * The same for a function: its whole name, or the name without parameters and without template arguments, so that
 * "ns::f" is ns::f(int).
 */
bool match_function(const char *const *patterns, const char *name);
/* Whether a name that somebody wrote, as a whole, is meant for this function. */
bool match_written(const char *written, size_t written_length, const char *name, size_t length);
/* Whether a name, or its short form, has this part, in any case of letters. */
bool match_part(const char *part, const char *name);
/* The same for a module: its path, or the last part of it. */
bool match_module(const char *const *patterns, const char *path);
/* Ids, ended by −1. */
bool match_id(const int32_t *ids, int32_t id);

#endif
