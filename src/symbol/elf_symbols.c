/* Reads the symbol tables of an ELF file, and selects the symbols of functions. */
#include "symbol/elf_symbols.h"

#include "base/mem.h"
#include "object/elf32.h"

#include <string.h>

/* Longer ones are no names, and comparing many of them would take for ever. */
#define NAME_LENGTH_MAX 16384

/* --- where code is --- */

struct code_sections {
	uint64_t *starts, *ends; /* by section index; both 0: it holds no code */
	size_t count;
};

static struct code_sections code_sections_read(const struct elf_file *elf)
{
	struct code_sections code = {.count = elf_section_count(elf)};
	code.starts = mem_zalloc(code.count + 1, sizeof *code.starts);
	code.ends = mem_zalloc(code.count + 1, sizeof *code.ends);
	for (size_t i = 1; i < code.count; i++) {
		const Elf64_Shdr *section = elf_section_header(elf, i);
		uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;
		if ((section->sh_flags & wanted) != wanted || section->sh_addr + section->sh_size < section->sh_addr)
			continue;
		code.starts[i] = section->sh_addr;
		code.ends[i] = section->sh_addr + section->sh_size;
	}
	return code;
}

static void code_sections_release(struct code_sections *code)
{
	free(code->starts);
	free(code->ends);
}

/* End of the code around a symbol; 0 when it does not lie in code. */
static uint64_t code_end(const struct code_sections *code, const Elf64_Sym *symbol)
{
	size_t index = symbol->st_shndx;
	if (index == SHN_XINDEX) {
		for (index = code->count; --index;)
			if (symbol->st_value >= code->starts[index] && symbol->st_value < code->ends[index])
				return code->ends[index];
		return 0;
	}
	if (index >= SHN_LORESERVE || index >= code->count || symbol->st_value < code->starts[index] ||
	    symbol->st_value >= code->ends[index])
		return 0;
	return code->ends[index];
}

/* --- names --- */

struct names {
	const char *text;
	size_t size; /* up to and with the last NUL */
};

static struct names names_read(struct elf_file *elf, size_t index)
{
	struct elf_section section;
	struct names names = {0};
	if (!elf_section_at(elf, index, &section) || !section.data)
		return names;
	const uint8_t *last = memrchr(section.data, '\0', section.size);
	names.text = (const char *)section.data;
	names.size = last ? (size_t)(last - section.data) + 1 : 0;
	return names;
}

/* NULL when there is none worth showing. */
static const char *name_at(const struct names *names, uint32_t offset)
{
	if (offset >= names->size)
		return NULL;
	const char *name = names->text + offset;
	return *name && strnlen(name, NAME_LENGTH_MAX + 1) <= NAME_LENGTH_MAX ? name : NULL;
}

/* $a, $d, $t, $x mark where data and instruction sets change; .L labels are the compiler's own. */
static bool is_mark(const char *name)
{
	if (name[0] == '.' && name[1] == 'L')
		return true;
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* --- .symtab and .dynsym --- */

static bool type_may_be_code(unsigned type)
{
	/* Objects in the midst of code end what stands before them. */
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE || type == STT_OBJECT;
}

static uint8_t binding_of(const Elf64_Sym *symbol)
{
	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return BINDING_GLOBAL;
	case STB_WEAK:
		return BINDING_WEAK;
	default:
		return BINDING_LOCAL;
	}
}

static size_t symbol_bytes(bool narrow)
{
	return narrow ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
}

static Elf64_Sym symbol_at(const struct elf_section *section, bool narrow, size_t index)
{
	Elf64_Sym symbol;
	Elf32_Sym narrow_symbol;
	if (!narrow) {
		memcpy(&symbol, section->data + index * sizeof symbol, sizeof symbol);
		return symbol;
	}
	memcpy(&narrow_symbol, section->data + index * sizeof narrow_symbol, sizeof narrow_symbol);
	return elf32_symbol(&narrow_symbol);
}

