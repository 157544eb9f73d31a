/* Folded stacks, with one and two values per line. */
#include "harness.h"
#include "parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse_bytes(size && data[0] & 8 ? &format_folded_pair : &format_folded, data, size);
	return 0;
}
