/*
 * Reading perf.data: files and pipes, by perf 4.x to 7.x and by other writers. Records are decoded, put in the order of
 * their time (by rounds, as perf does) and given to an event_sink. Memory does not grow with the file.
 */
#ifndef WICK_PERFDATA_PERFDATA_H
#define WICK_PERFDATA_PERFDATA_H

#include "base/err.h"
#include "event/event.h"

struct perfdata;

/* One fact of the header, for `report --header`: {"hostname", "box"}. */
struct perfdata_fact {
	const char *name;
	const char *text;
};

struct perfdata_build_id {
	int32_t pid;
	uint16_t misc;
	struct build_id build_id;
	const char *path;
};

struct perfdata_quality {
	uint64_t records, unknown_records; /* of types this wick does not know: skipped by size */
	uint64_t malformed; /* records whose inside makes no sense: skipped */
	uint64_t aux_records; /* hardware trace data: skipped */
	uint64_t unknown_ids; /* samples of an event that the file does not describe: taken for its first event */
	uint64_t out_of_order; /* records delivered after a later one: the rounds of the file did not suffice */
	uint64_t deferred_missing; /* samples whose user call chain was promised for later and never came */
	bool cut_off; /* the file ends before its data does: everything up to the cut was read */
	uint64_t cut_at; /* offset of the first byte that is missing or makes no sense */
};

/* True when the bytes (at least 8) start a perf.data file or pipe, in either byte order. */
bool perfdata_is(const void *bytes, size_t size);

/*
 * "-" is standard input; a folder is what `perf record --threads` writes. Reads the header; in pipe mode events and
 * features may come later, with the records.
 */
int perfdata_open(struct perfdata **ret_data, const char *path, struct err *err);
/*
 * The same on an open file, pipe or socket, of which the caller may have read `head_size` bytes to see what it is.
 * Takes the descriptor over, also on failure. `name` is for messages.
 */
int perfdata_open_fd(struct perfdata **ret_data, int fd, const char *name, const void *head, size_t head_size,
		     struct err *err);
void perfdata_close(struct perfdata *data);

/*
 * Gives all records to the sink, in order of time; once. In pipe mode sources, facts and build-ids grow meanwhile, so
 * what the functions below returned must be requested again. Returns 0 (also for a file that is cut off, which
 * perfdata_quality() counts), what a sink function returned, or ERR_FORMAT. Pointers in a record are valid during the
 * call.
 */
int perfdata_read(struct perfdata *data, const struct event_sink *sink, struct err *err);

const struct event_source *perfdata_sources(const struct perfdata *data, size_t *ret_count);
const struct perfdata_fact *perfdata_facts(const struct perfdata *data, size_t *ret_count);
const struct perfdata_build_id *perfdata_build_ids(const struct perfdata *data, size_t *ret_count);
const struct perfdata_quality *perfdata_quality(const struct perfdata *data);
/* Machine the file was recorded on, as uname says ("x86_64"); "" when it does not say. */
const char *perfdata_arch(const struct perfdata *data);
/* Bytes read so far, for a progress line; `ret_total` is 0 when it is not known. May be called by the sink. */
uint64_t perfdata_progress(const struct perfdata *data, uint64_t *ret_total);

#endif
