/*
 * The open ELF file, for the files that implement elf.h: elf.c reads headers and sections, elf_unpack.c decompresses
 * sections, elf_address.c converts between offsets and addresses.
 */
#ifndef WICK_OBJECT_ELF_FILE_H
#define WICK_OBJECT_ELF_FILE_H

#include "base/guarded_map.h"
#include "object/cache.h"
#include "object/elf.h"

#include <pthread.h>

enum unpack_state { UNPACK_NEW, UNPACK_BUSY, UNPACK_DONE, UNPACK_DAMAGED };

struct unpacked {
	enum unpack_state state;
	uint8_t *data;
	size_t size;
	struct cache_bytes kept; /* what `data` is of; nothing: it is allocated */
};

struct elf_file {
	const uint8_t *bytes;
	size_t size;
	struct guarded_map map; /* empty: bytes of the caller's */
	char *path; /* of what is mapped, as are: */
	struct file_identity identity;
	int64_t writer;
	Elf64_Ehdr header;
	/* Copies: the file may place its tables at any alignment. */
	Elf64_Phdr *segments;
	size_t segment_count;
	Elf64_Shdr *sections;
	size_t section_count;
	const char *names; /* of sections; NULL: none */
	size_t names_size;
	struct cache *cache; /* NULL: none */
	pthread_mutex_t lock; /* of everything below */
	pthread_cond_t unpacking_ended;
	struct unpacked *unpacked; /* by section */
	uint64_t unpacked_total;
};

static inline bool elf_range_in_file(const struct elf_file *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->size && size <= elf->size - offset;
}

/* "" for names that leave the table. */
const char *elf_section_name(const struct elf_file *elf, size_t index);

/* Whether it is a name of the old kind of compressed sections: .zdebug_info is a compressed .debug_info. */
bool elf_name_is_zdebug(const char *name);
/*
 * The bytes of a section that has bytes, all of them in the file; decompressed if the file has them compressed. False
 * if they are damaged, or more than the file may decompress to. Thread-safe.
 */
bool elf_unpack_section(struct elf_file *elf, size_t index, const uint8_t **ret_data, size_t *ret_size);
/* Releases what was decompressed. */
void elf_unpack_release(struct elf_file *elf);

#endif
