/* Text of perf script. */
#include "harness.h"
#include "parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse_bytes(&format_perf_script, data, size);
	return 0;
}
