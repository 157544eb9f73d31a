/* Keeps the output of a recorded command away from the full screen. */
#include "base/fullscreen.h"
#include "cmd/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WINDOW_OF_TOP 10

/* A file without a name, for what the command prints while the screen is not its own. */
static int open_spool(struct record_run *run)
{
	FILE *spool = tmpfile();
	int fd = spool ? fcntl(fileno(spool), F_DUPFD_CLOEXEC, 3) : -1;
	int error = errno;
	if (spool)
		fclose(spool);
	if (fd < 0) {
		say_error("cannot store the output of the command in %s: %s", P_tmpdir, strerror(error));
		return EXIT_FAILED;
	}
	for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++)
		if (isatty(stream))
			run->streams[stream] = fd;
	if (isatty(STDIN_FILENO)) /* the keys are for the screen */
		run->streams[STDIN_FILENO] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return PROCEED;
}

int record_prepare_screen(struct record_run *run)
{
	struct err err = {0};
	if (fullscreen_possible(&err))
		return say_usage(run->called_as, "%s", err_text(&err));
	if (!run->command.count && !isatty(STDOUT_FILENO))
		return say_usage(run->called_as,
				 "standard output is not a terminal; use wick record, which prints a table at "
				 "the end");
	bool prints = isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) || isatty(STDERR_FILENO);
	return run->command.count && prints ? open_spool(run) : PROCEED;
}

int record_open_screen(struct record_run *run, struct err *err)
{
	const struct record_options *options = &run->options;
	long long window = options->window >= 0 ? options->window : run->no_files ? WINDOW_OF_TOP : 0;
	struct watch_options watch = {
		.title = run->title.data,
		.event = run->events.items[0].name,
		.view = record_first_view(run),
		.frequency = options->capture.period || !(run->needs & TYPE_CLOCK) ? 0 : options->capture.frequency,
		.cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
		.window = (unsigned)window,
		.refresh = (unsigned)(options->refresh * 1000),
		.names = input_label_names(options->input.names),
		.symbolize = {.threads = 1},
		.control = &run->control,
	};
	return watch_start(&run->watch, run->collector, &watch, err);
}

static void show_spool(int fd)
{
	char bytes[65536];
	ssize_t got;
	off_t at = 0;
	while ((got = pread(fd, bytes, sizeof bytes, at)) > 0 && write(STDOUT_FILENO, bytes, (size_t)got) == got)
		at += got;
}

void record_close_screen(struct record_run *run)
{
	watch_stop(run->watch);
	run->watch = NULL;
	int spool = run->streams[STDOUT_FILENO] >= 0 ? run->streams[STDOUT_FILENO] : run->streams[STDERR_FILENO];
	if (spool >= 0) {
		show_spool(spool);
		close(spool);
	}
	if (run->streams[STDIN_FILENO] >= 0)
		close(run->streams[STDIN_FILENO]);
	for (int fd = 0; fd < 3; fd++)
		run->streams[fd] = -1;
}
