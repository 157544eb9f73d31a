/*
 * A real interpreter describes its code objects, lines and frames (python_witness.py); what is read from its memory
 * must be the same. WICK_PYTHONS lists interpreters, separated by blanks; by default it is the python3 of the system.
 */
#include "unit.h"

#include "base/buf.h"
#include "runtime/python/code.h"
#include "runtime/python/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TABLE_BYTES = 4096, MAX_FRAMES = 64 };

struct witness {
	pid_t pid;
	int input; /* it ends when this is closed */
	struct target_memory memory;
	struct buf text;
	struct python_layout layout;
	uint64_t runtime;
	unsigned codes, instructions, threads, frames;
};

static const char *script(void)
{
	static char path[512];
	const char *slash = strrchr(__FILE__, '/');
	snprintf(path, sizeof path, "%.*s/python_witness.py", (int)(slash - __FILE__), __FILE__);
	return path;
}

static void start(struct witness *witness, const char *python)
{
	int in[2], out[2];
	assert_int_equal(pipe(in) || pipe(out), 0);
	witness->pid = fork();
	assert_true(witness->pid >= 0);
	if (!witness->pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[1]);
		close(out[0]);
		execlp(python, python, script(), "json", "argparse", "asyncio", "typing", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	witness->input = in[1];
	/* Its last line is "end"; without, it has failed. */
	for (;;) {
		ssize_t count = read(out[0], buf_reserve(&witness->text, 65536), 65536);
		assert_true(count > 0);
		witness->text.size += (size_t)count;
		witness->text.data[witness->text.size] = '\0';
		if (witness->text.size > 5 && !strcmp(witness->text.data + witness->text.size - 5, "\nend\n"))
			break;
	}
	close(out[0]);
	witness->memory = (struct target_memory){&witness->pid, process_memory_read};
}

static void stop(struct witness *witness)
{
	close(witness->input);
	assert_int_equal(waitpid(witness->pid, NULL, 0), witness->pid);
	buf_release(&witness->text);
}

/* The field after a name at the beginning of a line; NULL if there is no such line. */
static const char *field_after(const struct witness *witness, const char *name)
{
	const char *at = strstr(witness->text.data, name);
	return at ? at + strlen(name) : NULL;
}

static void find_layout(struct witness *witness)
{
	const char *version = field_after(witness, "\nversion\t"), *runtime = field_after(witness, "\nruntime\t");
	uint8_t table[TABLE_BYTES];
	assert_non_null(version);
	assert_non_null(runtime);
	witness->runtime = strtoull(runtime, NULL, 16);
	uint32_t number = (uint32_t)strtoul(version, NULL, 16);
	if (python_layout_of_version(number, &witness->layout))
		return;
	assert_true(target_memory_read(&witness->memory, witness->runtime, table, sizeof table));
	assert_true(python_layout_of_table(table, sizeof table, &witness->layout));
	assert_int_equal(witness->layout.version, number);
}

/* Takes the next field, which a tab or the end of the line ends. */
static char *next_field(char **at)
{
	char *field = strsep(at, "\t");
	assert_non_null(field);
	return field;
}

static void check_lines(struct witness *witness, const struct python_code *code, char *ranges)
{
	for (char *range; (range = strsep(&ranges, ","));) {
		unsigned start, end, line;
		if (sscanf(range, "%u-%u:%u", &start, &end, &line) != 3)
			continue;
		for (unsigned offset = start; offset < end; offset += 2) {
			uint32_t found = python_code_line(code, &witness->layout, offset);
			if (found != line)
				print_error("%s at %u: line %u, not %u\n", code->name, offset, found, line);
			assert_int_equal(found, line);
			witness->instructions++;
		}
	}
}

static void check_code(struct witness *witness, char *fields)
{
	uint64_t address = strtoull(next_field(&fields), NULL, 16);
	uint32_t first_line = (uint32_t)strtoul(next_field(&fields), NULL, 10);
	const char *file = next_field(&fields), *name = next_field(&fields);
	struct python_code code;
	assert_true(python_code_read(&witness->memory, &witness->layout, address, &code));
	assert_string_equal(code.name, name);
	assert_string_equal(code.file, file);
	assert_int_equal(code.first_line, first_line);
	check_lines(witness, &code, next_field(&fields));
	witness->codes++;
	python_code_release(&code);
}

struct stack {
	struct python_frame frames[MAX_FRAMES];
	size_t count, next;
	enum python_end end;
};

static void check_thread(struct witness *witness, struct stack *stack, const char *tid)
{
	stack->next = 0;
	stack->count = python_stack_read(&witness->memory, &witness->layout, witness->runtime,
					 (int32_t)strtol(tid, NULL, 10), stack->frames, MAX_FRAMES, &stack->end);
	assert_int_equal(stack->end, PYTHON_END_WHOLE);
	assert_true(stack->count);
	assert_true(stack->frames[stack->count - 1].entry);
	witness->threads++;
}

static void check_frame(struct witness *witness, struct stack *stack, char *fields)
{
	uint64_t address = strtoull(next_field(&fields), NULL, 16);
	long offset = strtol(next_field(&fields), NULL, 10), line = strtol(next_field(&fields), NULL, 10);
	long entry = strtol(next_field(&fields), NULL, 10);
	assert_true(stack->next < stack->count);
	const struct python_frame *frame = &stack->frames[stack->next++];
	struct python_code code;
	assert_int_equal(frame->code, address);
	if (offset >= 0)
		assert_int_equal(frame->offset, offset);
	if (entry >= 0)
		assert_int_equal(frame->entry, entry);
	assert_true(python_code_read(&witness->memory, &witness->layout, address, &code));
	assert_int_equal(frame->first_line, code.first_line);
	assert_int_equal(python_code_line(&code, &witness->layout, frame->offset), line);
	python_code_release(&code);
	witness->frames++;
}

static void check_all(struct witness *witness)
{
	char *text = witness->text.data;
	struct stack stack = {0};
	for (char *line; text && (line = strsep(&text, "\n"));) {
		char *fields = line;
		const char *what = strsep(&fields, "\t");
		if (!fields)
			continue;
		if (!strcmp(what, "code"))
			check_code(witness, fields);
		else if (!strcmp(what, "thread"))
			check_thread(witness, &stack, fields);
		else if (!strcmp(what, "frame"))
			check_frame(witness, &stack, fields);
	}
	assert_int_equal(stack.next, stack.count); /* no more frames than it knows */
}

static void check_interpreter(const char *python)
{
	struct witness witness = {0};
	start(&witness, python);
	find_layout(&witness);
	check_all(&witness);
	print_message("# %s: %x, %u functions, %u instructions, %u frames of %u threads\n", python,
		      witness.layout.version, witness.codes, witness.instructions, witness.frames, witness.threads);
	assert_true(witness.codes > 1000);
	assert_true(witness.instructions > 20000);
	assert_int_equal(witness.threads, 2);
	assert_int_equal(witness.frames, witness.layout.version < 0x030c ? 10 : 9);
	stop(&witness);
}

/* Some programs named python3 are too old. */
static bool usable(const char *python)
{
	char command[512];
	snprintf(command, sizeof command, "'%s' -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null",
		 python);
	return !system(command);
}

static void what_is_read_is_what_the_interpreter_says(void **state)
{
	(void)state;
	char list[4096];
	const char *named = getenv("WICK_PYTHONS");
	const char *usual = access("/usr/bin/python3", X_OK) ? "python3" : "/usr/bin/python3";
	snprintf(list, sizeof list, "%s", named ? named : usual);
	if (access(script(), R_OK) || (!named && !usable(usual))) {
		print_message("# skipped: no python3 of version 3.8 or later, or no %s\n", script());
		skip();
	}
	char *rest = list;
	for (char *python; (python = strsep(&rest, " "));)
		if (*python)
			check_interpreter(python);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_what_the_interpreter_says),
	};
	return cmocka_run_group_tests_name("python_live", tests, NULL, NULL);
}
