/* Interpreters in files: those of this machine, and small ones that gcc builds. */
#include "shell.h"

#include "module/module_code.h"
#include "symbol/elf_symbols.h"

#include <string.h>

/*
 * The loop has a part for a rare case, which gcc puts elsewhere, and ends with a call of another function that becomes
 * a jump. Both are local, so that strip removes their names.
 */
static const char source[] = "char _PyRuntime[672] __attribute__((section(SECTION))) = RUNTIME;\n"
			     "#ifdef CONSTANT\n"
			     "const unsigned long Py_Version = CONSTANT;\n"
			     "#endif\n"
			     "const char *tag(void) { return TAG; }\n"
			     "static __attribute__((noinline, cold)) void rare(int x)\n"
			     "{\n"
			     "	__asm__ volatile(\"nop\" : : \"r\"(x));\n"
			     "}\n"
			     "static __attribute__((noinline)) int last(int x)\n"
			     "{\n"
			     "	__asm__ volatile(\"nop\" : \"+r\"(x));\n"
			     "	return x;\n"
			     "}\n"
			     "int _PyEval_EvalFrameDefault(const int *values, int count)\n"
			     "{\n"
			     "	volatile int frame[64];\n"
			     "	int sum = 0;\n"
			     "	for (int i = 0; i < count; i++) {\n"
			     "		frame[i & 63] = values[i];\n"
			     "		if (values[i] < 0) {\n"
			     "			rare(i);\n"
			     "			rare(values[i]);\n"
			     "		}\n"
			     "		sum += frame[i * 7 & 63];\n"
			     "	}\n"
			     "	return last(sum);\n"
			     "}\n";

static int set_up(void **state)
{
	if (shell_enter(state))
		return 1;
	FILE *file = fopen("fake.c", "we");
	fputs(source, file);
	return fclose(file);
}

/* Builds a library with the source; `options` define what it consists of. */
static void build(const char *options, const char *to)
{
	char command[512];
	snprintf(command, sizeof command,
		 "gcc -O2 -freorder-blocks-and-partition -fPIC -shared -DSECTION='\".data\"' -DRUNTIME='{1}' "
		 "-DTAG='\"none\"' %s fake.c -o %s 2>log || { cat log; false; }",
		 options, to);
	shell(command);
}

static struct elf_file *open_elf(const char *path)
{
	struct elf_file *elf;
	struct err err;
	if (elf_open(&elf, path, &err))
		fail_msg("%s: %s", path, err.text);
	return elf;
}

static bool find(const char *path, struct python_image *ret_image)
{
	struct elf_file *elf = open_elf(path);
	bool found = python_image_find(elf, ret_image);
	elf_close(elf);
	return found;
}

/* The address of a symbol, by a search through all. */
static uint64_t address_of(const char *path, const char *name)
{
	struct elf_file *elf = open_elf(path);
	uint64_t address = 0;
	if (!elf_symbols_address(elf, name, &address))
		fail_msg("%s: no %s", path, name);
	elf_close(elf);
	return address;
}

static uint32_t version_of(const char *path)
{
	struct python_image image;
	return find(path, &image) ? image.layout.version : 0;
}

/* --- files of the test --- */

static void the_version_is_a_constant_or_in_the_tag(void **state)
{
	(void)state;
	build("-DTAG='\"cpython-38\"'", "fake.so");
	assert_int_equal(version_of("fake.so"), 0x0308);
	build("-DTAG='\"cpython-310\"'", "fake.so");
	assert_int_equal(version_of("fake.so"), 0x030a);
	build("-DCONSTANT=0x030b07f0 -DTAG='\"cpython-310\"'", "fake.so");
	assert_int_equal(version_of("fake.so"), 0x030b);
}

static void what_is_no_known_interpreter_is_not_found(void **state)
{
	(void)state;
	struct python_image image;
	build("", "fake.so");
	assert_false(find("fake.so", &image));
	build("-DTAG='\"cpython-37\"'", "fake.so");
	assert_false(find("fake.so", &image));
	build("-DTAG='\"cpython-310-x86_64\"'", "fake.so");
	assert_false(find("fake.so", &image));
	build("-DTAG='\"cpython-310\\0cpython-39\"'", "fake.so");
	assert_false(find("fake.so", &image));
	build("-DCONSTANT=0x7f000000030b07f0", "fake.so");
	assert_false(find("fake.so", &image));
	build("-D_PyRuntime=_PyRuntimes -DTAG='\"cpython-310\"'", "fake.so");
	assert_false(find("fake.so", &image));
	assert_false(find("/proc/self/exe", &image));
}

