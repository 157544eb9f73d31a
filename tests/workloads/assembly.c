/*
 * usage: assembly [MILLISECONDS]: assembly in the style of OpenSSL's AES-GCM. outer() keeps its caller's stack pointer in
 * rax, aligns the stack, and calls inner(), which leaves rax alone: only rax leads from outer() to its caller.
 */
#include "spin.h"

void outer(long rounds);
__asm__(".text\n"
	".type inner, @function\n"
	"inner:\n"
	".cfi_startproc\n"
	"1: dec %rdi\n"
	"jnz 1b\n"
	"ret\n"
	".cfi_endproc\n"
	".size inner, . - inner\n"
	".type outer, @function\n"
	"outer:\n"
	".cfi_startproc\n"
	"lea (%rsp), %rax\n"
	".cfi_def_cfa_register %rax\n"
	"sub $256, %rsp\n"
	"and $-64, %rsp\n"
	"call inner\n"
	"mov %rax, %rsp\n"
	".cfi_def_cfa_register %rsp\n"
	"ret\n"
	".cfi_endproc\n"
	".size outer, . - outer\n");

__attribute__((noinline)) static void encrypt(long milliseconds)
{
	for (long end = spin_clock() + milliseconds; spin_clock() < end;)
		outer(100000);
}

int main(int argc, char **argv)
{
	encrypt(spin_milliseconds(argc, argv));
	return 0;
}
