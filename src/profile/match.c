#include "profile/match.h"

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
