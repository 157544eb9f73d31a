/*
 * ELF files for tests, made in memory: sections with bytes and addresses, and one executable segment over `text_size`
 * bytes at `text`. And the bytes of call frame information, entry by entry.
 */
#ifndef WICK_TESTS_ELF_MAKER_H
#define WICK_TESTS_ELF_MAKER_H

#include "base/buf.h"

#include <elf.h>
#include <stdbool.h>

struct elf_maker_section {
	const char *name;
	const void *data;
	size_t size;
	uint64_t address, flags;
};

/* Headers, then the bytes of the sections, their names, and the section headers. */
static inline void elf_make(struct buf *out, uint64_t text, uint64_t text_size,
			    const struct elf_maker_section *sections, size_t count)
{
	struct buf names = {0}, bytes = {0};
	Elf64_Shdr headers[16] = {0};
	size_t data_start = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	buf_char(&names, 0);
	for (size_t i = 0; i < count; i++) {
		headers[i + 1] = (Elf64_Shdr){
			.sh_name = (Elf64_Word)names.size,
			.sh_type = SHT_PROGBITS,
			.sh_flags = sections[i].flags,
			.sh_addr = sections[i].address,
			.sh_offset = data_start + bytes.size,
			.sh_size = sections[i].size,
		};
		buf_add(&names, sections[i].name, strlen(sections[i].name) + 1);
		if (sections[i].size)
			buf_add(&bytes, sections[i].data, sections[i].size);
	}
	headers[count + 1] = (Elf64_Shdr){
		.sh_name = (Elf64_Word)names.size,
		.sh_type = SHT_STRTAB,
		.sh_offset = data_start + bytes.size,
		.sh_size = names.size + sizeof ".shstrtab",
	};
	buf_add(&names, ".shstrtab", sizeof ".shstrtab");
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = data_start + bytes.size + names.size,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)(count + 2),
		.e_shstrndx = (Elf64_Half)(count + 1),
	};
	Elf64_Phdr segment = {.p_type = PT_LOAD,
			      .p_flags = PF_R | PF_X,
			      .p_vaddr = text,
			      .p_paddr = text,
			      .p_filesz = text_size,
			      .p_memsz = text_size};
	buf_add(out, &header, sizeof header);
	buf_add(out, &segment, sizeof segment);
	buf_add(out, bytes.data, bytes.size);
	buf_add(out, names.data, names.size);
	buf_add(out, headers, (count + 2) * sizeof *headers);
	buf_release(&names);
	buf_release(&bytes);
}

/* --- call frame information --- */

static inline void put_uint(struct buf *out, uint64_t value, size_t size)
{
	buf_add(out, &value, size);
}

/* Bytes behind a 4 byte length, padded with DW_CFA_nop. */
static inline void put_entry(struct buf *out, const struct buf *body)
{
	size_t padding = -body->size & 7;
	put_uint(out, body->size + padding, 4);
	buf_add(out, body->data, body->size);
	put_uint(out, 0, padding);
}

/* An .eh_frame CIE with "zR" or "zRS", data alignment -8, return address in 16; CFA = rsp + 8, rip at CFA - 8. */
static inline size_t put_cie(struct buf *out, const char *augmentation, uint8_t encoding)
{
	static const uint8_t initial[] = {0x0c, 7, 8, 0x90, 1};
	struct buf body = {0};
	size_t offset = out->size;
	put_uint(&body, 0, 4);
	put_uint(&body, 1, 1);
	buf_add(&body, augmentation, strlen(augmentation) + 1);
	buf_add(&body, (const uint8_t[]){1, 0x78, 16}, 3);
	if (augmentation[0] == 'z')
		buf_add(&body, (const uint8_t[]){1, encoding}, 2);
	buf_add(&body, initial, sizeof initial);
	put_entry(out, &body);
	buf_release(&body);
	return offset;
}

/* An FDE with 8 byte absolute addresses (encoding 0). */
static inline void put_fde(struct buf *out, size_t cie, uint64_t start, uint64_t size, const void *program,
			   size_t program_size)
{
	struct buf body = {0};
	put_uint(&body, out->size + 4 - cie, 4);
	put_uint(&body, start, 8);
	put_uint(&body, size, 8);
	put_uint(&body, 0, 1); /* no augmentation data */
	buf_add(&body, program, program_size);
	put_entry(out, &body);
	buf_release(&body);
}

#endif
