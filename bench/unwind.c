/*
 * usage: unwind-bench [FILE…]
 * What it takes to build the unwind tables of ELF files, and to walk a stack with them.
 */
#include "base/buf.h"
#include "base/hash.h"
#include "unwind/table.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <ucontext.h>

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* whatever else the machine does */
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void build_file(const char *path)
{
	struct elf_file *elf;
	struct err err = {0};
	if (elf_open(&elf, path, &err)) {
		printf("%-48s %s\n", path, err_text(&err));
		return;
	}
	struct unwind_table *table = NULL;
	double best = 1e9, load = 1e9;
	for (int i = 0; i < 5; i++) {
		unwind_table_free(table);
		table = NULL;
		double begin = seconds();
		if (unwind_table_build(&table, elf, NULL, &err))
			break;
		double took = seconds() - begin;
		best = took < best ? took : best;
	}
	if (!table) {
		printf("%-48s %s\n", path, err_text(&err));
		elf_close(elf);
		return;
	}
	CLEANUP_BUF struct buf bytes = {0};
	unwind_table_save(table, &bytes);
	for (int i = 0; i < 5; i++) {
		struct unwind_table *loaded = NULL;
		double begin = seconds();
		if (unwind_table_load(&loaded, bytes.data, bytes.size, &err))
			printf("%s: %s\n", path, err_text(&err));
		double took = seconds() - begin;
		load = took < load ? took : load;
		unwind_table_free(loaded);
	}
	printf("%-48s %8zu rows %5u rules %3u long %6u saves %9zu B  build %8.2f ms  load %6.2f ms\n", path,
	       unwind_table_rows(table), table->rule_count, table->long_rule_count, table->saves.count,
	       unwind_table_bytes(table), best * 1e3, load * 1e3);
	unwind_table_free(table);
	elf_close(elf);
}

/* --- walking this very program --- */

struct module {
	uint64_t start, end, bias;
	struct unwind_table *table;
	struct elf_file *elf;
};

struct modules {
	struct module items[64];
	size_t count;
};

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct modules *modules = context;
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum && modules->count < 64; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		struct module module = {.start = info->dlpi_addr + segment->p_vaddr, .bias = info->dlpi_addr};
		module.end = module.start + segment->p_memsz;
		if (!elf_open(&module.elf, path, NULL))
			unwind_table_build(&module.table, module.elf, NULL, NULL);
		modules->items[modules->count++] = module;
	}
	return 0;
}

static struct unwind_place find(void *context, uint64_t ip)
{
	const struct modules *modules = context;
	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module = &modules->items[i];
		if (ip >= module->start && ip < module->end)
			return (struct unwind_place){module->table, module->bias, true, module->start, module->end};
	}
	return (struct unwind_place){0};
}

static struct modules modules;

static void walk_here(void)
{
	static uint8_t copy[65536];
	static uint64_t addresses[1024];
	ucontext_t context;
	getcontext(&context);
	const greg_t *general = context.uc_mcontext.gregs;
	struct unwind_registers registers = {
		.ip = (uint64_t)general[REG_RIP], .sp = (uint64_t)general[REG_RSP], .fp = (uint64_t)general[REG_RBP]};
	pthread_attr_t attributes;
	void *stack;
	size_t size, max = sizeof copy;
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &stack, &size);
	pthread_attr_destroy(&attributes);
	if ((uint64_t)stack + size - registers.sp < max)
		max = (uint64_t)stack + size - registers.sp;
	memcpy(copy, (void *)registers.sp, max);
	struct unwind_space space = {
		.context = &modules, .stack = copy, .stack_start = registers.sp, .stack_size = max, .find = find};
	enum unwind_end end = UNWIND_BAD_RULE;
	size_t count = 0;
	double best = 1e9;
	for (int round = 0; round < 20; round++) {
		double begin = seconds();
		for (int i = 0; i < 10000; i++)
			count = unwind_stack(&space, &registers, addresses, NULL, 1024, &end);
		double took = (seconds() - begin) / 10000;
		best = took < best ? took : best;
	}
	printf("walk of %zu frames (end %d): %.3f us, %.1f ns a frame\n", count, (int)end, best * 1e6,
	       best * 1e9 / (double)count);
}

/* 13 frames, qsort, 19 frames more: with those of the C library about 40. */
enum { BEFORE_SORT = 12, BEHIND_SORT = 31 };

static int (*volatile deeper)(int depth);

static int compare(const void *a, const void *b)
{
	static bool called;
	if (!called) {
		called = true;
		deeper(BEFORE_SORT + 1);
	}
	return *(const int *)a - *(const int *)b;
}

static int go_deep(int depth)
{
	volatile char room[64] = {0};
	int numbers[] = {2, 1, 3};
	if (depth == BEHIND_SORT)
		walk_here();
	else if (depth == BEFORE_SORT)
		qsort(numbers, 3, sizeof *numbers, compare);
	else
		deeper(depth + 1);
	return room[1];
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		build_file(argv[i]);
	dl_iterate_phdr(add_module, &modules);
	deeper = go_deep;
	deeper(0);
	for (size_t i = 0; i < modules.count; i++) {
		unwind_table_free(modules.items[i].table);
		elf_close(modules.items[i].elf);
	}
	return 0;
}
