/* What keeps wick from recording everything here, and what fixes it. */
#include "base/json.h"
#include "base/outfile.h"
#include "base/term.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/confine.h"
#include "doctor/check.h"
#include "doctor/check_modules.h"
#include "doctor/in_container.h"
#include "sandbox/sandbox.h"

#include <stdio.h>
#include <unistd.h>

struct doctor_options {
	long long pid;
	bool json, in_container;
};

static const struct option_row doctor_rows[] = {
	{.name = "pid",
	 .letter = 'p',
	 .type = OPTION_INT,
	 .offset = offsetof(struct doctor_options, pid),
	 .argument = "PID",
	 .min = 1,
	 .max = 4194304,
	 .help = "Also check the files that this process has mapped."},
	{.name = "in-container",
	 .type = OPTION_FLAG,
	 .offset = offsetof(struct doctor_options, in_container),
	 .help = "Print how to start a container in which wick can record, and nothing else."},
	{.name = "json", .type = OPTION_FLAG, .offset = offsetof(struct doctor_options, json), .help = "Write JSON."},
	OPTION_END,
};

static const char *const verdict_names[] = {[CHECK_OK] = "ok", [CHECK_WARN] = "warn", [CHECK_BAD] = "bad"};

static const char *const symbol_names[] = {
	[SYMBOLS_DEBUG] = "symbols and debug information",
	[SYMBOLS_TABLE] = "symbols, no debug information",
	[SYMBOLS_DYNAMIC] = "exported symbols only",
	[SYMBOLS_NONE] = "no symbols",
	[SYMBOLS_MISSING] = "file not found",
	[SYMBOLS_MISMATCH] = "the file was replaced",
	[SYMBOLS_DAMAGED] = "not an ELF file",
	[SYMBOLS_UNSUPPORTED] = "not a supported ELF file",
	[SYMBOLS_CRASHED] = "skipped after a crash",
};

static const char *const pointer_names[] = {
	[FRAME_POINTERS_UNKNOWN] = "unknown",
	[FRAME_POINTERS_NO] = "no",
	[FRAME_POINTERS_YES] = "yes",
};

/* --- text --- */

static void add_verdict(struct buf *out, enum check_verdict verdict, bool colour)
{
	static const char *const colours[] = {
		[CHECK_OK] = "\033[32m", [CHECK_WARN] = "\033[33m", [CHECK_BAD] = "\033[31m"};
	if (colour)
		buf_printf(out, "%s%-4s\033[0m  ", colours[verdict], verdict_names[verdict]);
	else
		buf_printf(out, "%-4s  ", verdict_names[verdict]);
}

static void add_shown(struct buf *out, const char *text)
{
	text_terminal(out, text, strlen(text));
}

static void add_check(struct buf *out, const struct check_result *result, bool colour)
{
	add_verdict(out, result->verdict, colour);
	buf_printf(out, "%-19s  ", result->name);
	add_shown(out, result->state.data ? result->state.data : "");
	if (*result->limits)
		buf_printf(out, " — %s", result->limits);
	if (*result->now)
		buf_printf(out, "; now: %s", result->now);
	if (*result->forever)
		buf_printf(out, "; permanently: %s", result->forever);
	buf_char(out, '\n');
}

static void add_module_text(struct buf *out, const struct check_module *module, bool colour)
{
	add_verdict(out, module->verdict, colour);
	add_shown(out, module->path);
	buf_printf(out, ": %s", symbol_names[module->symbols]);
	if (module->symbols < SYMBOLS_MISSING) {
		buf_str(out, module->unwind_derived ? ", unwind rules derived from the code" :
			     module->unwind_table   ? ", unwind tables" :
						      ", no unwind tables");
		if (module->frame_pointers != FRAME_POINTERS_UNKNOWN)
			buf_str(out, module->frame_pointers == FRAME_POINTERS_YES ? ", frame pointers" :
										    ", no frame pointers");
		if (!module->unwind_table && module->frame_pointers != FRAME_POINTERS_YES)
			buf_str(out, " — stacks are truncated here: build it with -fno-omit-frame-pointer or "
				     "-fasynchronous-unwind-tables");
	}
	if (module->advice.size) {
		buf_str(out, " — ");
		add_shown(out, module->advice.data);
	}
	buf_char(out, '\n');
}

static void write_checks_text(struct buf *out, const struct system *system, bool colour)
{
	for (size_t i = 0; i < check_count(); i++) {
		struct check_result result;
		check_run(system, i, &result);
		add_check(out, &result, colour);
		buf_release(&result.state);
	}
	if (in_container_limited(system)) {
		buf_char(out, '\n');
		in_container_settings(out);
	}
}

static void write_modules_text(struct buf *out, const struct check_modules *modules, bool colour)
{
	if (modules->count)
		buf_char(out, '\n');
	for (size_t i = 0; i < modules->count; i++)
		add_module_text(out, &modules->items[i], colour);
}

/* --- JSON --- */

static const struct json_layout json_sections = {"", ",\n", "", ": "}, json_rows = {"\n  ", ",\n  ", "\n", ": "};

