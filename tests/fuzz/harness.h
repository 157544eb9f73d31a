/* What a harness defines, and libFuzzer or tests/fuzz/replay.c calls with each input. */
#ifndef WICK_TESTS_FUZZ_HARNESS_H
#define WICK_TESTS_FUZZ_HARNESS_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
