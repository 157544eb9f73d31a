#include "object/elf.h"

#include "base/guarded_map.h"
#include "base/mem.h"
#include "base/regular_file.h"
#include "object/cache.h"
#include "object/elf32.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
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

bool elf_is_narrow(const struct elf_file *elf)
{
	return elf->header.e_ident[EI_CLASS] == ELFCLASS32;
}

static bool range_in_file(const struct elf_file *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->size && size <= elf->size - offset;
}

/* Copies `count` entries of `wanted` bytes that lie `entry_size` apart. NULL when they are not all in the file. */
static void *copy_table(const struct elf_file *elf, uint64_t offset, uint64_t count, size_t entry_size, size_t wanted)
{
	if (!count || entry_size < wanted || count > elf->size / entry_size ||
	    !range_in_file(elf, offset, count * entry_size))
		return NULL;
	uint8_t *table = mem_zalloc(count, wanted);
	for (size_t i = 0; i < count; i++)
		memcpy(table + i * wanted, elf->bytes + offset + i * entry_size, wanted);
	return table;
}

/* Where counts do not fit the header's 16 bits they are in section 0. */
static bool first_section(const struct elf_file *elf, Elf64_Shdr *ret_section)
{
	const Elf64_Ehdr *header = &elf->header;
	size_t size = elf_is_narrow(elf) ? sizeof(Elf32_Shdr) : sizeof *ret_section;
	if (!header->e_shoff || header->e_shentsize < size || !range_in_file(elf, header->e_shoff, size))
		return false;
	if (elf_is_narrow(elf)) {
		Elf32_Shdr narrow;
		memcpy(&narrow, elf->bytes + header->e_shoff, sizeof narrow);
		*ret_section = elf32_section(&narrow);
		return true;
	}
	memcpy(ret_section, elf->bytes + header->e_shoff, sizeof *ret_section);
	return true;
}

static void read_segments(struct elf_file *elf)
{
	const Elf64_Ehdr *header = &elf->header;
	uint64_t count = header->e_phnum;
	Elf64_Shdr first;
	if (count == PN_XNUM && first_section(elf, &first))
		count = first.sh_info;
	if (elf_is_narrow(elf))
		elf->segments = elf32_segments(
			copy_table(elf, header->e_phoff, count, header->e_phentsize, sizeof(Elf32_Phdr)), count);
	else
		elf->segments = copy_table(elf, header->e_phoff, count, header->e_phentsize, sizeof *elf->segments);
	elf->segment_count = elf->segments ? count : 0;
}

static void read_sections(struct elf_file *elf)
{
	const Elf64_Ehdr *header = &elf->header;
	Elf64_Shdr first;
	if (!first_section(elf, &first))
		return;
	uint64_t count = header->e_shnum ? header->e_shnum : first.sh_size;
	if (elf_is_narrow(elf))
		elf->sections = elf32_sections(
			copy_table(elf, header->e_shoff, count, header->e_shentsize, sizeof(Elf32_Shdr)), count);
	else
		elf->sections = copy_table(elf, header->e_shoff, count, header->e_shentsize, sizeof *elf->sections);
	if (!elf->sections)
		return;
	elf->section_count = count;
	elf->unpacked = mem_zalloc(count, sizeof *elf->unpacked);
	uint32_t names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
	if (!names || names >= count)
		return;
	const Elf64_Shdr *section = &elf->sections[names];
	if (section->sh_type == SHT_NOBITS || !range_in_file(elf, section->sh_offset, section->sh_size))
		return;
	elf->names = (const char *)elf->bytes + section->sh_offset;
	elf->names_size = section->sh_size;
}

static bool header_is_read(const Elf64_Ehdr *header)
{
	const unsigned char *ident = header->e_ident;
	return !memcmp(ident, ELFMAG, SELFMAG) && (ident[EI_CLASS] == ELFCLASS64 || ident[EI_CLASS] == ELFCLASS32) &&
	       ident[EI_DATA] == ELFDATA2LSB && ident[EI_VERSION] == EV_CURRENT;
}

