/* Pieces of JSON that several outputs share. */
#ifndef WICK_RENDER_JSON_H
#define WICK_RENDER_JSON_H

#include "profile/profile.h"

/* A string; NULL gives null. */
void json_text(struct buf *out, const char *text);
/* The same, but null when it is empty: what is not known. */
void json_known(struct buf *out, const char *text);
/* A number with at most `digits` digits behind the point; what is no number gives null. */
void json_number(struct buf *out, double value, unsigned digits);
/* What the recording extends over and the quality counters as objects; docs/json.md. */
void json_extent(struct buf *out, const struct extent *extent);
void json_quality(struct buf *out, const struct profile *profile);
/* ["a", "b"] of a NULL-terminated list. */
void json_texts(struct buf *out, const char *const *texts);

#endif
