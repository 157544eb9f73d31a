/* Addresses of an ELF file: which offset is loaded where, by the PT_LOAD segments. */
#include "object/elf_file.h"

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

bool elf_offset_of_address(const struct elf_file *elf, uint64_t address, uint64_t *ret_offset)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz)
			continue;
		*ret_offset = segment->p_offset + (address - segment->p_vaddr);
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
	uint64_t max = 0;
	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];
		uint64_t bytes = segment->p_flags & PF_X ? bytes_of_segment(segment, offset, size) : 0;
		if (bytes > max) {
			max = bytes;
			*ret_shift = segment->p_vaddr - segment->p_offset;
		}
	}
	uint64_t address;
	if (!max && elf_address_of_offset(elf, offset, &address)) {
		max = 1;
		*ret_shift = address - offset;
	}
	return max != 0;
}

const uint8_t *elf_bytes_at(const struct elf_file *elf, uint64_t address, size_t *ret_size)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];
		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz ||
		    !elf_range_in_file(elf, segment->p_offset, segment->p_filesz))
			continue;
		uint64_t offset = address - segment->p_vaddr;
		*ret_size = segment->p_filesz - offset;
		return elf->bytes + segment->p_offset + offset;
	}
	return NULL;
}
