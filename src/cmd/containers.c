/* wick containers: those that run, and what they are called. */
#include "base/clock.h"
#include "base/json.h"
#include "base/outfile.h"
#include "base/term.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/confine.h"
#include "container/cgroup_cpu.h"
#include "container/container.h"
#include "render/screen.h"
#include "sandbox/sandbox.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MEASURE_NS 200000000 /* how long the CPU time is watched */
#define CGROUP_MIN 20 /* columns */

struct containers_options {
	const char *host_root;
	bool json;
};

static const struct option_row containers_rows[] = {
	{.name = "json",
	 .type = OPTION_FLAG,
	 .offset = offsetof(struct containers_options, json),
	 .help = "Write JSON, with the labels of the containers."},
	{.name = "host-root",
	 .type = OPTION_STRING,
	 .offset = offsetof(struct containers_options, host_root),
	 .argument = "DIR",
	 .initial = "",
	 .initial_described = true,
	 .help = "The directory where the file system of the host is mounted, if wick runs in a container. "
		 "Default: WICK_HOST_ROOT, or /."},
	OPTION_END,
};

/* --- what they use --- */

/* CPUs that each of them uses now, in the order of the list. The caller frees. */
static double *measure(const struct containers *containers, const char *root)
{
	struct hierarchies hierarchies CLEANUP_HIERARCHIES;
	size_t count = containers->count;
	double *cpus = mem_zalloc(count + 1, sizeof *cpus);
	uint64_t *usage CLEANUP_FREE = mem_zalloc(count + 1, sizeof *usage);
	hierarchies_read(&hierarchies, root);
	uint64_t began = clock_now();
	for (size_t i = 0; i < count; i++)
		usage[i] = cgroup_cpu_read(&hierarchies, containers->items[i].cgroup).usage;
	(void)!nanosleep(&(struct timespec){.tv_nsec = count ? MEASURE_NS : 0}, NULL);
	double passed = (double)(clock_now() - began);
	for (size_t i = 0; i < count; i++) {
		uint64_t now = cgroup_cpu_read(&hierarchies, containers->items[i].cgroup).usage;
		cpus[i] = now > usage[i] ? (double)(now - usage[i]) / passed : 0;
	}
	return cpus;
}

/* --- text --- */

enum column {
	COLUMN_NAME,
	COLUMN_ENGINE,
	COLUMN_ID,
	COLUMN_IMAGE,
	COLUMN_NAMESPACE,
	COLUMN_PID,
	COLUMN_CPU,
	COLUMN_CGROUP,
	COLUMNS
};
static const char *const headings[COLUMNS] = {"Container", "Engine", "ID",   "Image",
					      "Namespace", "PID",    "CPUs", "Cgroup"};

static void add_cell(struct buf *out, const struct container *container, double cpus, enum column column)
{
	switch (column) {
	case COLUMN_NAME:
		container_title(container, out);
		break;
	case COLUMN_ENGINE:
		buf_str(out, container->engine);
		break;
	case COLUMN_ID:
		buf_printf(out, "%.*s", CONTAINER_SHORT_ID, container->id);
		break;
	case COLUMN_IMAGE:
		buf_str(out, container->image);
		break;
	case COLUMN_NAMESPACE:
		buf_str(out, container->namespace);
		break;
	case COLUMN_PID:
		buf_printf(out, "%d", (int)container->pid);
		break;
	case COLUMN_CPU:
		buf_printf(out, "%.2f", cpus);
		break;
	default:
		buf_str(out, container->cgroup);
	}
}

/* What the terminal shows of a cell. */
static void show_cell(struct buf *out, const struct container *container, double cpus, enum column column)
{
	CLEANUP_BUF struct buf text = {0};
	buf_str(&text, "");
	add_cell(&text, container, cpus, column);
	buf_str(out, "");
	screen_name(out, text.data, text.size, 0);
}

static void add_row(struct buf *out, const char *const cells[COLUMNS], const size_t widths[COLUMNS])
{
	for (int column = 0; column < COLUMNS; column++) {
		size_t length = strlen(cells[column]), columns = text_columns(cells[column], length);
		bool right = column == COLUMN_PID || column == COLUMN_CPU;
		if (!widths[column])
			continue;
		if (column)
			buf_str(out, "  ");
		if (right)
			screen_spaces(out, widths[column] - columns);
		screen_name(out, cells[column], length, widths[column]);
		if (!right && column != COLUMN_CGROUP)
			screen_spaces(out, widths[column] - columns);
	}
	buf_char(out, '\n');
}

/* The cgroup is last, and gets what is left of a terminal. */
static void fit_terminal(size_t widths[COLUMNS])
{
	size_t others = 0, width = isatty(STDOUT_FILENO) ? (size_t)term_width(STDOUT_FILENO, 0) : 0;
	for (int column = 0; column < COLUMN_CGROUP; column++)
		others += widths[column] ? widths[column] + 2 : 0;
	if (width && widths[COLUMN_CGROUP] + others > width)
		widths[COLUMN_CGROUP] = width > others + CGROUP_MIN ? width - others : CGROUP_MIN;
}

