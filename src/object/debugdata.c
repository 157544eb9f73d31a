/* Decompresses .gnu_debugdata within a size limit and opens it as an ELF file. */
#include "object/debugdata.h"

#include "base/mem.h"

#include <lzma.h>

/* A symbol table shrinks about four times; what claims more than this is a bomb. */
#define UNPACKED_FACTOR 64
#define UNPACKED_SPARE ((size_t)16 << 20)
#define UNPACKED_MAX ((size_t)1 << 30)
#define DECODER_MEMORY ((uint64_t)128 << 20)

struct unpacking {
	uint8_t *bytes;
	size_t size, capacity, max;
};

static bool make_room(struct unpacking *unpacking)
{
	if (unpacking->capacity >= unpacking->max)
		return false;
	size_t capacity = unpacking->capacity ? 2 * unpacking->capacity : 256 * 1024;
	unpacking->capacity = capacity < unpacking->max ? capacity : unpacking->max;
	unpacking->bytes = mem_realloc(unpacking->bytes, unpacking->capacity, 1);
	return true;
}

static bool unpack(struct unpacking *unpacking, const uint8_t *packed, size_t size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&stream, DECODER_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
		return false;
	stream.next_in = packed;
	stream.avail_in = size;
	lzma_ret result = LZMA_OK;
	while (result == LZMA_OK) {
		if (unpacking->size == unpacking->capacity && !make_room(unpacking))
			break;
		stream.next_out = unpacking->bytes + unpacking->size;
		stream.avail_out = unpacking->capacity - unpacking->size;
		result = lzma_code(&stream, LZMA_FINISH);
		unpacking->size = unpacking->capacity - stream.avail_out;
	}
	lzma_end(&stream);
	return result == LZMA_STREAM_END;
}

int debugdata_open(struct debugdata *ret_data, struct elf_file *elf, struct err *err)
{
	struct elf_section section;
	if (!elf_section(elf, ".gnu_debugdata", &section) || !section.data)
		return err_set(err, ERR_EMPTY, "the file has no .gnu_debugdata");
	struct unpacking unpacking = {.max = UNPACKED_MAX};
	if (section.size < (UNPACKED_MAX - UNPACKED_SPARE) / UNPACKED_FACTOR)
		unpacking.max = UNPACKED_SPARE + UNPACKED_FACTOR * section.size;
	if (!unpack(&unpacking, section.data, section.size)) {
		free(unpacking.bytes);
		return err_set(err, ERR_FORMAT, ".gnu_debugdata is damaged");
	}
	struct debugdata data = {.bytes = unpacking.bytes};
	int code = elf_open_bytes(&data.elf, unpacking.bytes, unpacking.size, err);
	if (code) {
		free(unpacking.bytes);
		return code;
	}
	*ret_data = data;
	return 0;
}

void debugdata_release(struct debugdata *data)
{
	elf_close(data->elf);
	free(data->bytes);
	*data = (struct debugdata){0};
}
