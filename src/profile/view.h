/*
 * What belongs together: some value types are parts of one whole, as the times that a thread sleeps, waits for a lock
 * and waits for a CPU are parts of its time off the CPUs. A view joins them into one value type, whose stacks begin
 * with a frame that names the part.
 */
#ifndef WICK_PROFILE_VIEW_H
#define WICK_PROFILE_VIEW_H

#include "profile/profile.h"
#include "profile/types.h"

/* "offcpu", "wall", "faults" (also "mem"), "fault-bytes"; NULL when there is no such view. */
const struct profile_view *profile_view_find(const char *name);
/* The view that shows a profile whose first value type is a part of one; NULL: none. */
const struct profile_view *profile_view_default(const struct profile *profile);

/* True when the profile has samples of it. */
bool profile_view_has(const struct profile *profile, const struct profile_view *view);
/*
 * Joins its parts and returns their value type, which has the view's name and unit. Time asleep in a futex or another
 * lock becomes time waiting for locks, or for the GIL of Python: the names of functions and modules show it. The parts
 * are gone from the profile then.
 */
value_id profile_view_apply(struct profile *profile, const struct profile_view *view);

/* The same for samples one by one, of a profile that grows and must outlive the viewer. */
struct profile_viewer;
struct profile_viewer *profile_viewer_new(struct profile *profile, const struct profile_view *view);
void profile_viewer_free(struct profile_viewer *viewer); /* NULL is allowed */
/* Moves a sample, in ids of the profile, to the view; false when it is no part of it. */
bool profile_viewer_move(struct profile_viewer *viewer, struct sample *sample);

/* The unit of a value type by its name: "ns", "bytes", or "" if the name does not show it. */
const char *profile_unit_of(const char *value_name);

#endif
