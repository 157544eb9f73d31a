/* Symbols, lines and inlined functions of compiled programs. */
#include "shell.h"

#include "object/reading.h"
#include "symbol/debugfile.h"
#include "symbol/symbol_advice.h"
#include "symbol/symbols.h"

#include <sys/auxv.h>
#include <sys/stat.h>

/* The functions call each other through noinline ones, and one of them is inlined. */
static const char source[] = "static inline __attribute__((always_inline)) int inlined(int x)\n"
			     "{\n"
			     "	return x * x + 1;\n"
			     "}\n"
			     "static __attribute__((noinline)) int hidden(int x)\n"
			     "{\n"
			     "	__asm__ volatile(\"nop\");\n"
			     "	return inlined(x) ^ 3;\n"
			     "}\n"
			     "__attribute__((noinline)) int shown(int x)\n"
			     "{\n"
			     "	__asm__ volatile(\"nop\");\n"
			     "	return hidden(x) + inlined(x + 1);\n"
			     "}\n"
			     "int main(int n, char **v) { (void)v; return shown(n); }\n";

static char root[4096];
static const struct build_id any_build = {0};

static int set_up(void **state)
{
	if (shell_enter(state) || !getcwd(root, sizeof root))
		return 1;
	setenv("HOME", root, 1);
	setenv("PERF_BUILDID_DIR", "", 1);
	setenv("DEBUGINFOD_CACHE_PATH", "", 1);
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("XDG_CACHE_HOME");
	FILE *file = fopen("program.c", "we");
	fputs(source, file);
	fclose(file);
	return system(
		"mkdir bin && gcc -g -O2 -rdynamic -Wl,--build-id=sha1 program.c -o full && strip full -o stripped && "
		"objcopy --only-keep-debug full full.debug && readelf -n full | "
		"sed -nE 's/.*Build ID: (..)([0-9a-f]+).*/\\1\\/\\2/p' | tr -d '\\n' >id");
}

/* Places `file` as /bin/program below the folder, where symbols_open() with it as root finds it. */
static void place(const char *file)
{
	char command[256];
	snprintf(command, sizeof command, "rm -rf bin usr .debug && mkdir bin && cp %s bin/program", file);
	shell(command);
}

static struct symbols *open_program(const struct build_id *build_id)
{
	struct symbol_options options = {.inlines = true, .lines = true, .root = root};
	return symbols_open("/bin/program", build_id, &options);
}

static enum symbol_state state_of_program(void)
{
	struct symbols *symbols = open_program(&any_build);
	enum symbol_state state = symbols_state(symbols);
	symbols_close(symbols);
	return state;
}

static struct build_id id_of(const char *path)
{
	struct elf_file *elf;
	assert_int_equal(elf_open(&elf, path, NULL), 0);
	struct build_id id = elf_build_id(elf);
	elf_close(elf);
	return id;
}

static uint64_t address_of(const char *function)
{
	char command[128];
	snprintf(command, sizeof command, "nm full | awk '$3 == \"%s\" { print $1 }'", function);
	struct buf text = shell_output(command);
	uint64_t address = strtoull(text.data, NULL, 16);
	assert_int_not_equal(address, 0);
	buf_release(&text);
	return address;
}

static const char *name_at(struct symbols *symbols, uint64_t address)
{
	struct symbol_frame frames[8];
	size_t count = symbols_find(symbols, address, frames, 8);
	return count ? frames[count - 1].name : "-";
}

/* The functions that `full` has are found by their names through whatever is in place now. */
static void check_functions(bool hidden, bool lines)
{
	struct symbols *symbols = open_program(&any_build);
	assert_string_equal(name_at(symbols, address_of("shown")), "shown");
	assert_string_equal(name_at(symbols, address_of("main")), "main");
	assert_string_equal(name_at(symbols, address_of("hidden")), hidden ? "hidden" : "-");
	struct symbol_frame frames[8];
	size_t count = symbols_find(symbols, address_of("shown") + 1, frames, 8);
	assert_int_equal(count, 1);
	assert_int_equal(frames[0].line > 0, lines);
	assert_int_equal(frames[0].file && strstr(frames[0].file, "program.c"), lines);
	symbols_close(symbols);
}

