#include "cmd/record_options.h"

#include <stdlib.h>
#include <string.h>

#define STACK_SIZE_DEFAULT 16384
#define STACK_SIZE_LEAST 256
#define STACK_SIZE_ASKED_MOST 65528 /* what perf takes; a little more than fits beside the rest of a sample */

static const char *const preset_choices[] = {"quick", "default", "detailed", "system", NULL};
static const char *const engine_choices[] = {"auto", "bpf", "ring", NULL};
static const char *const call_graph_choices[] = {"auto", "dwarf", "fp", "lbr", NULL};

#define FIELD(field) offsetof(struct record_options, field)
#define TEXT(text, field, value) .name = text, .type = OPTION_STRING, .offset = FIELD(field), .argument = value
#define LIST(text, field, value) .name = text, .type = OPTION_LIST, .offset = FIELD(field), .argument = value
#define WHOLE(text, field, value, least, most) \
	.name = text, .type = OPTION_INT, .offset = FIELD(field), .argument = value, .min = least, .max = most
const struct option_row record_rows[] = {
	{.type = OPTION_HEADING, .help = "What to record"},
	{LIST("type", types, "TYPE"), .letter = 't',
	 .help = "What is told, one or several (-t cpu,offcpu): cpu (default) where threads run; offcpu where they "
		 "wait, for how long and for what; wall both together, which adds up to elapsed time; faults (or mem) "
		 "where memory is touched for the first time; trace where --event happens, every time."},
	{LIST("pid", pids, "PID"), .letter = 'p',
	 .help = "Processes that run already, 12,13 or several times: with their threads, those born later, and "
		 "children."},
	{LIST("tid", tids, "TID"), .help = "Single threads, and what they start."},
	{LIST("name", names, "GLOB"), .letter = 'n',
	 .help = "Processes of such a name or program, as in a shell: 'nginx*'. May be given several times."},
	{TEXT("user", user, "USER"), .letter = 'u',
	 .help = "Processes of this user (name or number); with --name only those of both."},
	{TEXT("cgroup", cgroup, "PATH"), .letter = 'G',
	 .help = "Who is in this cgroup, and joins it: its folder, or its path as in /proc/PID/cgroup."},
	{.name = "all",
	 .letter = 'a',
	 .type = OPTION_FLAG,
	 .offset = FIELD(all),
	 .help = "Everything that runs (root)."},
	{TEXT("cpu", cpus, "LIST"), .letter = 'C',
	 .help = "Only on these CPUs, such as 0,2-3, of any target. Alone it means everything that runs there."},
	{.name = "inherit",
	 .type = OPTION_FLAG,
	 .offset = FIELD(inherit),
	 .negatable = true,
	 .help = "Also threads and processes started later. Default: on."},

	{.type = OPTION_HEADING, .help = "How"},
	{.name = "duration",
	 .letter = 'd',
	 .type = OPTION_NUMBER,
	 .offset = FIELD(duration),
	 .argument = "SECONDS",
	 .min = 0.001,
	 .max = 1e7,
	 .clash = "perf record -d records addresses of data, which wick does not: leave it out",
	 .help = "How long. A command that still runs then is ended. Default: DURATION of the environment, else until "
		 "the target ends or Ctrl-C."},
	{WHOLE("freq", frequency, "HZ", 1, 1e6), .letter = 'F', .most = "max",
	 .help = "Samples a second and CPU, or max. Default: SAMPLING_FREQ of the environment, else 99."},
	{WHOLE("period", period, "COUNT", 1, 1e15), .letter = 'c',
	 .help = "Instead of a frequency: a sample every COUNT events."},
	{LIST("event", events, "EVENT"), .letter = 'e',
	 .help = "What is counted: cpu-clock, cycles, page-faults, L1-dcache-load-misses, sched:sched_switch, rHEX, "
		 "PMU/TERMS/, with modifiers such as :u. Default: cycles, or cpu-clock where there are no counters."},
	{TEXT("weight", weight, "FIELD"),
	 .help = "With -t trace: a tracepoint weighs what this field of it says, such as ret or bytes_req. What is "
		 "not above 0 weighs nothing. Default: each counts as one."},
	{.name = "waker",
	 .type = OPTION_FLAG,
	 .offset = FIELD(waker),
	 .help = "With -t offcpu: put the stack of who ended a wait above the one of who waited, upside down."},
	{.name = "min-block",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(min_block),
	 .argument = "MICROSECONDS",
	 .min = 0,
	 .max = 1e12,
	 .help = "With -t offcpu: leave shorter waits out. Default: 0."},
	{.name = "max-block",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(max_block),
	 .argument = "MICROSECONDS",
	 .min = 0,
	 .max = 1e12,
	 .help = "With -t offcpu: leave longer waits out. Default: no limit."},
	{.name = "kernel",
	 .type = OPTION_FLAG,
	 .offset = FIELD(kernel),
	 .negatable = true,
	 .help = "Also what the kernel does. Default: on, as far as the kernel allows."},
	{.name = "engine",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(engine),
	 .argument = "WHICH",
	 .choices = engine_choices,
	 .help = "Who unwinds stacks: bpf (programs in the kernel, which also count them; root, or CAP_BPF and "
		 "CAP_PERFMON), ring (wick itself, from copies of the stacks), auto (bpf where it may). Default: "
		 "auto."},
	{.name = "timeline",
	 .type = OPTION_FLAG,
	 .offset = FIELD(timeline),
	 .help = "With the BPF engine: keep the time of every sample in perf.data. Default: equal stacks are "
		 "added up in the kernel for a quarter of a second, and their samples spread over it."},
	{.name = "call-graph",
	 .type = OPTION_STRING,
	 .offset = FIELD(call_graph),
	 .argument = "HOW",
	 .choices = call_graph_choices,
	 .help = "How stacks are found: auto (unwind tables, frame pointers in code without), dwarf (the same), fp "
		 "(frame pointers, by the kernel), lbr (the processor's branch record). A size, dwarf,32768, is that "
		 "of --stack-size. Default: auto."},
	{WHOLE("stack-size", stack_size, "BYTES", STACK_SIZE_LEAST, STACK_SIZE_MOST),
	 .help = "How much of the stack is looked at. Default: 16384."},
	{WHOLE("kernel-memory", kernel_memory, "MIB", 8, 1024),
	 .help = "With the BPF engine: about how much memory its tables and counts may take in the kernel. With less, "
		 "unwind tables of files that were idle give way, and more stacks are unwound by wick itself. Default: "
		 "160, of which most is only taken when there are so many tables."},
	{WHOLE("max-depth", max_depth, "FRAMES", 1, 65536), .help = "Deeper stacks are cut. Default: 1024."},
	{TEXT("delay", delay_text, "MS"), .letter = 'D',
	 .help = "Wait so many milliseconds, or 2s, before taking samples. Default: 0."},
	{.name = "preset",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(preset),
	 .argument = "NAME",
	 .choices = preset_choices,
	 .help = "quick: 5 s at 99 Hz; default: 10 s at 99 Hz; detailed: 20 s at 997 Hz; system: all processes, 10 s "
		 "at 99 Hz. Other options win."},

	{.type = OPTION_HEADING, .help = "Output"},
	{TEXT("output", output, "PATH"), .letter = 'o', .only = "record",
	 .help = "Folder for the files; made if it is not there. A name that ends in .data, .svg, .folded or .txt, and "
		 "a file that exists, means that one file. Default: the folder wick-YYYYMMDD-HHMMSS."},
	{TEXT("format", format, "LIST"), .only = "record",
	 .help = "Which files: folded, svg, report, perf.data (default: these), separated by commas; also out.perf, "
		 "the text of wick script."},
	{.name = "compress",
	 .letter = 'z',
	 .type = OPTION_FLAG,
	 .offset = FIELD(compress),
	 .only = "record",
	 .help = "Compress perf.data, as perf record -z does: a sixth of its size. perf reads it; Hotspot does where "
		 "it was built with zstd."},
	{.name = "live",
	 .type = OPTION_FLAG,
	 .offset = FIELD(live),
	 .only = "record",
	 .help = "The functions on the whole screen while recording, as wick top shows them."},
	{WHOLE("window", window, "SECONDS", 0, 60),
	 .help = "How far back the screen looks; 0: since the start. Default: 10 for wick top, 0 for --live. The key w "
		 "changes it."},
	{.name = "refresh",
	 .type = OPTION_NUMBER,
	 .offset = FIELD(refresh),
	 .argument = "SECONDS",
	 .min = 0.1,
	 .max = 10,
	 .help = "How often the screen is drawn. Default: 1."},
	{.name = "quiet",
	 .only = "record",
	 .letter = 'q',
	 .type = OPTION_FLAG,
	 .offset = FIELD(quiet),
	 .help = "Nothing on the terminal but failures."},
	{.name = "verbose",
	 .letter = 'v',
	 .type = OPTION_FLAG,
	 .offset = FIELD(verbose),
	 .help = "Also which event and engine are used, why, and what that takes."},
	{.name = "names",
	 .type = OPTION_CHOICE,
	 .offset = FIELD(input.names),
	 .argument = "STYLE",
	 .choices = input_name_choices,
	 .help = "Names of functions: short (no parameters and template arguments, but for functions that they tell "
		 "apart; default for tables), full (as c++filt prints them; default for everything else), perf (as "
		 "perf prints them, without parameters) or raw (as the linker has them)."},
	{.name = "inline",
	 .type = OPTION_FLAG,
	 .offset = FIELD(input.inline_frames),
	 .negatable = true,
	 .help = "Show inlined functions. Default: on."},
	{.name = "cache",
	 .type = OPTION_FLAG,
	 .offset = FIELD(input.cache),
	 .negatable = true,
	 .help = "Keep unwind tables for the next time, and names for when a program is rebuilt. Default: on."},
	OPTION_END,
};
#undef FIELD
#undef TEXT
#undef LIST
#undef WHOLE

