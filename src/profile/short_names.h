/*
 * Short forms of all functions of a profile, distinct wherever the names are: functions whose short forms are equal
 * keep their parameters, else their template arguments, else both, else the whole name.
 *
 * Forms that are still long lose their middle, so that rows of a table stay readable.
 */
#ifndef WICK_PROFILE_SHORT_NAMES_H
#define WICK_PROFILE_SHORT_NAMES_H

#include "profile/profile.h"

#define SHORT_NAMES_MAX 120 /* bytes of a form, and a few for what stands in place of its middle */

struct short_text {
	const char *text; /* NULL: no function has this name. NUL-terminated */
	size_t length;
};

struct short_names {
	struct short_text *texts; /* by string of the profile */
	size_t count;
	struct arena arena;
};

/* Forms that are the whole name point to the strings of the profile. */
void short_names_build(struct short_names *names, const struct profile *profile);
void short_names_release(struct short_names *names);

#endif
