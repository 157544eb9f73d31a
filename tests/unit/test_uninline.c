/* Inlined functions that perf script text leaves out, looked up in a program that is compiled here. */
#include "shell.h"

#include "import/import.h"
#include "import/uninline.h"
#include "profile/calltree.h"

static const char source[] = "volatile int sum;\n"
			     "static inline __attribute__((always_inline)) void inner(void) { sum += 3; }\n"
			     "__attribute__((noinline)) void outer(void) { inner(); }\n"
			     "int main(void) { outer(); return sum; }\n";

static unsigned long long place; /* of outer() in the file */
static char path[128];

static int build(void **state)
{
	if (shell_enter(state))
		return -1;
	FILE *file = fopen("program.c", "we");
	if (!file || fputs(source, file) < 0 || fclose(file))
		return -1;
	snprintf(path, sizeof path, "%s/program", shell_folder);
	/* The address is the place in the file, plus a constant that is not 0. */
	shell("gcc -O2 -g -no-pie -fcf-protection=none -Wl,-Ttext-segment=0x500000 -o program program.c");
	CLEANUP_BUF struct buf address = shell_output("nm program | sed -n 's/ T outer$//p'");
	place = strtoull(address.data, NULL, 16) - 0x500000;
	return 0;
}

/* The innermost function of the one stack, its callers, its callers' callers, … */
static void expect(const char *text, const char *wanted)
{
	struct profile profile;
	struct err err = {0};
	struct import_report report = {0};
	CLEANUP_BUF struct buf found = {0};
	FILE *file = fopen("text", "we");
	assert_non_null(file);
	fprintf(file, "program 1 1.0: 7 cycles:\n%s\n", text);
	assert_int_equal(fclose(file), 0);
	profile_init(&profile);
	struct import_options options = {.threads = 2, .uninliner = uninliner_new(&(struct symbol_options){0})};
	assert_int_equal(import_file(&profile, "text", &options, &report, &err), 0);
	uninliner_free(options.uninliner);
	assert_int_equal(profile.sample_count, 1);
	for (stack_id at = profile.samples[0].stack; at != STACK_ROOT; at = profile.stacks[at].parent) {
		const struct frame *frame = &profile.frames[profile.stacks[at].frame];
		buf_printf(&found, "%s%s;", profile_text(&profile, profile.functions[frame->function].name),
			   frame->kind == FRAME_INLINED ? "*" : "");
	}
	assert_string_equal(found.data, wanted);
	profile_release(&profile);
}

static void functions_are_found_by_their_place_in_the_file_or_their_address(void **state)
{
	(void)state;
	char text[512];
	snprintf(text, sizeof text, "\t%llx outer+0x0 (%s)\n\t%llx outer() (%s)\n", place, path, place + 0x500000,
		 path);
	expect(text, "inner*;outer;inner*;outer;");
}

static void what_the_text_shows_itself_is_not_added_twice(void **state)
{
	(void)state;
	char text[512];
	snprintf(text, sizeof text, "\t%llx inner (inlined)\n\t%llx outer (%s)\n\t%llx outer (%s)\n", place, place,
		 path, place, path);
	expect(text, "inner*;outer;inner*;outer;");
}

static void another_function_is_not_taken_for_the_one_that_was_recorded(void **state)
{
	(void)state;
	char text[512];
	snprintf(text, sizeof text, "\t%llx other+0x1 (%s)\n\t%llx outer (/no/such/program)\n\t%llx outer ([kernel])\n",
		 place, path, place, place);
	expect(text, "other;outer;outer;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_by_their_place_in_the_file_or_their_address),
		cmocka_unit_test(what_the_text_shows_itself_is_not_added_twice),
		cmocka_unit_test(another_function_is_not_taken_for_the_one_that_was_recorded),
	};
	return cmocka_run_group_tests_name("uninline", tests, build, shell_leave);
}
