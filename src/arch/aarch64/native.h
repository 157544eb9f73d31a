/* See arch/native.h. Only macros: BPF programs include it too. */
#ifndef WICK_ARCH_AARCH64_NATIVE_H
#define WICK_ARCH_AARCH64_NATIVE_H

#define ARCH_NATIVE arch_aarch64
#define ARCH_RECORDS 0
#define ARCH_AUDIT AUDIT_ARCH_AARCH64
#define ARCH_PERF_REGISTERS 0x1ffffffffull /* enum perf_event_arm_regs: x0 … x30, sp, pc */
#define ARCH_PERF_REGISTER_COUNT 33u
#define ARCH_AT_FP 29u
#define ARCH_AT_SP 31u
#define ARCH_AT_IP 32u

#define ARCH_OLD_CALLS
#define ARCH_OLD_BROKERED

#endif
