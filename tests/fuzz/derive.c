/* Bytes → code in two ranges, with entries → derived rules. */
#include "base/buf.h"
#include "harness.h"
#include "unwind/derive.h"

enum { FIRST = 0x10000, SECOND = 0x20000 };

struct last {
	uint64_t address;
	size_t rules;
};

static void take(void *context, uint64_t address, uint32_t rule)
{
	struct last *last = context;
	if (address < last->address || rule >= last->rules)
		abort();
	last->address = address;
}

static const uint8_t *bytes_at(void *context, uint64_t address, size_t *ret_size)
{
	const struct buf *data = context;
	if (address >= data->size)
		return NULL;
	*ret_size = data->size - address;
	return (const uint8_t *)data->data + address;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf copy CLEANUP_BUF = {0};
	struct rules rules;
	struct derive derive;
	if (size < 4 || size > 4096)
		return 0;
	size_t first = 1 + (data[0] | (size_t)data[1] << 8) % (size - 3);
	buf_add(&copy, data, size);
	rules_init(&rules, &arch_x86_64);
	derive_init(&derive, &arch_x86_64, &rules);
	derive.bytes_at = bytes_at;
	derive.context = &copy;
	derive_add_range(&derive, FIRST, data + 2, first);
	derive_add_range(&derive, SECOND, data + 2 + first, size - 2 - first);
	derive_add_entry(&derive, FIRST, data[0], DERIVE_FUNCTION);
	derive_add_entry(&derive, SECOND + data[1], 0, (enum derive_entry_kind)(data[0] % (DERIVE_START + 1)));
	derive_run(&derive);
	for (size_t i = 0; i < derive.range_count; i++) {
		struct last last = {0, rules.count};
		derive_rows(&derive, i, take, &last);
	}
	derive_release(&derive);
	rules_release(&rules);
	return 0;
}
