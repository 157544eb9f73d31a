/* Which functions of interpreters have their mapping in a written file. Private to src/perfdata/. */
#ifndef WICK_PERFDATA_WRITE_INTERPRETED_H
#define WICK_PERFDATA_WRITE_INTERPRETED_H

#include "event/event.h"
#include "runtime/interpreted.h"

struct written_function {
	uint64_t key; /* process << 32 | function */
	uint64_t time; /* from which on it is mapped */
};

struct write_interpreted {
	struct interpreted *functions; /* NULL: there are none */
	struct written_function *written;
	size_t count, capacity;
	struct index_map map;
	struct buf path;
};

void write_interpreted_release(struct write_interpreted *interpreted);
/*
 * The mapping of a function in a process that a sample at `time` needs; false: it is there already. Samples are not
 * finished in the order of time: a mapping may be needed again, from an earlier time on. The path stays until the next
 * call.
 */
bool write_interpreted_take(struct write_interpreted *interpreted, int32_t pid, uint32_t number, uint64_t time,
			    struct event_mmap *ret_mmap);
/* A process has become another program: its mappings are gone. */
void write_interpreted_forget(struct write_interpreted *interpreted);

#endif
