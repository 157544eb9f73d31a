/* Bytes of a cache file → unwind table → walks. The checksum is put right, so that the rest is reached. */
#include "base/buf.h"
#include "base/hash.h"
#include "harness.h"
#include "unwind/table.h"

static struct unwind_place everywhere(void *context, uint64_t ip)
{
	(void)ip;
	return (struct unwind_place){.table = context, .mapped = true};
}

static void use(struct unwind_table *table, const uint8_t *data, size_t size)
{
	struct unwind_space space = {
		.context = table, .stack = data, .stack_start = 0x10000, .stack_size = size, .find = everywhere};
	uint64_t addresses[64];
	enum unwind_end end;
	for (uint64_t i = 0; i < 512; i++) {
		struct unwind_registers registers = {
			.sp = 0x10000, .fp = 0x10040, .known = UINT32_MAX, .kind = table->arch->kind};
		uint64_t offset = i < 256 ? hash_u64(i) % ((uint64_t)table->rows.pages << table->rows.shift) : i - 300;
		registers.ip = table->rows.base + offset;
		for (size_t j = 0; j < ARCH_REGISTERS_MAX; j++)
			registers.other[j] = 0x10000 + hash_u64(i + j) % (size + 64);
		size_t count = unwind_stack(&space, &registers, addresses, NULL, 64, &end);
		if (count < 1 || count > 64)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_file_header header;
	struct unwind_table *table;
	CLEANUP_BUF struct buf bytes = {0}, again = {0};
	if (size < sizeof header)
		return 0;
	buf_add(&bytes, data, size);
	memcpy(&header, data, sizeof header);
	header.checksum = unwind_file_checksum(&header, data + sizeof header, size - sizeof header);
	memcpy(bytes.data, &header, sizeof header);
	if (unwind_table_load(&table, bytes.data, bytes.size, NULL) != 0)
		return 0;
	use(table, data, size);
	unwind_table_save(table, &again);
	struct unwind_table *loaded;
	if (unwind_table_load(&loaded, again.data, again.size, NULL) != 0)
		abort();
	unwind_table_free(loaded);
	unwind_table_free(table);
	return 0;
}