static void add_check_json(struct json *json, const struct check_result *result)
{
	json_object(json, NULL, &json_inline);
	json_string(json, "name", result->name);
	json_string(json, "verdict", verdict_names[result->verdict]);
	json_string(json, "state", result->state.data ? result->state.data : "");
	json_string(json, "limits", result->limits);
	json_string(json, "until_reboot", result->now);
	json_string(json, "permanently", result->forever);
	json_end(json);
}

static void add_module_json(struct json *json, const struct check_module *module)
{
	json_object(json, NULL, &json_inline);
	json_string(json, "path", module->path);
	json_string(json, "verdict", verdict_names[module->verdict]);
	json_string(json, "symbols", symbol_names[module->symbols]);
	json_bool(json, "unwind_tables", module->unwind_table);
	json_string(json, "frame_pointers", pointer_names[module->frame_pointers]);
	json_string(json, "advice", module->advice.data ? module->advice.data : "");
	json_end(json);
}

static void write_checks_json(struct json *json, const struct system *system)
{
	json_object(json, NULL, &json_sections);
	json_bool(json, "can_record", check_can_record(system));
	json_array(json, "checks", &json_rows);
	for (size_t i = 0; i < check_count(); i++) {
		struct check_result result;
		check_run(system, i, &result);
		add_check_json(json, &result);
		buf_release(&result.state);
	}
	json_end(json);
}

static void write_modules_json(struct json *json, const struct check_modules *modules)
{
	json_array(json, "modules", &json_rows);
	for (size_t i = 0; i < modules->count; i++)
		add_module_json(json, &modules->items[i]);
	json_end(json);
	json_end(json);
	buf_char(json->out, '\n');
}

/* --- the command --- */

static int list_modules(struct check_modules *modules, const struct doctor_options *options,
			const struct option_list *command, struct err *err)
{
	if (options->pid)
		return check_modules_of_process(modules, (int)options->pid, err);
	return command->count ? check_modules_of_command(modules, command->items[0], err) : 0;
}

static int print_settings(void)
{
	CLEANUP_BUF struct buf text = {0};
	struct outfile out;
	struct err err = {0};
	in_container_settings(&text);
	int result = outfile_open(&out, NULL, &err);
	if (!result) {
		outfile_add(&out, text.data, text.size);
		result = outfile_commit(&out, &err);
	}
	return result ? say_failure(&err) : EXIT_DONE;
}

/* What the system allows is checked with all privileges, and files of others are read without. */
static int look(const struct doctor_options *options, const struct option_list *command)
{
	struct system system = system_this();
	struct check_modules modules = {0};
	struct outfile out;
	struct err err = {0};
	CLEANUP_BUF struct buf text = {0}, reason = {0};
	struct json json = {.out = &text};
	bool colour = term_colour(STDOUT_FILENO), can_record = check_can_record(&system);
	if (options->json)
		write_checks_json(&json, &system);
	else
		write_checks_text(&text, &system, colour);
	int result = list_modules(&modules, options, command, &err);
	struct sandbox *sandbox = confine(&(struct confine_options){0}, &reason);
	if (!result)
		result = check_modules_read(&modules, &err);
	if (!result)
		result = outfile_open(&out, NULL, &err);
	if (!result) {
		if (options->json)
			write_modules_json(&json, &modules);
		else
			write_modules_text(&text, &modules, colour);
		outfile_add(&out, text.data, text.size);
		result = outfile_commit(&out, &err);
	}
	check_modules_release(&modules);
	sandbox_leave(sandbox);
	if (result)
		return say_failure(&err);
	return can_record ? EXIT_DONE : EXIT_FAILED;
}

static int run_doctor(int argc, char **argv)
{
	struct doctor_options options = {0};
	struct option_list command = {0};
	int result = options_parse(&command_doctor, argc, argv, &options, &command);
	if (result != PROCEED)
		return result;
	if (options.pid && command.count)
		result = say_usage(&command_doctor, "use a process or a command, not both");
	else if (options.in_container)
		result = print_settings();
	else
		result = look(&options, &command);
	option_list_release(&command);
	return result;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "Check what this system allows, and how to allow more",
	.arguments = "[-p PID | -- COMMAND]",
	.description =
		"Prints one line for each requirement of recording: its status, what that limits, and the commands "
		"that fix it, until the next reboot and permanently. In a container that does not allow everything, "
		"also prints how to start one that does.\n\n"
		"With a process or a command, also prints one line for each of its files: whether it has symbols and "
		"source lines, and how stacks are unwound through it. The command is not run.",
	.options = doctor_rows,
	.examples =
		(const struct command_example[]){
			{"wick doctor", "check this system"},
			{"wick doctor --in-container", "print settings of docker, Compose and Kubernetes"},
			{"wick doctor -p 1234", "also check the files of a process"},
			{"wick doctor --json -- ./server", "also check a program, and write JSON"},
			{0},
		},
	.exit_codes =
		(const struct command_fact[]){
			{"1", "your own processes cannot be recorded, or the check failed"},
			{0},
		},
	.runs_command = true,
	.run = run_doctor,
};
