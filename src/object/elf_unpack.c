/* Decompression of the sections of an ELF file, once for all threads; large ones are kept in the cache. */
#include "base/mem.h"
#include "object/elf_file.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/*
 * What decompression may make of a file: hostile headers can claim any size, and many headers can name the same bytes.
 * Debug sections shrink 3 to 20 times, so that 64 times plus some is never reached by honest ones.
 */
#define INFLATE_FACTOR 64
#define INFLATE_SPARE ((uint64_t)64 << 20)
#define INFLATE_MAX ((uint64_t)8 << 30)

#define KEPT_MIN (1u << 19) /* smaller sections are unpacked as fast as they are looked for */

#define ZDEBUG_HEADER 12 /* "ZLIB" and the size as a big-endian 64-bit number */

enum packing { PACKED_NOT, PACKED_ZLIB, PACKED_ZSTD, PACKED_UNKNOWN };

struct packed {
	enum packing packing;
	const uint8_t *data; /* after the header */
	size_t size;
	uint64_t unpacked_size;
};

bool elf_name_is_zdebug(const char *name)
{
	return !strncmp(name, ".zdebug_", 8);
}

static struct packed packed_bytes(const struct elf_file *elf, size_t index)
{
	const Elf64_Shdr *section = &elf->sections[index];
	struct packed packed = {PACKED_NOT, elf->bytes + section->sh_offset, section->sh_size, 0};
	if (section->sh_flags & SHF_COMPRESSED) {
		Elf64_Chdr header;
		Elf32_Chdr narrow;
		size_t size = elf_is_narrow(elf) ? sizeof narrow : sizeof header;
		packed.packing = PACKED_UNKNOWN;
		if (packed.size < size)
			return packed;
		if (elf_is_narrow(elf)) {
			memcpy(&narrow, packed.data, sizeof narrow);
			header = (Elf64_Chdr){.ch_type = narrow.ch_type, .ch_size = narrow.ch_size};
		} else {
			memcpy(&header, packed.data, sizeof header);
		}
		packed.data += size;
		packed.size -= size;
		packed.unpacked_size = header.ch_size;
		if (header.ch_type == ELFCOMPRESS_ZLIB)
			packed.packing = PACKED_ZLIB;
		else if (header.ch_type == 2) /* ELFCOMPRESS_ZSTD, which older <elf.h> lack */
			packed.packing = PACKED_ZSTD;
	} else if (elf_name_is_zdebug(elf_section_name(elf, index)) && packed.size >= ZDEBUG_HEADER &&
		   !memcmp(packed.data, "ZLIB", 4)) {
		packed.packing = PACKED_ZLIB;
		for (int i = 4; i < ZDEBUG_HEADER; i++)
			packed.unpacked_size = packed.unpacked_size << 8 | packed.data[i];
		packed.data += ZDEBUG_HEADER;
		packed.size -= ZDEBUG_HEADER;
	}
	return packed;
}

static bool inflate_all(const struct packed *packed, uint8_t *out)
{
	z_stream stream = {0};
	if (inflateInit(&stream) != Z_OK)
		return false;
	size_t in_left = packed->size, out_left = packed->unpacked_size;
	stream.next_in = (uint8_t *)packed->data;
	stream.next_out = out;
	int result;
	do {
		/* Both counters of zlib are 32-bit. */
		uInt in = in_left > 1u << 30 ? 1u << 30 : (uInt)in_left;
		uInt room = out_left > 1u << 30 ? 1u << 30 : (uInt)out_left;
		stream.avail_in = in;
		stream.avail_out = room;
		result = inflate(&stream, Z_NO_FLUSH);
		if (stream.avail_in == in && stream.avail_out == room && result == Z_OK)
			break;
		in_left -= in - stream.avail_in;
		out_left -= room - stream.avail_out;
	} while (result == Z_OK);
	inflateEnd(&stream);
	return result == Z_STREAM_END && !out_left;
}

