/*
 * Names of Java methods, as perf maps have them: "int[] foo.Bar.baz(int)", which the JVM writes, and
 * "Lfoo/Bar;::baz(I)V", which agents write.
 */
#ifndef WICK_NAME_JAVA_NAME_H
#define WICK_NAME_JAVA_NAME_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * Appends the name without its return type, with dots between packages, and without the addresses in names of lambdas
 * and other hidden classes, which differ in each run: foo.Bar.baz(int), foo.Bar::baz, foo.Bar$$Lambda.run(). False: it
 * is not the name of a Java method, and nothing was appended.
 */
bool java_name(struct buf *out, const char *name);

#endif