static bool open_symbols(struct elf_file *elf, const char *name, struct elf_section *ret_section,
			 struct names *ret_names)
{
	struct elf_section section;
	if (!elf_section(elf, name, &section) || !section.data ||
	    (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) ||
	    (section.entry_size && section.entry_size != symbol_bytes(elf_is_narrow(elf))))
		return false;
	*ret_section = section;
	*ret_names = names_read(elf, section.link);
	return true;
}

/*
 * Assembly often exports symbols without a size. In a stripped file the functions that follow have no symbol, and would
 * all get the name of the last one that has.
 */
enum { UNSIZED_MAX = 4096 };

size_t elf_symbols_add(struct symtab *symtab, struct elf_file *elf, const char *section_name)
{
	struct elf_section section;
	struct names names;
	/* Values in relocatable files count from their sections. */
	if (elf_header(elf)->e_type == ET_REL || !open_symbols(elf, section_name, &section, &names))
		return 0;
	struct code_sections code = code_sections_read(elf);
	size_t added = 0;
	bool narrow = elf_is_narrow(elf);
	for (size_t i = 1; i < section.size / symbol_bytes(narrow); i++) {
		Elf64_Sym symbol = symbol_at(&section, narrow, i);
		if (symbol.st_shndx == SHN_UNDEF || !type_may_be_code(ELF64_ST_TYPE(symbol.st_info)))
			continue;
		uint64_t limit = code_end(&code, &symbol);
		const char *name = limit ? name_at(&names, symbol.st_name) : NULL;
		if (!name || is_mark(name))
			continue;
		uint64_t room = limit - symbol.st_value;
		if (section.type == SHT_DYNSYM && !symbol.st_size && room > UNSIZED_MAX)
			limit = symbol.st_value + UNSIZED_MAX;
		uint64_t size = symbol.st_size < room ? symbol.st_size : room;
		symtab_add(
			symtab,
			&(struct symtab_symbol){symbol.st_value, symbol.st_value + size, name, 0, binding_of(&symbol)},
			limit);
		added++;
	}
	code_sections_release(&code);
	return added;
}

/* --- one symbol --- */

/* Whether it is a definition whose name begins so; with the NUL in `length`, whose name is that. */
static bool symbol_defines(const struct names *names, const Elf64_Sym *symbol, const char *prefix, size_t length,
			   struct elf_symbol *ret_symbol)
{
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= names->size)
		return false;
	const char *name = names->text + symbol->st_name;
	if (strncmp(name, prefix, length))
		return false;
	*ret_symbol = (struct elf_symbol){name, symbol->st_value, symbol->st_size};
	return true;
}

/* Reads all of them. */
static bool find_named(const struct elf_section *section, const struct names *names, bool narrow, const char *name,
		       struct elf_symbol *ret_symbol)
{
	size_t length = strlen(name) + 1;
	for (size_t i = 1; i < section->size / symbol_bytes(narrow); i++) {
		Elf64_Sym symbol = symbol_at(section, narrow, i);
		if (symbol_defines(names, &symbol, name, length, ret_symbol))
			return true;
	}
	return false;
}

bool elf_symbols_address_in(struct elf_file *elf, const char *section_name, const char *name, uint64_t *ret_address)
{
	struct elf_section section;
	struct elf_symbol found;
	struct names names;
	if (!open_symbols(elf, section_name, &section, &names) ||
	    !find_named(&section, &names, elf_is_narrow(elf), name, &found))
		return false;
	*ret_address = found.address;
	return true;
}

bool elf_symbols_address(struct elf_file *elf, const char *name, uint64_t *ret_address)
{
	return elf_symbols_address_in(elf, ".symtab", name, ret_address) ||
	       elf_symbols_address_in(elf, ".dynsym", name, ret_address);
}

