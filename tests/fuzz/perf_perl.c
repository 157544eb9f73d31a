/* Text of perf script, read as stackcollapse-perf.pl reads it. */
#include "harness.h"
#include "parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse_bytes(&format_perf_perl, data, size);
	return 0;
}
