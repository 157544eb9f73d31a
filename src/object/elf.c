/* Headers, segments and sections of an ELF file, and its build ID. */
#include "object/elf.h"

#include "base/mem.h"
#include "base/regular_file.h"
#include "object/elf32.h"
#include "object/elf_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

bool elf_is_narrow(const struct elf_file *elf)
{
	return elf->header.e_ident[EI_CLASS] == ELFCLASS32;
}

/* Copies `count` entries of `wanted` bytes that lie `entry_size` apart. NULL when they are not all in the file. */
static void *copy_table(const struct elf_file *elf, uint64_t offset, uint64_t count, size_t entry_size, size_t wanted)
{
	if (!count || entry_size < wanted || count > elf->size / entry_size ||
	    !elf_range_in_file(elf, offset, count * entry_size))
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
	if (!header->e_shoff || header->e_shentsize < size || !elf_range_in_file(elf, header->e_shoff, size))
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
	if (section->sh_type == SHT_NOBITS || !elf_range_in_file(elf, section->sh_offset, section->sh_size))
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
	elf_unpack_release(elf);
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

/* --- sections --- */

/* "" for names that leave the table. */
const char *elf_section_name(const struct elf_file *elf, size_t index)
{
	uint32_t at = elf->sections[index].sh_name;
	if (at >= elf->names_size || !memchr(elf->names + at, '\0', elf->names_size - at))
		return "";
	return elf->names + at;
}

bool elf_section_at(struct elf_file *elf, size_t index, struct elf_section *ret_section)
{
	if (!index || index >= elf->section_count)
		return false;
	const Elf64_Shdr *header = &elf->sections[index];
	struct elf_section section = {
		.name = elf_section_name(elf, index),
		.size = header->sh_size,
		.address = header->sh_flags & SHF_ALLOC ? header->sh_addr : 0,
		.type = header->sh_type,
		.link = header->sh_link,
		.flags = header->sh_flags,
		.entry_size = header->sh_entsize,
	};
	if (header->sh_type != SHT_NOBITS && header->sh_type != SHT_NULL) {
		if (!elf_range_in_file(elf, header->sh_offset, header->sh_size) ||
		    !elf_unpack_section(elf, index, &section.data, &section.size))
			return false;
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
	       (elf_name_is_zdebug(name) && !strncmp(wanted, ".debug_", 7) && !strcmp(name + 8, wanted + 7));
}

size_t elf_section_index(const struct elf_file *elf, const char *name)
{
	for (size_t i = 1; i < elf->section_count; i++)
		if (name_matches(elf_section_name(elf, i), name))
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
		if (segment->p_type == PT_NOTE && elf_range_in_file(elf, segment->p_offset, segment->p_filesz))
			id = build_id_from_notes(elf->bytes + segment->p_offset, segment->p_filesz, segment->p_align);
	}
	/* Debug files keep the segments of the file they were split from, with offsets that mean nothing in them. */
	for (size_t i = 1; i < elf->section_count && !id.size; i++) {
		const Elf64_Shdr *section = &elf->sections[i];
		if (section->sh_type == SHT_NOTE && !(section->sh_flags & SHF_COMPRESSED) &&
		    elf_range_in_file(elf, section->sh_offset, section->sh_size))
			id = build_id_from_notes(elf->bytes + section->sh_offset, section->sh_size,
						 section->sh_addralign);
	}
	return id;
}

uint32_t elf_crc(const struct elf_file *elf)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), elf->bytes, elf->size);
}
