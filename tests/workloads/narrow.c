/*
 * A 32-bit program (gcc -m32 -nostdlib -static -ffreestanding) without a C library, which few machines have for these:
 * runs for 400 milliseconds of CPU time. Built with unwind tables, with frame pointers, or without both.
 */
enum { SYS_EXIT = 1, SYS_CLOCK_GETTIME = 265, CLOCK_PROCESS_CPUTIME_ID = 2, MILLISECONDS = 400 };

struct time {
	int seconds, nanoseconds;
};

static volatile unsigned result;

static int call(int number, int first, void *second)
{
	int value;
	__asm__ volatile("int $0x80" : "=a"(value) : "a"(number), "b"(first), "c"(second) : "memory");
	return value;
}

__attribute__((noinline)) static void inner(void)
{
	unsigned value = result;
	for (int i = 0; i < 100000; i++)
		value = value * 31 + (value >> 7);
	result = value;
}

__attribute__((noinline)) static void outer(void)
{
	inner();
	result = result + 1;
}

__attribute__((noinline, used)) static void begin(void)
{
	struct time now = {0};
	do {
		outer();
		call(SYS_CLOCK_GETTIME, CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (now.seconds == 0 && now.nanoseconds < MILLISECONDS * 1000000);
	call(SYS_EXIT, 0, (void *)0);
}

__asm__(".globl _start\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined %eip\n"
	"xor %ebp, %ebp\n"
	"call begin\n"
	"hlt\n"
	".cfi_endproc\n"
	".skip 128, 0xf4\n"); /* so that nobody takes what follows for a part of it */
