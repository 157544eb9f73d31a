/* What the name of a module says about its code. */
#ifndef WICK_PROFILE_MODULE_H
#define WICK_PROFILE_MODULE_H

#include "profile/profile.h"

/*
 * FRAME_KERNEL for the kernel, its modules and BPF programs, FRAME_JIT for code that a runtime compiled,
 * FRAME_INLINED for perf's "inlined", else FRAME_NATIVE. `module` is a path or a name in brackets, as perf writes it.
 */
enum frame_kind module_kind(const char *module, size_t length);

/*
 * What is shown as the module of JIT code. The files that describe it have the number of a process in their names, so
 * that no two runs of a program would have the same functions.
 */
#define MODULE_JIT_NAME "[jit]"
/* Whether it is one of those files: perf-12.map, jit-12.dump, jitted-12-3.so. */
bool module_is_jit_file(const char *module, size_t length);

/* Whether it is the program or the library of a CPython interpreter: python3.12, libpython3.12.so.1.0. */
bool module_is_python(const char *module);

#endif