static void functions_lines_and_inlines_are_those_of_addr2line(void **state)
{
	(void)state;
	place("full");
	struct symbols *symbols = open_program(&any_build);
	assert_int_equal(symbols_state(symbols), SYMBOLS_DEBUG);
	assert_null(symbols_debug_elf(symbols));
	assert_non_null(symbols_elf(symbols));
	size_t inlined = 0;
	struct buf size = shell_output("nm -S full | awk '$4 == \"hidden\" { print $2 }'");
	uint64_t start = address_of("hidden"), end = start + strtoull(size.data, NULL, 16);
	buf_release(&size);
	for (uint64_t address = start; address < end; address++) {
		char command[128];
		snprintf(command, sizeof command, "addr2line -afipe full 0x%lx | wc -l; addr2line -fie full 0x%lx",
			 (unsigned long)address, (unsigned long)address);
		struct buf text = shell_output(command);
		char *rest = text.data;
		size_t expected = strtoul(shell_line(&rest), NULL, 10);
		struct symbol_frame frames[8];
		size_t count = symbols_find(symbols, address, frames, 8);
		assert_int_equal(count, expected);
		for (size_t i = 0; i < count; i++) {
			assert_string_equal(frames[i].name, shell_line(&rest));
			const char *line = strrchr(shell_line(&rest), ':');
			assert_int_equal(frames[i].line, strtoul(line + 1, NULL, 10));
			assert_int_equal(frames[i].inlined, i + 1 < count);
		}
		inlined += count > 1;
		buf_release(&text);
	}
	assert_true(inlined > 0);
	symbols_close(symbols);
}

static void inlines_and_lines_can_be_left_out(void **state)
{
	(void)state;
	place("full");
	struct symbol_options options = {.root = root};
	struct symbols *bare = symbols_open("/bin/program", &any_build, &options);
	options.lines = true;
	struct symbols *lines = symbols_open("/bin/program", &any_build, &options);
	options.inlines = true;
	options.lines = false;
	struct symbols *inlines = symbols_open("/bin/program", &any_build, &options);
	uint64_t start = address_of("hidden");
	size_t seen = 0;
	for (uint64_t address = start; address < start + 8; address++) {
		struct symbol_frame frames[8];
		assert_int_equal(symbols_find(bare, address, frames, 8), 1);
		assert_null(frames[0].file);
		assert_string_equal(frames[0].name, "hidden");
		assert_int_equal(symbols_find(lines, address, frames, 8), 1);
		assert_non_null(frames[0].file);
		assert_string_equal(frames[0].name, "hidden");
		assert_int_equal(symbols_find(inlines, address, frames, 0), 0);
		size_t count = symbols_find(inlines, address, frames, 8);
		assert_null(frames[0].file);
		assert_string_equal(frames[count - 1].name, "hidden");
		seen += count > 1;
	}
	assert_true(seen > 0);
	symbols_close(bare);
	symbols_close(lines);
	symbols_close(inlines);
}

static void the_entry_point_of_a_stripped_program_is_start(void **state)
{
	(void)state;
	shell("echo 'int main(void) { return 0; }' | gcc -O1 -x c -o entry - && strip entry");
	place("entry");
	struct symbols *symbols = open_program(&any_build);
	struct elf_file *elf;
	assert_int_equal(elf_open(&elf, "bin/program", NULL), 0);
	uint64_t entry = elf_header(elf)->e_entry;
	elf_close(elf);
	assert_string_equal(name_at(symbols, entry + 0x20), "_start");
	assert_string_equal(name_at(symbols, entry + 0x200), "-");
	symbols_close(symbols);
}

static void exported_symbols_without_a_size_do_not_swallow_what_follows(void **state)
{
	(void)state;
	shell("printf '.globl first\\nfirst: .fill 9000, 1, 0x90\\n ret\\n' >unsized.s && "
	      "printf '.globl second\\nsecond: ret\\n' >>unsized.s && "
	      "gcc -shared -nostdlib -o unsized unsized.s && nm unsized | awk '$3 == \"first\" { print $1 }' >first && "
	      "strip unsized");
	place("unsized");
	struct buf text = shell_file("first");
	buf_char(&text, 0);
	uint64_t first = strtoull(text.data, NULL, 16);
	buf_release(&text);
	struct symbols *symbols = open_program(&any_build);
	assert_string_equal(name_at(symbols, first + 100), "first");
	assert_string_equal(name_at(symbols, first + 8000), "-");
	symbols_close(symbols);
}

