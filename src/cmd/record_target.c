#include "cmd/record.h"

#include <string.h>

static void join(struct buf *out, const struct option_list *list, const char *between)
{
	for (size_t i = 0; i < list->count; i++)
		buf_printf(out, "%s%s", i ? between : "", list->items[i]);
}

int record_choose_target(struct record_run *run)
{
	struct record_options *options = &run->options;
	join(&run->pids, &options->pids, ",");
	join(&run->tids, &options->tids, ",");
	bool some = run->command.count || options->pids.count || options->tids.count;
	if (options->preset && !strcmp(options->preset, "system"))
		options->all = true;
	if (options->cpus && !some)
		options->all = true;
	if (run->command.count && (options->pids.count || options->tids.count))
		return say_usage(&command_record, "a command and --pid exclude each other");
	if (options->all && (options->pids.count || options->tids.count))
		return say_usage(&command_record, "--all and --pid exclude each other");
	if (!some && !options->all)
		return say_usage(&command_record, "what should be recorded? -- COMMAND, -p PID or -a");
	if (run->command.count)
		join(&run->title, &run->command, " ");
	else if (options->all)
		buf_str(&run->title, "whole system");
	else
		buf_printf(&run->title, "%s %s", options->pids.count ? "process" : "thread",
			   options->pids.count ? run->pids.data : run->tids.data);
	return -1;
}
