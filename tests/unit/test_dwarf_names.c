/* Names that DWARF scopes give, compared with the symbol table. */
#include "shell.h"

#include "dwarf/dwarf.h"
#include "name/demangle.h"

/* Functions for which compilers write no linkage name into the debug information. */
static const char source[] =
	"#include <vector>\n"
	"typedef unsigned long size;\n"
	"enum Kind { one };\n"
	"static int plain(void) { return 1; }\n"
	"static int over(int a, const char *b, const int c) { return a + *b + c; }\n"
	"static int over(size a, long long b, short &c, unsigned short &&d) { return (int)(a + b + c + d); }\n"
	"static int variadic(const char *format, ...) { return *format; }\n"
	"static int callback(int (*f)(int, char), void *p, const void *const q) { return f(1, 'a') + (p == q); }\n"
	"template <typename T> static T instance(T a) { return a; }\n"
	"template <typename F> static int apply(F f) { return f(1); }\n"
	"namespace {\n"
	"namespace inner {\n"
	"struct Hidden {\n"
	"	int member(Kind k, Hidden &o) const { return k + (&o == this); }\n"
	"	static int fixed(volatile int *v) { return *v; }\n"
	"	int operator()(int a) { return a; }\n"
	"	operator bool() const { return true; }\n"
	"	template <typename T> T cast(T a) { return a; }\n"
	"};\n"
	"int vectors(std::vector<int> &v, std::vector<Hidden *> w) { return (int)(v.size() + w.size()); }\n"
	"}\n"
	"}\n"
	"static int twice(int a) { return a; }\n"
	"static int local(int n)\n"
	"{\n"
	"	struct Local { int go(int a) { return a; } } l;\n"
	"	auto first = [n](int x) { return x + n; };\n"
	"	auto second = [n](int x) { return x * n; };\n"
	"	auto other = [n](long x) { return (int)x - n; };\n"
	"	{ auto none = [] { return 3; }; n += none(); }\n"
	"	return first(1) + second(2) + other(3) + l.go(4) + apply(first) + apply(second);\n"
	"}\n"
	"static int call(int, char) { return 1; }\n"
	"int main()\n"
	"{\n"
	"	short s = 1; volatile int v = 1; std::vector<int> i(1);\n"
	"	std::vector<inner::Hidden *> w; inner::Hidden h;\n"
	"	return plain() + over(1, \"\", 2) + over(1ul, 2ll, s, 3) + variadic(\"\", 1) +\n"
	"	       callback(call, &s, &i) +\n"
	"	       instance(1) + (int)instance(2.5) + h.member(one, h) + h.fixed(&v) + h(1) + bool(h) +\n"
	"	       h.cast('a') + vectors(i, w) + local(twice(2));\n"
	"}\n";

/* Two of them differ only in what surrounds them in the debug information. */
static void names_made_of_scopes_are_those_of_the_symbol_table(void **state)
{
	(void)state;
	if (!shell_has("g++"))
		skip();
	FILE *file = fopen("names.cpp", "we");
	assert_non_null(file);
	fputs(source, file);
	assert_int_equal(fclose(file), 0);
	shell("g++ -g -O0 -fno-inline -o names names.cpp");
	struct buf symbols = shell_output("nm names | awk '$2 == \"t\" && $3 ~ /^_Z/ { print $1, $3 }'");
	struct elf_file *elf = NULL;
	struct dwarf *dwarf = NULL;
	assert_int_equal(elf_open(&elf, "names", NULL), 0);
	assert_int_equal(dwarf_open(&dwarf, &(struct dwarf_files){.elf = elf, .qualify = true}, NULL), 0);
	size_t seen = 0;
	char *rest = symbols.data;
	for (char *line; (line = shell_line(&rest));) {
		uint64_t address = strtoull(line, NULL, 16);
		struct dwarf_frame frames[4];
		struct buf text CLEANUP_BUF = {0};
		demangle(&text, strchr(line, ' ') + 1, NAMES_FULL);
		if (!strncmp(text.data, "__static_init", 13) || !dwarf_find(dwarf, address, frames, 4))
			continue;
		assert_false(frames[0].name_is_linkage);
		assert_string_equal(frames[0].name, text.data);
		seen++;
	}
	assert_true(seen >= 22);
	dwarf_close(dwarf);
	elf_close(elf);
	buf_release(&symbols);
}

/* Each is in a function whose argument is the one before: deeper than names are made of. */
static const char deep_source[] =
	"namespace {\n"
	"template <int N, typename T> auto deep(T t)\n"
	"{\n"
	"	struct Local { T t; int go() { return N; } };\n"
	"	return Local{t};\n"
	"}\n"
	"}\n"
	"int main()\n"
	"{\n"
	"	return deep<9>(deep<8>(deep<7>(deep<6>(deep<5>(deep<4>(deep<3>(deep<2>(deep<1>(0))))))))).go();\n"
	"}\n";

static void deep_scopes_end_somewhere(void **state)
{
	(void)state;
	if (!shell_has("g++"))
		skip();
	FILE *file = fopen("deep.cpp", "we");
	assert_non_null(file);
	fputs(deep_source, file);
	assert_int_equal(fclose(file), 0);
	shell("g++ -g -O0 -fno-inline -o deep deep.cpp");
	struct buf symbols = shell_output("nm deep | awk '$2 == \"t\" && $3 ~ /^_Z/ { print $1, $3 }'");
	struct elf_file *elf = NULL;
	struct dwarf *dwarf = NULL;
	assert_int_equal(elf_open(&elf, "deep", NULL), 0);
	assert_int_equal(dwarf_open(&dwarf, &(struct dwarf_files){.elf = elf, .qualify = true}, NULL), 0);
	size_t seen = 0;
	char *rest = symbols.data;
	for (char *line; (line = shell_line(&rest));) {
		struct dwarf_frame frames[4];
		seen += dwarf_find(dwarf, strtoull(line, NULL, 16), frames, 4) && strstr(frames[0].name, "deep<");
	}
	assert_true(seen >= 9);
	dwarf_close(dwarf);
	elf_close(elf);
	buf_release(&symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_made_of_scopes_are_those_of_the_symbol_table),
		cmocka_unit_test(deep_scopes_end_somewhere),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
