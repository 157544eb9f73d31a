/* Perf maps of the JVMs that are recorded: each is asked for one every ten seconds, and when the recording ends. */
#ifndef WICK_RECORDER_JAVA_H
#define WICK_RECORDER_JAVA_H

#include "event/event.h"
#include "runtime/java/attacher.h"

struct java_process {
	int32_t pid;
	uint64_t due; /* when it is asked next */
	bool asked; /* and has not answered */
	bool refuses; /* not to be asked again */
	unsigned silent; /* how often it did not answer in time */
};

/* Zeros: none is asked. */
struct java {
	struct attacher *attacher;
	struct java_process *processes;
	size_t count, capacity;
	uint64_t patience; /* nanoseconds that a JVM runs before it is first asked */
	size_t answered; /* requests that were fulfilled */
};

/* Before the process gives up privileges. `describes_itself`: those that are started write a map when they end. */
void java_open(struct java *java, bool describes_itself);
void java_close(struct java *java);

/* Notes new JVMs, and those that have ended. */
void java_take(struct java *java, const struct event *event);
/* Asks those that are due. Does not wait. */
void java_round(struct java *java, uint64_t now);
/* Asks all, and waits for the answers, for three seconds at most. */
void java_finish(struct java *java);

#endif
