/* Capabilities of the calling thread. */
#ifndef WICK_SANDBOX_CAPABILITIES_H
#define WICK_SANDBOX_CAPABILITIES_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

#define CAPABILITY(number) ((uint64_t)1 << (number))

/*
 * To observe: files and processes of others, addresses and events of the kernel, memory for rings, and a priority that
 * keeps up with them. With CAP_BPF maps are created; the filter does not allow to load programs.
 */
#define CAPABILITIES_TO_OBSERVE                                                                  \
	(CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_SYSLOG) | \
	 CAPABILITY(CAP_CHECKPOINT_RESTORE) | CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_BPF) |    \
	 CAPABILITY(CAP_IPC_LOCK) | CAPABILITY(CAP_SYS_NICE))

/* The effective ones, as bits. */
uint64_t capabilities_read(void);
/* Gives up all others, for good; those that the thread does not have stay missing. */
bool capabilities_keep(uint64_t kept);

#endif
