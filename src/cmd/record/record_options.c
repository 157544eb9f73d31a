/* The options of `wick record`: defaults, and what follows from combinations. */
#include "cmd/record/record_options.h"

#include "container/container.h"
#include "profile/types.h"

#include <stdlib.h>
#include <string.h>

#define STACK_SIZE_MIN 256
#define STACK_SIZE_ASKED_MAX 65528 /* what perf takes; a little more than fits beside the rest of a sample */

static const char *const preset_choices[] = {
	[PRESET_QUICK] = "quick",   [PRESET_DEFAULT] = "default", [PRESET_DETAILED] = "detailed",
	[PRESET_SYSTEM] = "system", [PRESET_UNSET] = NULL,
};
static const char *const engine_choices[] = {
	[ENGINE_AUTO] = "auto",
	[ENGINE_BPF] = "bpf",
	[ENGINE_RING] = "ring",
	NULL,
};
static const char *const python_choices[] = {
	[INTERPRETED_MERGED] = "merged",
	[INTERPRETED_ONLY] = "only",
	[INTERPRETED_NATIVE] = "native",
	[INTERPRETED_OFF] = "off",
	NULL,
};
static const char *const call_graph_choices[] = {"auto", "dwarf", "fp", "lbr", NULL};
static const enum call_graph call_graphs[] = {CALL_GRAPH_DWARF, CALL_GRAPH_DWARF, CALL_GRAPH_FP, CALL_GRAPH_LBR};

#define FIELD(field) offsetof(struct record_options, field)
#define TEXT(text, field, value) .name = text, .type = OPTION_STRING, .offset = FIELD(field), .argument = value
#define LIST(text, field, value) .name = text, .type = OPTION_LIST, .offset = FIELD(field), .argument = value
#define WHOLE(text, field, value, low, high)                                                                           \
	.name = text, .type = OPTION_INT, .offset = FIELD(field), .size = sizeof(((struct record_options *)0)->field), \
	.argument = value, .min = low, .max = high
