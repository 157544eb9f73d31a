/* Capabilities of the calling thread. */
#ifndef WICK_SANDBOX_CAPABILITIES_H
#define WICK_SANDBOX_CAPABILITIES_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

#define CAPABILITY(number) ((uint64_t)1 << (number))

/*
 * What a process in the sandbox keeps, to observe: files of others and addresses of the kernel; for a recording also
 * memory of processes, events, rings, a priority that keeps up with them, and maps of BPF programs.
 */
uint64_t capabilities_needed(bool recording, bool kernel_stacks);

/* The effective ones, as bits. */
uint64_t capabilities_read(void);
/* Gives up all others, for good; those that the thread does not have stay missing. */
bool capabilities_keep(uint64_t kept);

#endif
