/* What the name of a module tells about its code. */
#ifndef WICK_PROFILE_MODULE_H
#define WICK_PROFILE_MODULE_H

#include "profile/profile.h"

/*
 * FRAME_KERNEL for the kernel, its modules and BPF programs, FRAME_JIT for code that a runtime compiled,
 * FRAME_INLINED for perf's "inlined", else FRAME_NATIVE. `module` is a path or a name in brackets, as perf writes it.
 */
enum frame_kind module_kind(const char *module, size_t length);

#endif
