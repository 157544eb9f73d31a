/* Objects that several JSON outputs have; docs/json.md. */
#ifndef WICK_RENDER_JSON_PARTS_H
#define WICK_RENDER_JSON_PARTS_H

#include "base/json.h"
#include "profile/profile.h"

/* What the recording extends over. */
void json_extent(struct json *json, const char *name, const struct extent *extent);
/* The quality counters. */
void json_quality(struct json *json, const char *name, const struct profile *profile);

#endif