/* Programs that do not export it have it in .symtab, or in a section of its own. */
static void the_runtime_is_found_without_being_exported(void **state)
{
	(void)state;
	struct python_image image;
	build("-DTAG='\"cpython-39\"' -fvisibility=hidden", "fake.so");
	assert_true(find("fake.so", &image));
	assert_int_equal(image.runtime, address_of("fake.so", "_PyRuntime"));
	assert_true(python_image_evaluates(&image, address_of("fake.so", "_PyEval_EvalFrameDefault")));
	shell("strip fake.so -o stripped.so");
	assert_false(find("stripped.so", &image));

	build("-DTAG='\"cpython-310\"' -DSECTION='\".PyRuntime\"' -fvisibility=hidden", "fake.so");
	shell("strip fake.so -o stripped.so");
	assert_true(find("stripped.so", &image));
	assert_int_equal(image.runtime, address_of("fake.so", "_PyRuntime"));
	assert_int_equal(image.eval_count, 0);
}

static void files_without_a_hash_table_are_searched(void **state)
{
	(void)state;
	struct python_image image;
	build("-DTAG='\"cpython-39\"' -Wl,--hash-style=sysv -s", "fake.so");
	assert_true(find("fake.so", &image));
	assert_int_equal(image.runtime, address_of("fake.so", "_PyRuntime"));
}

/* Parts without names are found in the code of machines that wick decodes. */
static void need_decoded_code(void)
{
	if (system("gcc -dumpmachine | grep -q x86_64")) {
		print_message("skipped: gcc does not compile for x86-64\n");
		skip();
	}
}

/* The part for the rare case belongs to the loop; what it calls at its end does not. */
static void parts_of_the_loop_are_found(void **state)
{
	(void)state;
	struct python_image image;
	need_decoded_code();
	build("-DTAG='\"cpython-39\"'", "fake.so");
	shell("strip fake.so -o stripped.so");
	uint64_t start = address_of("fake.so", "_PyEval_EvalFrameDefault");
	uint64_t part = address_of("fake.so", "_PyEval_EvalFrameDefault.cold");
	const char *const files[] = {"fake.so", "stripped.so"};
	for (size_t i = 0; i < 2; i++) {
		assert_true(find(files[i], &image));
		assert_int_equal(image.eval_count, 2);
		assert_true(python_image_evaluates(&image, start));
		assert_true(python_image_evaluates(&image, part));
		assert_false(python_image_evaluates(&image, address_of("fake.so", "last")));
		assert_false(python_image_evaluates(&image, address_of("fake.so", "rare")));
	}
}

/* Older assemblers put the frame of a part into a CIE, from where the part begins. So does this one here. */
static void parts_with_a_common_state_are_found(void **state)
{
	(void)state;
	static const char assembly[] = "	.data\n"
				       "	.globl _PyRuntime\n"
				       "	.type _PyRuntime, @object\n"
				       "_PyRuntime: .zero 64\n"
				       "	.size _PyRuntime, 64\n"
				       "	.section .rodata\n"
				       "	.string \"cpython-38\"\n"
				       "	.text\n"
				       "	.globl _PyEval_EvalFrameDefault\n"
				       "	.type _PyEval_EvalFrameDefault, @function\n"
				       "part:	.cfi_startproc\n"
				       "	.cfi_def_cfa_offset 304\n"
				       "	nop\n"
				       "	jmp back\n"
				       "	.cfi_endproc\n"
				       "_PyEval_EvalFrameDefault:\n"
				       "	.cfi_startproc\n"
				       "	sub $296, %rsp\n"
				       "	.cfi_adjust_cfa_offset 296\n"
				       "	test %rdi, %rdi\n"
				       "	js part\n"
				       "back:	add $296, %rsp\n"
				       "	.cfi_adjust_cfa_offset -296\n"
				       "	ret\n"
				       "	.cfi_endproc\n"
				       "	.size _PyEval_EvalFrameDefault, .-_PyEval_EvalFrameDefault\n";
	struct python_image image;
	need_decoded_code();
	FILE *file = fopen("part.s", "we");
	fputs(assembly, file);
	fclose(file);
	shell("gcc -shared part.s -o part.so && strip part.so -o stripped.so");
	assert_true(find("stripped.so", &image));
	assert_int_equal(image.eval_count, 2);
	assert_true(python_image_evaluates(&image, address_of("part.so", "part")));
}

static void *ask_module(void *code)
{
	return (void *)module_code_python(code);
}

