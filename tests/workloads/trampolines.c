/*
 * What python -X perf does: each function is called through its own copy of a trampoline in anonymous memory, without
 * unwind information, named in /tmp/perf-PID.map. One copy is as in Python 3.12, the other as in versions with frame
 * pointers: main → framed → in_between → plain → leaf. The frame pointer is used for something else.
 */
#include "spin.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void function(void *, void *, void *, void (*)(void));

/* sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
static const unsigned char plain[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3};
/* push %rbp; mov %rsp, %rbp; call *%rcx; pop %rbp; ret */
static const unsigned char framed[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3};
enum { FRAMED_AT = 16, ROOM = 4096 };

static function *plain_code, *framed_code;
static volatile uint64_t sink;

__attribute__((noinline)) static void leaf(void)
{
	uint64_t value = sink;
	for (int i = 0; i < 100000; i++)
		value = spin_mix(value + 1);
	sink = value;
}

/* With something in the frame pointer, and on the stack where the trampoline leaves a gap. */
__attribute__((noinline)) static void in_between(void)
{
	function *volatile code = plain_code;
	__asm__ volatile("push %%rbp; mov $0x1234, %%ebp; push %%rbp; push %%rbp; pop %%rbp; pop %%rbp; pop %%rbp" ::
				 : "memory");
	code(0, 0, 0, leaf);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

int main(int argc, char **argv)
{
	long end = spin_milliseconds(argc, argv);
	unsigned char *code = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	memcpy(code, plain, sizeof plain);
	memcpy(code + FRAMED_AT, framed, sizeof framed);
	plain_code = (function *)code;
	framed_code = (function *)(code + FRAMED_AT);
	char path[64];
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "w");
	if (!map)
		return 1;
	fprintf(map, "%lx %zx py::plain:/app.py\n%lx %zx py::framed:/app.py\n", (unsigned long)code, sizeof plain,
		(unsigned long)(code + FRAMED_AT), sizeof framed);
	fclose(map);
	while (spin_clock() < end)
		framed_code(0, 0, 0, in_between);
	return 0;
}
