/* The process that changes the file system for one in the sandbox. */
#ifndef WICK_SANDBOX_BROKER_H
#define WICK_SANDBOX_BROKER_H

#include "sandbox/sandbox.h"

/*
 * Runs in a child of the process in the sandbox, and ends with it. `socket`: sends a byte when it is ready, or closes
 * it when it cannot work; then gets the number of the listener in the other process. The broker ends when the other
 * end is closed.
 */
_Noreturn void broker_run(const struct sandbox_options *options, int socket);

#endif
