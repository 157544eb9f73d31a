/*
 * usage: libraries MILLISECONDS ROUNDS FILE…: works for so long in each of the libraries in turn, all of it as many times
 * as there are rounds. Compiled with -DLIBRARY it is such a library: one with a large unwind table.
 */
#ifdef LIBRARY

#define PUSH "push %rax\n.cfi_adjust_cfa_offset 8\n"
#define POP "pop %rax\n.cfi_adjust_cfa_offset -8\n"
/* Never called; each has sixteen rows. */
__asm__(".text\n.rept 20000\n.cfi_startproc\n" PUSH PUSH PUSH PUSH PUSH PUSH PUSH PUSH POP POP POP POP POP POP POP POP
	"ret\n.cfi_endproc\n.endr\n");

int through_library(void (*work)(int), int milliseconds)
{
	work(milliseconds);
	return 1;
}

#else

#include "spin.h"

#include <dlfcn.h>
#include <stdio.h>

volatile uint64_t result;

__attribute__((noinline)) void work(int milliseconds)
{
	uint64_t value = result;
	for (long end = spin_clock() + milliseconds; spin_clock() < end;)
		SPIN(value);
	result = value;
}

int main(int argc, char **argv)
{
	int milliseconds = argc > 1 ? atoi(argv[1]) : 0;
	for (int round = argc > 2 ? atoi(argv[2]) : 0; round > 0; round--)
		for (int i = 3; i < argc; i++) {
			void *library = dlopen(argv[i], RTLD_NOW);
			int (*enter)(void (*)(int), int) = library ? dlsym(library, "through_library") : NULL;
			if (!enter) {
				fprintf(stderr, "%s\n", dlerror());
				return 1;
			}
			result += (uint64_t)enter(work, milliseconds);
		}
	return 0;
}

#endif
