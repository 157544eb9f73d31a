/* Formats descriptions of failures, and the names and texts of their codes. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *err, int code, const char *format, ...)
{
	if (!err)
		return code;
	va_list args;
	va_start(args, format);
	err->code = code;
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	return code;
}

const char *err_name(int code)
{
	switch (code) {
#define ERR_CASE(name, number, text) \
	case name:                   \
		return text;
		ERR_LIST(ERR_CASE)
#undef ERR_CASE
	}
	return "unknown failure";
}

const char *err_text(const struct err *err)
{
	return err->text[0] ? err->text : err_name(err->code);
}