static void write_text(struct buf *out, const struct containers *containers, const double *cpus)
{
	size_t widths[COLUMNS] = {0};
	const char *cells[COLUMNS];
	struct buf *texts = mem_zalloc((containers->count + 1) * COLUMNS, sizeof *texts);
	for (size_t i = 0; i < containers->count; i++)
		for (int column = 0; column < COLUMNS; column++) {
			struct buf *text = &texts[i * COLUMNS + (size_t)column];
			show_cell(text, &containers->items[i], cpus[i], (enum column)column);
			size_t columns = text_columns(text->data, text->size), least = strlen(headings[column]);
			if (text->size && columns > widths[column])
				widths[column] = columns > least ? columns : least;
		}
	fit_terminal(widths);
	if (containers->count)
		add_row(out, headings, widths);
	for (size_t i = 0; i < containers->count; i++) {
		for (int column = 0; column < COLUMNS; column++)
			cells[column] = texts[i * COLUMNS + (size_t)column].data;
		add_row(out, cells, widths);
	}
	for (size_t i = 0; i < containers->count * COLUMNS; i++)
		buf_release(&texts[i]);
	free(texts);
}

/* --- JSON --- */

static void add_json(struct json *json, const struct container *container, double cpus)
{
	json_object(json, NULL, &json_inline);
	json_string(json, "engine", container->engine);
	json_string(json, "id", container->id);
	json_known(json, "name", container->name);
	json_known(json, "image", container->image);
	json_known(json, "pod", container->pod);
	json_known(json, "namespace", container->namespace);
	json_int(json, "pid", container->pid);
	json_number(json, "cpus", cpus, 3);
	json_string(json, "cgroup", container->cgroup);
	json_object(json, "labels", &json_inline);
	for (size_t i = 0; i < container->label_count; i++)
		json_string(json, container->labels[i].key, container->labels[i].value);
	json_end(json);
	json_end(json);
}

static void write_json(struct buf *out, const struct containers *containers, const double *cpus)
{
	struct json json = {.out = out};
	json_array(&json, NULL, &json_lines);
	for (size_t i = 0; i < containers->count; i++)
		add_json(&json, &containers->items[i], cpus[i]);
	json_end(&json);
	buf_char(out, '\n');
}

/* --- the command --- */

static int list(const struct containers_options *options)
{
	struct containers containers CLEANUP_CONTAINERS = {0};
	CLEANUP_BUF struct buf text = {0}, reason = {0};
	struct outfile out;
	struct err err = {0};
	struct sandbox *sandbox = confine(&(struct confine_options){0}, &reason);
	containers_list(&containers, options->host_root);
	double *cpus CLEANUP_FREE = measure(&containers, options->host_root);
	if (options->json)
		write_json(&text, &containers, cpus);
	else
		write_text(&text, &containers, cpus);
	int result = outfile_open(&out, NULL, &err);
	if (!result) {
		outfile_add(&out, text.data ? text.data : "", text.size);
		result = outfile_commit(&out, &err);
	}
	sandbox_leave(sandbox);
	if (!containers.count && !options->json)
		say_note("no containers are running");
	bool unnamed = false;
	for (size_t i = 0; i < containers.count; i++)
		unnamed = unnamed || !*containers.items[i].name;
	if (unnamed && geteuid())
		say_note("only root can read the names of all containers; run with sudo");
	return result ? say_failure(&err) : EXIT_DONE;
}

static int run_containers(int argc, char **argv)
{
	struct containers_options options = {0};
	struct option_list arguments = {0};
	int result = options_parse(&command_containers, argc, argv, &options, &arguments);
	if (result != PROCEED)
		return result;
	options.host_root = containers_root(options.host_root);
	result = arguments.count ? say_usage(&command_containers, "takes no arguments") : list(&options);
	option_list_release(&arguments);
	return result;
}

const struct command command_containers = {
	.name = "containers",
	.summary = "List the containers that run, for wick record --container",
	.arguments = "",
	.description =
		"Lists the running containers of docker, podman, containerd, cri-o, LXC, Incus and systemd-nspawn: "
		"name, engine, ID, image, first process, the CPUs that it uses now, and its cgroup. Containers of "
		"Kubernetes have the name of their pod before their own, and a namespace.\n\n"
		"Containers are found by their cgroups. Names come from the files of the engines, most of which only "
		"root can read. The engines do not have to run.",
	.options = containers_rows,
	.examples =
		(const struct command_example[]){
			{"sudo wick containers", "list the containers with their names"},
			{"wick containers --json", "the same as JSON, with labels"},
			{0},
		},
	.environment =
		(const struct command_fact[]){
			{"WICK_HOST_ROOT", "Default of --host-root."},
			{0},
		},
	.run = run_containers,
};
