/* Symbol tables: overlaps, sizes, and aliases. */
#include "shell.h"

#include "base/radix_sort.h"
#include "symbol/elf_symbols.h"
#include "symbol/symtab.h"

static struct symtab *table;

static int make_table(void **state)
{
	(void)state;
	table = symtab_new();
	return 0;
}

static int free_table(void **state)
{
	(void)state;
	symtab_free(table);
	table = NULL;
	return 0;
}

static void add(uint64_t start, uint64_t size, const char *name, enum symbol_binding binding)
{
	symtab_add(table, &(struct symtab_symbol){start, start + size, name, 0, binding}, 0x10000);
}

static const char *name_at(uint64_t address)
{
	const struct symtab_symbol *symbol = symtab_find(table, address);
	return symbol ? symbol->name : "-";
}

static void sizes_end_symbols(void **state)
{
	(void)state;
	add(0x200, 0x10, "b", BINDING_GLOBAL);
	add(0x100, 0x20, "a", BINDING_GLOBAL);
	symtab_finish(table);
	assert_string_equal(name_at(0xff), "-");
	assert_string_equal(name_at(0x100), "a");
	assert_string_equal(name_at(0x11f), "a");
	assert_string_equal(name_at(0x120), "-");
	assert_string_equal(name_at(0x20f), "b");
	assert_string_equal(name_at(0x210), "-");
	assert_string_equal(name_at(UINT64_MAX), "-");
	assert_string_equal(name_at(0), "-");
	assert_int_equal(symtab_count(table), 2);
	assert_null(symtab_at(table, 2));
	assert_string_equal(symtab_find_start(table, 0x200)->name, "b");
	assert_null(symtab_find_start(table, 0x201));
}

static void missing_sizes_reach_to_the_next_symbol_or_the_limit(void **state)
{
	(void)state;
	add(0x100, 0, "a", BINDING_LOCAL);
	add(0x180, 0x10, "b", BINDING_LOCAL);
	add(0xff00, 0, "c", BINDING_LOCAL);
	add(0x10000, 0, "beyond", BINDING_LOCAL);
	symtab_finish(table);
	assert_string_equal(name_at(0x17f), "a");
	assert_string_equal(name_at(0x18f), "b");
	assert_string_equal(name_at(0x190), "-");
	assert_string_equal(name_at(0xffff), "c");
	assert_string_equal(name_at(0x10000), "-");
}

static void sizes_beyond_the_limit_are_cut(void **state)
{
	(void)state;
	symtab_add(table, &(struct symtab_symbol){0x100, UINT64_MAX, "huge", 0, BINDING_LOCAL}, 0x10000);
	symtab_add(table, &(struct symtab_symbol){0x200, 0x100, "wrapped", 0, BINDING_LOCAL}, 0x300);
	symtab_finish(table);
	assert_string_equal(name_at(0x2ff), "wrapped");
	assert_string_equal(name_at(0x300), "huge");
	assert_string_equal(name_at(0x10000), "-");
}

