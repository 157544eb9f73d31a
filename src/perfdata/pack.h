/* The other direction of unpack.h: records into one zstd stream, cut into COMPRESSED records. */
#ifndef WICK_PERFDATA_PACK_H
#define WICK_PERFDATA_PACK_H

#include "base/buf.h"

#include <stdbool.h>

#define PACK_LEVEL 1
#define PACK_BATCH ((size_t)256 << 10) /* plain bytes that are compressed together */
/* What a reader needs room for: a batch, and the part of a record that was left of the one before. */
#define PACK_WINDOW (2 * PACK_BATCH)

struct pack {
	void *zstd; /* NULL: does not compress */
	struct buf plain; /* of the batch that is being filled */
};

/* False when there is no memory for it. */
bool pack_init(struct pack *pack);
void pack_release(struct pack *pack);

/* Compresses the batch and appends its COMPRESSED records; the batch is empty then. False: zstd failed. */
bool pack_flush(struct pack *pack, struct buf *out);

#endif
