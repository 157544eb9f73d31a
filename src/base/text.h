/* Small helpers on text: numbers as people read them, escaping, UTF-8. */
#ifndef WICK_BASE_TEXT_H
#define WICK_BASE_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* 1234567 → "1,234,567" */
void text_grouped(struct buf *out, int64_t value);
/* A number with its noun: (1, "sample", "samples") → "1 sample", (1234, …) → "1,234 samples" */
void text_count(struct buf *out, uint64_t count, const char *one, const char *many);
/* 1536 → "1.5 KB" (powers of 1000) */
void text_bytes(struct buf *out, uint64_t bytes);
/* An integer in units of 10^-decimals as a decimal number without trailing zeros: (125, 1) → "12.5" */
void text_decimal(struct buf *out, int64_t value, unsigned decimals);
/* The same with grouped thousands. */
void text_decimal_grouped(struct buf *out, int64_t value, unsigned decimals);

/*
 * Decodes one UTF-8 sequence at `bytes` (of `count` ≥ 1 left), stores its code point and returns its length. Overlong,
 * surrogate, truncated and stray bytes give U+FFFD and length 1.
 */
size_t text_utf8(const char *bytes, size_t count, uint32_t *code_point);

/* How many bytes at the start are ASCII that neither XML nor JSON has to escape. Names are little else. */
size_t text_plain(const char *bytes, size_t count);

/* Escaped for XML text and attributes; what XML 1.0 cannot hold and broken UTF-8 become U+FFFD. */
void text_xml(struct buf *out, const char *bytes, size_t count);
/* A JSON string with its quotes; broken UTF-8 becomes U+FFFD. Safe inside a CDATA section and <script>. */
void text_json(struct buf *out, const char *bytes, size_t count);
/*
 * A CSV field, quoted when it must be; control characters and broken UTF-8 become U+FFFD. What a spreadsheet would take
 * for a formula gets an apostrophe in front.
 */
void text_csv(struct buf *out, const char *bytes, size_t count);
/* In place, for names in lines of text: control characters become spaces, so that a name cannot begin a new line. */
void text_one_line(char *bytes, size_t count);
/* The same for a frame of a folded stack, which ';' separates from the next: it becomes ':'. */
void text_one_frame(char *bytes, size_t count);
/* For terminals: control characters and broken UTF-8 become U+FFFD or "?", so that names cannot drive the terminal. */
void text_terminal(struct buf *out, const char *bytes, size_t count);
/* Columns that the text takes on a terminal (one per code point; combining marks and wide characters by wcwidth). */
size_t text_columns(const char *bytes, size_t count);

/* Edit distance with adjacent swaps, for "did you mean". */
unsigned text_distance(const char *a, const char *b);

#endif