const struct option_row record_rows[] = {
	{.type = OPTION_HEADING, .help = "What to record"},
	{LIST("type", types, "TYPE"), .letter = 't',
	 .help = "What to measure; several types are separated by commas: -t cpu,offcpu.",
	 .add_help = profile_types_help},
	{LIST("pid", pids, "PID"), .letter = 'p',
	 .help = "Running processes: 12,13. Includes their threads and children, and those started later. Can be "
		 "repeated."},
	{LIST("tid", tids, "TID"),
	 .help = "Single threads, and the threads and processes that they start. Can be repeated."},
	{LIST("name", names, "GLOB"), .letter = 'n',
	 .help = "Processes whose name or executable matches a shell pattern: 'nginx*'. Can be repeated."},
	{TEXT("user", user, "USER"), .letter = 'u',
	 .help = "Processes of this user (name or ID). With --name, only processes that match both."},
	{TEXT("cgroup", capture.cgroup, "PATH"), .letter = 'G',
	 .help = "All processes in this cgroup, including later ones. PATH is its directory, the path in "
		 "/proc/PID/cgroup, or any part of the path that only one cgroup has."},
	{TEXT("container", container, "NAME"),
	 .help = "All processes in this container. NAME is its name, ID, image, a label KEY=VALUE, or a unique "
		 "beginning of its name or ID. wick containers lists them."},
	{.name = "follow",
	 .type = OPTION_FLAG,
	 .offset = FIELD(follow),
	 .help = "With --container: record all containers that match, also those that start later, such as the next "
		 "one of a service that restarts. Records the whole system and keeps the samples in them (needs "
		 "root)."},
	{TEXT("unit", unit, "UNIT"), .help = "All processes of a systemd unit: nginx.service, or nginx."},
	{TEXT("host-root", capture.host_root, "DIR"), .initial = "", .initial_described = true,
	 .help = "With --container and --unit, if wick runs in a container: the directory where the file system of "
		 "the host is mounted. Default: WICK_HOST_ROOT, or /."},
	{.name = "all",
	 .letter = 'a',
	 .type = OPTION_FLAG,
	 .offset = FIELD(capture.whole_system),
	 .help = "Whole system (needs root)."},
	{TEXT("cpu", capture.cpus, "LIST"), .letter = 'C',
	 .help = "Record the target only on these CPUs: 0,2-3. Without a target: all processes on these CPUs."},
	{.name = "inherit",
	 .type = OPTION_FLAG,
	 .offset = FIELD(capture.inherit),
	 .negatable = true,
	 .help = "Include threads and processes started later.",
	 .initial = "on"},

	{.type = OPTION_HEADING, .help = "How to record"},
	{.name = "duration",
	 .letter = 'd',
	 .type = OPTION_NUMBER,
	 .offset = FIELD(capture.duration),
	 .scale = 1e9,
	 .argument = "SECONDS",
	 .min = 0.001,
	 .max = 1e7,
	 .clash = "wick does not record data addresses, as perf record -d does; omit the option",
	 .help = "Stop after SECONDS. A command that is still running is terminated. Default: $DURATION, or until "
		 "the target ends or Ctrl-C is pressed."},
	{WHOLE("freq", capture.frequency, "HZ", 1, 1e6), .letter = 'F', .max_word = "max",
	 .help = "Samples per second, per CPU; or max. Default: $SAMPLING_FREQ, or 99."},
	{WHOLE("period", capture.period, "COUNT", 1, 1e15), .letter = 'c',
	 .help = "Take a sample every COUNT events, instead of at a frequency."},
	{LIST("event", events, "EVENT"), .letter = 'e',
	 .help = "Event to sample: cpu-clock, cycles, page-faults, L1-dcache-load-misses, sched:sched_switch, rHEX, "
		 "PMU/TERMS/, with modifiers such as :u. Default: cycles, or cpu-clock if there are no hardware "
		 "counters."},
	{TEXT("weight", capture.weight, "FIELD"),
	 .help = "With -t trace: use this field of the tracepoint as the weight, such as ret or bytes_req. Values of "
		 "0 or less count as 0. Default: each event counts as 1."},
	{.name = "waker",
	 .type = OPTION_FLAG,
	 .offset = FIELD(capture.wakers),
	 .help = "With -t offcpu: add the stack of the thread that ended the wait, inverted, above the stack of the "
		 "waiting thread."},
	{.name = "min-block",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(capture.min_block),
	 .scale = 1e3,
	 .argument = "MICROSECONDS",
	 .min = 0,
	 .max = 1e12,
	 .help = "With -t offcpu: skip shorter waits.",
	 .initial = "0"},
	{.name = "max-block",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(capture.max_block),
	 .scale = 1e3,
	 .argument = "MICROSECONDS",
	 .min = 0,
	 .max = 1e12,
	 .help = "With -t offcpu: skip longer waits. Default: no limit."},
	{.name = "kernel",
	 .type = OPTION_FLAG,
	 .offset = FIELD(capture.kernel),
	 .negatable = true,
	 .initial = "on",
	 .initial_described = true,
	 .help = "Include kernel code. Default: on, if permitted."},
	{.name = "engine",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(capture.engine),
	 .argument = "WHICH",
	 .choices = engine_choices,
	 .help = "Where stacks are unwound. bpf: in the kernel, by BPF programs that also count them; needs root, or "
		 "CAP_BPF and CAP_PERFMON. ring: in user space, from copies of the stacks. auto: bpf if permitted.",
	 .initial = "auto"},
	{.name = "python",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(capture.python),
	 .argument = "HOW",
	 .choices = python_choices,
	 .help = "How to show Python functions. merged: in place of the evaluation loop of the interpreter, between "
		 "native functions. only: without native functions. native: native functions only. off: the same, and "
		 "do not look for interpreters. The ring engine needs --call-graph dwarf, the default.",
	 .initial = "merged"},
	{.name = "asyncio",
	 .type = OPTION_FLAG,
	 .offset = FIELD(capture.asyncio),
	 .help = "With the BPF engine: show the asyncio task that is running as a frame, and from Python 3.14 on the "
		 "tasks that await it."},
	{.name = "runtime-options",
	 .type = OPTION_FLAG,
	 .offset = FIELD(runtime_options),
	 .negatable = true,
	 .help = "Make Java and Node.js name their JIT code: add options to JAVA_TOOL_OPTIONS or NODE_OPTIONS of a "
		 "command that starts them, and request a perf map from each recorded JVM every 10 s and at the end.",
	 .initial = "on"},
	{.name = "timeline",
	 .type = OPTION_FLAG,
	 .offset = FIELD(capture.timeline),
	 .help = "With the BPF engine: keep the time of every sample in perf.data. Default: identical stacks "
		 "are counted in the kernel for a quarter of a second, and their samples are spread evenly over that "
		 "time."},
	{.name = "call-graph",
	 .type = OPTION_STRING,
	 .offset = FIELD(call_graph),
	 .argument = "HOW",
	 .choices = call_graph_choices,
	 .help = "How to find stacks. auto and dwarf: unwind tables, or frame pointers in code without tables. fp: "
		 "frame pointers, followed by the kernel. lbr: branch records of the processor. dwarf,SIZE also sets "
		 "--stack-size. Default: auto."},
	{WHOLE("stack-size", capture.stack_size, "BYTES", STACK_SIZE_MIN, STACK_SIZE_MAX),
	 .help = "With the ring engine: size of the stack copy. Default: 63488; less, down to 16384, at high "
		 "frequencies or if the ring buffers must be small."},
	{WHOLE("kernel-memory", capture.kernel_memory, "MIB", 8, 1024),
	 .help = "With the BPF engine: approximate limit of kernel memory for unwind tables and counts. With a lower "
		 "limit, unused tables are removed and more stacks are unwound in user space. Default: 160; most of "
		 "it is allocated only if needed."},
	{.type = OPTION_TABLE, .table = max_memory_rows},
	{WHOLE("max-depth", capture.max_depth, "FRAMES", 1, 65536),
	 .help = "Truncate stacks deeper than this. Default: 1024."},
	{TEXT("delay", delay, "MS"), .letter = 'D',
	 .help = "Wait this many milliseconds before taking samples; also with a unit: 2s.", .initial = "0"},
	{.name = "preset",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(preset),
	 .argument = "NAME",
	 .choices = preset_choices,
	 .help = "Set several options. quick: 5 s at 99 Hz. default: 10 s at 99 Hz. detailed: 20 s at 997 Hz. "
		 "system: whole system, 10 s at 99 Hz. Other options take precedence."},

	{.type = OPTION_HEADING, .help = "Output"},
	{TEXT("output", output, "PATH"), .letter = 'o', .only = "record",
	 .help = "Write the files to this directory; create it if it does not exist.", .add_help = record_endings_help},
	{TEXT("format", format, "LIST"), .only = "record",
	 .help = "Files to write, separated by commas:", .add_help = record_formats_help},
	{.name = "compress",
	 .letter = 'z',
	 .type = OPTION_FLAG,
	 .offset = FIELD(compress),
	 .only = "record",
	 .help = "Compress perf.data to about a sixth of its size, like perf record -z. perf can read it; Hotspot "
		 "can if it was built with zstd."},
	{.name = "live",
	 .type = OPTION_FLAG,
	 .offset = FIELD(live),
	 .only = "record",
	 .help = "Show the screen of wick top while recording."},
	{WHOLE("window", window, "SECONDS", 0, 60), .initial = "-1", .initial_described = true,
	 .help = "Time shown on the screen; 0: since the start. The key w changes it. Default: 10 for wick top, 0 "
		 "for --live."},
	{.name = "refresh",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(refresh),
	 .argument = "SECONDS",
	 .min = 0.1,
	 .max = 10,
	 .help = "Interval between screen updates.",
	 .initial = "1"},
	{.name = "quiet",
	 .only = "record",
	 .letter = 'q',
	 .type = OPTION_FLAG,
	 .offset = FIELD(quiet),
	 .help = "Print only errors."},
	{.name = "verbose",
	 .letter = 'v',
	 .type = OPTION_FLAG,
	 .offset = FIELD(verbose),
	 .help = "Also print which event and engine are used, why, and their cost."},
	{.name = "names",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(input.names),
	 .argument = "STYLE",
	 .choices = input_name_choices,
	 .help = "Style of function names. short: without parameters and template arguments, unless needed to "
		 "distinguish functions. full: like c++filt. perf: like perf, without parameters. raw: mangled. "
		 "Default: short for tables, otherwise full."},
	{.name = "inline",
	 .type = OPTION_FLAG,
	 .offset = FIELD(input.inline_frames),
	 .negatable = true,
	 .help = "Show inlined functions.",
	 .initial = "on"},
	{.name = "cache",
	 .type = OPTION_FLAG,
	 .offset = FIELD(input.cache),
	 .negatable = true,
	 .help = "Keep unwind tables and function names in ~/.cache/wick.",
	 .initial = "on"},
	OPTION_END,
};
#undef FIELD
#undef TEXT
#undef LIST
#undef WHOLE

