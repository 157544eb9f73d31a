/* The program: selects the command, sets signals, and ends on lack of memory. */
#include "base/fullscreen.h"
#include "cmd/help.h"
#include "cmd/max_memory.h"
#include "object/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define CRASH_SECONDS 5

/*
 * With standard input, output or error closed, the next open() would get its number, and messages would go into a
 * file of the user's. A stand-in of the wrong direction keeps the number and lets every use fail.
 */
static void hold_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

/* A fault in a parser: which file found it, and that it does so once. */
static void report_crash(int number)
{
	char text[PATH_MAX + 256];
	alarm(CRASH_SECONDS); /* whatever is broken must not hang */
	const char *path = reading_note_crash();
	if (!path)
		return;
	int length = snprintf(text, sizeof text,
			      "wick: crashed while reading %.*s (signal %d); the file is skipped from now on: run the "
			      "command again, or read the recording so far with wick flame FILE.part\n",
			      PATH_MAX, path, number);
	/* text_terminal() needs memory, which may be what is broken. */
	for (char *at = text; at < text + length - 1; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	(void)!write(STDERR_FILENO, text, (size_t)length);
}

static void die_by_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	fullscreen_restore();
	if (info->si_code > 0)
		report_crash(number);
	outfile_remove_temporaries();
	/* SA_RESETHAND has restored the default: the caller sees a process killed by this signal. */
	raise(number);
}

static void set_signals(void)
{
	static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
		struct sigaction old, action = {.sa_sigaction = die_by_signal, .sa_flags = SA_RESETHAND | SA_SIGINFO};
		sigemptyset(&action.sa_mask);
		/* What nohup or a shell made the process ignore stays ignored, and a sanitizer keeps its handler. */
		if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(deadly[i], &action, NULL);
	}
	/* These come back as EPIPE and EFBIG of write(), which are reported in words. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

static void die_without_memory(size_t wanted, uint64_t limit)
{
	static atomic_flag dying = ATOMIC_FLAG_INIT;
	while (atomic_flag_test_and_set(&dying))
		pause(); /* another thread says it, and ends this one */
	char text[160];
	int length;
	if (limit)
		length = snprintf(text, sizeof text,
				  "wick: reached the memory limit of %llu MiB; use a larger --max-memory or a smaller "
				  "input\n",
				  (unsigned long long)limit >> 20);
	else
		length = snprintf(text, sizeof text,
				  "wick: out of memory (cannot allocate %zu bytes); raise the memory limit or use a "
				  "smaller input\n",
				  wanted);
	fullscreen_restore();
	outfile_remove_temporaries();
	(void)!write(STDERR_FILENO, text, (size_t)length);
	_exit(limit ? EXIT_MEMORY : EXIT_FAILED);
}

static int print_version(void)
{
	struct outfile out;
	struct err err = {0};
	if (outfile_open(&out, NULL, &err) < 0)
		return say_failure(&err);
	outfile_str(&out, "wick " WICK_VERSION "\n");
	return outfile_commit(&out, &err) < 0 ? say_failure(&err) : EXIT_DONE;
}

static int run_without_command(void)
{
	CLEANUP_BUF struct buf text = {0};
	buf_str(&text, "usage: wick COMMAND [options] [arguments]\n\n");
	for (size_t i = 0; commands[i]; i++)
		buf_printf(&text, "  %-10s  %s\n", commands[i]->name, commands[i]->summary);
	buf_str(&text, "\nSee wick help for more.\n");
	(void)!write(STDERR_FILENO, text.data, text.size);
	return EXIT_USAGE;
}

/* Commands of perf and scripts of FlameGraph that have another name here, or none. */
static const char *instead_of(const char *name)
{
	static const struct {
		const char *name, *instead;
	} others[] = {
		{"annotate", "for source lines use wick report --srcline"},
		{"archive", "not needed: names are cached by build ID when recording"},
		{"buildid-cache", "not needed: names are cached by build ID when recording"},
		{"c2c", "wick does not record memory accesses; use perf c2c"},
		{"difffolded", "use wick diff --format folded A B"},
		{"flamegraph", "use wick flame"},
		{"inject", "not needed: jitdump files are read directly"},
		{"kmem", "use wick record -t trace -e kmem:kmalloc --weight bytes_alloc"},
		{"list", "use perf list; wick record -e takes the same events"},
		{"lock", "for waits for locks use wick record -t offcpu"},
		{"mem", "wick does not record memory accesses; use perf mem"},
		{"probe", "define the probe with perf probe, then use wick record -e probe:NAME"},
		{"sched", "for waits and their reasons use wick record -t offcpu"},
		{"stackcollapse", "use wick fold"},
		{"stat", "wick does not count events; use perf stat"},
		{"trace", "use wick record -t trace -e EVENT"},
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(name, others[i].name))
			return others[i].instead;
	return NULL;
}

static int unknown_command(const char *name)
{
	const struct command *near = command_suggest(name);
	const char *instead = instead_of(name);
	if (instead)
		return say_usage(NULL, "unknown command '%s': %s", name, instead);
	if (name[0] == '-')
		return say_usage(NULL, "unknown option %s; options must follow the command", name);
	if (near)
		return say_usage(NULL, "unknown command '%s'; did you mean %s?", name, near->name);
	return say_usage(NULL, "unknown command '%s'", name);
}

static int run(int argc, char **argv)
{
	if (argc < 2)
		return run_without_command();
	const char *name = argv[1];
	if (!strcmp(name, "--version") || !strcmp(name, "-V") || !strcmp(name, "version"))
		return print_version();
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		return help_print(NULL);
	const struct command *command = command_find(name);
	return command ? command->run(argc - 1, argv + 1) : unknown_command(name);
}

int main(int argc, char **argv)
{
	hold_standard_streams();
	/* For the width of characters; numbers stay as they are in C. */
	setlocale(LC_CTYPE, "C.UTF-8");
	mem_on_exhausted(die_without_memory);
	mem_limit_usually(max_memory_default);
	set_signals();
	int code = run(argc, argv);
	if (fflush(stdout) != 0) {
		say_error("cannot write standard output: %s", strerror(errno));
		return EXIT_FAILED;
	}
	return code;
}