struct record_options record_defaults(void)
{
	return (struct record_options){
		.input = input_defaults(true),
		.stack_size = STACK_SIZE_DEFAULT,
		.kernel = true,
		.inherit = true,
		.window = -1,
		.refresh = 1,
	};
}

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
		return -1;
	size_t i = 0;
	while (call_graph_choices[i] && !starts_with_word(text, call_graph_choices[i]))
		i++;
	if (!call_graph_choices[i])
		return say_usage(called_as, "--call-graph is auto, dwarf, fp or lbr, not '%s'", text);
	options->call_graph = call_graph_choices[i];
	const char *size = strchr(text, ',');
	if (!size)
		return -1;
	char *end;
	unsigned long bytes = strtoul(size + 1, &end, 10);
	bool dwarf = !strcmp(options->call_graph, "dwarf");
	if (!dwarf || end == size + 1 || *end || bytes < STACK_SIZE_LEAST || bytes > STACK_SIZE_ASKED_MOST)
		return say_usage(called_as, "--call-graph %s: only dwarf has a size, in bytes from %d to %d", text,
				 STACK_SIZE_LEAST, STACK_SIZE_ASKED_MOST);
	options->stack_size = bytes < STACK_SIZE_MOST ? (long long)bytes : STACK_SIZE_MOST;
	return -1;
}