static void the_innermost_symbol_covers(void **state)
{
	(void)state;
	add(0x100, 0x100, "outer", BINDING_GLOBAL);
	add(0x120, 0x40, "middle", BINDING_GLOBAL);
	add(0x130, 0x10, "inner", BINDING_GLOBAL);
	add(0x1f0, 0x20, "overlapping", BINDING_GLOBAL);
	symtab_finish(table);
	static const struct {
		uint64_t address;
		const char *name;
	} rows[] = {
		{0x100, "outer"}, {0x11f, "outer"},       {0x120, "middle"},      {0x130, "inner"},
		{0x13f, "inner"}, {0x140, "middle"},      {0x15f, "middle"},      {0x160, "outer"},
		{0x1ef, "outer"}, {0x1f0, "overlapping"}, {0x20f, "overlapping"}, {0x210, "-"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(name_at(rows[i].address), rows[i].name);
}

/* What perf 6.1 shows for each of these pairs. */
static void names_of_one_address_are_chosen_as_perf_does(void **state)
{
	(void)state;
	static const struct {
		struct symtab_symbol a, b;
		const char *chosen;
	} rows[] = {
		{{0, 8, "local", 0, BINDING_LOCAL}, {0, 8, "global", 0, BINDING_GLOBAL}, "global"},
		{{0, 8, "global", 0, BINDING_GLOBAL}, {0, 8, "weak", 0, BINDING_WEAK}, "global"},
		{{0, 8, "local", 0, BINDING_LOCAL}, {0, 8, "weak", 0, BINDING_WEAK}, "local"},
		{{0, 8, "_global", 0, BINDING_GLOBAL}, {0, 8, "global", 0, BINDING_GLOBAL}, "global"},
		{{0, 8, "ab", 0, BINDING_GLOBAL}, {0, 8, "abc", 0, BINDING_GLOBAL}, "abc"},
		{{0, 8, "same", 0, BINDING_GLOBAL}, {0, 8, "tied", 0, BINDING_GLOBAL}, "same"},
		/* Without a size only the last one reaches anywhere. */
		{{0, 0, "label", 0, BINDING_LOCAL}, {0, 8, "sized", 0, BINDING_LOCAL}, "sized"},
		{{0, 8, "sized", 0, BINDING_LOCAL}, {0, 0, "label", 0, BINDING_GLOBAL}, "label"},
		{{0, 0, "_text", 0, BINDING_GLOBAL}, {0, 0, "__pi__text", 0, BINDING_GLOBAL}, "__pi__text"},
		/* Names count as they are shown. */
		{{0, 8, "_ZN2ab1cEv", 0, BINDING_GLOBAL}, {0, 8, "abcdefg", 0, BINDING_GLOBAL}, "abcdefg"},
		{{0, 8, "abc", 0, BINDING_GLOBAL}, {0, 8, "_ZN2ab1cEv", 0, BINDING_GLOBAL}, "_ZN2ab1cEv"},
		{{0, 8, "_ZN1aC2Ev", 0, BINDING_GLOBAL}, {0, 8, "_ZN1aC1Ev", 0, BINDING_GLOBAL}, "_ZN1aC2Ev"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		free_table(NULL);
		make_table(NULL);
		symtab_add(table, &rows[i].a, 0x1000);
		symtab_add(table, &rows[i].b, 0x1000);
		symtab_finish(table);
		assert_string_equal(name_at(0), rows[i].chosen);
		assert_int_equal(symtab_count(table), 1);
	}
}

static void sorting_is_stable_and_total(void **state)
{
	(void)state;
	enum { COUNT = 5000 };
	static struct radix_key items[COUNT];
	uint64_t seed = 88172645463325252u;
	for (uint32_t i = 0; i < COUNT; i++) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		items[i] = (struct radix_key){i % 3 ? seed : seed % 50, i};
	}
	items[7].key = UINT64_MAX;
	radix_sort(items, COUNT);
	for (size_t i = 1; i < COUNT; i++) {
		assert_true(items[i - 1].key <= items[i].key);
		if (items[i - 1].key == items[i].key)
			assert_true(items[i - 1].index < items[i].index);
	}
	radix_sort(items, 0);
}

/* Against looking at every symbol: the one that begins last among those around the address. */
static void random_symbols_are_found_as_by_looking_at_all(void **state)
{
	(void)state;
	enum { COUNT = 400 };
	static char names[COUNT][16];
	static uint64_t starts[COUNT], sizes[COUNT];
	uint64_t seed = 1234567;
	for (int i = 0; i < COUNT; i++) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		starts[i] = 16 * i; /* all different: no names to choose from */
		sizes[i] = 1 + seed % (seed & 64 ? 500 : 10);
		snprintf(names[i], sizeof names[i], "s%d", i);
	}
	for (int i = COUNT; i--;)
		add(starts[i], sizes[i], names[i], BINDING_GLOBAL);
	symtab_finish(table);
	for (uint64_t address = 0; address < 16 * COUNT + 600; address++) {
		const char *expected = "-";
		for (int i = 0; i < COUNT; i++)
			if (address >= starts[i] && address < starts[i] + sizes[i])
				expected = names[i];
		assert_string_equal(name_at(address), expected);
	}
}

/* --- real files --- */

/* By its name: /proc/self is another one in nm. */
static const char *own_path(void)
{
	static char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
	assert_true(size > 0);
	path[size] = '\0';
	return path;
}

struct loaded {
	struct elf_file *elf;
	struct symtab *functions, *plt;
};

static bool load(struct loaded *loaded, const char *path)
{
	if (elf_open(&loaded->elf, path, NULL))
		return false;
	loaded->functions = symtab_new();
	elf_symbols_add(loaded->functions, loaded->elf, ".symtab");
	elf_symbols_add(loaded->functions, loaded->elf, ".dynsym");
	symtab_finish(loaded->functions);
	loaded->plt = symtab_new();
	elf_symbols_add_plt(loaded->plt, loaded->elf, loaded->functions);
	symtab_finish(loaded->plt);
	return true;
}

static void unload(struct loaded *loaded)
{
	symtab_free(loaded->functions);
	symtab_free(loaded->plt);
	elf_close(loaded->elf);
}

/* Whether nm has a symbol of this name at this address, among lines of "ADDRESS NAME" sorted by address. */
static bool nm_has(const struct buf *text, uint64_t address, const char *name)
{
	char line[64];
	int length = snprintf(line, sizeof line, "\n%016lx ", (unsigned long)address);
	size_t size = strlen(name);
	for (const char *at = text->data; (at = strstr(at, line)); at += length)
		if (!strncmp(at + length, name, size) && strchr("@\n", at[length + size]))
			return true;
	return false;
}

static void check_against_nm(const char *path)
{
	struct loaded loaded;
	char command[9000];
	if (!load(&loaded, path)) {
		print_message("# no %s here\n", path);
		return;
	}
	snprintf(command, sizeof command,
		 "printf '\\n'; { nm --defined-only '%s'; nm -D --defined-only '%s'; } 2>/dev/null | "
		 "awk '$2 ~ /^[tTwWi]$/ && $3 !~ /^(data_start|_?_?etext|\\$[dx])([.@]|$)/ { print $1, $3 }' | sort -u",
		 path, path);
	struct buf text = shell_output(command);
	size_t seen = 0, exact = 0;
	for (const char *at = text.data + 1; *at; at = strchr(at, '\n') + 1, seen++) {
		uint64_t address = strtoull(at, NULL, 16);
		const struct symtab_symbol *symbol = symtab_find(loaded.functions, address);
		if (!symbol)
			print_error("%s: nothing at %.60s\n", path, at);
		assert_non_null(symbol);
		assert_int_equal(symbol->start, address);
		exact += seen % 97 == 0 && nm_has(&text, address, symbol->name);
	}
	assert_true(seen > 100);
	assert_int_equal(exact, (seen + 96) / 97);
	buf_release(&text);
	unload(&loaded);
}

static void functions_are_those_of_nm(void **state)
{
	(void)state;
	check_against_nm(own_path());
	check_against_nm("/bin/bash");
	check_against_nm("/usr/bin/python3");
	check_against_nm("/lib/x86_64-linux-gnu/libc.so.6");
	check_against_nm("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
}

/* objdump prints "0000000000026030 <realloc@plt>:" above each entry it can name. */
static size_t check_against_objdump(const char *path)
{
	struct loaded loaded;
	char command[9000];
	if (!load(&loaded, path))
		return 0;
	snprintf(command, sizeof command,
		 "objdump -d -j .plt -j .plt.sec -j .plt.got '%s' 2>/dev/null | "
		 "sed -nE 's/^([0-9a-f]+) <([A-Za-z_0-9.]+)(@[A-Z_0-9.]+)?@plt>:$/\\1 \\2/p'",
		 path);
	struct buf text = shell_output(command);
	size_t seen = 0;
	char *rest = text.data;
	for (char *line; (line = shell_line(&rest)); seen++) {
		char *name;
		uint64_t address = strtoull(line, &name, 16);
		const struct symtab_symbol *entry = symtab_find(loaded.plt, address);
		if (!entry)
			print_error("%s: nothing at %s\n", path, line);
		assert_non_null(entry);
		assert_string_equal(entry->name, name + 1);
		assert_int_equal(entry->start, address);
		assert_int_equal(entry->tag, SYMBOL_PLT);
	}
	buf_release(&text);
	unload(&loaded);
	return seen;
}

static void linkage_table_entries_are_those_of_objdump(void **state)
{
	(void)state;
	size_t seen = check_against_objdump(own_path()) + check_against_objdump("/bin/bash") +
		      check_against_objdump("/usr/bin/python3") +
		      check_against_objdump("/lib/x86_64-linux-gnu/libc.so.6") +
		      check_against_objdump("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
	assert_true(seen > 100);
	FILE *file = fopen("calls.c", "we");
	fputs("#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char **v)\n"
	      "{ void *p = malloc(n); printf(\"%p\", p); free(p); return atoi(v[0]); }\n",
	      file);
	fclose(file);
	static const char *const flags[] = {
		"",           "-fcf-protection=full -Wl,-z,ibtplt",
		"-Wl,-z,now", "-fcf-protection=full -Wl,-z,now,-z,ibtplt",
		"-no-pie",
	};
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		char command[256];
		snprintf(command, sizeof command, "gcc %s calls.c -o calls", flags[i]);
		shell(command);
		assert_true(check_against_objdump("calls") >= 4);
	}
}

static const char assembly[] = ".text\n.globl sized, unsized\n.type sized,@function\n.type unsized,@function\n"
			       "sized: nop\nnop\n.size sized,.-sized\n.skip 6,0x90\n"
			       "label: .skip 8,0x90\n"
			       "$x.1: .skip 8,0x90\n"
			       "unsized: .skip 8,0x90\n"
			       ".type chosen,@gnu_indirect_function\nchosen: .skip 8,0x90\n.size chosen,8\n"
			       ".section .other,\"ax\",@progbits\nlast: .skip 8,0x90\n"
			       ".data\nobject: .quad 1\n.section .note.GNU-stack,\"\",@progbits\n";

static void labels_and_indirect_functions_are_symbols_and_marks_are_not(void **state)
{
	(void)state;
	FILE *file = fopen("labels.S", "we");
	fputs(assembly, file);
	fclose(file);
	shell("gcc -shared -nostdlib labels.S -o labels.so");
	struct loaded loaded;
	assert_true(load(&loaded, "labels.so"));
	struct elf_section text;
	assert_true(elf_section(loaded.elf, ".text", &text));
	static const struct {
		uint64_t offset;
		const char *name;
	} rows[] = {
		{0, "sized"},   {1, "sized"},   {2, NULL},    {8, "label"}, {16, "label"}, {24, "unsized"},
		{32, "chosen"}, {39, "chosen"}, {40, "last"}, {47, "last"}, {48, NULL},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct symtab_symbol *symbol = symtab_find(loaded.functions, text.address + rows[i].offset);
		if (!rows[i].name)
			assert_null(symbol);
		else
			assert_string_equal(symbol ? symbol->name : "-", rows[i].name);
	}
	uint64_t address;
	assert_true(elf_symbols_address(loaded.elf, "label", &address));
	assert_int_equal(address, text.address + 8);
	assert_false(elf_symbols_address(loaded.elf, "nothing", &address));
	unload(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sizes_end_symbols, make_table, free_table),
		cmocka_unit_test_setup_teardown(missing_sizes_reach_to_the_next_symbol_or_the_limit, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(sizes_beyond_the_limit_are_cut, make_table, free_table),
		cmocka_unit_test_setup_teardown(the_innermost_symbol_covers, make_table, free_table),
		cmocka_unit_test_setup_teardown(names_of_one_address_are_chosen_as_perf_does, make_table, free_table),
		cmocka_unit_test(sorting_is_stable_and_total),
		cmocka_unit_test_setup_teardown(random_symbols_are_found_as_by_looking_at_all, make_table, free_table),
		cmocka_unit_test(functions_are_those_of_nm),
		cmocka_unit_test(linkage_table_entries_are_those_of_objdump),
		cmocka_unit_test(labels_and_indirect_functions_are_symbols_and_marks_are_not),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
