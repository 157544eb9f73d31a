/* Full-screen mode of a terminal: settings, drawing of changed lines, reading of keys, and restoring on signals. */
#include "base/fullscreen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* The alternate screen, no cursor, no wrapping: a line that is too long is cut. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[2J"
#define LEAVE "\033[0m\033[?7h\033[?25h\033[?1049l"

struct fullscreen {
	int fd;
	struct termios before;
	struct keys keys;
	struct buf drawn; /* the text on the screen */
	struct buf out;
};

/* What fullscreen_restore() puts back. A signal may come at any moment in any thread. */
static _Atomic(struct fullscreen *) current;

int fullscreen_possible(struct err *err)
{
	const char *terminal = getenv("TERM");
	if (!terminal || !*terminal || strcmp(terminal, "dumb") == 0)
		return err_set(err, ERR_USAGE,
			       "cannot use the terminal: TERM is %s; use wick record, which prints a table at "
			       "the end",
			       terminal && *terminal ? terminal : "not set");
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_USAGE, "no terminal; use wick record, which prints a table at the end");
	close(fd);
	return 0;
}

static void write_all(int fd, const char *bytes, size_t count)
{
	while (count) {
		ssize_t done = write(fd, bytes, count);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		bytes += done;
		count -= (size_t)done;
	}
}

static void enter(struct fullscreen *screen)
{
	struct termios raw = screen->before;
	/* Ctrl-C stays a signal: it must end a command that runs in the same terminal too. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL | INLCR | IGNCR);
	raw.c_oflag &= ~(tcflag_t)OPOST;
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	atomic_store(&current, screen);
	tcsetattr(screen->fd, TCSADRAIN, &raw);
	write_all(screen->fd, ENTER, strlen(ENTER));
	fullscreen_forget(screen);
}

static void leave(struct fullscreen *screen)
{
	write_all(screen->fd, LEAVE, strlen(LEAVE));
	tcsetattr(screen->fd, TCSADRAIN, &screen->before);
	atomic_store(&current, NULL);
}

void fullscreen_restore(void)
{
	int kept = errno;
	struct fullscreen *screen = atomic_exchange(&current, NULL);
	if (screen) {
		write_all(screen->fd, LEAVE, strlen(LEAVE));
		tcsetattr(screen->fd, TCSANOW, &screen->before);
	}
	errno = kept;
}

int fullscreen_open(struct fullscreen **ret_screen, struct err *err)
{
	int result = fullscreen_possible(err);
	if (result)
		return result;
	struct fullscreen *screen = mem_zalloc(1, sizeof *screen);
	screen->fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
	if (screen->fd < 0 || tcgetattr(screen->fd, &screen->before)) {
		result = err_set(err, ERR_SYSTEM, "cannot use the terminal: %s", strerror(errno));
		if (screen->fd >= 0)
			close(screen->fd);
		free(screen);
		return result;
	}
	enter(screen);
	*ret_screen = screen;
	return 0;
}

void fullscreen_close(struct fullscreen *screen)
{
	if (!screen)
		return;
	leave(screen);
	close(screen->fd);
	buf_release(&screen->drawn);
	buf_release(&screen->out);
	free(screen);
}

void fullscreen_suspend(struct fullscreen *screen)
{
	leave(screen);
	raise(SIGTSTP); /* to this thread: it is stopped before it continues */
	tcgetattr(screen->fd, &screen->before);
	enter(screen);
}

int fullscreen_fd(const struct fullscreen *screen)
{
	return screen->fd;
}

void fullscreen_size(const struct fullscreen *screen, int *ret_columns, int *ret_rows)
{
	struct winsize size = {0};
	bool known = ioctl(screen->fd, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;
	*ret_columns = known ? size.ws_col : 80;
	*ret_rows = known ? size.ws_row : 24;
}

void fullscreen_forget(struct fullscreen *screen)
{
	buf_clear(&screen->drawn);
}

static size_t line_length(const char *text)
{
	return strcspn(text, "\n");
}

void fullscreen_draw(struct fullscreen *screen, const struct buf *text)
{
	const char *old = screen->drawn.data ? screen->drawn.data : "", *new = text->data ? text->data : "";
	struct buf *out = &screen->out;
	buf_clear(out);
	if (!*old)
		buf_str(out, "\033[2J");
	for (unsigned row = 1; *new || *old; row++) {
		size_t length = line_length(new), before = line_length(old);
		if (length != before || memcmp(new, old, length) != 0 || !*old) {
			/* Erasing comes first: behind a line that fills its row it would take the last column. */
			buf_printf(out, "\033[%u;1H\033[K", row);
			buf_add(out, new, length);
			buf_str(out, "\033[0m");
		}
		new += length + (new[length] != '\0');
		old += before + (old[before] != '\0');
	}
	write_all(screen->fd, out->data ? out->data : "", out->size);
	buf_clear(&screen->drawn);
	buf_add(&screen->drawn, text->data ? text->data : "", text->size);
}

bool fullscreen_key(struct fullscreen *screen, bool waited, uint32_t *ret_key, int *ret_error)
{
	char bytes[KEYS_MAX];
	*ret_error = 0;
	if (keys_next(&screen->keys, false, ret_key))
		return true;
	ssize_t got = read(screen->fd, bytes, keys_room(&screen->keys));
	if (got > 0)
		keys_add(&screen->keys, bytes, (size_t)got);
	else if (got < 0 && errno != EAGAIN && errno != EINTR)
		*ret_error = ERR_IO;
	return keys_next(&screen->keys, waited && got <= 0, ret_key);
}
