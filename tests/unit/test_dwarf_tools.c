/*
 * Programs compiled here in many ways, and every address of their code compared with what addr2line and
 * llvm-symbolizer say: functions with what was inlined, files and lines.
 */
#include "unit.h"

#include "base/buf.h"
#include "dwarf/dwarf.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAMES 64

enum { ADDR2LINE = 1, LLVM = 2, BOTH = 3 };

struct mode {
	const char *needs; /* programs */
	const char *build; /* makes `program` in an empty folder; @ is the folder of the sources */
	unsigned tools; /* which can read it */
	const char *alternate; /* file made by dwz -m */
	bool package; /* program.dwp instead of .dwo files */
};

static char folder[PATH_MAX];
static char sources[PATH_MAX];

static bool have(const char *program)
{
	char command[256];
	snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
	return system(command) == 0;
}

static bool have_all(const char *programs)
{
	char list[128], *rest = list;
	snprintf(list, sizeof list, "%s", programs);
	for (char *name; (name = strsep(&rest, " "));)
		if (!have(name)) {
			print_message("no %s here\n", name);
			return false;
		}
	return true;
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
	CLEANUP_BUF struct buf command = {0};
	va_list args;
	va_start(args, format);
	buf_printf(&command, "cd '%s' && ", folder);
	buf_vprintf(&command, format, args);
	va_end(args);
	if (system(command.data) != 0)
		fail_msg("failed: %s", command.data);
}

static int make_folder(void **state)
{
	(void)state;
	const char *parent = getenv("TMPDIR");
	snprintf(folder, sizeof folder, "%s/wick-dwarf-XXXXXX", parent ? parent : "/tmp");
	return realpath("tests/data/debug", sources) && mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	char command[PATH_MAX + 16];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command);
}

struct program {
	struct elf_file *elf, *alternate, *package;
	struct elf_file *splits[8];
	size_t split_count;
	struct dwarf *dwarf;
};

