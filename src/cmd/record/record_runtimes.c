/* The environment of a command that starts a language runtime: options by which it describes the code it generates. */
#include "cmd/record/record.h"
#include "runtime/launch.h"

#include <stdlib.h>

/* Node.js refuses to start with options that it does not allow there. */
static bool is_accepted(struct record_run *run, const struct launch_variable *variable, const char *value)
{
	const char *program = run->command.items[0], *slash = strrchr(program, '/');
	if (variable->runtime != LAUNCH_NODE)
		return true;
	if (strncmp(slash ? slash + 1 : program, "node", 4) != 0)
		program = "node";
	return launch_accepts(program, variable->name, value);
}

static void add_variable(struct record_run *run, enum launch_runtime runtime)
{
	const struct launch_variable *variable = launch_variable(runtime);
	const char *old = getenv(variable->name);
	CLEANUP_BUF struct buf value = {0};
	struct buf *text = &run->environment_texts[run->environment_count];
	if (!launch_merge(&value, old, variable->options))
		return;
	if (!is_accepted(run, variable, value.data)) {
		if (run->options.verbose && !run->options.quiet)
			say_note("%s is not changed: node does not accept %s there", variable->name, variable->options);
		return;
	}
	buf_printf(text, "%s=%s", variable->name, value.data);
	run->environment[run->environment_count++] = text->data;
	if (run->options.verbose && !run->options.quiet)
		say_note("environment of the command: %s", text->data);
}

void record_choose_environment(struct record_run *run)
{
	const struct record_options *options = &run->options;
	/* A command beside another target is not recorded. */
	bool other = options->pids.count || options->tids.count || options->names.count || options->user ||
		     options->capture.cgroup;
	if (!run->command.count || other || !options->runtime_options)
		return;
	unsigned runtimes = launch_find((char *const *)run->command.items);
	for (unsigned runtime = 1; runtime <= LAUNCH_NODE; runtime <<= 1)
		if (runtimes & runtime)
			add_variable(run, runtime);
}
