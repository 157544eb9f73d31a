/* Names and ids against the lists of a filter; NULL lists take everything. */
#ifndef WICK_PROFILE_MATCH_H
#define WICK_PROFILE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Patterns as of fnmatch(3), ended by NULL. */
bool match_text(const char *const *patterns, const char *text);
/* The same for a module: its path, or the last part of it. */
bool match_module(const char *const *patterns, const char *path);
/* Ids, ended by −1. */
bool match_id(const int32_t *ids, int32_t id);

#endif
