/* ELF bytes → unwind table → look-ups and walks over a stack made of the same bytes. */
#include "base/buf.h"
#include "base/hash.h"
#include "harness.h"
#include "unwind/table.h"

static struct unwind_place find(void *context, uint64_t ip)
{
	struct unwind_table *table = context;
	/* All code is the file's but for a part that has no table, and one where there is none. */
	return (struct unwind_place){.table = ip & 0x800000 ? NULL : table, .mapped = !(ip & 0x400000)};
}

/* Calls, by chance. */
static bool read_code(void *context, uint64_t address, uint8_t *bytes, size_t size)
{
	(void)context;
	for (size_t i = 0; i < size; i++)
		bytes[i] = i == 3 && address & 1 ? 0xe8 : (uint8_t)hash_u64(address + i);
	return !(address & 2);
}

static void walk(struct unwind_table *table, const uint8_t *data, size_t size, uint64_t seed)
{
	uint64_t addresses[128];
	bool exact[128];
	struct unwind_registers registers = {
		.sp = 0x10000, .fp = 0x10000 + seed % (size + 1), .known = (uint32_t)seed, .kind = table->arch->kind};
	registers.ip = table->rows.base + (seed >> 8) % ((uint64_t)table->rows.pages << table->rows.shift);
	for (size_t i = 0; i < ARCH_REGISTERS_MAX; i++)
		registers.other[i] = 0x10000 + hash_u64(seed + i) % (size + 64);
	struct unwind_space space = {
		.context = table,
		.stack = data,
		.stack_start = 0x10000,
		.stack_size = size,
		.find = find,
		.read_code = read_code,
	};
	enum unwind_end end;
	size_t count = unwind_stack(&space, &registers, addresses, exact, 128, &end);
	if (count < 1 || count > 128 || end > UNWIND_OTHER_STACK || !exact[0] || addresses[0] != registers.ip)
		abort();
}

static void check_table(const struct unwind_table *table)
{
	struct unwind_table *loaded;
	CLEANUP_BUF struct buf bytes = {0};
	unwind_table_save(table, &bytes);
	/* What is built must pass the checks of what is loaded: rows in order, indexes in range. */
	if (unwind_table_load(&loaded, bytes.data, bytes.size, NULL) != 0)
		abort();
	if (unwind_table_bytes(loaded) != unwind_table_bytes(table) || unwind_table_rows(loaded) != table->rows.count)
		abort();
	unwind_table_free(loaded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file *elf;
	struct unwind_table *table;
	if (elf_open_bytes(&elf, data, size, NULL) != 0)
		return 0;
	if (unwind_table_build(&table, elf, elf, NULL) == 0) {
		check_table(table);
		for (uint64_t i = 0; i < 16; i++)
			walk(table, data, size, hash_u64(i + size));
		/* At the rows themselves: every rule is followed once. */
		for (uint32_t i = 0; i < table->rows.count && i < 256; i++) {
			uint64_t address = table->rows.base + (table->rows.rows[i] >> 16);
			walk(table, data, size, (address - table->rows.base) << 8 | (i & 255));
		}
		unwind_table_free(table);
	}
	elf_close(elf);
	return 0;
}
