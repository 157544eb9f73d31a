/* Kernel symbols from kallsyms and its kept form. */
#include "shell.h"

#include "symbol/kallsyms.h"
#include "symbol/kept_kallsyms.h"
#include "symbol/kernel.h"

static const char text[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000100 t local_function\n"
			   "ffffffff81000200 T __x64_sys_read\n"
			   "ffffffff81000200 T sys_read_alias\n"
			   "ffffffff81000300 W weak_one\n"
			   "ffffffff81000300 t strong_one\n"
			   "ffffffff81000400 T last_function\n"
			   "ffffffff81001000 D some_data\n"
			   "ffffffffc0000000 t module_function\t[ext4]\n"
			   "ffffffffc0000100 t another_function\t[ext4]\n"
			   "ffffffffc0100000 t bpf_prog_6deef7357e7b4530_egress\t[bpf]\n";

static const char *name_at(const struct kallsyms *symbols, uint64_t address, const char **ret_module)
{
	struct kallsyms_function function;
	if (!kallsyms_find(symbols, address, &function))
		return "-";
	*ret_module = function.module;
	return function.name;
}

static void kernel_functions_reach_to_the_next_symbol(void **state)
{
	(void)state;
	struct kallsyms *symbols = NULL;
	assert_int_equal(kallsyms_open_bytes(&symbols, text, sizeof text - 1, NULL), 0);
	static const struct {
		uint64_t address;
		const char *name, *module;
	} rows[] = {
		{0xffffffff80ffffff, "-", NULL},
		{0xffffffff81000000, "_text", NULL},
		{0xffffffff810001ff, "local_function", NULL},
		{0xffffffff81000200, "sys_read_alias", NULL},
		{0xffffffff81000300, "strong_one", NULL},
		{0xffffffff81000fff, "last_function", NULL},
		{0xffffffff81001000, "-", NULL},
		{0xffffffffc0000000, "module_function", "[ext4]"},
		{0xffffffffc0000100, "another_function", "[ext4]"},
		{0xffffffffc0001fff, "another_function", "[ext4]"},
		{0xffffffffc0002000, "-", NULL},
		{0xffffffffc0100010, "bpf_prog_6deef7357e7b4530_egress", "[bpf]"},
		{0, "-", NULL},
		{UINT64_MAX, "-", NULL},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *module = NULL;
		assert_string_equal(name_at(symbols, rows[i].address, &module), rows[i].name);
		assert_int_equal(!module, !rows[i].module);
		if (module)
			assert_string_equal(module, rows[i].module);
	}
	assert_int_equal(kallsyms_text(symbols, "_text"), 0xffffffff81000000);
	assert_int_equal(kallsyms_text(symbols, "_stext"), 0xffffffff81000000);
	assert_int_equal(kallsyms_text(symbols, "other"), 0);
	kallsyms_close(symbols);
}

static void hidden_addresses_are_noticed(void **state)
{
	(void)state;
	static const char hidden[] = "0000000000000000 T _stext\n0000000000000000 t f\t[ext4]\n";
	struct kallsyms *symbols = NULL;
	struct err err;
	assert_int_equal(kallsyms_open_bytes(&symbols, hidden, sizeof hidden - 1, &err), ERR_SYSTEM);
	assert_int_equal(kallsyms_open_bytes(&symbols, "", 0, &err), ERR_EMPTY);
	assert_int_equal(kallsyms_open_bytes(&symbols, "\n\nxyz\n1234 T\n1234 T \n12345678901234567 T a\n", 43, &err),
			 ERR_EMPTY);
	assert_int_equal(kallsyms_open(&symbols, "missing", &err), ERR_OPEN);
	assert_null(symbols);
	FILE *file = fopen("hidden", "we");
	fputs(hidden, file);
	fclose(file);
	struct kernel *kernel = kernel_open(&(struct kernel_options){.kallsyms = "hidden"});
	CLEANUP_BUF struct buf advice = {0};
	struct symbol_frame frame;
	assert_int_equal(kernel_state(kernel), KERNEL_HIDDEN);
	kernel_advice(kernel, &advice);
	assert_non_null(strstr(advice.data, "kptr_restrict"));
	assert_int_equal(kernel_find(kernel, 0xffffffff81000000, &frame, 1, NULL), 0);
	kernel_close(kernel);
	kernel_close(NULL);
	assert_int_equal(kernel_find(NULL, 0, &frame, 1, NULL), 0);
}

static struct kernel *open_text(uint64_t text_address)
{
	FILE *file = fopen("kallsyms", "we");
	fputs(text, file);
	fclose(file);
	return kernel_open(&(struct kernel_options){.kallsyms = "kallsyms", .text_address = text_address});
}

static const char *kernel_name(struct kernel *kernel, uint64_t address, const char **ret_module)
{
	struct symbol_frame frames[4];
	size_t count = kernel_find(kernel, address, frames, 4, ret_module);
	return count ? frames[count - 1].name : "-";
}

static void kernels_of_other_boots_are_shifted(void **state)
{
	(void)state;
	const char *module = NULL;
	struct kernel *kernel = open_text(0xffffffff81000000);
	assert_string_equal(kernel_name(kernel, 0xffffffff81000150, &module), "local_function");
	assert_string_equal(module, "[kernel.kallsyms]");
	assert_string_equal(kernel_name(kernel, 0xffffffffc0000010, &module), "module_function");
	assert_string_equal(module, "[ext4]");
	assert_int_equal(kernel_state(kernel), KERNEL_SYMBOLS);
	kernel_close(kernel);
	kernel = open_text(0xffffffff9a000000);
	assert_string_equal(kernel_name(kernel, 0xffffffff9a000150, &module), "local_function");
	assert_string_equal(kernel_name(kernel, 0xffffffff81000150, &module), "-");
	/* Modules do not move with it. */
	assert_string_equal(kernel_name(kernel, 0xffffffffd9000010, &module), "-");
	kernel_close(kernel);
}

static void code_that_came_later_is_known(void **state)
{
	(void)state;
	const char *module = NULL;
	char name[] = "bpf_prog_0123456789abcdef_filter";
	struct kernel *kernel = open_text(0);
	kernel_add(kernel, 0xffffffffc0200000, 0x100, name);
	kernel_add(kernel, 0xffffffffc0200000, 0, "empty");
	kernel_add(kernel, UINT64_MAX, 10, "wraps");
	kernel_add(kernel, 0x1000, 10, "");
	memset(name, 'x', sizeof name - 1);
	assert_string_equal(kernel_name(kernel, 0xffffffffc0200050, &module), "bpf_prog_0123456789abcdef_filter");
	assert_string_equal(module, "bpf_prog_0123456789abcdef_filter");
	assert_string_equal(kernel_name(kernel, 0xffffffffc0200100, &module), "-");
	assert_string_equal(kernel_name(kernel, 0xffffffff81000150, &module), "local_function");
	kernel_close(kernel);
}

static void code_may_come_between_questions(void **state)
{
	(void)state;
	struct kernel *kernel = open_text(0);
	const uint64_t area = 0xffffffffc0300000;
	char name[32];
	for (unsigned i = 0; i < 300; i++) {
		assert_string_equal(kernel_name(kernel, area + 0x100 * i + 8, NULL), "-");
		snprintf(name, sizeof name, "program %u", i);
		kernel_add(kernel, area + 0x100 * i, 0x80, name);
		assert_string_equal(kernel_name(kernel, area + 0x100 * i + 8, NULL), name);
		assert_string_equal(kernel_name(kernel, area, NULL), "program 0");
	}
	kernel_add(kernel, area, 0x80, "in its place");
	assert_string_equal(kernel_name(kernel, area + 8, NULL), "in its place");
	assert_string_equal(kernel_name(kernel, area + 0x108, NULL), "program 1");
	kernel_close(kernel);
}

#ifdef __x86_64__
/* A kernel of two functions, one inlined into the other, that lies elsewhere than it was linked. */
static const char vmlinux_source[] = "volatile int sum;\n"
				     "static inline __attribute__((always_inline)) void inner(void) { sum += 3; }\n"
				     "void outer(void) { inner(); }\n";
static const char build_vmlinux[] =
	"mkdir -p root/boot && gcc -x c -O2 -g -mcmodel=kernel -fno-pic -fcf-protection=none -c -o v.o vmlinux.c && "
	"ld -Ttext=0xffffffff81000000 --defsym=_text=0xffffffff81000000 -e outer --build-id=0x0102030405060708 "
	"-o root/boot/vmlinux-$(uname -r) v.o";
#endif

static void vmlinux_shows_inlined_functions_and_lines(void **state)
{
	(void)state;
#ifdef __x86_64__
	struct kernel_options options = {
		.text_address = 0xffffffff9a000000,
		.root = "root",
		.vmlinux = true,
		.symbols = {.inlines = true, .lines = true},
	};
	struct symbol_frame frames[4];
	if (!shell_has("gcc"))
		skip();
	FILE *source = fopen("vmlinux.c", "we");
	assert_non_null(source);
	fputs(vmlinux_source, source);
	assert_int_equal(fclose(source), 0);
	assert_int_equal(system(build_vmlinux), 0);
	assert_true(build_id_parse(&options.build_id, "0102030405060708"));
	struct kernel *kernel = kernel_open(&options);
	assert_int_equal(kernel_state(kernel), KERNEL_DEBUG);
	assert_int_equal(kernel_find(kernel, 0xffffffff9a000000, frames, 4, NULL), 2);
	assert_string_equal(frames[0].name, "inner");
	assert_int_equal(frames[0].line, 2);
	assert_true(frames[0].inlined);
	assert_string_equal(frames[1].name, "outer");
	assert_int_equal(frames[1].line, 3);
	kernel_close(kernel);
#else
	skip();
#endif
}

static void another_kernel_is_not_taken_for_this_one(void **state)
{
	(void)state;
	struct kernel_options options = {0};
	CLEANUP_BUF struct buf advice = {0};
	if (access("/sys/kernel/notes", R_OK))
		skip();
	assert_true(build_id_parse(&options.build_id, "0102030405060708"));
	struct kernel *kernel = kernel_open(&options);
	assert_int_equal(kernel_state(kernel), KERNEL_OTHER);
	kernel_advice(kernel, &advice);
	assert_non_null(strstr(advice.data, "another kernel"));
	kernel_close(kernel);
}

/* Each function of the running kernel is found at its own address, by one of its names; modules and BPF come and go. */
static void the_running_kernel_is_read(void **state)
{
	(void)state;
	struct kernel *kernel = kernel_open(NULL);
	if (kernel_state(kernel) != KERNEL_SYMBOLS) {
		kernel_close(kernel);
		skip();
	}
	struct buf lines = shell_output("awk 'NF == 3 && $2 ~ /[tT]/ && NR % 50 == 0 { print $1, $3 }' /proc/kallsyms");
	char *rest = lines.data;
	size_t seen = 0, same = 0;
	for (char *line; (line = shell_line(&rest)); seen++) {
		char *name;
		uint64_t address = strtoull(line, &name, 16);
		const char *found = kernel_name(kernel, address, NULL);
		assert_string_not_equal(found, "-");
		same += !strcmp(found, name + 1);
	}
	assert_true(seen > 100);
	assert_true(same > seen / 2);
	buf_release(&lines);
	kernel_close(kernel);
}

static void put_text(struct cache *cache)
{
	struct kallsyms *symbols = NULL;
	assert_int_equal(kallsyms_open_bytes(&symbols, text, sizeof text - 1, NULL), 0);
	kept_kallsyms_put(symbols, cache);
	kallsyms_close(symbols);
}

static void what_is_kept_gives_the_same_answers_but_for_code_that_comes_and_goes(void **state)
{
	(void)state;
	struct cache *cache = cache_open("kept", CACHE_USUAL);
	struct kept_kallsyms kept;
	assert_false(kept_kallsyms_open(&kept, NULL));
	assert_false(kept_kallsyms_open(&kept, cache));
	put_text(cache);
	assert_true(kept_kallsyms_open(&kept, cache));
	struct kallsyms *symbols = NULL;
	assert_int_equal(kallsyms_open_bytes(&symbols, text, sizeof text - 1, NULL), 0);
	static const uint64_t starts[] = {0, 0xffffffff80ffff00, 0xffffffffbfffff00};
	for (size_t i = 0; i < 3 * 0x3000; i++) {
		uint64_t address = starts[i / 0x3000] + i % 0x3000;
		struct kallsyms_function wanted, found;
		bool known = kallsyms_find(symbols, address, &wanted);
		assert_int_equal(kept_kallsyms_find(&kept, address, &found), known);
		if (!known)
			continue;
		assert_string_equal(found.name, wanted.name);
		assert_int_equal(found.start, wanted.start);
		assert_int_equal(!found.module, !wanted.module);
		if (found.module)
			assert_string_equal(found.module, wanted.module);
	}
	struct kallsyms_function found;
	assert_false(kept_kallsyms_find(&kept, 0xffffffffc0100010, &found)); /* a BPF program */
	assert_int_equal(kept_kallsyms_text(&kept, "_stext"), kallsyms_text(symbols, "_stext"));
	kallsyms_close(symbols);
	kept_kallsyms_close(&kept);
	cache_close(cache);
}

static void what_is_not_kept_is_read_from_the_running_kernel(void **state)
{
	(void)state;
	struct buf line = shell_output("awk '$2 == \"T\" && $3 == \"schedule\" { print $1 }' /proc/kallsyms");
	uint64_t schedule = strtoull(line.data ? line.data : "", NULL, 16);
	buf_release(&line);
	if (!schedule)
		skip();
	struct cache *cache = cache_open("kept2", CACHE_USUAL);
	put_text(cache);
	struct kernel *kernel = kernel_open(&(struct kernel_options){.cache = cache});
	const char *module = NULL;
	assert_string_equal(kernel_name(kernel, 0xffffffffc0000010, &module), "module_function");
	assert_string_equal(module, "[ext4]");
	assert_string_equal(kernel_name(kernel, schedule + 1, &module), "schedule");
	assert_string_equal(module, "[kernel.kallsyms]");
	assert_string_equal(kernel_name(kernel, 0xffffffffc0000010, &module), "module_function");
	kernel_close(kernel);
	cache_close(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_functions_reach_to_the_next_symbol),
		cmocka_unit_test(hidden_addresses_are_noticed),
		cmocka_unit_test(kernels_of_other_boots_are_shifted),
		cmocka_unit_test(code_that_came_later_is_known),
		cmocka_unit_test(code_may_come_between_questions),
		cmocka_unit_test(vmlinux_shows_inlined_functions_and_lines),
		cmocka_unit_test(another_kernel_is_not_taken_for_this_one),
		cmocka_unit_test(the_running_kernel_is_read),
		cmocka_unit_test(what_is_kept_gives_the_same_answers_but_for_code_that_comes_and_goes),
		cmocka_unit_test(what_is_not_kept_is_read_from_the_running_kernel),
	};
	return cmocka_run_group_tests(tests, shell_enter, shell_leave);
}
