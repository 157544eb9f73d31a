/* What identifies a build of a file: the bytes of its NT_GNU_BUILD_ID note. */
#ifndef WICK_OBJECT_BUILD_ID_H
#define WICK_OBJECT_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 20

struct build_id {
	uint8_t size; /* 0: none */
	uint8_t bytes[BUILD_ID_MAX];
};

#define BUILD_ID_TEXT (2 * BUILD_ID_MAX + 1)

/* The build-id among ELF notes that are aligned to `align` (8, or anything else for 4); size 0 when there is none. */
struct build_id build_id_from_notes(const void *notes, size_t size, uint64_t align);

/*
 * True when both are there and name the same build. Recordings by old perf versions fill short ones up with zeros, so
 * those at the end do not count.
 */
bool build_id_equal(const struct build_id *a, const struct build_id *b);

/* Lower-case hex digits; returns `text`. */
const char *build_id_text(const struct build_id *id, char text[BUILD_ID_TEXT]);
/* From hex digits; false when it is something else or too long. */
bool build_id_parse(struct build_id *ret_id, const char *text);

#endif
