/* Builds the target of `wick record` from its options and arguments. */
#include "base/text.h"
#include "cmd/record/record.h"
#include "container/container.h"
#include "system/denied.h"
#include "system/limits.h"
#include "system/users.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void join(struct buf *out, const struct option_list *list, const char *between)
{
	for (size_t i = 0; i < list->count; i++)
		buf_printf(out, "%s%s", i ? between : "", list->items[i]);
}

/* A name of the system's users, or a number. */
static int find_user(struct record_run *run)
{
	const char *text = run->options.user;
	char *end;
	uid_t named;
	bool is_name = user_find(text, &named);
	unsigned long number = is_name ? named : strtoul(text, &end, 10);
	if (!is_name && (!isdigit((unsigned char)*text) || *end || number >= UINT32_MAX))
		return say_usage(run->called_as, "user '%s' does not exist", text);
	run->user = (uid_t)number;
	return PROCEED;
}

/*
 * Kinds of targets of which one can be given; --name and --user are one kind. A command beside one of them is how long
 * it is recorded.
 */
static int check_one_kind(const struct record_run *run)
{
	const struct record_options *options = &run->options;
	const struct {
		bool given;
		const char *name;
	} kinds[] = {
		{options->pids.count || options->tids.count, "--pid"},
		{options->names.count || options->user, options->names.count ? "--name" : "--user"},
		{options->capture.cgroup, "--cgroup"},
		{options->container, "--container"},
		{options->unit, "--unit"},
		{options->capture.whole_system, "--all"},
	};
	const char *first = NULL;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (kinds[i].given && first)
			return say_usage(run->called_as, "%s and %s cannot be used together", first, kinds[i].name);
		if (kinds[i].given)
			first = kinds[i].name;
	}
	if (run->command.count)
		return PROCEED;
	if (!first)
		return say_usage(run->called_as,
				 "no target; use -- COMMAND, -p PID, -n NAME, -u USER, --container NAME or -a");
	return PROCEED;
}

/* Who names nothing to wick top wants to see everything. */
static int choose_system(struct record_run *run)
{
	struct capture_limits limits = capture_limits_read();
	run->options.capture.whole_system = true;
	if (limits.whole_system)
		return PROCEED;
	struct system system = system_this();
	say_error("permission denied for the whole system: %s, or record a process with -p PID", denied_step(&system));
	return EXIT_FAILED;
}

/* Containers that run now or start later. */
static int follow_containers(struct record_run *run)
{
	struct record_options *options = &run->options;
	if (!options->container)
		return say_usage(run->called_as, "--follow needs --container");
	options->capture.follow = options->container;
	options->capture.whole_system = true;
	buf_printf(&run->title, "containers %s", options->container);
	text_one_line(run->title.data, run->title.size);
	return PROCEED;
}

/* A container, a pod or a unit is the cgroup that it is in. */
static int find_container(struct record_run *run)
{
	const struct record_options *options = &run->options;
	struct containers containers CLEANUP_CONTAINERS = {0};
	struct err err = {0};
	if (options->unit && cgroup_choose_unit(options->capture.host_root, options->unit, &run->cgroup, &err))
		return say_failure(&err);
	if (options->container) {
		containers_list(&containers, options->capture.host_root);
		const struct container *container = containers_choose(&containers, options->container, &err);
		if (!container)
			return say_failure(&err);
		buf_str(&run->cgroup, container->directory);
		buf_str(&run->title, "container ");
		container_title(container, &run->title);
		text_one_line(run->title.data, run->title.size);
	}
	run->options.capture.cgroup = run->cgroup.data;
	return PROCEED;
}

static void make_title(struct record_run *run)
{
	const struct record_options *options = &run->options;
	struct buf *title = &run->title;
	if (options->container) { /* it has its title */
	} else if (options->capture.whole_system) {
		buf_str(title, "whole system");
	} else if (options->unit) {
		buf_printf(title, "unit %s", options->unit);
	} else if (options->capture.cgroup) {
		buf_printf(title, "cgroup %s", options->capture.cgroup);
	} else if (options->names.count || options->user) {
		buf_str(title, "processes ");
		join(title, &options->names, " or ");
		if (options->user)
			buf_printf(title, "%sof user %s", options->names.count ? " " : "", options->user);
	} else if (options->pids.count || options->tids.count) {
		buf_printf(title, "%s %s", options->pids.count ? "process" : "thread",
			   options->pids.count ? run->pids.data : run->tids.data);
	} else {
		join(title, &run->command, " ");
	}
	if (options->capture.cpus)
		buf_printf(title, " on CPU %s", options->capture.cpus);
}

int record_choose_target(struct record_run *run)
{
	struct record_options *options = &run->options;
	join(&run->pids, &options->pids, ",");
	join(&run->tids, &options->tids, ",");
	bool some = run->command.count || options->pids.count || options->tids.count || options->names.count ||
		    options->user || options->capture.cgroup || options->container || options->unit;
	if (options->preset == PRESET_SYSTEM)
		options->capture.whole_system = true;
	if (options->capture.cpus && !some)
		options->capture.whole_system = true;
	int code = run->no_files && !some && !options->capture.whole_system ? choose_system(run) : PROCEED;
	if (code == PROCEED)
		code = check_one_kind(run);
	if (code == PROCEED && options->user)
		code = find_user(run);
	if (code == PROCEED && options->follow)
		code = follow_containers(run);
	else if (code == PROCEED && (options->container || options->unit))
		code = find_container(run);
	if (code == PROCEED)
		make_title(run);
	return code;
}
