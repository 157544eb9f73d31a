/* Decompresses the zstd stream of COMPRESSED records. */
#include "perfdata/unpack.h"

#include <zstd.h>

/*
 * Stacks full of zeros shrink a hundred times; what grows more than this is made to keep a reader busy. perf's ring
 * buffers, and so its windows, are far below 128 MB.
 */
#define RATIO_MAX 4096
#define ALWAYS_ALLOWED (16u << 20)
#define WINDOW_LOG_MAX 27

void unpack_release(struct unpack *unpack)
{
	ZSTD_freeDStream(unpack->zstd);
	*unpack = (struct unpack){0};
}

bool unpack_some(struct unpack *unpack, struct unpack_input *input, uint8_t *out, size_t room, size_t *ret_count)
{
	if (!unpack->zstd) {
		unpack->zstd = ZSTD_createDStream();
		if (!unpack->zstd)
			return false;
		ZSTD_DCtx_setParameter(unpack->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	}
	ZSTD_inBuffer in = {input->bytes, input->size, input->at};
	ZSTD_outBuffer result = {out, room, 0};
	while (result.pos < room) {
		size_t in_before = in.pos, out_before = result.pos;
		if (ZSTD_isError(ZSTD_decompressStream(unpack->zstd, &result, &in)))
			return false;
		/* With its input used up it may still hold bytes back: only no progress at all is the end. */
		if (in.pos == in_before && result.pos == out_before)
			break;
	}
	unpack->taken += in.pos - input->at;
	unpack->given += result.pos;
	input->at = in.pos;
	*ret_count = result.pos;
	return unpack->given <= ALWAYS_ALLOWED + unpack->taken * RATIO_MAX;
}
