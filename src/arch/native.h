/*
 * The machine that wick is built for, as macros:
 *
 *	ARCH_NATIVE			its struct arch
 *	ARCH_RECORDS			1: recording is implemented
 *	ARCH_AUDIT			AUDIT_ARCH_*, for seccomp
 *	ARCH_PERF_REGISTERS		mask of the registers that samples need: general ones, instruction pointer
 *	ARCH_PERF_REGISTER_COUNT	how many these are
 *	ARCH_AT_FP, ARCH_AT_SP, ARCH_AT_IP	places of three of them in the order of the bits
 *	ARCH_OLD_CALLS			system calls that newer machines lack and that wick may make, for seccomp
 *	ARCH_OLD_BROKERED		the same of those that the broker makes
 */
#ifndef WICK_ARCH_NATIVE_H
#define WICK_ARCH_NATIVE_H

#include "arch/arch.h"

#if defined(__x86_64__)
#include "arch/x86_64/native.h"
#elif defined(__aarch64__)
#include "arch/aarch64/native.h"
#else
#error "wick runs on x86_64 and aarch64"
#endif

#endif
