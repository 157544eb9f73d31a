/* Prints messages to standard error. */
#include "base/text.h"
#include "cmd/command.h"

#include <unistd.h>

/*
 * One message is one line and one write(), so that lines of parallel commands do not mix. File names in it may hold
 * anything, hence text_terminal().
 */
static void say_line(const char *prefix, const char *format, va_list args)
{
	CLEANUP_BUF struct buf text = {0};
	CLEANUP_BUF struct buf line = {0};
	buf_vprintf(&text, format, args);
	buf_str(&line, prefix);
	text_terminal(&line, text.data, text.size);
	buf_char(&line, '\n');
	(void)!write(STDERR_FILENO, line.data, line.size);
}

void say_error(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say_line("wick: ", format, args);
	va_end(args);
}

void say_warning(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say_line("wick: warning: ", format, args);
	va_end(args);
}

void say_note(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say_line("wick: ", format, args);
	va_end(args);
}

int say_usage(const struct command *command, const char *format, ...)
{
	CLEANUP_BUF struct buf text = {0};
	va_list args;
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	if (command)
		say_error("%s: %s (see wick %s --help)", command->name, text.data, command->name);
	else
		say_error("%s (see wick help)", text.data);
	return EXIT_USAGE;
}

int say_failure(const struct err *err)
{
	if (err->code == ERR_PIPE)
		return EXIT_FAILED;
	say_error("%s", err_text(err));
	return err->code == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}