/* A crash in a parser is blamed on the file that the thread reads, and it is not read again until it changes. */
static void a_file_that_crashes_wick_is_skipped(void **state)
{
	(void)state;
	place("full");
	struct elf_file *elf;
	struct cache *cache = cache_open("crashes", CACHE_USUAL);
	struct symbol_options options = {.cache = true, .store = cache, .root = "."};
	assert_non_null(cache);
	assert_null(reading_note_crash());
	assert_int_equal(elf_open(&elf, "bin/program", NULL), 0);
	struct reading reading = {cache, elf_identity(elf), "bin/program"};
	assert_false(reading_has_crashed(cache, elf_identity(elf)));
	reading_begin(&reading);
	assert_string_equal(reading_note_crash(), "bin/program");
	assert_null(reading_note_crash());
	assert_true(reading_has_crashed(cache, elf_identity(elf)));
	elf_close(elf);
	struct symbols *symbols = symbols_open("/bin/program", &any_build, &options);
	struct symbol_frame frame;
	CLEANUP_BUF struct buf advice = {0};
	assert_int_equal(symbols_state(symbols), SYMBOLS_CRASHED);
	assert_null(symbols_elf(symbols));
	assert_int_equal(symbols_find(symbols, 0x1100, &frame, 1), 0);
	symbols_advice(symbols, &advice);
	assert_non_null(strstr(advice.data, "wick crashed when it read this file"));
	symbols_close(symbols);
	shell("sleep 0.01; touch bin/program");
	symbols = symbols_open("/bin/program", &any_build, &options);
	assert_int_equal(symbols_state(symbols), SYMBOLS_DEBUG);
	symbols_close(symbols);
	cache_close(cache);
}

static void states_show_what_is_missing(void **state)
{
	(void)state;
	place("full");
	assert_int_equal(state_of_program(), SYMBOLS_DEBUG);
	shell("strip -g full -o bin/program");
	assert_int_equal(state_of_program(), SYMBOLS_TABLE);
	check_functions(true, false);
	place("stripped");
	assert_int_equal(state_of_program(), SYMBOLS_DYNAMIC);
	check_functions(false, false);
	shell("echo 'void _start(void) {}' >none.c && gcc -static -nostdlib none.c -o bin/program && "
	      "strip bin/program");
	assert_int_equal(state_of_program(), SYMBOLS_NONE);
	place("program.c");
	assert_int_equal(state_of_program(), SYMBOLS_DAMAGED);
	shell("rm bin/program");
	assert_int_equal(state_of_program(), SYMBOLS_MISSING);
	place("full");
	struct build_id other;
	assert_true(build_id_parse(&other, "0102030405060708"));
	struct symbols *symbols = open_program(&other);
	assert_int_equal(symbols_state(symbols), SYMBOLS_MISMATCH);
	assert_string_equal(name_at(symbols, address_of("shown")), "-");
	assert_null(symbols_elf(symbols));
	symbols_close(symbols);
}

static void debug_files_are_found_by_build_id(void **state)
{
	(void)state;
	place("stripped");
	shell("mkdir -p usr/lib/debug/.build-id/$(dirname $(cat id)) && "
	      "cp full.debug usr/lib/debug/.build-id/$(cat id).debug");
	assert_int_equal(state_of_program(), SYMBOLS_DEBUG);
	check_functions(true, true);
	/* The debug file alone is enough for names. */
	struct build_id id = id_of("full");
	shell("rm bin/program");
	struct symbols *symbols = open_program(&id);
	assert_int_equal(symbols_state(symbols), SYMBOLS_DEBUG);
	assert_string_equal(name_at(symbols, address_of("hidden")), "hidden");
	assert_null(symbols_elf(symbols));
	assert_non_null(symbols_debug_elf(symbols));
	symbols_close(symbols);
	/* One of another build is not used. */
	place("stripped");
	shell("mkdir -p usr/lib/debug/.build-id/$(dirname $(cat id)) && gcc -g -O1 -Wl,--build-id=sha1 program.c "
	      "-o usr/lib/debug/.build-id/$(cat id).debug");
	assert_int_equal(state_of_program(), SYMBOLS_DYNAMIC);
}