void record_options_release(struct record_options *options)
{
	struct option_list *lists[] = {&options->pids, &options->tids, &options->names, &options->events,
				       &options->types};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		option_list_release(lists[i]);
}

static bool starts_with_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	return !strncmp(text, word, length) && (!text[length] || text[length] == ',');
}

/* "dwarf,16384", which perf takes too. */
static int settle_call_graph(struct record_options *options, const struct command *called_as)
{
	const char *text = options->call_graph;
	if (!text)
		return PROCEED;
	size_t i = 0;
	while (call_graph_choices[i] && !starts_with_word(text, call_graph_choices[i]))
		i++;
	if (!call_graph_choices[i])
		return say_usage(called_as, "--call-graph must be auto, dwarf, fp or lbr, not '%s'", text);
	options->capture.call_graph = call_graphs[i];
	const char *size = strchr(text, ',');
	if (!size)
		return PROCEED;
	char *end;
	unsigned long bytes = strtoul(size + 1, &end, 10);
	bool dwarf = !strcmp(call_graph_choices[i], "dwarf");
	if (!dwarf || end == size + 1 || *end || bytes < STACK_SIZE_MIN || bytes > STACK_SIZE_ASKED_MAX)
		return say_usage(called_as, "--call-graph %s: only dwarf takes a size, in bytes from %d to %d", text,
				 STACK_SIZE_MIN, STACK_SIZE_ASKED_MAX);
	options->capture.stack_size = bytes < STACK_SIZE_MAX ? (uint32_t)bytes : STACK_SIZE_MAX;
	return PROCEED;
}

