/* Structures of 32-bit ELF files as those of 64-bit ones, so that nobody else needs to know the difference. */
#ifndef WICK_OBJECT_ELF32_H
#define WICK_OBJECT_ELF32_H

#include "base/mem.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline Elf64_Ehdr elf32_header(const Elf32_Ehdr *narrow)
{
	Elf64_Ehdr wide = {
		.e_type = narrow->e_type,
		.e_machine = narrow->e_machine,
		.e_version = narrow->e_version,
		.e_entry = narrow->e_entry,
		.e_phoff = narrow->e_phoff,
		.e_shoff = narrow->e_shoff,
		.e_flags = narrow->e_flags,
		.e_ehsize = narrow->e_ehsize,
		.e_phentsize = narrow->e_phentsize,
		.e_phnum = narrow->e_phnum,
		.e_shentsize = narrow->e_shentsize,
		.e_shnum = narrow->e_shnum,
		.e_shstrndx = narrow->e_shstrndx,
	};
	memcpy(wide.e_ident, narrow->e_ident, sizeof wide.e_ident);
	return wide;
}

static inline Elf64_Phdr elf32_segment(const Elf32_Phdr *narrow)
{
	return (Elf64_Phdr){
		.p_type = narrow->p_type,
		.p_flags = narrow->p_flags,
		.p_offset = narrow->p_offset,
		.p_vaddr = narrow->p_vaddr,
		.p_paddr = narrow->p_paddr,
		.p_filesz = narrow->p_filesz,
		.p_memsz = narrow->p_memsz,
		.p_align = narrow->p_align,
	};
}

static inline Elf64_Shdr elf32_section(const Elf32_Shdr *narrow)
{
	return (Elf64_Shdr){
		.sh_name = narrow->sh_name,
		.sh_type = narrow->sh_type,
		.sh_flags = narrow->sh_flags,
		.sh_addr = narrow->sh_addr,
		.sh_offset = narrow->sh_offset,
		.sh_size = narrow->sh_size,
		.sh_link = narrow->sh_link,
		.sh_info = narrow->sh_info,
		.sh_addralign = narrow->sh_addralign,
		.sh_entsize = narrow->sh_entsize,
	};
}

/* Segments and sections: the arrays are taken and freed. */
static inline Elf64_Phdr *elf32_segments(Elf32_Phdr *narrow, size_t count)
{
	Elf64_Phdr *wide = narrow ? mem_alloc(count * sizeof *wide) : NULL;
	for (size_t i = 0; narrow && i < count; i++)
		wide[i] = elf32_segment(&narrow[i]);
	free(narrow);
	return wide;
}

static inline Elf64_Shdr *elf32_sections(Elf32_Shdr *narrow, size_t count)
{
	Elf64_Shdr *wide = narrow ? mem_alloc(count * sizeof *wide) : NULL;
	for (size_t i = 0; narrow && i < count; i++)
		wide[i] = elf32_section(&narrow[i]);
	free(narrow);
	return wide;
}

static inline Elf64_Sym elf32_symbol(const Elf32_Sym *narrow)
{
	return (Elf64_Sym){
		.st_name = narrow->st_name,
		.st_info = narrow->st_info,
		.st_other = narrow->st_other,
		.st_shndx = narrow->st_shndx,
		.st_value = narrow->st_value,
		.st_size = narrow->st_size,
	};
}

#endif
