/*
 * What a JIT compiler with a jitdump does: code in anonymous memory, without frame pointers, named and described by
 * unwinding records in jit-PID.dump, in the current directory. The frame pointer is used for something else, and what
 * follows the calls does not show where the frame is. With "undescribed" as second argument there are no unwinding
 * records.
 */
#include "spin.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* dump_outer: push rbp; sub rsp, 40; mov ebp, 0x1234; call dump_inner; xor eax, eax; add rsp, 40; pop rbp; ret */
static const unsigned char outer[] = {0x55, 0x48, 0x83, 0xec, 40,   0xbd, 0x34, 0x12, 0,  0,    0xe8, 0,
				      0,    0,    0,    0x31, 0xc0, 0x48, 0x83, 0xc4, 40, 0x5d, 0xc3};
/* dump_inner: push rbx; sub rsp, 24; mov ecx, 100000; again: dec ecx; jnz again; xor eax, eax; add rsp, 24; pop rbx; ret */
static const unsigned char inner[] = {0x53, 0x48, 0x83, 0xec, 24,   0xb9, 0xa0, 0x86, 1,  0,    0xff,
				      0xc9, 0x75, 0xfc, 0x31, 0xc0, 0x48, 0x83, 0xc4, 24, 0x5b, 0xc3};
/* What call frame instructions say of them; the CIE has CFA = rsp + 8 and the return address at CFA - 8. */
static const unsigned char outer_program[] = {0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0e, 56, 0x50, 0x0e, 16, 0x41, 0x0e, 8};
static const unsigned char inner_program[] = {0x41, 0x0e, 16, 0x83, 2, 0x44, 0x0e, 40, 0x4f, 0x0e, 16, 0x41, 0x0e, 8};
enum { INNER_AT = 64, CALL_AT = 10, CALL_SIZE = 5, ROOM = 4096, PROGRAM = 14 };

static const unsigned char cie[] = {0x14, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
				    1,    0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};

static uint64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void put(FILE *file, const void *bytes, size_t size)
{
	fwrite(bytes, 1, size, file);
}

static void put_record(FILE *file, uint32_t id, size_t size)
{
	uint32_t words[] = {id, (uint32_t)size + 16};
	uint64_t time = now();
	put(file, words, sizeof words);
	put(file, &time, sizeof time);
}

/* .eh_frame, as if it stood behind the code. */
static void put_unwinding(FILE *file, size_t code_size, const unsigned char *program)
{
	struct {
		uint32_t length, cie;
		int32_t start;
		uint32_t size;
		unsigned char no_augmentation, program[PROGRAM], padding;
	} fde = {.length = 28, .cie = sizeof cie + 4, .size = (uint32_t)code_size};
	uint64_t sizes[] = {sizeof cie + sizeof fde, 0, 0};
	fde.start = -(int32_t)((code_size + 7) / 8 * 8 + sizeof cie + 8);
	memcpy(fde.program, program, PROGRAM);
	put_record(file, 4, sizeof sizes + sizeof cie + sizeof fde);
	put(file, sizes, sizeof sizes);
	put(file, cie, sizeof cie);
	put(file, &fde, sizeof fde);
}

static void put_load(FILE *file, const unsigned char *code, size_t size, uint64_t number, const char *name)
{
	uint32_t ids[] = {(uint32_t)getpid(), (uint32_t)getpid()};
	uint64_t words[] = {(uintptr_t)code, (uintptr_t)code, size, number};
	put_record(file, 0, sizeof ids + sizeof words + strlen(name) + 1 + size);
	put(file, ids, sizeof ids);
	put(file, words, sizeof words);
	put(file, name, strlen(name) + 1);
	put(file, code, size);
}

static int write_dump(const unsigned char *code, int described)
{
	char path[64];
	snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
	FILE *file = fopen(path, "w+");
	if (!file)
		return -1;
	uint32_t header[] = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid()};
	uint64_t times[] = {now(), 0};
	put(file, header, sizeof header);
	put(file, times, sizeof times);
	fflush(file);
	/* The sign by which it is found. */
	if (mmap(NULL, ROOM, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) == MAP_FAILED)
		return -1;
	if (described)
		put_unwinding(file, sizeof outer, outer_program);
	put_load(file, code, sizeof outer, 1, "dump_outer");
	if (described)
		put_unwinding(file, sizeof inner, inner_program);
	put_load(file, code + INNER_AT, sizeof inner, 2, "dump_inner");
	return fclose(file);
}

int main(int argc, char **argv)
{
	long end = spin_milliseconds(argc, argv);
	unsigned char *code = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	int distance = INNER_AT - CALL_AT - CALL_SIZE;
	memcpy(code, outer, sizeof outer);
	memcpy(code + CALL_AT + 1, &distance, sizeof distance);
	memcpy(code + INNER_AT, inner, sizeof inner);
	if (write_dump(code, argc < 3 || strcmp(argv[2], "undescribed") != 0))
		return 1;
	void (*run)(void) = (void (*)(void))code;
	while (spin_clock() < end)
		run();
	return 0;
}
