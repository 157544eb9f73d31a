/*
 * Arguments of every command, as far as tables and parsers of values go: nothing is run or opened. The first byte
 * chooses the command, the rest are arguments that end with a NUL.
 */
#include "capture/events.h"
#include "capture/types.h"
#include "cmd/filter_options.h"
#include "cmd/help.h"
#include "cmd/script_text.h"
#include "harness.h"
#include "object/build_id.h"
#include "profile/gate.h"
#include "render/palette.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define ARGUMENTS_MAX 64
#define FIELDS_SIZE 8192 /* no command has so many */

/* Messages go nowhere meanwhile. A sanitizer's report does too, but it has a file of its own in tests/run. */
static void hush(int kept[2], bool on)
{
	static int nowhere = -1;
	if (nowhere < 0)
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		if (on)
			kept[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, 3);
		dup2(on ? nowhere : kept[i], STDOUT_FILENO + i);
		if (!on)
			close(kept[i]);
	}
}

static void release_list(const struct option_row *row, char *fields)
{
	if (row->type == OPTION_LIST || row->type == OPTION_REST || row->type == OPTION_COMMAS)
		option_list_release((struct option_list *)(fields + row->offset));
	else if (row->list)
		option_list_release((struct option_list *)(fields + row->list));
}

static void parse_arguments(const struct command *command, int argc, char **argv)
{
	struct option_list arguments = {0};
	char *fields = calloc(1, FIELDS_SIZE);
	int code = options_parse(command, argc, argv, fields, &arguments);
	bool parsed = code == PROCEED;
	if (parsed ? arguments.count > (size_t)argc : code < 0 || code > EXIT_USAGE)
		abort();
	/* On failure they have been released. */
	for (const struct option_row *row = NULL; parsed && (row = option_next(command, row));)
		release_list(row, fields);
	for (const struct option_row *row = NULL; parsed && (row = option_next_perf(command, row));)
		release_list(row, fields);
	option_list_release(&arguments);
	free(fields);
}

/* Lists of numbers may be long; who types them wants them so. */
#define LIST_MAX 64

static void parse_filters(const char *text)
{
	const char *items[] = {text, NULL};
	struct option_list list = {.items = items, .count = 1}, none = {0};
	bool short_enough = strlen(text) < LIST_MAX;
	for (unsigned which = 0; which < 4; which++) {
		struct input_options options = {
			.pids = which == 0 ? list : none,
			.tids = which == 1 ? list : none,
			.cpus = which == 2 && short_enough ? list : none,
			.time = which == 3 ? text : NULL,
		};
		struct input_filter filter;
		input_filter_parse(&filter, &options);
		input_filter_release(&filter);
	}
}

/* What commands take apart themselves. */
static void parse_value(const char *text)
{
	struct capture_events events = {0};
	struct err err = {0};
	struct gate gate;
	struct rgb colour;
	struct build_id id;
	unsigned types = 0, columns = SCRIPT_USUAL;
	if (capture_events_parse(&events, text, &err) && !err.text[0])
		abort();
	capture_events_release(&events);
	gate_parse(&gate, text, &err);
	profile_types_parse(text, &types, &err);
	script_fields_parse(&columns, text, &err);
	rgb_parse(text, &colour);
	build_id_parse(&id, text);
	parse_filters(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[ARGUMENTS_MAX + 1];
	int argc = 1, kept[2];
	size_t count = 0;
	if (size < 2)
		return 0;
	while (commands[count])
		count++;
	const struct command *command = commands[data[0] % count];
	CLEANUP_FREE char *text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	argv[0] = (char *)command->name;
	for (char *at = text; at < text + size - 1 && argc < ARGUMENTS_MAX; at += strlen(at) + 1)
		argv[argc++] = at;
	argv[argc] = NULL;
	hush(kept, true);
	if (argc > 1)
		parse_value(argv[argc - 1]);
	parse_arguments(command, argc, argv);
	hush(kept, false);
	return 0;
}
