/*
 * The attach protocol of the JVM: a request to a running one over a socket in its /tmp. A JVM that nobody has attached
 * to yet opens the socket when it gets SIGQUIT and finds a certain file.
 */
#ifndef WICK_RUNTIME_JAVA_ATTACH_H
#define WICK_RUNTIME_JAVA_ATTACH_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum attach_result {
	ATTACH_DONE,
	ATTACH_NOT_READY, /* it has not started completely */
	ATTACH_DENIED, /* it is another user's, or does not allow attaching, or something else is where its map goes */
	ATTACH_REFUSED, /* it answered that it does not do that */
	ATTACH_TIMED_OUT,
	ATTACH_GONE,
};

/* What has to be known about the process of a JVM. */
struct attach_target {
	int32_t pid, inner_pid; /* the second one in its own namespace */
	uid_t user; /* effective ones */
	gid_t group;
	bool takes_signal; /* SIGQUIT has a handler: without one it would end the process */
};

/* --- the protocol --- */

/* A request to run a command of jcmd, such as "Compiler.perfmap". */
void attach_write_request(struct buf *out, const char *command);
/* "0\n" and text: done. False while the code is not complete. */
bool attach_read_reply(const char *reply, size_t size, enum attach_result *ret_result);
/* Sends a request and takes the reply. `fd` is a socket that does not block; it stays with the caller. */
enum attach_result attach_exchange(int fd, const struct buf *request, int timeout_ms);
/* Reads what /proc/PID/status has. False when something is missing. */
bool attach_parse_status(const char *text, struct attach_target *ret_target);
bool attach_read_status(int32_t pid, struct attach_target *ret_target);

/* --- the request --- */

/*
 * Makes a JVM write /tmp/perf-PID.map. The calling process becomes one of the user of the JVM, in its root directory:
 * it can do nothing else afterwards. Takes about six seconds at most.
 */
enum attach_result attach_request_map(int32_t pid);

#endif
