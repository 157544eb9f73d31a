/* The bytes of an input: a file or standard input, plain or compressed (detected by its first bytes). */
#ifndef WICK_IMPORT_TEXT_INPUT_H
#define WICK_IMPORT_TEXT_INPUT_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct text_input;

struct import_opened;
/*
 * "-" or NULL is standard input. `opened` (NULL: nothing) is what the caller has opened already; it is taken over, also
 * on failure. Directories and unreadable files fail with what to do about them.
 */
int text_input_open(struct text_input **ret_input, const char *path, const struct import_opened *opened,
		    struct err *err);
void text_input_close(struct text_input *input);

/*
 * Up to `size` decompressed bytes; 0 at the end. Negative: a read error, or compressed data that is damaged or cut off;
 * what came before is good.
 */
ssize_t text_input_read(struct text_input *input, char *to, size_t size, struct err *err);

/* The name for messages. */
const char *text_input_name(const struct text_input *input);
/* Bytes of the file as it lies on disk: all (0 when not known) and those read so far. */
uint64_t text_input_size(const struct text_input *input);
uint64_t text_input_consumed(const struct text_input *input);

#endif