static int open_bytes(struct elf_file **ret_elf, const void *bytes, size_t size, const char *name, struct err *err)
{
	Elf64_Ehdr header;
	if (size < sizeof header)
		return err_set(err, ERR_FORMAT, "%s: not an ELF file (%zu bytes)", name, size);
	memcpy(&header, bytes, sizeof header);
	if (!header_is_read(&header)) {
		bool elf = !memcmp(header.e_ident, ELFMAG, SELFMAG);
		return err_set(err, elf ? ERR_UNSUPPORTED : ERR_FORMAT, "%s: %s", name,
			       elf ? "not a little-endian ELF file" : "not an ELF file");
	}
	if (header.e_ident[EI_CLASS] == ELFCLASS32) {
		Elf32_Ehdr narrow;
		memcpy(&narrow, bytes, sizeof narrow);
		header = elf32_header(&narrow);
	}
	struct elf_file *elf = mem_zalloc(1, sizeof *elf);
	elf->bytes = bytes;
	elf->size = size;
	elf->header = header;
	pthread_mutex_init(&elf->lock, NULL);
	pthread_cond_init(&elf->unpacking_ended, NULL);
	read_segments(elf);
	read_sections(elf);
	*ret_elf = elf;
	return 0;
}

int elf_open_bytes(struct elf_file **ret_elf, const void *bytes, size_t size, struct err *err)
{
	return open_bytes(ret_elf, bytes, size, "image in memory", err);
}

int elf_open(struct elf_file **ret_elf, const char *path, struct err *err)
{
	/* A mapping can name anything, a FIFO or a device too. */
	struct stat status;
	int fd = regular_file_open(path, true, &status);
	if (fd == -ENOTSUP)
		return err_set(err, ERR_FORMAT, "%s: not a regular file", path);
	if (fd < 0)
		return err_set(err, ERR_OPEN, "%s: %s", path, strerror(-fd));
	size_t size = (size_t)status.st_size;
	if (size < sizeof(Elf64_Ehdr)) {
		close(fd);
		return err_set(err, ERR_FORMAT, "%s: not an ELF file (%zu bytes)", path, size);
	}
	struct guarded_map map;
	int error = guarded_map_open(&map, fd, size);
	close(fd);
	if (error)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(-error));
	int code = open_bytes(ret_elf, map.bytes, size, path, err);
	if (code) {
		guarded_map_close(&map);
		return code;
	}
	struct elf_file *elf = *ret_elf;
	elf->map = map;
	elf->path = mem_strdup(path);
	elf->identity = file_identity_of(&status);
	elf->writer = file_writer_of(&status);
	return 0;
}

bool elf_changed(const struct elf_file *elf)
{
	struct stat status;
	if (!elf->path)
		return false;
	if (guarded_map_lost_bytes(&elf->map))
		return true;
	/* One that took its place does not matter: what is mapped is still there. */
	if (stat(elf->path, &status))
		return false;
	struct file_identity now = file_identity_of(&status);
	return now.device == elf->identity.device && now.inode == elf->identity.inode &&
	       (now.size != elf->identity.size || now.modified != elf->identity.modified ||
		now.modified_ns != elf->identity.modified_ns);
}

const struct file_identity *elf_identity(const struct elf_file *elf)
{
	return elf->path ? &elf->identity : NULL;
}

int64_t elf_writer(const struct elf_file *elf)
{
	return elf->path ? elf->writer : FILE_TRUSTED;
}

void elf_close(struct elf_file *elf)
{
	if (!elf)
		return;
	for (size_t i = 0; i < elf->section_count; i++) {
		if (elf->unpacked[i].kept.mapped)
			cache_bytes_release(&elf->unpacked[i].kept);
		else
			free(elf->unpacked[i].data);
	}
	free(elf->unpacked);
	free(elf->sections);
	free(elf->segments);
	pthread_mutex_destroy(&elf->lock);
	pthread_cond_destroy(&elf->unpacking_ended);
	guarded_map_close(&elf->map);
	free(elf->path);
	free(elf);
}

