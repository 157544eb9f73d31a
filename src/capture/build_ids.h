/*
 * Build-ids of files that processes map, for records without them: the kernel does not add them when all
 * processes are recorded, and /proc/PID/maps has none. A file is looked at once, however many processes map it.
 */
#ifndef WICK_CAPTURE_BUILD_IDS_H
#define WICK_CAPTURE_BUILD_IDS_H

#include "event/event.h"

struct build_ids;

struct build_ids *build_ids_new(void);
void build_ids_free(struct build_ids *ids);

/*
 * Of size 0 when the file has none, or is not there any more. Looks whether the file is still the same only when the
 * record is younger than the last look: processes that start all the time map the same few files.
 */
struct build_id build_ids_of(struct build_ids *ids, const struct event_mmap *mmap);

/* Passes records on to a sink, mappings with build-ids. */
struct build_ids_filler {
	struct build_ids *ids;
	struct event_sink sink;
};

/* The filler must stay where it is as long as the sink is used. */
struct event_sink build_ids_sink(struct build_ids_filler *filler, struct build_ids *ids, const struct event_sink *sink);

#endif
