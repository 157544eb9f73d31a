/*
 * usage: stacks CASE [MILLISECONDS]: stacks that are hard to unwind (x86-64). CASE is
 * bare: work() calls assembly without unwind rules; to be built with frame pointers, which lead past work();
 * wild: code in anonymous memory with a frame pointer that leads to a return address in no mapping;
 * lisp: code in anonymous memory, called by assembly that describes the frame pointer of its callee, as sbcl does;
 * alternate: a signal handler on an alternate stack, which interrupts interrupted();
 * fiber: fiber_work() on a stack of makecontext();
 * wide: wide() has a frame larger than any copy, most of which it has not used, as in rustc and x264. It is called by
 * assembly with a rule that the BPF programs do not evaluate, so that every stack is copied.
 */
#define _GNU_SOURCE
#include "spin.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { ROUNDS = 100000, STACK_BYTES = 65536, WIDE_BYTES = 540000 };

/* bare(rounds) pushes two registers; leaf(rounds) none. call_lisp(code, rounds) prepares the frame of its callee. */
void bare(long rounds);
void leaf(long rounds);
void call_lisp(void *code, long rounds);
void call_wide(void (*function)(long), long end);
extern const char wild_begin[], wild_end[], lisp_begin[], lisp_end[];
__asm__(".text\n"
	".balign 64\n"
	".skip 64, 0xcc\n" /* more than padding between functions */
	".type bare, @function\n"
	"bare:\n"
	"push %rbx\n"
	"push %r12\n"
	"1: dec %rdi\n"
	"jnz 1b\n"
	"pop %r12\n"
	"pop %rbx\n"
	"ret\n"
	".size bare, . - bare\n"
	".type leaf, @function\n"
	"leaf:\n"
	"1: dec %rdi\n"
	"jnz 1b\n"
	"ret\n"
	".size leaf, . - leaf\n"
	".skip 64, 0xcc\n"
	".type call_lisp, @function\n"
	"call_lisp:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"push %rbp\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	".cfi_escape 0x0f, 5, 0x76, 0, 0x06, 0x40, 0x22\n" /* breg6 0; deref; lit16; plus */
	"call *%rdi\n"
	"leave\n"
	"ret\n"
	".cfi_endproc\n"
	".size call_lisp, . - call_lisp\n"
	".type call_wide, @function\n"
	"call_wide:\n"
	".cfi_startproc\n"
	"sub $8, %rsp\n"
	".cfi_escape 0x0f, 4, 0x77, 16, 0x31, 0x1e\n" /* breg7 16; lit1; mul */
	"mov %rdi, %rax\n"
	"mov %rsi, %rdi\n"
	"call *%rax\n"
	"add $8, %rsp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size call_wide, . - call_wide\n"
	/* The two below are copied to anonymous memory. */
	".section .rodata\n"
	"wild_begin:\n"
	"push %rbp\n"
	"push $0x12345678\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"1: dec %rdi\n"
	"jnz 1b\n"
	"pop %rbp\n"
	"pop %rax\n"
	"pop %rbp\n"
	"pop %rcx\n"
	"jmp *%rcx\n" /* a return that does not look like one */
	"wild_end:\n"
	"lisp_begin:\n"
	"popq 8(%rbp)\n"
	"1: dec %rsi\n"
	"jnz 1b\n"
	"pushq 8(%rbp)\n"
	"mov (%rbp), %rbp\n"
	"ret\n"
	"lisp_end:\n"
	".text\n");

volatile uint64_t result;

__attribute__((noinline)) static void spin(void)
{
	uint64_t value = result;
	SPIN(value);
	result = value;
}

__attribute__((noinline)) static void work(void)
{
	bare(ROUNDS);
	leaf(ROUNDS);
	result = result + 1;
}

static void *code_of(const char *begin, const char *end)
{
	char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return code == MAP_FAILED ? NULL : memcpy(code, begin, (size_t)(end - begin));
}

static void on_signal(int number)
{
	for (int i = 0; i < 100; i++)
		spin();
	result = result + (uint64_t)number;
}

__attribute__((noinline)) static void interrupted(void)
{
	raise(SIGUSR1);
	result = result + 1;
}

static void alternate(long end)
{
	stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_ONSTACK}, NULL);
	while (spin_clock() < end)
		interrupted();
}

static ucontext_t back, fiber;

__attribute__((noinline)) static void fiber_work(void)
{
	for (int i = 0; i < 100; i++)
		spin();
	result = result + 1;
}

static void fiber_main(void)
{
	for (;;) {
		fiber_work();
		swapcontext(&fiber, &back);
	}
}

static void fibers(long end)
{
	getcontext(&fiber);
	fiber.uc_stack = (stack_t){.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};
	fiber.uc_link = &back;
	makecontext(&fiber, fiber_main, 0);
	while (spin_clock() < end)
		swapcontext(&back, &fiber);
}

__attribute__((noinline)) static void wide(long end)
{
	volatile char room[WIDE_BYTES];
	for (int i = 0; i < WIDE_BYTES / 64; i++)
		room[i] = 1;
	while (spin_clock() < end)
		spin();
	result = result + (uint64_t)room[0];
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long end = spin_milliseconds(argc - 1, argv + 1);
	void *wild = code_of(wild_begin, wild_end), *lisp = code_of(lisp_begin, lisp_end);
	if (!wild || !lisp)
		return 1;
	if (!strcmp(what, "alternate"))
		alternate(end);
	if (!strcmp(what, "fiber"))
		fibers(end);
	if (!strcmp(what, "wide"))
		call_wide(wide, end);
	while (spin_clock() < end) {
		if (!strcmp(what, "bare"))
			work();
		else if (!strcmp(what, "wild"))
			((void (*)(long))wild)(ROUNDS);
		else if (!strcmp(what, "lisp"))
			call_lisp(lisp, ROUNDS);
		else
			return 2;
	}
	return 0;
}