void elf_forget_pages(struct elf_file *elf)
{
	if (elf->path)
		madvise((void *)elf->bytes, elf->size, MADV_DONTNEED);
}

void elf_set_cache(struct elf_file *elf, struct cache *cache)
{
	elf->cache = cache;
}

const Elf64_Ehdr *elf_header(const struct elf_file *elf)
{
	return &elf->header;
}

size_t elf_segment_count(const struct elf_file *elf)
{
	return elf->segment_count;
}

const Elf64_Phdr *elf_segment(const struct elf_file *elf, size_t index)
{
	return index < elf->segment_count ? &elf->segments[index] : NULL;
}

size_t elf_section_count(const struct elf_file *elf)
{
	return elf->section_count;
}

const Elf64_Shdr *elf_section_header(const struct elf_file *elf, size_t index)
{
	return index < elf->section_count ? &elf->sections[index] : NULL;
}

/* "" for names that leave the table. */
static const char *section_name(const struct elf_file *elf, size_t index)
{
	uint32_t at = elf->sections[index].sh_name;
	if (at >= elf->names_size || !memchr(elf->names + at, '\0', elf->names_size - at))
		return "";
	return elf->names + at;
}

/* --- decompression --- */

enum packing { PACKED_NOT, PACKED_ZLIB, PACKED_ZSTD, PACKED_UNKNOWN };

struct packed {
	enum packing packing;
	const uint8_t *data; /* after the header */
	size_t size;
	uint64_t unpacked_size;
};

static bool is_zdebug(const char *name)
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
	} else if (is_zdebug(section_name(elf, index)) && packed.size >= ZDEBUG_HEADER &&
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
	uint64_t most = INFLATE_SPARE + INFLATE_FACTOR * (uint64_t)elf->size;
	if (most > INFLATE_MAX)
		most = INFLATE_MAX;
	return packed->packing != PACKED_UNKNOWN && packed->unpacked_size <= most - elf->unpacked_total &&
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

/* --- sections --- */

bool elf_section_at(struct elf_file *elf, size_t index, struct elf_section *ret_section)
{
	if (!index || index >= elf->section_count)
		return false;
	const Elf64_Shdr *header = &elf->sections[index];
	struct elf_section section = {
		.name = section_name(elf, index),
		.size = header->sh_size,
		.address = header->sh_flags & SHF_ALLOC ? header->sh_addr : 0,
		.type = header->sh_type,
		.link = header->sh_link,
		.flags = header->sh_flags,
		.entry_size = header->sh_entsize,
	};
	if (header->sh_type != SHT_NOBITS && header->sh_type != SHT_NULL) {
		if (!range_in_file(elf, header->sh_offset, header->sh_size))
			return false;
		struct packed packed = packed_bytes(elf, index);
		if (packed.packing != PACKED_NOT) {
			struct unpacked unpacked = unpacked_section(elf, index, &packed);
			if (unpacked.state != UNPACK_DONE)
				return false;
			section.data = unpacked.data;
			section.size = unpacked.size;
		} else {
			section.data = packed.data;
		}
		if (!section.size)
			section.data = NULL;
	}
	*ret_section = section;
	return true;
}

/* .zdebug_info is what .debug_info was called when compressed before SHF_COMPRESSED existed. */
static bool name_matches(const char *name, const char *wanted)
{
	return !strcmp(name, wanted) ||
	       (is_zdebug(name) && !strncmp(wanted, ".debug_", 7) && !strcmp(name + 8, wanted + 7));
}

size_t elf_section_index(const struct elf_file *elf, const char *name)
{
	for (size_t i = 1; i < elf->section_count; i++)
		if (name_matches(section_name(elf, i), name))
			return i;
	return 0;
}

bool elf_section(struct elf_file *elf, const char *name, struct elf_section *ret_section)
{
	return elf_section_at(elf, elf_section_index(elf, name), ret_section);
}

/* --- build-id --- */

struct build_id elf_build_id(struct elf_file *elf)
{
	struct build_id id = {0};
	for (size_t i = 0; i < elf->segment_count && !id.size; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];
		if (segment->p_type == PT_NOTE && range_in_file(elf, segment->p_offset, segment->p_filesz))
			id = build_id_from_notes(elf->bytes + segment->p_offset, segment->p_filesz, segment->p_align);
	}
	/* Debug files keep the segments of the file they were split from, with offsets that mean nothing in them. */
	for (size_t i = 1; i < elf->section_count && !id.size; i++) {
		const Elf64_Shdr *section = &elf->sections[i];
		if (section->sh_type == SHT_NOTE && !(section->sh_flags & SHF_COMPRESSED) &&
		    range_in_file(elf, section->sh_offset, section->sh_size))
			id = build_id_from_notes(elf->bytes + section->sh_offset, section->sh_size,
						 section->sh_addralign);
	}
	return id;
}

