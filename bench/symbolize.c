/*
 * symbolize: addresses → function chains, by wick's src/symbol.
 *
 *	symbolize [--raw] FILE <ADDRESSES
 *		For each address its chain of functions, innermost first: a line with the name and a line with FILE:LINE
 *		each, then an empty line, as llvm-symbolizer prints them. --raw: names are not demangled.
 *	symbolize --pick COUNT FILE
 *		COUNT addresses in the code of FILE, spread at random, the same each time.
 */
#include "base/hash.h"
#include "symbol/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INLINED 256

static int pick(const char *path, unsigned long count)
{
	struct elf_file *elf;
	struct err err = {0};
	struct elf_section text;
	if (elf_open(&elf, path, &err)) {
		fprintf(stderr, "symbolize: %s\n", err_text(&err));
		return 1;
	}
	if (!elf_section(elf, ".text", &text) || !text.size) {
		fprintf(stderr, "symbolize: %s has no .text\n", path);
		return 1;
	}
	for (unsigned long i = 1; i <= count; i++)
		printf("%#llx\n", (unsigned long long)(text.address + hash_u64(i) % text.size));
	elf_close(elf);
	return 0;
}

static int answer(const char *path, enum name_style names)
{
	struct symbol_options options = {.names = names, .inlines = true, .lines = true};
	struct symbols *symbols = symbols_open(path, &(struct build_id){0}, &options);
	struct symbol_frame frames[MAX_INLINED];
	char line[64];
	while (fgets(line, sizeof line, stdin)) {
		size_t count = symbols_find(symbols, strtoull(line, NULL, 16), frames, MAX_INLINED);
		for (size_t i = 0; i < count; i++)
			printf("%s\n%s:%u\n", frames[i].name, frames[i].file ? frames[i].file : "??", frames[i].line);
		puts(count ? "" : "??\n??:0\n");
	}
	symbols_close(symbols);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--pick"))
		return pick(argv[3], strtoul(argv[2], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "--raw"))
		return answer(argv[2], NAMES_RAW);
	if (argc == 2)
		return answer(argv[1], NAMES_FULL);
	fprintf(stderr, "usage: symbolize [--raw | --pick COUNT] FILE\n");
	return 2;
}
