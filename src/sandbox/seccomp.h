/* The system calls that a process in the sandbox may make. */
#ifndef WICK_SANDBOX_SECCOMP_H
#define WICK_SANDBOX_SECCOMP_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Installs the filter for all threads. Returns the descriptor on which the broker gets the calls that are passed to it,
 * or -errno. `recording`: what events, BPF maps and memory of processes need is allowed too. `command` is the only
 * other process that gets signals; 0: none.
 */
int seccomp_install(bool recording, pid_t command);

#endif