/* Milliseconds, as perf has them, unless a unit is given. */
static int settle_delay(struct record_options *options, const struct command *called_as)
{
	const char *text = options->delay;
	if (!text)
		return PROCEED;
	char *end;
	double value = strtod(text, &end);
	bool seconds = !strcmp(end, "s"), milliseconds = !*end || !strcmp(end, "ms");
	if (end == text || !(seconds || milliseconds) || !(value >= 0) || value > 1e10)
		return say_usage(called_as, "--delay must be a time such as 500, 500ms or 2s, not '%s'", text);
	options->capture.delay = (uint64_t)((seconds ? value : value / 1000) * RECORD_SECOND);
	return PROCEED;
}

/* perf's -t is a list of threads, and no type of profile is a number. */
static void settle_threads(struct record_options *options)
{
	size_t kept = 0;
	for (size_t i = 0; i < options->types.count; i++) {
		const char *text = options->types.items[i];
		if (*text && !text[strspn(text, "0123456789,")])
			option_list_add(&options->tids, text);
		else
			options->types.items[kept++] = text;
	}
	options->types.count = kept;
}

static int settle_perf_options(struct record_options *options, const struct command *called_as)
{
	if (options->compression)
		options->compress = true;
	if (options->no_inherit)
		options->capture.inherit = false;
	if (options->all_user)
		options->capture.kernel = false;
	if (options->off_cpu)
		option_list_add(&options->types, "cpu,offcpu");
	settle_threads(options);
	int code = settle_call_graph(options, called_as);
	return code == PROCEED ? settle_delay(options, called_as) : code;
}

/* A number of the environment; 0: not set. */
static int environment_number(const struct command *called_as, const char *name, double most, double *ret_value)
{
	const char *text = getenv(name);
	char *end;
	*ret_value = 0;
	if (!text || !*text)
		return PROCEED;
	double value = strtod(text, &end);
	if (*end == 's' && !end[1])
		end++;
	if (end == text || *end || !(value > 0) || value > most)
		return say_usage(called_as, "%s in the environment must be a number, not '%s'", name, text);
	*ret_value = value;
	return PROCEED;
}

int record_settle_options(struct record_options *options, const struct command *called_as)
{
	double duration, frequency;
	int code = settle_perf_options(options, called_as);
	if (code == PROCEED)
		code = max_memory_apply(options->input.max_memory);
	if (code == PROCEED)
		code = environment_number(called_as, "DURATION", 1e7, &duration);
	if (code == PROCEED)
		code = environment_number(called_as, "SAMPLING_FREQ", 1e6, &frequency);
	if (code != PROCEED)
		return code;
	static const struct {
		double duration, frequency;
	} presets[] = {[PRESET_QUICK] = {5, 99},
		       [PRESET_DEFAULT] = {10, 99},
		       [PRESET_DETAILED] = {20, 997},
		       [PRESET_SYSTEM] = {10, 99}};
	if (options->preset != PRESET_UNSET) {
		duration = presets[options->preset].duration;
		frequency = presets[options->preset].frequency;
	}
	options->duration_from = options->capture.duration       ? "-d" :
				 options->preset != PRESET_UNSET ? "--preset" :
								   "DURATION";
	if (!options->capture.duration)
		options->capture.duration = (uint64_t)(duration * RECORD_SECOND);
	if (!options->capture.frequency)
		options->capture.frequency = frequency >= 1 ? (uint64_t)frequency : 99;
	options->capture.stack_size &= ~7u;
	options->capture.host_root = containers_root(options->capture.host_root);
	return PROCEED;
}
