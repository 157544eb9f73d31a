/* Parses and applies --max-memory. */
#include "cmd/max_memory.h"

#include "base/mem.h"
#include "base/memory_limit.h"

#include <math.h>
#include <string.h>

#define LEAST (16ull << 20) /* less is not enough to do anything */
#define DEFAULT_MIN (256ull << 20)

uint64_t max_memory_default(void)
{
	uint64_t all = memory_limit_read("").limit;
	if (all == UINT64_MAX)
		return all;
	uint64_t min = all / 4 * 3 < DEFAULT_MIN ? all / 4 * 3 : DEFAULT_MIN;
	return all / 4 < min ? min : all / 4;
}

/* "512M", "1.5G", "2GB", "1GiB": powers of 1024. */
static bool parse_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "kmgt";
	char *end;
	double value = *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;
	const char *unit = value > 0 && *end ? strchr(units, *end | 0x20) : NULL;
	if (!unit || (end[1] && strcmp(end + 1, "B") != 0 && strcmp(end + 1, "iB") != 0))
		return false;
	value = ldexp(value, 10 * (int)(unit - units + 1));
	*ret_bytes = value < 0x1p62 ? (uint64_t)value : (uint64_t)1 << 62;
	return true;
}

int max_memory_apply(const char *text)
{
	uint64_t bytes;
	if (!text)
		return PROCEED;
	if (!parse_size(text, &bytes) || bytes < LEAST) {
		say_error("--max-memory must be a size such as 500M or 2G, at least %lluM, not '%s'", LEAST >> 20,
			  text);
		return EXIT_USAGE;
	}
	mem_set_limit(bytes);
	return PROCEED;
}
