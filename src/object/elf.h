/*
 * An ELF file: its headers, segments, sections (decompressed on demand) and build-id. Every offset and size in
 * the file is checked; a malformed file costs what is malformed and nothing else. Little-endian files of any
 * machine.
 */
#ifndef WICK_OBJECT_ELF_H
#define WICK_OBJECT_ELF_H

#include "base/err.h"
#include "object/build_id.h"
#include "object/file_identity.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a section. Valid as long as the file is open. `address` is 0 for sections that are not loaded. */
struct elf_section {
	const char *name;
	const uint8_t *data; /* NULL when size is 0 or the section has no bytes (NOBITS) */
	size_t size;
	uint64_t address;
	uint32_t type, link;
	uint64_t flags, entry_size;
};

struct elf_file;
struct cache;

/* Maps the file. ERR_FORMAT when it is no ELF file wick reads. */
int elf_open(struct elf_file **ret_elf, const char *path, struct err *err);
/* As elf_open() on bytes of the caller's, which must stay until elf_close() (vDSO images, tests, fuzzers). */
int elf_open_bytes(struct elf_file **ret_elf, const void *bytes, size_t size, struct err *err);
void elf_close(struct elf_file *elf);
/* Its bytes are read from the file again when they are needed: for after all of it was looked through once. */
void elf_forget_pages(struct elf_file *elf);
/* Large sections are kept as decompressed, and taken from there. NULL: not. Must stay until elf_close(). */
void elf_set_cache(struct elf_file *elf, struct cache *cache);

/* Which file it is, for what is kept about it; NULL: bytes in memory. */
const struct file_identity *elf_identity(const struct elf_file *elf);
/* Whether the file was written to since it was opened: what was read of it may be nonsense. */
bool elf_changed(const struct elf_file *elf);
/* As file_writer_of(). */
int64_t elf_writer(const struct elf_file *elf);

const Elf64_Ehdr *elf_header(const struct elf_file *elf);
/* A 32-bit file. Its structures are given as those of a 64-bit one, except for the bytes of sections. */
bool elf_is_narrow(const struct elf_file *elf);
size_t elf_segment_count(const struct elf_file *elf);
const Elf64_Phdr *elf_segment(const struct elf_file *elf, size_t index);
size_t elf_section_count(const struct elf_file *elf);

/*
 * The section of this name, decompressed if need be (SHF_COMPRESSED with zlib or zstd, and the old .zdebug_ names,
 * which are found under .debug_). False when there is none or it is damaged. Thread-safe; decompressed once.
 */
bool elf_section(struct elf_file *elf, const char *name, struct elf_section *ret_section);
/* By index; false when it is out of range or damaged. `name` is as the file has it (.zdebug_ stays .zdebug_). */
bool elf_section_at(struct elf_file *elf, size_t index, struct elf_section *ret_section);
/* As the file has it, nothing checked or decompressed; NULL when the index is out of range. */
const Elf64_Shdr *elf_section_header(const struct elf_file *elf, size_t index);
/* Where elf_section() would look, without decompressing anything; 0: there is none. */
size_t elf_section_index(const struct elf_file *elf, const char *name);

/* From the PT_NOTE segments, else from .note.gnu.build-id. */
struct build_id elf_build_id(struct elf_file *elf);

/* The CRC-32 of all its bytes, which a .gnu_debuglink names. */
uint32_t elf_crc(const struct elf_file *elf);

/* Address in the file's own (virtual) address space of a byte at a file offset, by the PT_LOAD segments. */
bool elf_address_of_offset(const struct elf_file *elf, uint64_t offset, uint64_t *ret_address);
/* The other way round, for code. */
bool elf_offset_of_address(const struct elf_file *elf, uint64_t address, uint64_t *ret_offset);

/*
 * What to add to a file offset to get an address, anywhere in an executable mapping of `size` bytes at `offset`. Where
 * the executable segment does not begin on a page (lld, mold) the first page of the mapping also holds the end of the
 * segment before it, whose addresses differ: so the segment decides that most of the executable bytes belong to.
 */
bool elf_mapping_shift(const struct elf_file *elf, uint64_t offset, uint64_t size, uint64_t *ret_shift);
/* The file's bytes that are loaded at a virtual address, up to the end of their segment; NULL when there are none. */
const uint8_t *elf_bytes_at(const struct elf_file *elf, uint64_t address, size_t *ret_size);

#endif
