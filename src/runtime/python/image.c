/*
 * Finds CPython in a file: the structure of its runtime, its version, and the code of its evaluation loop.
 *
 * Neither the name of the file nor its soname is looked at: programs that contain an interpreter have any name.
 */
#include "runtime/python/image.h"

#include "runtime/python/evaluation.h"
#include "symbol/elf_symbols.h"

#include <string.h>

#define RUNTIME "_PyRuntime"
#define VERSION "Py_Version"

/* Bytes in which a version is looked for; damaged files have sections that overlap. */
enum { SEARCHED_MAX = 256 << 20 };

/* --- the runtime --- */

struct search {
	const char *name;
	struct elf_symbol found;
};

static bool take_symbol(void *context, const struct elf_symbol *symbol)
{
	/* With a suffix when the whole program was optimized at once: _PyRuntime.lto_priv.0. */
	struct search *search = context;
	const char *suffix = symbol->name + strlen(search->name);
	if (*suffix && *suffix != '.')
		return true;
	search->found = *symbol;
	return false;
}

/* A variable that is not exported; 0: there is none. */
static uint64_t find_variable(struct elf_file *elf, const char *name)
{
	struct search search = {.name = name};
	elf_symbols_with_prefix(elf, ".symtab", STT_OBJECT, name, take_symbol, &search);
	return search.found.address;
}

/*
 * Libraries and most programs export it. From 3.10 on it has a section, which stripped programs have as well. Then only
 * older interpreters are left that were linked into a program which does not export it.
 */
static uint64_t find_runtime(struct elf_file *elf)
{
	struct elf_symbol symbol;
	if (elf_symbols_exported(elf, RUNTIME, &symbol))
		return symbol.address;
	const Elf64_Shdr *section = elf_section_header(elf, elf_section_index(elf, ".PyRuntime"));
	return section && section->sh_flags & SHF_ALLOC ? section->sh_addr : find_variable(elf, RUNTIME);
}

/* --- the version --- */

/* As python_layout.version. From 3.11 on there is a constant; 0: there is none. */
static uint32_t version_of_constant(struct elf_file *elf)
{
	struct elf_symbol symbol;
	uint64_t version;
	size_t size;
	bool exported = elf_symbols_exported(elf, VERSION, &symbol);
	const uint8_t *bytes = elf_bytes_at(elf, exported ? symbol.address : find_variable(elf, VERSION), &size);
	if (!bytes || size < sizeof version)
		return 0;
	memcpy(&version, bytes, sizeof version);
	return version >> 32 ? 0 : (uint32_t)version >> 16;
}

/* The version in "310", which a NUL must end; 0: it is none. */
static uint32_t version_of_digits(const uint8_t *digits, size_t size)
{
	const uint8_t *end = memchr(digits, '\0', size < 4 ? size : 4);
	uint32_t minor = 0;
	if (!end || end - digits < 2)
		return 0;
	for (const uint8_t *at = digits; at < end; at++) {
		if (*at < '0' || *at > '9')
			return 0;
		if (at > digits)
			minor = minor * 10 + (uint32_t)(*at - '0');
	}
	return (uint32_t)(digits[0] - '0') << 8 | minor;
}

/* Whether a section has constants: it is loaded, and neither code nor written to. */
static bool is_constant(const Elf64_Shdr *section)
{
	return section->sh_type == SHT_PROGBITS &&
	       (section->sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)) == SHF_ALLOC;
}

/*
 * Older ones have a version in a string that every build has, and that is in no other file: the tag in the names of
 * compiled modules (sys.implementation.cache_tag), such as "cpython-310". 0: there is none, or there are different
 * ones.
 */
static uint32_t version_of_tag(struct elf_file *elf)
{
	static const char tag[] = "cpython-";
	uint64_t searched = 0;
	uint32_t version = 0;
	for (size_t i = 1; i < elf_section_count(elf); i++) {
		struct elf_section section;
		if (!is_constant(elf_section_header(elf, i)) || !elf_section_at(elf, i, &section) || !section.data)
			continue;
		if ((searched += section.size) > SEARCHED_MAX)
			break;
		const uint8_t *at = section.data, *end = section.data + section.size;
		while ((at = memmem(at, (size_t)(end - at), tag, sizeof tag - 1))) {
			at += sizeof tag - 1;
			uint32_t found = version_of_digits(at, (size_t)(end - at));
			if (found && version && found != version)
				return 0;
			version = found ? found : version;
		}
	}
	return version;
}

static bool find_layout(struct elf_file *elf, uint64_t runtime, struct python_layout *ret_layout)
{
	static const char cookie[8] = "xdebugpy";
	size_t size = 0;
	const uint8_t *bytes = elf_bytes_at(elf, runtime, &size);
	if (bytes && size >= sizeof cookie && !memcmp(bytes, cookie, sizeof cookie))
		return python_layout_of_table(bytes, size, ret_layout);
	uint32_t version = version_of_constant(elf);
	return python_layout_of_version(version ? version : version_of_tag(elf), ret_layout);
}

bool python_image_find(struct elf_file *elf, struct python_image *ret_image)
{
	struct python_image image = {0};
	if (elf_is_narrow(elf) || elf_header(elf)->e_type == ET_REL)
		return false;
	image.runtime = find_runtime(elf);
	if (!image.runtime || !find_layout(elf, image.runtime, &image.layout))
		return false;
	image.eval_count = python_evaluation_find(elf, image.eval);
	*ret_image = image;
	return true;
}
