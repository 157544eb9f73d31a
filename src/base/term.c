/* Width and color of a terminal, and the progress line with its estimate. */
#include "base/term.h"

#include "base/clock.h"
#include "base/text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SILENT_NS 400000000ull /* work that is done by then shows no line */
#define REDRAW_NS 100000000ull

int term_width(int fd, int otherwise)
{
	const char *columns = getenv("COLUMNS");
	if (columns) {
		char *end;
		long value = strtol(columns, &end, 10);
		if (end != columns && !*end && value >= 10 && value <= 10000)
			return (int)value;
	}
	struct winsize size;
	if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 10)
		return size.ws_col;
	return otherwise;
}

bool term_colour(int fd)
{
	const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
	if (no_colour && *no_colour)
		return false;
	return isatty(fd) && terminal && strcmp(terminal, "dumb") != 0;
}

struct progress {
	const char *what;
	const char *unit;
	uint64_t total;
	_Atomic uint64_t done;
	uint64_t started;
	_Atomic uint64_t next_draw;
	pthread_mutex_t drawing;
	bool drawn;
};

struct progress *progress_new(const char *what, const char *unit, uint64_t total)
{
	const char *terminal = getenv("TERM");
	if (!isatty(STDERR_FILENO) || !terminal || !strcmp(terminal, "dumb"))
		return NULL;
	struct progress *progress = mem_zalloc(1, sizeof *progress);
	progress->what = what;
	progress->unit = unit;
	progress->total = total;
	progress->started = clock_now();
	atomic_init(&progress->next_draw, progress->started + SILENT_NS);
	pthread_mutex_init(&progress->drawing, NULL);
	return progress;
}

static void add_amount(const struct progress *progress, struct buf *line, uint64_t amount)
{
	if (!strcmp(progress->unit, "B")) {
		text_bytes(line, amount);
		return;
	}
	text_grouped(line, (int64_t)amount);
	buf_char(line, ' ');
	buf_str(line, progress->unit);
}

static void add_time_left(struct buf *line, double seconds)
{
	if (seconds >= 3600)
		buf_printf(line, ", %.1f h left", seconds / 3600);
	else if (seconds >= 60)
		buf_printf(line, ", %d min %02d s left", (int)seconds / 60, (int)seconds % 60);
	else
		buf_printf(line, ", %.0f s left", seconds);
}

static void add_bar(struct buf *line, double part, size_t width)
{
	size_t filled = (size_t)(part * (double)width);
	buf_str(line, " [");
	for (size_t i = 0; i < width; i++)
		buf_char(line, i < filled ? '#' : '.');
	buf_char(line, ']');
}

static void draw(struct progress *progress, uint64_t now)
{
	CLEANUP_BUF struct buf numbers = {0};
	uint64_t done = atomic_load(&progress->done);
	double seconds = (double)(now - progress->started) / 1e9, rate = (double)done / seconds;
	/* The source may turn out to be longer than it was said to be. */
	bool known = progress->total && done <= progress->total;
	double part = known ? (double)done / (double)progress->total : 0;
	if (known)
		buf_printf(&numbers, " %3.0f%%", part * 100);
	buf_str(&numbers, "  ");
	add_amount(progress, &numbers, done);
	if (known) {
		buf_str(&numbers, " of ");
		add_amount(progress, &numbers, progress->total);
	}
	buf_str(&numbers, ", ");
	add_amount(progress, &numbers, (uint64_t)rate);
	buf_str(&numbers, "/s");
	if (known && rate > 0)
		add_time_left(&numbers, (double)(progress->total - done) / rate);

	CLEANUP_BUF struct buf line = {0};
	size_t columns = (size_t)term_width(STDERR_FILENO, 80) - 1, used = strlen(progress->what) + numbers.size + 3;
	buf_printf(&line, "\r%s", progress->what);
	if (known && columns > used + 10)
		add_bar(&line, part, columns - used < 30 ? columns - used : 30);
	buf_add(&line, numbers.data, numbers.size);
	if (line.size > columns + 1)
		line.size = columns + 1;
	buf_str(&line, "\033[K");
	progress->drawn = true;
	(void)!write(STDERR_FILENO, line.data, line.size);
}

void progress_add(struct progress *progress, uint64_t done)
{
	if (!progress)
		return;
	atomic_fetch_add(&progress->done, done);
	uint64_t now = clock_now();
	/* A thread that finds another one drawing continues with its work. */
	if (now < atomic_load(&progress->next_draw) || pthread_mutex_trylock(&progress->drawing) != 0)
		return;
	if (now >= atomic_load(&progress->next_draw)) {
		atomic_store(&progress->next_draw, now + REDRAW_NS);
		draw(progress, now);
	}
	pthread_mutex_unlock(&progress->drawing);
}

void progress_free(struct progress *progress)
{
	if (!progress)
		return;
	if (progress->drawn)
		(void)!write(STDERR_FILENO, "\r\033[K", 4);
	pthread_mutex_destroy(&progress->drawing);
	free(progress);
}
