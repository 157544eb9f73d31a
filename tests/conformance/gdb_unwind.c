/*
 * usage: gdb_unwind PID: unwinds stacks of a stopped process as wick does. Standard input has the registers of threads,
 * 17 hexadecimal numbers in the order of DWARF. Prints a line for each thread: the number of enum unwind_end (0: complete)
 * and the addresses, innermost first. For tests/conformance/gdb.
 */
#include "base/mem.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES_MAX = 4096, VDSO_MAX = 65536, GIVEN = 17 };

struct module {
	uint64_t start, end, bias;
	struct elf_file *elf;
	struct unwind_table *table;
};

struct process {
	int memory; /* /proc/PID/mem */
	struct module *modules;
	size_t count, capacity;
};

static bool read_memory(void *context, uint64_t address, uint64_t *ret_value)
{
	const struct process *process = context;
	return pread(process->memory, ret_value, 8, (off_t)address) == 8;
}

static bool read_code(void *context, uint64_t address, uint8_t *bytes, size_t size)
{
	const struct process *process = context;
	return pread(process->memory, bytes, size, (off_t)address) == (ssize_t)size;
}

static struct unwind_place find(void *context, uint64_t ip)
{
	const struct process *process = context;
	for (size_t i = 0; i < process->count; i++) {
		const struct module *module = &process->modules[i];
		if (ip >= module->start && ip < module->end)
			return (struct unwind_place){module->table, module->bias, true, module->start, module->end};
	}
	return (struct unwind_place){0};
}

/* The file of a mapping, through the root of the process; the vDSO from memory, which is never freed. */
static struct elf_file *open_module(const struct process *process, int pid, const char *path, uint64_t start)
{
	struct elf_file *elf = NULL;
	char full[8192];
	if (!strcmp(path, "[vdso]")) {
		uint8_t *bytes = mem_zalloc(1, VDSO_MAX);
		ssize_t size = pread(process->memory, bytes, VDSO_MAX, (off_t)start);
		return size > 0 && !elf_open_bytes(&elf, bytes, (size_t)size, NULL) ? elf : NULL;
	}
	snprintf(full, sizeof full, "/proc/%d/root%s", pid, path);
	return path[0] == '/' && !elf_open(&elf, full, NULL) ? elf : NULL;
}

static void add_mapping(struct process *process, int pid, const char *line)
{
	uint64_t start, end, offset, shift = 0;
	char permissions[8], path[4096] = "";
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]", &start, &end, permissions,
		   &offset, path) < 4 ||
	    permissions[2] != 'x')
		return;
	struct module module = {.start = start, .end = end, .elf = open_module(process, pid, path, start)};
	if (module.elf && elf_mapping_shift(module.elf, offset, end - start, &shift)) {
		module.bias = start - offset - shift;
		if (unwind_table_build(&module.table, module.elf, NULL, NULL))
			module.table = NULL;
	}
	MEM_ROOM(process->modules, process->count, process->capacity);
	process->modules[process->count++] = module;
}

/* Unwinds from registers in the order of their DWARF numbers. */
static void print_stack(struct process *process, const uint64_t values[GIVEN])
{
	static uint64_t addresses[FRAMES_MAX];
	struct unwind_registers registers = {.ip = values[16], .sp = values[7], .fp = values[6], .known = 0x1ffff};
	struct unwind_space space = {.context = process, .read = read_memory, .find = find, .read_code = read_code};
	enum unwind_end end;
	memcpy(registers.other, values, GIVEN * sizeof *values);
	size_t count = unwind_stack(&space, &registers, addresses, NULL, FRAMES_MAX, &end);
	printf("%d", (int)end);
	for (size_t i = 0; i < count; i++)
		printf(" %" PRIx64, addresses[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	int pid = argc == 2 ? atoi(argv[1]) : 0;
	char path[64], line[8192];
	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	struct process process = {.memory = open(path, O_RDONLY | O_CLOEXEC)};
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	if (process.memory < 0 || !maps) {
		fprintf(stderr, "gdb_unwind: process %d: %s\n", pid, strerror(errno));
		return 1;
	}
	while (fgets(line, sizeof line, maps))
		add_mapping(&process, pid, line);
	fclose(maps);
	for (uint64_t values[GIVEN];; print_stack(&process, values))
		for (size_t i = 0; i < GIVEN; i++)
			if (scanf("%" SCNx64, &values[i]) != 1)
				return 0;
}
