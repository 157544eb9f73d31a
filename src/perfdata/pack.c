/* Compresses records with zstd into COMPRESSED records. */
#include "perfdata/pack.h"

#include "perfdata/format.h"

#include <zstd.h>

#define PIECE_MAX (RECORD_SIZE_MAX - 64) /* of a COMPRESSED record, whose size has 16 bits */
#define WINDOW_LOG 20 /* readers keep 1 MiB */

bool pack_init(struct pack *pack)
{
	*pack = (struct pack){.zstd = ZSTD_createCCtx()};
	if (!pack->zstd)
		return false;
	ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_compressionLevel, PACK_LEVEL);
	ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_windowLog, WINDOW_LOG);
	return true;
}

void pack_release(struct pack *pack)
{
	ZSTD_freeCCtx(pack->zstd);
	buf_release(&pack->plain);
}

bool pack_flush(struct pack *pack, struct buf *out)
{
	ZSTD_inBuffer in = {pack->plain.data, pack->plain.size, 0};
	size_t left = pack->plain.size;
	while (left) {
		struct perf_event_header header = {.type = USER_COMPRESSED};
		size_t start = out->size;
		buf_add(out, &header, sizeof header);
		ZSTD_outBuffer piece = {buf_reserve(out, PIECE_MAX), PIECE_MAX, 0};
		left = ZSTD_compressStream2(pack->zstd, &piece, &in, ZSTD_e_flush);
		if (ZSTD_isError(left))
			return false;
		out->size += piece.pos;
		header.size = (uint16_t)(sizeof header + piece.pos);
		memcpy(out->data + start, &header, sizeof header);
	}
	buf_clear(&pack->plain);
	return true;
}
