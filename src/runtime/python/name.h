/* Names of Python functions, as they are shown. */
#ifndef WICK_RUNTIME_PYTHON_NAME_H
#define WICK_RUNTIME_PYTHON_NAME_H

#include "base/buf.h"

/*
 * Appends the name of the module that a file contains: its path below the directory of the library or of the installed
 * packages, with dots, else its base name. What is no path, such as "<string>", stays as it is.
 */
void python_module_name(struct buf *out, const char *file);

#endif
