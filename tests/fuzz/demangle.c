/* The first byte chooses the style, the rest is the name. */
#include "symbol/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	enum name_style style = data[0] % 4;
	CLEANUP_BUF struct buf name = {0}, text = {0}, shorter = {0};
	buf_add(&name, data + 1, size - 1);
	demangle(&text, name.data, style);
	if (!text.data || text.size > ((size_t)256 << 10) + size)
		abort();
	demangle_shorten(&shorter, text.data, text.size);
	return 0;
}
