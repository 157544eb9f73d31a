/* Parses modifiers and forms of event names. */
#include "profile/event_name.h"

#include <string.h>

/* The letters that may follow the colon or the last slash; the user's probes can be called by them too. */
static bool are_modifiers(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!text[i] || !strchr("ukhpPGHSDWIeb", text[i]))
			return false;
	return true;
}

static bool is_probe(const char *name)
{
	return strncmp(name, "probe", 5) == 0 || strncmp(name, "sdt", 3) == 0;
}

/* "cpu_core/cycles/u": only of the processor's own counters, and only what has a name there. */
static bool is_in_slashes(const char *name, size_t length, const char *slash, const char *last)
{
	size_t unit = (size_t)(slash - name);
	bool cpu = (unit == 3 && memcmp(name, "cpu", 3) == 0) || (unit == 8 && memcmp(name, "cpu_core", 8) == 0) ||
		   (unit == 8 && memcmp(name, "cpu_atom", 8) == 0);
	size_t behind = length - (size_t)(last + 1 - name);
	return cpu && last > slash + 1 && are_modifiers(last + 1, behind) &&
	       !memchr(slash + 1, '=', (size_t)(last - slash - 1));
}

const char *event_base(const char *name, size_t *ret_length)
{
	size_t length = strlen(name);
	const char *slash = memchr(name, '/', length), *last = memrchr(name, '/', length);
	*ret_length = length;
	if (slash) {
		if (!is_in_slashes(name, length, slash, last))
			return name;
		*ret_length = (size_t)(last - slash - 1);
		return slash + 1;
	}
	const char *colon = memrchr(name, ':', length);
	size_t behind = colon ? length - (size_t)(colon + 1 - name) : 0;
	if (behind && colon > name && are_modifiers(colon + 1, behind) && !is_probe(name))
		*ret_length = (size_t)(colon - name);
	return name;
}

bool event_is_same(const char *a, const char *b)
{
	size_t a_length, b_length;
	a = event_base(a, &a_length);
	b = event_base(b, &b_length);
	return a_length == b_length && memcmp(a, b, a_length) == 0;
}
