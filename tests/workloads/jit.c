/*
 * What a JIT compiler does: code in anonymous memory, with frame pointers, named in /tmp/perf-PID.map. Arguments after
 * the time: "memfd" has the code in memory with a name; "unnamed" writes no map.
 */
#define _GNU_SOURCE
#include "spin.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* jit_outer: push rbp; mov rbp, rsp; call jit_inner; pop rbp; ret */
static const unsigned char outer[] = {0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3};
/* jit_inner: push rbp; mov rbp, rsp; mov ecx, 100000; again: dec ecx; jnz again; pop rbp; ret */
static const unsigned char inner[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0xa0, 0x86, 0x01,
				      0x00, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};
enum { INNER_AT = 64, CALL_AT = 4, CALL_SIZE = 5, ROOM = 4096 };

static bool has_argument(int argc, char **argv, const char *name)
{
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return false;
}

/* Memory to write code to and to run it. */
static unsigned char *make_room(bool named)
{
	int fd = named ? memfd_create("code", MFD_CLOEXEC) : -1;
	if (named && (fd < 0 || ftruncate(fd, ROOM)))
		return MAP_FAILED;
	return mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, named ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
		    fd, 0);
}

static bool write_map(const unsigned char *code)
{
	char path[64];
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "w");
	if (!map)
		return false;
	fprintf(map, "%lx %zx jit_outer\n%lx %zx jit_inner\n", (unsigned long)code, sizeof outer,
		(unsigned long)(code + INNER_AT), sizeof inner);
	return fclose(map) == 0;
}

int main(int argc, char **argv)
{
	long end = spin_milliseconds(argc, argv);
	unsigned char *code = make_room(has_argument(argc, argv, "memfd"));
	if (code == MAP_FAILED)
		return 1;
	int distance = INNER_AT - CALL_AT - CALL_SIZE;
	memcpy(code, outer, sizeof outer);
	memcpy(code + CALL_AT + 1, &distance, sizeof distance);
	memcpy(code + INNER_AT, inner, sizeof inner);
	if (!has_argument(argc, argv, "unnamed") && !write_map(code))
		return 1;
	void (*run)(void) = (void (*)(void))code;
	while (spin_clock() < end)
		run();
	return 0;
}