uint32_t elf_crc(const struct elf_file *elf)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), elf->bytes, elf->size);
}

/* --- addresses --- */

static bool address_in_segment(const Elf64_Phdr *segment, uint64_t offset, uint64_t *ret_address)
{
	if (segment->p_type != PT_LOAD || offset < segment->p_offset || offset - segment->p_offset >= segment->p_filesz)
		return false;
	*ret_address = segment->p_vaddr + (offset - segment->p_offset);
	return true;
}

bool elf_address_of_offset(const struct elf_file *elf, uint64_t offset, uint64_t *ret_address)
{
	/* A page of the file can be mapped by two segments; those who ask want code. */
	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].p_flags & PF_X && address_in_segment(&elf->segments[i], offset, ret_address))
			return true;
	for (size_t i = 0; i < elf->segment_count; i++)
		if (address_in_segment(&elf->segments[i], offset, ret_address))
			return true;
	/* The kernel maps whole pages: the rest of the first and last page is there too. */
	for (size_t i = 0; i < elf->segment_count; i++) {
		Elf64_Phdr pages = elf->segments[i];
		uint64_t lead = pages.p_offset & 0xfff;
		if (!(pages.p_flags & PF_X) || pages.p_filesz > elf->size)
			continue;
		pages.p_offset -= lead;
		pages.p_vaddr -= lead;
		pages.p_filesz = (pages.p_filesz + lead + 0xfff) & ~(uint64_t)0xfff;
		if (address_in_segment(&pages, offset, ret_address))
			return true;
	}
	return false;
}

/* How many bytes of `size` at `offset` of the file belong to the segment. */
static uint64_t bytes_of_segment(const Elf64_Phdr *segment, uint64_t offset, uint64_t size)
{
	uint64_t end = offset + size < offset ? UINT64_MAX : offset + size;
	uint64_t segment_end = segment->p_offset + segment->p_filesz;
	if (segment->p_type != PT_LOAD || segment_end < segment->p_offset)
		return 0;
	uint64_t from = offset > segment->p_offset ? offset : segment->p_offset;
	uint64_t to = end < segment_end ? end : segment_end;
	return from < to ? to - from : 0;
}

bool elf_mapping_shift(const struct elf_file *elf, uint64_t offset, uint64_t size, uint64_t *ret_shift)
{
	uint64_t most = 0;
	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];
		uint64_t bytes = segment->p_flags & PF_X ? bytes_of_segment(segment, offset, size) : 0;
		if (bytes > most) {
			most = bytes;
			*ret_shift = segment->p_vaddr - segment->p_offset;
		}
	}
	uint64_t address;
	if (!most && elf_address_of_offset(elf, offset, &address)) {
		most = 1;
		*ret_shift = address - offset;
	}
	return most != 0;
}

const uint8_t *elf_bytes_at(const struct elf_file *elf, uint64_t address, size_t *ret_size)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];
		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz ||
		    !range_in_file(elf, segment->p_offset, segment->p_filesz))
			continue;
		uint64_t offset = address - segment->p_vaddr;
		*ret_size = segment->p_filesz - offset;
		return elf->bytes + segment->p_offset + offset;
	}
	return NULL;
}