/* Milliseconds, as perf has them, unless a unit is given. */
static int settle_delay(struct record_options *options, const struct command *called_as)
{
	const char *text = options->delay_text;
	if (!text)
		return -1;
	char *end;
	double value = strtod(text, &end);
	bool seconds = !strcmp(end, "s"), milliseconds = !*end || !strcmp(end, "ms");
	if (end == text || !(seconds || milliseconds) || !(value >= 0) || value > 1e10)
		return say_usage(called_as, "--delay is a time such as 500, 500ms or 2s, not '%s'", text);
	options->delay = seconds ? value : value / 1000;
	return -1;
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
		options->inherit = false;
	if (options->all_user)
		options->kernel = false;
	if (options->off_cpu)
		option_list_add(&options->types, "cpu,offcpu");
	settle_threads(options);
	int code = settle_call_graph(options, called_as);
	return code < 0 ? settle_delay(options, called_as) : code;
}

/* A number of the environment; 0: not set. */
static int environment_number(const struct command *called_as, const char *name, double most, double *ret_value)
{
	const char *text = getenv(name);
	char *end;
	*ret_value = 0;
	if (!text || !*text)
		return -1;
	double value = strtod(text, &end);
	if (*end == 's' && !end[1])
		end++;
	if (end == text || *end || !(value > 0) || value > most)
		return say_usage(called_as, "%s in the environment must be a number, not '%s'", name, text);
	*ret_value = value;
	return -1;
}

int record_settle_options(struct record_options *options, const struct command *called_as)
{
	double duration, frequency;
	int code = settle_perf_options(options, called_as);
	if (code < 0)
		code = environment_number(called_as, "DURATION", 1e7, &duration);
	if (code < 0)
		code = environment_number(called_as, "SAMPLING_FREQ", 1e6, &frequency);
	if (code >= 0)
		return code;
	if (options->preset) {
		bool detailed = !strcmp(options->preset, "detailed");
		duration = !strcmp(options->preset, "quick") ? 5 : detailed ? 20 : 10;
		frequency = detailed ? 997 : 99;
	}
	options->duration_from = options->duration ? "-d" : options->preset ? "--preset" : "DURATION";
	if (!options->duration)
		options->duration = duration;
	if (!options->frequency)
		options->frequency = frequency >= 1 ? (long long)frequency : 99;
	return -1;
}

enum engine_wish record_engine(const struct record_options *options)
{
	const char *name = options->engine;
	return name && !strcmp(name, "bpf") ? ENGINE_BPF : name && !strcmp(name, "ring") ? ENGINE_RING : ENGINE_AUTO;
}

enum call_graph record_call_graph(const struct record_options *options)
{
	const char *name = options->call_graph;
	return name && !strcmp(name, "fp")  ? CALL_GRAPH_FP :
	       name && !strcmp(name, "lbr") ? CALL_GRAPH_LBR :
					      CALL_GRAPH_DWARF;
}
