/* Reads the vDSO of this process as an ELF file. */
#include "symbol/vdso.h"

#include "symbol/debugfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>

/* How far the mapping at `start` reaches, by /proc/self/maps; 0 when it is not there. */
static size_t mapped_size(uint64_t start)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return 0;
	size_t size = 0;
	char line[512];
	while (!size && fgets(line, sizeof line, maps)) {
		uint64_t from, to;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && from == start)
			size = to - from;
	}
	fclose(maps);
	return size;
}

struct elf_file *vdso_open(const struct build_id *build_id)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	size_t size = start ? mapped_size(start) : 0;
	struct elf_file *elf;
	if (size && !elf_open_bytes(&elf, (const void *)(uintptr_t)start, size, NULL)) {
		struct build_id id = elf_build_id(elf);
		if (!build_id->size || build_id_equal(&id, build_id))
			return elf;
		elf_close(elf);
	}
	return debugfile_open_vdso(build_id);
}
