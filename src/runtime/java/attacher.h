/*
 * A process that attaches to JVMs for another one, which may be in a sandbox: started before, with the privileges to
 * become the user of any JVM. It gets numbers of processes and does two things with them: Compiler.perfmap, by which a
 * JVM writes /tmp/perf-PID.map, and the removal of such maps. Requests to JVMs run side by side, and none takes longer
 * than six seconds.
 */
#ifndef WICK_RUNTIME_JAVA_ATTACHER_H
#define WICK_RUNTIME_JAVA_ATTACHER_H

#include "runtime/java/attach.h"

struct attacher;

struct attacher_reply {
	int32_t pid;
	enum attach_result result;
};

/* NULL: it cannot be started. Ends with its parent. */
struct attacher *attacher_start(void);
/* NULL is allowed. Requests under way are not waited for. `remove`: the maps that there were none of before. */
void attacher_stop(struct attacher *attacher, bool remove);
/* Does not wait. False: it is gone, or busy with too many. */
bool attacher_request(struct attacher *attacher, int32_t pid);
/* A process that writes a map without a request. */
void attacher_note(struct attacher *attacher, int32_t pid);
/* Takes a reply, if there is one within `timeout_ms`. */
bool attacher_take(struct attacher *attacher, int timeout_ms, struct attacher_reply *ret_reply);

#endif
