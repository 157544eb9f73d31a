/* Matches names and ids with the lists of a filter. */
#include "profile/match.h"

#include "base/buf.h"
#include "name/short_name.h"

#include <fnmatch.h>
#include <string.h>

bool match_text(const char *const *patterns, const char *text)
{
	if (!patterns)
		return true;
	for (; *patterns; patterns++)
		if (fnmatch(*patterns, text, 0) == 0)
			return true;
	return false;
}

/* Forms that people write, from the longest on: as perf prints names, and the shortest. */
static const unsigned written_forms[] = {SHORT_ARGUMENTS, 0};
#define WRITTEN_FORMS (sizeof written_forms / sizeof *written_forms)

bool match_function(const char *const *patterns, const char *name)
{
	if (match_text(patterns, name))
		return true;
	if (!strpbrk(name, "(<"))
		return false;
	struct buf form CLEANUP_BUF = {0};
	for (size_t i = 0; i < WRITTEN_FORMS; i++) {
		buf_clear(&form);
		short_name(&form, name, strlen(name), written_forms[i]);
		if (match_text(patterns, form.data))
			return true;
	}
	return false;
}

bool match_written(const char *written, size_t written_length, const char *name, size_t length)
{
	if (length == written_length && !memcmp(written, name, length))
		return true;
	if (length < written_length || (!memchr(name, '(', length) && !memchr(name, '<', length)))
		return false;
	struct buf form CLEANUP_BUF = {0};
	for (size_t i = 0; i < WRITTEN_FORMS; i++) {
		buf_clear(&form);
		short_name(&form, name, length, written_forms[i]);
		if (form.size == written_length && !memcmp(form.data, written, written_length))
			return true;
	}
	return false;
}

bool match_part(const char *part, const char *name)
{
	if (strcasestr(name, part))
		return true;
	if (!strpbrk(name, "(<"))
		return false;
	struct buf form CLEANUP_BUF = {0};
	short_name(&form, name, strlen(name), 0);
	return strcasestr(form.data, part);
}

bool match_module(const char *const *patterns, const char *path)
{
	const char *slash = strrchr(path, '/');
	return match_text(patterns, path) || (slash && match_text(patterns, slash + 1));
}

bool match_id(const int32_t *ids, int32_t id)
{
	if (!ids)
		return true;
	for (; *ids >= 0; ids++)
		if (*ids == id)
			return true;
	return false;
}