void elf_symbols_with_prefix(struct elf_file *elf, const char *section_name, unsigned type, const char *prefix,
			     elf_symbol_sink sink, void *context)
{
	struct elf_section section;
	struct elf_symbol found;
	struct names names;
	if (!open_symbols(elf, section_name, &section, &names))
		return;
	bool narrow = elf_is_narrow(elf);
	size_t length = strlen(prefix);
	for (size_t i = 1; i < section.size / symbol_bytes(narrow); i++) {
		Elf64_Sym symbol = symbol_at(&section, narrow, i);
		if (ELF64_ST_TYPE(symbol.st_info) == type && symbol_defines(&names, &symbol, prefix, length, &found) &&
		    !sink(context, &found))
			return;
	}
}

/* The table of DT_GNU_HASH: a Bloom filter, then buckets, which are indexes of symbols, then hashes of symbols. */
struct gnu_hash {
	const uint8_t *filter, *buckets, *hashes;
	uint32_t filter_count, bucket_count, hash_count;
	uint32_t shift;
	uint32_t first; /* symbol that has a hash */
};

static uint32_t number_at(const uint8_t *bytes, size_t index)
{
	uint32_t number;
	memcpy(&number, bytes + index * sizeof number, sizeof number);
	return number;
}

static bool gnu_hash_open(struct elf_file *elf, struct gnu_hash *ret_hash)
{
	enum { HEADER = 16 };
	struct elf_section section;
	if (!elf_section(elf, ".gnu.hash", &section) || section.type != SHT_GNU_HASH || !section.data ||
	    section.size < HEADER)
		return false;
	struct gnu_hash hash = {
		.filter = section.data + HEADER,
		.bucket_count = number_at(section.data, 0),
		.first = number_at(section.data, 1),
		.filter_count = number_at(section.data, 2),
		.shift = number_at(section.data, 3),
	};
	size_t left = section.size - HEADER, word = elf_is_narrow(elf) ? 4 : 8;
	if (!hash.filter_count || !hash.bucket_count || hash.filter_count > left / word)
		return false;
	left -= hash.filter_count * word;
	if (hash.bucket_count > left / 4)
		return false;
	left -= (size_t)hash.bucket_count * 4;
	hash.buckets = hash.filter + hash.filter_count * word;
	hash.hashes = hash.buckets + (size_t)hash.bucket_count * 4;
	hash.hash_count = left / 4 < UINT32_MAX ? (uint32_t)(left / 4) : UINT32_MAX;
	*ret_hash = hash;
	return true;
}

/* Most files end here: the filter is read in one place. */
static bool gnu_hash_may_have(const struct gnu_hash *table, bool narrow, uint32_t hash)
{
	uint32_t bits = narrow ? 32 : 64, second = table->shift < 32 ? hash >> table->shift : 0;
	size_t word = hash / bits % table->filter_count;
	uint64_t filter = 0;
	memcpy(&filter, table->filter + word * (bits / 8), bits / 8);
	return filter >> (hash % bits) & filter >> (second % bits) & 1;
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

bool elf_symbols_exported(struct elf_file *elf, const char *name, struct elf_symbol *ret_symbol)
{
	struct elf_section section;
	struct names names;
	struct gnu_hash table;
	if (!open_symbols(elf, ".dynsym", &section, &names))
		return false;
	bool narrow = elf_is_narrow(elf);
	if (!gnu_hash_open(elf, &table))
		return find_named(&section, &names, narrow, name, ret_symbol);
	uint32_t hash = gnu_hash_of(name);
	if (!gnu_hash_may_have(&table, narrow, hash))
		return false;
	size_t count = section.size / symbol_bytes(narrow), length = strlen(name) + 1;
	for (uint64_t i = number_at(table.buckets, hash % table.bucket_count); i >= table.first && i < count; i++) {
		if (i - table.first >= table.hash_count)
			return false;
		uint32_t found = number_at(table.hashes, i - table.first);
		Elf64_Sym symbol = symbol_at(&section, narrow, i);
		if ((found | 1) == (hash | 1) && symbol_defines(&names, &symbol, name, length, ret_symbol))
			return true;
		if (found & 1) /* the last one of this bucket */
			return false;
	}
	return false;
}