static struct elf_file *find_split(void *context, const char *directory, const char *name, uint64_t id)
{
	struct program *program = context;
	assert_non_null(directory);
	assert_true(id != 0);
	if (program->package)
		return program->package;
	char path[2 * PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	assert_true(program->split_count < 8);
	assert_int_equal(elf_open(&program->splits[program->split_count], path, NULL), 0);
	return program->splits[program->split_count++];
}

static void open_program(struct program *program, const struct mode *mode)
{
	char path[PATH_MAX + 64];
	*program = (struct program){0};
	snprintf(path, sizeof path, "%s/program", folder);
	assert_int_equal(elf_open(&program->elf, path, NULL), 0);
	if (mode->alternate) {
		snprintf(path, sizeof path, "%s/%s", folder, mode->alternate);
		assert_int_equal(elf_open(&program->alternate, path, NULL), 0);
	}
	if (mode->package) {
		snprintf(path, sizeof path, "%s/program.dwp", folder);
		assert_int_equal(elf_open(&program->package, path, NULL), 0);
	}
	struct dwarf_files files = {
		.elf = program->elf,
		.alternate = program->alternate,
		.context = program,
		.find_split = find_split,
	};
	assert_int_equal(dwarf_open(&program->dwarf, &files, NULL), 0);
}

static void close_program(struct program *program)
{
	dwarf_close(program->dwarf);
	elf_close(program->elf);
	if (program->alternate)
		elf_close(program->alternate);
	if (program->package)
		elf_close(program->package);
	for (size_t i = 0; i < program->split_count; i++)
		elf_close(program->splits[i]);
}

/* One level as the tools print it: two lines, "name" and "file:line", the latter maybe with " (discriminator 3)". */
struct level {
	char name[512];
	char place[PATH_MAX];
};

static bool read_line(FILE *file, char *line, size_t size)
{
	if (!fgets(line, (int)size, file))
		return false;
	line[strcspn(line, "\n")] = 0;
	char *note = strstr(line, " (discriminator");
	if (note)
		*note = 0;
	return true;
}

/* The levels up to the next address ("0x…", printed because of -a) or the end. */
static size_t read_levels(FILE *file, struct level *levels)
{
	size_t count = 0;
	for (long at = ftell(file); count < FRAMES && read_line(file, levels[count].name, sizeof levels[count].name);
	     at = ftell(file), count++) {
		if (!strncmp(levels[count].name, "0x", 2)) {
			fseek(file, at, SEEK_SET);
			break;
		}
		assert_true(read_line(file, levels[count].place, sizeof levels[count].place));
	}
	return count;
}

static void print_both(const struct dwarf_frame *frames, size_t count, const struct level *levels, size_t level_count)
{
	for (size_t i = 0; i < count; i++)
		print_message("  wick: %s %s:%u\n", frames[i].name, frames[i].file, frames[i].line);
	for (size_t i = 0; i < level_count; i++)
		print_message("  tool: %s %s\n", levels[i].name, levels[i].place);
}

/*
 * Where the debug information has no linkage name, or no function, the tools ask the symbol table; so does
 * llvm-symbolizer for every outermost function, which shows as ".cold" and the like behind its name.
 */
static bool same_name(const struct dwarf_frame *frame, const char *tool)
{
	if (!frame->name || !strcmp(frame->name, tool))
		return true;
	size_t length = strlen(frame->name);
	if (frame->name_is_linkage)
		return !strncmp(frame->name, tool, length) && tool[length] == '.' && !frame->inlined;
	return !strncmp(tool, "_Z", 2) || (!strncmp(frame->name, tool, length) && tool[length] == '.');
}

static bool same_level(const struct dwarf_frame *frame, const struct level *level)
{
	char place[PATH_MAX];
	snprintf(place, sizeof place, "%s:%u", frame->file ? frame->file : "??", frame->line);
	const char *line = strrchr(level->place, ':');
	bool placeless = line && (!strcmp(line, ":?") || !strcmp(line, ":0"));
	if (frame->line ? strcmp(place, level->place) != 0 : !placeless)
		return false;
	return same_name(frame, level->name);
}

static bool same_answer(const struct dwarf_frame *frames, size_t count, const struct level *levels, size_t level_count)
{
	if (!count) {
		const char *line = level_count == 1 ? strrchr(levels[0].place, ':') : NULL;
		return line && (line[1] == '?' || line[1] == '0');
	}
	if (count != level_count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!same_level(&frames[i], &levels[i]) || frames[i].inlined != (i + 1 < count))
			return false;
	return true;
}

static void compare_with(struct program *program, const char *tool, const struct elf_section *text)
{
	char path[PATH_MAX + 16];
	run("%s -a -i -f -e program <addresses >answers", tool);
	snprintf(path, sizeof path, "%s/answers", folder);
	FILE *answers = fopen(path, "r");
	assert_non_null(answers);
	static struct level levels[FRAMES];
	size_t functions = 0, inlined = 0;
	for (uint64_t address = text->address; address < text->address + text->size; address++) {
		assert_true(read_line(answers, path, sizeof path));
		assert_true(strtoull(path, NULL, 16) == address);
		size_t level_count = read_levels(answers, levels);
		struct dwarf_frame frames[FRAMES];
		size_t count = dwarf_find(program->dwarf, address, frames, FRAMES);
		if (!same_answer(frames, count, levels, level_count)) {
			print_both(frames, count, levels, level_count);
			fclose(answers);
			fail_msg("%s disagrees at %#lx", tool, (unsigned long)address);
		}
		functions += count && frames[0].name;
		inlined += count > 1;
	}
	fclose(answers);
	assert_true(functions > 100);
	assert_true(inlined > 0);
}

static void check(void **state)
{
	const struct mode *mode = *state;
	unsigned tools = (have("addr2line") ? ADDR2LINE : 0) | (have("llvm-symbolizer") ? LLVM : 0);
	if (!have_all(mode->needs) || !(tools & mode->tools)) {
		skip();
		return;
	}
	run("rm -rf ./*");
	CLEANUP_BUF struct buf build = {0};
	for (const char *at = mode->build; *at; at++)
		if (*at == '@')
			buf_str(&build, sources);
		else
			buf_char(&build, *at);
	run("{ %s; } >log 2>&1 || { cat log >&2; false; }", build.data);
	struct program program;
	open_program(&program, mode);
	struct elf_section text;
	assert_true(elf_section(program.elf, ".text", &text));
	char path[PATH_MAX + 16];
	snprintf(path, sizeof path, "%s/addresses", folder);
	FILE *addresses = fopen(path, "w");
	assert_non_null(addresses);
	for (uint64_t address = text.address; address < text.address + text.size; address++)
		fprintf(addresses, "%#lx\n", (unsigned long)address);
	fclose(addresses);
	if (tools & mode->tools & ADDR2LINE)
		compare_with(&program, "addr2line", &text);
	if (tools & mode->tools & LLVM)
		compare_with(&program, "llvm-symbolizer --no-demangle --output-style=GNU", &text);
	close_program(&program);
}

#define BUILD(compiler, flags) compiler " " flags " -o program @/inlines.cc @/other.cc"
/* As objects, so that split files stay beside them. */
#define BUILD_SPLIT(compiler, flags)                                                               \
	compiler " " flags " -c @/inlines.cc && " compiler " " flags " -c @/other.cc && " compiler \
		 " -o program inlines.o other.o"

#define TEST(name, ...) ((struct CMUnitTest){name, check, NULL, NULL, &(struct mode){__VA_ARGS__}})
#define GCC(name, flags, which) TEST(name, .needs = "g++", .build = BUILD("g++", flags), .tools = which)
#define CLANG(name, flags, which) TEST(name, .needs = "clang++", .build = BUILD("clang++", flags), .tools = which)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GCC("gcc -O2 writes DWARF 5", "-O2 -gdwarf-5", BOTH),
		GCC("gcc -O3 in 64-bit DWARF", "-O3 -g -gdwarf64", LLVM),
		GCC("gcc writes DWARF 4", "-O2 -gdwarf-4", BOTH),
		GCC("gcc writes DWARF 3", "-O2 -gdwarf-3", BOTH),
		GCC("gcc writes DWARF 2", "-O2 -gdwarf-2", BOTH),
		GCC("gcc with type units", "-O2 -gdwarf-4 -fdebug-types-section", BOTH),
		GCC("gcc with discarded sections", "-O2 -g -ffunction-sections -Wl,--gc-sections", BOTH),
		GCC("gcc with link-time optimisation", "-O2 -g -flto", LLVM),
		GCC("gcc with compressed sections", "-O2 -g -gz=zlib", BOTH),
		TEST("gcc without .debug_aranges", .needs = "g++ objcopy", .tools = BOTH,
		     .build = BUILD("g++", "-O2 -g") " && objcopy -R .debug_aranges program"),
		TEST("gcc with .dwo files", .needs = "g++", .tools = LLVM,
		     .build = BUILD_SPLIT("g++", "-O2 -gdwarf-5 -gsplit-dwarf")),
		TEST("gcc with .dwo files of DWARF 4", .needs = "g++", .tools = LLVM,
		     .build = BUILD_SPLIT("g++", "-O2 -gdwarf-4 -gsplit-dwarf")),
		TEST("gcc with a .dwp package of DWARF 4", .needs = "g++ dwp", .tools = LLVM, .package = true,
		     .build = BUILD_SPLIT("g++", "-O2 -gdwarf-4 -gsplit-dwarf") " && dwp -e program && rm *.dwo"),
		CLANG("clang writes DWARF 5", "-O2 -gdwarf-5", BOTH),
		CLANG("clang writes DWARF 4", "-O2 -gdwarf-4", BOTH),
		CLANG("clang with line tables and inlines only", "-O2 -gline-tables-only", LLVM),
		CLANG("clang with discarded sections", "-O2 -g -ffunction-sections -Wl,--gc-sections", BOTH),
		TEST("clang with .dwo files", .needs = "clang++", .tools = LLVM,
		     .build = BUILD_SPLIT("clang++", "-O2 -gdwarf-5 -gsplit-dwarf")),
		TEST("clang with a .dwp package", .needs = "clang++ llvm-dwp", .tools = LLVM, .package = true,
		     .build = BUILD_SPLIT(
			     "clang++",
			     "-O2 -gdwarf-5 -gsplit-dwarf") " && llvm-dwp -e program -o program.dwp && rm *.dwo"),
		TEST("dwz within a file", .needs = "g++ dwz", .tools = BOTH,
		     .build = BUILD("g++", "-O2 -g") " && dwz program"),
		TEST("dwz with a shared file", .needs = "g++ dwz", .tools = ADDR2LINE, .alternate = "shared",
		     .build = BUILD("g++", "-O2 -g") " && cp program twin && dwz -m shared program twin"),
		TEST("functions inside of functions", .needs = "gcc", .tools = BOTH,
		     .build = "gcc -O2 -g -o program @/nested.c"),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
