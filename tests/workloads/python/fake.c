/* usage: fake SECONDS KIND: a program that looks like CPython VERSION (-DVERSION=0x030b00f0) and is none: it exports the
 * symbols of an interpreter, whose thread and frames are what KIND says:
 *	cycle	frames and threads that are their own callers
 *	wild	pointers to nowhere, into the kernel and to the last byte of a page
 *	names	code objects with lengths of more than there is, and strings that are none
 *	random	all of its memory changes all the time
 *	stuck	a name in memory that is never there; ends with 77 where such memory cannot be made
 * From 3.13 on a table in the file describes the interpreter; with -DBAD_TABLE its fields lie beyond everything.
 */
#define _GNU_SOURCE
#include "../stuck_file.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION 0x030b00f0
#endif

#define WORDS 8192

#ifdef BAD_TABLE
#define AT(offset) (UINT64_MAX - (offset))
#else
#define AT(offset) (offset)
#endif

__attribute__((visibility("default"), section(".PyRuntime"))) uint64_t _PyRuntime[WORDS] = {
#if VERSION >= 0x030d0000
	/* clang-format off */
	0x7970677562656478, VERSION, 0, /* "xdebugpy" */
	AT(20000), AT(600), AT(632), /* the runtime: size, finalizing, interpreters */
	AT(30000), AT(7272), AT(7264), AT(7344), AT(7400), AT(7600), AT(7608), AT(7616), AT(0), AT(8), AT(16), AT(24), AT(32),
	AT(320), AT(0), AT(8), AT(16), AT(72), AT(152), AT(160), AT(224), AT(32), /* a thread */
	AT(88), AT(8), AT(0), AT(56), AT(72), AT(70), /* a frame */
	AT(208), AT(112), AT(120), AT(128), AT(136), AT(68), AT(52), AT(96), AT(104), AT(200), /* code */
	AT(16), AT(8), AT(416), AT(24), AT(88), AT(168), /* objects, types */
	AT(32), AT(24), AT(16), AT(40), AT(24), AT(16), AT(48), AT(32), AT(40), AT(24), AT(16), AT(32), AT(16), AT(24),
	AT(40), AT(16), AT(32), /* bytes */
	AT(64), AT(32), AT(16), AT(40), AT(200), AT(120), /* strings, garbage collection */
/* clang-format on */
#endif
};
__attribute__((visibility("default"))) const unsigned long Py_Version = VERSION;
uint64_t interpreter[WORDS], thread[WORDS], control[16], frames[64], code[128], text[16];
volatile uint64_t sum;

static uint64_t address(const void *pointer)
{
	return (uintptr_t)pointer;
}

/* At an offset in bytes. */
static void put(uint64_t *object, unsigned offset, uint64_t value)
{
	memcpy((char *)object + offset, &value, sizeof(value));
}

struct offsets {
	unsigned key, head, threads, frame, id, frame_code, frame_back, frame_ip, file, name, qualname, line_table;
};

static struct offsets offsets_of_version(void)
{
	switch (VERSION >> 16) {
	case 0x30b:
		return (struct offsets){592, 40, 16, 56, 160, 32, 48, 56, 112, 120, 128, 136};
	case 0x30c:
		return (struct offsets){1544, 40, 72, 56, 144, 0, 8, 56, 112, 120, 128, 136};
	default:
		return (struct offsets){2160, 632, 7344, 72, 160, 0, 8, 56, 112, 120, 128, 136};
	}
}

/* A thread in a function that is its own caller. */
static void build(struct offsets at)
{
	pthread_key_t key;
	if (pthread_key_create(&key, NULL) != 0 || pthread_setspecific(key, thread) != 0)
		exit(1);
	put(_PyRuntime, at.key, 1 | (uint64_t)key << 32);
	put(_PyRuntime, at.head, address(interpreter));
	put(interpreter, at.threads, address(thread));
	put(thread, 8, address(thread)); /* next */
	put(thread, at.id, (uint64_t)syscall(SYS_gettid));
	put(thread, at.frame, VERSION >> 16 >= 0x30d ? address(frames) : address(control));
	put(control, VERSION >> 16 == 0x30b ? 8 : 0, address(frames));
	put(frames, at.frame_code, address(code));
	put(frames, at.frame_back, address(frames));
	put(frames, at.frame_ip, address(code) + 200);
	put(code, at.file, address(text));
	put(code, at.name, address(text));
	put(code, at.qualname, address(text));
	put(code, at.line_table, address(text));
}

static void spoil(const char *kind, struct offsets at)
{
	if (strcmp(kind, "wild") == 0) {
		char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE) != 0)
			exit(1);
		put(frames, at.frame_code, address(page + 4095));
		put(frames, at.frame_back, 0xffffffff81000000);
		put(thread, 8, 0x1234567890);
	} else if (strcmp(kind, "names") == 0) {
		put(text, 16, UINT64_MAX >> 1);
		put(text, 32, UINT64_MAX);
	} else if (strcmp(kind, "stuck") == 0) {
		put(frames, at.frame_back, 0);
		put(thread, 8, 0);
		put(code, at.file, address(stuck_map(NULL, 4096)));
	}
}

static double seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Pointers of before at other places: all of them valid, none of them what it was. */
static void shuffle(void)
{
	static uint64_t *const objects[] = {thread, control, frames, code, text};
	static unsigned state = 1;
	for (unsigned i = 0; i < 64; i++) {
		state = state * 1103515245 + 12345;
		uint64_t *object = objects[(state >> 8) % 5];
		object[(state >> 12) % 16] = address(objects[(state >> 20) % 5] + (state >> 24) % 8);
	}
}

__attribute__((visibility("default"), noinline)) void _PyEval_EvalFrameDefault(double end, int changes)
{
	while (seconds() < end) {
		for (unsigned i = 0; i < 10000; i++)
			sum += i;
		if (changes)
			shuffle();
	}
	sum++;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[2] : "cycle";
	struct offsets at = offsets_of_version();
	build(at);
	spoil(kind, at);
	_PyEval_EvalFrameDefault(argc > 1 ? atof(argv[1]) : 1, strcmp(kind, "random") == 0);
	return 0;
}