/* NULL when the bytes are damaged. */
static uint8_t *unpack(const struct packed *packed)
{
	if (!mem_has_room(packed->unpacked_size))
		return NULL;
	uint8_t *out = malloc(packed->unpacked_size ? packed->unpacked_size : 1);
	if (!out)
		return NULL;
	bool fine = false;
	if (packed->packing == PACKED_ZLIB)
		fine = inflate_all(packed, out);
	else if (packed->packing == PACKED_ZSTD)
		fine = ZSTD_decompress(out, packed->unpacked_size, packed->data, packed->size) == packed->unpacked_size;
	if (!fine) {
		free(out);
		return NULL;
	}
	return out;
}

/*
 * Debug files of distributions are compressed, and unpacking the C library's alone takes longer than the rest of naming
 * a short recording.
 */
static void unpack_or_get(struct elf_file *elf, size_t index, const struct packed *packed,
			  struct unpacked *ret_unpacked)
{
	struct unpacked unpacked = {.size = packed->unpacked_size};
	struct build_id id = {0};
	char kind[32];
	bool kept = elf->cache && elf->path && unpacked.size >= KEPT_MIN;
	if (kept) {
		id = elf_build_id(elf);
		snprintf(kind, sizeof kind, "section-%zu", index);
	}
	if (kept && cache_get(elf->cache, &id, &elf->identity, kind, &unpacked.kept)) {
		if (unpacked.kept.size == unpacked.size)
			unpacked.data = (uint8_t *)unpacked.kept.bytes;
		else
			cache_bytes_release(&unpacked.kept);
	}
	if (!unpacked.data) {
		unpacked.data = unpack(packed);
		if (unpacked.data && kept)
			cache_put(elf->cache, &id, &elf->identity, kind, unpacked.data, unpacked.size);
	}
	unpacked.state = unpacked.data ? UNPACK_DONE : UNPACK_DAMAGED;
	*ret_unpacked = unpacked;
}

static bool unpack_is_allowed(const struct elf_file *elf, const struct packed *packed)
{
	uint64_t max = INFLATE_SPARE + INFLATE_FACTOR * (uint64_t)elf->size;
	if (max > INFLATE_MAX)
		max = INFLATE_MAX;
	return packed->packing != PACKED_UNKNOWN && packed->unpacked_size <= max - elf->unpacked_total &&
	       packed->unpacked_size <= INFLATE_SPARE + INFLATE_FACTOR * (uint64_t)packed->size;
}

/* Two threads may want two sections at once; only those that want the same one wait for each other. */
static struct unpacked unpacked_section(struct elf_file *elf, size_t index, const struct packed *packed)
{
	struct unpacked *unpacked = &elf->unpacked[index];
	pthread_mutex_lock(&elf->lock);
	while (unpacked->state == UNPACK_BUSY)
		pthread_cond_wait(&elf->unpacking_ended, &elf->lock);
	if (unpacked->state == UNPACK_NEW && !unpack_is_allowed(elf, packed))
		unpacked->state = UNPACK_DAMAGED;
	if (unpacked->state == UNPACK_NEW) {
		unpacked->state = UNPACK_BUSY;
		elf->unpacked_total += packed->unpacked_size;
		pthread_mutex_unlock(&elf->lock);
		struct unpacked made;
		unpack_or_get(elf, index, packed, &made);
		pthread_mutex_lock(&elf->lock);
		*unpacked = made;
		pthread_cond_broadcast(&elf->unpacking_ended);
	}
	struct unpacked copy = *unpacked;
	pthread_mutex_unlock(&elf->lock);
	return copy;
}

bool elf_unpack_section(struct elf_file *elf, size_t index, const uint8_t **ret_data, size_t *ret_size)
{
	struct packed packed = packed_bytes(elf, index);
	if (packed.packing == PACKED_NOT) {
		*ret_data = packed.data;
		*ret_size = packed.size;
		return true;
	}
	struct unpacked unpacked = unpacked_section(elf, index, &packed);
	*ret_data = unpacked.data;
	*ret_size = unpacked.size;
	return unpacked.state == UNPACK_DONE;
}

void elf_unpack_release(struct elf_file *elf)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		if (elf->unpacked[i].kept.mapped)
			cache_bytes_release(&elf->unpacked[i].kept);
		else
			free(elf->unpacked[i].data);
	}
	free(elf->unpacked);
}
