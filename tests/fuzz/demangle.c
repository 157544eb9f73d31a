/* The first byte chooses the style and what short names keep, the rest is the name. */
#include "harness.h"
#include "name/demangle.h"
#include "name/short_name.h"

#include <stdlib.h>

static int balance(const char *text, char open, char close)
{
	int sum = 0;
	for (; *text; text++)
		sum += (*text == open) - (*text == close);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	CLEANUP_BUF struct buf name = {0}, text = {0}, shorter = {0};
	buf_add(&name, data + 1, size - 1);
	bool known = demangle(&text, name.data, data[0] % 3);
	if (!text.data || text.size > ((size_t)256 << 10) + size)
		abort();
	short_name(&shorter, text.data, text.size, data[0] / 3 % 4);
	if (text.size && (!shorter.size || shorter.size > text.size + 8))
		abort();
	/* What was balanced stays so. */
	if (known && !balance(text.data, '(', ')') && balance(shorter.data, '(', ')'))
		abort();
	return 0;
}
