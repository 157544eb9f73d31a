/* The bytes of a perf.data. */
#include "harness.h"
#include "perfdata_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_both_ways(data, size);
	return 0;
}