static void debug_files_are_found_by_link(void **state)
{
	(void)state;
	static const char *const folders[] = {"bin", "bin/.debug", "usr/lib/debug/bin"};
	shell("objcopy --add-gnu-debuglink=full.debug stripped linked");
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		char command[256];
		place("linked");
		assert_int_equal(state_of_program(), SYMBOLS_DYNAMIC);
		snprintf(command, sizeof command, "mkdir -p %s && cp full.debug %s/", folders[i], folders[i]);
		shell(command);
		assert_int_equal(state_of_program(), SYMBOLS_DEBUG);
		check_functions(true, true);
	}
}

static void links_without_build_id_are_checked_by_crc(void **state)
{
	(void)state;
	shell("gcc -g -O2 -rdynamic -Wl,--build-id=none program.c -o plain && "
	      "objcopy --only-keep-debug plain plain.debug && "
	      "strip plain -o plain-stripped && objcopy --add-gnu-debuglink=plain.debug plain-stripped plain-linked");
	place("plain-linked");
	shell("cp plain.debug bin/");
	assert_int_equal(state_of_program(), SYMBOLS_DEBUG);
	shell("printf x >>bin/plain.debug");
	assert_int_equal(state_of_program(), SYMBOLS_DYNAMIC);
}

static void mini_debug_info_is_read(void **state)
{
	(void)state;
	if (!shell_has("xz"))
		skip();
	shell("nm full --format=posix --defined-only | awk '$2 ~ /[tT]/ { print $1 }' >keep && "
	      "objcopy -S --keep-symbols=keep full.debug mini && xz -kf mini && "
	      "objcopy --add-section .gnu_debugdata=mini.xz stripped with-mini");
	place("with-mini");
	assert_int_equal(state_of_program(), SYMBOLS_TABLE);
	check_functions(true, false);
	shell("head -c 300 mini.xz >cut.xz && objcopy --add-section .gnu_debugdata=cut.xz stripped with-cut");
	place("with-cut");
	check_functions(false, false);
}

static void compressed_debug_files_are_read(void **state)
{
	(void)state;
	static const char *const kinds[] = {"zlib", "zlib-gnu", "zstd"};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char command[256];
		snprintf(command, sizeof command, "objcopy --compress-debug-sections=%s full packed 2>/dev/null",
			 kinds[i]);
		if (system(command))
			continue;
		place("packed");
		assert_int_equal(state_of_program(), SYMBOLS_DEBUG);
		check_functions(true, true);
	}
}

static void files_of_eu_strip_are_read(void **state)
{
	(void)state;
	if (!shell_has("eu-strip"))
		skip();
	shell("eu-strip -f eu.debug full -o eu");
	place("eu");
	shell("cp eu.debug bin/");
	assert_int_equal(state_of_program(), SYMBOLS_DEBUG);
	check_functions(true, true);
}

static void files_of_dwz_are_read(void **state)
{
	(void)state;
	if (!shell_has("dwz"))
		skip();
	shell("cp full one; gcc -g -O2 -DOTHER -rdynamic program.c -o two; "
	      "rm -f common.debug; dwz -m common.debug one two");
	struct elf_file *elf;
	assert_int_equal(elf_open(&elf, "one", NULL), 0);
	if (!elf_section_index(elf, ".gnu_debugaltlink")) {
		elf_close(elf);
		skip();
	}
	struct elf_file *alternate = debugfile_open_alternate(elf, "one", "");
	assert_non_null(alternate);
	assert_true(elf_section_index(alternate, ".debug_info"));
	elf_close(alternate);
	shell("mv common.debug moved.debug");
	assert_null(debugfile_open_alternate(elf, "one", ""));
	elf_close(elf);
	shell("mv moved.debug common.debug");
	place("one");
	shell("cp common.debug bin/");
	check_functions(true, true);
}

static void split_debug_information_is_found(void **state)
{
	(void)state;
	shell("gcc -g -O2 -gsplit-dwarf -rdynamic program.c -o split && mkdir -p moved && mv *.dwo moved/");
	place("split");
	shell("cp moved/*.dwo bin/");
	struct symbols *symbols = open_program(&any_build);
	struct buf text = shell_output("nm split | awk '$3 == \"shown\" { print $1 }'");
	struct symbol_frame frames[8];
	assert_int_equal(symbols_find(symbols, strtoull(text.data, NULL, 16), frames, 8), 1);
	assert_string_equal(frames[0].name, "shown");
	assert_true(frames[0].line > 0);
	buf_release(&text);
	symbols_close(symbols);
}