/* Threads that ask at the same time get the same answer. */
static void the_interpreter_of_a_module_is_found_once(void **state)
{
	(void)state;
	enum { THREADS = 4 };
	struct modules modules;
	struct module_store store;
	pthread_t threads[THREADS];
	char path[128];
	build("-DTAG='\"cpython-39\"'", "fake.so");
	modules_init(&modules);
	module_store_init(&store, &modules, &(struct symbol_options){0});
	snprintf(path, sizeof path, "%s/fake.so", shell_folder);
	struct module_code *code = module_store_get(&store, module_store_add(&store, path, NULL, 1));
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_module, code), 0);
	for (size_t i = 0; i < THREADS; i++) {
		void *found;
		assert_int_equal(pthread_join(threads[i], &found), 0);
		assert_non_null(found);
		assert_ptr_equal(found, module_code_python(code));
	}
	assert_int_equal(module_code_python(code)->layout.version, 0x0309);
	static const char *const others[] = {"/proc/self/exe", "/no/such/file", "//anon", "[kernel.kallsyms]"};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		code = module_store_get(&store, module_store_add(&store, others[i], NULL, 1));
		assert_null(module_code_python(code));
	}
	module_store_release(&store);
	modules_release(&modules);
}

/* Whatever byte is wrong: nothing is read that is not there, which only a build with sanitizers shows. */
static void damaged_files_do_no_harm(void **state)
{
	(void)state;
	struct python_image image;
	build("-DTAG='\"cpython-39\"' -s -Wl,-z,noseparate-code", "fake.so");
	struct buf bytes = shell_file("fake.so");
	for (size_t at = 0; at < bytes.size; at += 5) {
		struct elf_file *elf;
		char was = bytes.data[at];
		bytes.data[at] = (char)(at & 1 ? 0xff : was ^ 0x40);
		if (!elf_open_bytes(&elf, bytes.data, bytes.size, NULL)) {
			python_image_find(elf, &image);
			elf_close(elf);
		}
		bytes.data[at] = was;
	}
	for (size_t size = 0; size < bytes.size; size += 97) {
		struct elf_file *elf;
		if (elf_open_bytes(&elf, bytes.data, size, NULL))
			continue;
		python_image_find(elf, &image);
		elf_close(elf);
	}
	buf_release(&bytes);
}

/* --- interpreters of this machine --- */

static void check_interpreter(const char *path, uint32_t version)
{
	struct python_image image;
	if (!find(path, &image))
		fail_msg("%s: no interpreter", path);
	print_message("%s: %zu ranges\n", path, image.eval_count);
	assert_int_equal(image.layout.version, version);
	assert_int_equal(image.runtime, address_of(path, "_PyRuntime"));
	assert_true(python_image_evaluates(&image, address_of(path, "_PyEval_EvalFrameDefault")));
	assert_false(python_image_evaluates(&image, address_of(path, "PyEval_GetBuiltins")));
}

/* The name of the file does not matter, and symbols only help. */
static void check_stripped(const char *path, uint32_t version)
{
	struct python_image whole, stripped;
	char command[512];
	snprintf(command, sizeof command, "strip '%s' -o renamed", path);
	shell(command);
	check_interpreter("renamed", version);
	assert_true(find(path, &whole));
	assert_true(find("renamed", &stripped));
	/* Parts of a few bytes are code that is never reached (__builtin_unreachable()): no jump leads there. */
	for (size_t i = 0; i < whole.eval_count; i++)
		if (whole.eval[i].end - whole.eval[i].start >= 16)
			assert_true(python_image_evaluates(&stripped, whole.eval[i].start));
}

/* That of Debian, and those of pyenv: not every machine has them. */
static void interpreters_of_the_machine_are_found(void **state)
{
	(void)state;
	static const struct {
		const char *release, *series;
		uint32_t version;
	} known[] = {
		{"3.8.18", "3.8", 0x0308},  {"3.9.18", "3.9", 0x0309},  {"3.10.13", "3.10", 0x030a},
		{"3.11.7", "3.11", 0x030b}, {"3.12.1", "3.12", 0x030c}, {"3.13.0", "3.13", 0x030d},
	};
	size_t found = 0;
	const char *home = getenv("HOME");
	if (!access("/usr/bin/python3.11", R_OK)) {
		check_interpreter("/usr/bin/python3.11", 0x030b);
		found++;
	}
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		char path[256];
		snprintf(path, sizeof path, "%s/.pyenv/versions/%s/lib/libpython%s.so.1.0", home ? home : "/root",
			 known[i].release, known[i].series);
		if (access(path, R_OK)) {
			print_message("there is no %s\n", path);
			continue;
		}
		check_interpreter(path, known[i].version);
		check_stripped(path, known[i].version);
		found++;
	}
	if (!found)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_version_is_a_constant_or_in_the_tag),
		cmocka_unit_test(what_is_no_known_interpreter_is_not_found),
		cmocka_unit_test(the_runtime_is_found_without_being_exported),
		cmocka_unit_test(files_without_a_hash_table_are_searched),
		cmocka_unit_test(parts_of_the_loop_are_found),
		cmocka_unit_test(parts_with_a_common_state_are_found),
		cmocka_unit_test(the_interpreter_of_a_module_is_found_once),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(interpreters_of_the_machine_are_found),
	};
	return cmocka_run_group_tests(tests, set_up, shell_leave);
}