static void copies_of_perf_are_used(void **state)
{
	(void)state;
	char path[4200];
	struct build_id id = id_of("full");
	place("full");
	shell("rm bin/program && mkdir -p buildids/.build-id/$(cat id) && cp full buildids/.build-id/$(cat id)/elf");
	snprintf(path, sizeof path, "%s/buildids", root);
	setenv("PERF_BUILDID_DIR", path, 1);
	struct symbols *symbols = open_program(&id);
	assert_int_equal(symbols_state(symbols), SYMBOLS_DEBUG);
	assert_string_equal(name_at(symbols, address_of("hidden")), "hidden");
	symbols_close(symbols);
	/* A file that was replaced is passed over too. */
	place("stripped");
	shell("gcc -O1 -Wl,--build-id=sha1 program.c -o bin/program");
	symbols = open_program(&id);
	assert_int_equal(symbols_state(symbols), SYMBOLS_DEBUG);
	symbols_close(symbols);
	setenv("PERF_BUILDID_DIR", "", 1);
	assert_int_equal(state_of_program(), SYMBOLS_TABLE);
	symbols = open_program(&id);
	assert_int_equal(symbols_state(symbols), SYMBOLS_MISMATCH);
	symbols_close(symbols);
	/* ~/.debug is where perf keeps them by default. */
	shell("mv buildids .debug");
	symbols = open_program(&id);
	assert_int_equal(symbols_state(symbols), SYMBOLS_DEBUG);
	symbols_close(symbols);
}

static void deleted_files_need_a_build_id(void **state)
{
	(void)state;
	struct symbol_options options = {.root = root};
	struct build_id id = id_of("full");
	place("full");
	struct symbols *symbols = symbols_open("/bin/program (deleted)", &any_build, &options);
	assert_int_equal(symbols_state(symbols), SYMBOLS_MISSING);
	symbols_close(symbols);
	symbols = symbols_open("/bin/program (deleted)", &id, &options);
	assert_int_equal(symbols_state(symbols), SYMBOLS_DEBUG);
	symbols_close(symbols);
	assert_int_equal(debugfile_path_deleted("/a (deleted)"), 2);
	assert_int_equal(debugfile_path_deleted("/a"), 0);
	assert_int_equal(debugfile_path_deleted(" (deleted)"), 0);
}

static void what_is_no_file_has_no_symbols(void **state)
{
	(void)state;
	static const char *const paths[] = {"", "[heap]", "//anon", "/memfd:x (deleted)", "relative", "/", "/dev/zero"};
	struct symbol_options options = {.inlines = true};
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct symbols *symbols = symbols_open(paths[i], &any_build, &options);
		CLEANUP_BUF struct buf advice = {0};
		struct symbol_frame frame;
		assert_true(symbols_state(symbols) >= SYMBOLS_MISSING);
		assert_int_equal(symbols_find(symbols, 0x1000, &frame, 1), 0);
		symbols_advice(symbols, &advice);
		assert_true(advice.size > 0);
		symbols_close(symbols);
	}
}

static void the_vdso_is_this_process_s_own(void **state)
{
	(void)state;
	struct symbol_options options = {0};
	struct build_id other;
	assert_true(build_id_parse(&other, "0102030405060708"));
	if (!getauxval(AT_SYSINFO_EHDR))
		skip();
	struct symbols *symbols = symbols_open("[vdso]", &any_build, &options);
	assert_non_null(symbols_elf(symbols));
	size_t functions = 0;
	for (uint64_t address = 0; address < 0x4000; address += 4)
		functions += !strncmp(name_at(symbols, address), "__vdso_", 7) ||
			     strstr(name_at(symbols, address), "gettime");
	assert_true(functions > 0);
	symbols_close(symbols);
	symbols = symbols_open("[vdso]", &other, &options);
	assert_null(symbols_elf(symbols));
	assert_int_equal(symbols_state(symbols), SYMBOLS_MISSING);
	symbols_close(symbols);
}

static void advice_names_the_package(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf package = {0};
	shell("mkdir -p info && printf '/.\\n/usr\\n/usr/bin/tool\\n' >info/tool.list && "
	      "printf '/lib/libx.so.1\\n/usr/lib/liby.so.1\\n' >info/libx1:amd64.list && "
	      "echo /usr/bin/tool2 >info/other.md5sums");
	assert_true(advice_package(&package, "info", "/usr/bin/tool", NULL));
	assert_string_equal(package.data, "tool");
	buf_clear(&package);
	assert_true(advice_package(&package, "info", "/usr/lib/libx.so.1", NULL));
	assert_string_equal(package.data, "libx1");
	buf_clear(&package);
	assert_true(advice_package(&package, "info", "/lib/liby.so.1", NULL));
	assert_string_equal(package.data, "libx1");
	buf_clear(&package);
	assert_false(advice_package(&package, "info", "/usr/bin/too", NULL));
	assert_false(advice_package(&package, "info", "/usr/bin/tool2", NULL));
	assert_false(advice_package(&package, "nowhere", "/usr/bin/tool", NULL));
	assert_int_equal(package.size, 0);
}

static void the_package_of_a_file_is_kept_until_packages_change(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf package = {0};
	struct cache *cache = cache_open("packages", CACHE_USUAL);
	shell("mkdir -p lists && echo /usr/bin/tool >lists/tool.list");
	assert_true(advice_package(&package, "lists", "/usr/bin/tool", cache));
	assert_false(advice_package(&package, "lists", "/usr/bin/other", cache));
	shell("echo /usr/bin/other >lists/tool.list"); /* which packages never do: they replace the file */
	assert_true(advice_package(&package, "lists", "/usr/bin/tool", cache));
	assert_false(advice_package(&package, "lists", "/usr/bin/other", cache));
	shell("touch -d @1 lists");
	assert_false(advice_package(&package, "lists", "/usr/bin/tool", cache));
	assert_true(advice_package(&package, "lists", "/usr/bin/other", cache));
	assert_string_equal(package.data, "tooltooltool");
	cache_close(cache);
}

static void each_state_has_its_advice(void **state)
{
	(void)state;
	static const struct {
		enum symbol_state state;
		const char *path, *has;
	} rows[] = {
		{SYMBOLS_TABLE, "/no/package", "-g"},         {SYMBOLS_DYNAMIC, "/no/package", "stripped"},
		{SYMBOLS_NONE, "/no/package", "stripped"},    {SYMBOLS_MISSING, "/x", "file not found"},
		{SYMBOLS_MISSING, "/x (deleted)", "restart"}, {SYMBOLS_MISMATCH, "/x", "replaced"},
		{SYMBOLS_DAMAGED, "/x", "not an ELF file"},   {SYMBOLS_UNSUPPORTED, "/x", "64-bit"},
	};
	CLEANUP_BUF struct buf text = {0};
	advice_write(&text, SYMBOLS_DEBUG, "/x", NULL);
	assert_int_equal(text.size, 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_clear(&text);
		advice_write(&text, rows[i].state, rows[i].path, NULL);
		assert_non_null(strstr(text.data, rows[i].has));
		assert_null(strchr(text.data, '\n'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_lines_and_inlines_are_those_of_addr2line),
		cmocka_unit_test(inlines_and_lines_can_be_left_out),
		cmocka_unit_test(the_entry_point_of_a_stripped_program_is_start),
		cmocka_unit_test(exported_symbols_without_a_size_do_not_swallow_what_follows),
		cmocka_unit_test(a_file_that_crashes_wick_is_skipped),
		cmocka_unit_test(states_show_what_is_missing),
		cmocka_unit_test(debug_files_are_found_by_build_id),
		cmocka_unit_test(debug_files_are_found_by_link),
		cmocka_unit_test(links_without_build_id_are_checked_by_crc),
		cmocka_unit_test(mini_debug_info_is_read),
		cmocka_unit_test(compressed_debug_files_are_read),
		cmocka_unit_test(files_of_eu_strip_are_read),
		cmocka_unit_test(files_of_dwz_are_read),
		cmocka_unit_test(split_debug_information_is_found),
		cmocka_unit_test(copies_of_perf_are_used),
		cmocka_unit_test(deleted_files_need_a_build_id),
		cmocka_unit_test(what_is_no_file_has_no_symbols),
		cmocka_unit_test(the_vdso_is_this_process_s_own),
		cmocka_unit_test(advice_names_the_package),
		cmocka_unit_test(the_package_of_a_file_is_kept_until_packages_change),
		cmocka_unit_test(each_state_has_its_advice),
	};
	return cmocka_run_group_tests(tests, set_up, shell_leave);
}
