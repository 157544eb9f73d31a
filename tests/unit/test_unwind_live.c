/*
 * This program's own stacks, beside what libgcc's unwinder finds, and then at every single instruction of library
 * calls: prologues, epilogues, lazy binding, the vDSO. Whatever instruction a sample hits, the stack must be whole.
 */
#include "unit.h"

#include "unwind/unwind.h"

#include <alloca.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { MODULES_MAX = 64, FRAMES_MAX = 2048, DEPTH = 300 };

struct module {
	uint64_t start, end, bias;
	struct unwind_table *table;
};

static struct module modules[MODULES_MAX];
static size_t module_count;

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	for (unsigned i = 0; i < info->dlpi_phnum && module_count < MODULES_MAX; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		struct module module = {.start = info->dlpi_addr + segment->p_vaddr, .bias = info->dlpi_addr};
		module.end = module.start + segment->p_memsz;
		struct elf_file *elf;
		bool is_vdso = vdso && (uint64_t)vdso >= module.start && (uint64_t)vdso < module.end;
		int failed = is_vdso ? elf_open_bytes(&elf, vdso, 2 * (size_t)sysconf(_SC_PAGESIZE), NULL) :
				       elf_open(&elf, path, NULL);
		if (!failed) {
			unwind_table_build(&module.table, elf, NULL, NULL);
			elf_close(elf);
		}
		modules[module_count++] = module;
	}
	return 0;
}

static struct unwind_place find(void *context, uint64_t ip)
{
	(void)context;
	for (size_t i = 0; i < module_count; i++)
		if (ip >= modules[i].start && ip < modules[i].end)
			return (struct unwind_place){modules[i].table, modules[i].bias, true, modules[i].start,
						     modules[i].end};
	return (struct unwind_place){0};
}

/* The stack is there: it is read where it lies, between these. */
struct stack {
	uint64_t from, to;
};

static bool read_stack(void *context, uint64_t address, uint64_t *ret_value)
{
	const struct stack *stack = context;
	if (address < stack->from || address > stack->to - 8)
		return false;
	memcpy(ret_value, (const void *)address, 8);
	return true;
}

static struct unwind_registers registers_of(const ucontext_t *context)
{
	static const int greg[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
				     REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	const greg_t *general = context->uc_mcontext.gregs;
	struct unwind_registers registers = {
		.ip = (uint64_t)general[REG_RIP],
		.sp = (uint64_t)general[REG_RSP],
		.fp = (uint64_t)general[REG_RBP],
		.known = 0x1ffff,
	};
	for (unsigned i = 0; i < 17; i++)
		registers.other[i] = (uint64_t)general[greg[i]];
	return registers;
}

struct trace {
	size_t count;
	uint64_t addresses[FRAMES_MAX];
	bool exact[FRAMES_MAX];
	enum unwind_end end;
};

static void walk(struct trace *trace, const ucontext_t *context, struct stack *stack)
{
	struct unwind_registers registers = registers_of(context);
	struct unwind_space space = {.context = stack, .read = read_stack, .find = find};
	trace->count = unwind_stack(&space, &registers, trace->addresses, trace->exact, FRAMES_MAX, &trace->end);
}

static struct stack own_stack(void)
{
	pthread_attr_t attributes;
	void *start;
	size_t size;
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &start, &size);
	pthread_attr_destroy(&attributes);
	return (struct stack){(uint64_t)start, (uint64_t)start + size};
}

/* --- beside libgcc --- */

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *data)
{
	struct trace *trace = data;
	int before = 0;
	uint64_t ip = _Unwind_GetIPInfo(context, &before);
	if (!ip || trace->count == FRAMES_MAX)
		return _URC_END_OF_STACK;
	trace->addresses[trace->count] = ip;
	trace->exact[trace->count++] = before;
	return _URC_NO_REASON;
}

static struct trace ours, theirs;

/* Both walks begin in this function, at two different instructions: from the caller on they must be the same. */
static __attribute__((noinline)) void compare_here(struct stack stack)
{
	ucontext_t context;
	getcontext(&context);
	walk(&ours, &context, &stack);
	theirs.count = 0;
	_Unwind_Backtrace(take_frame, &theirs);
}

static void check_same(size_t min)
{
	assert_int_equal(ours.end, UNWIND_COMPLETE);
	assert_true(ours.count >= min);
	assert_int_equal(ours.count, theirs.count);
	for (size_t i = 1; i < ours.count; i++) {
		assert_int_equal(ours.addresses[i], theirs.addresses[i]);
		assert_int_equal(ours.exact[i], theirs.exact[i]);
	}
}

static int (*volatile deeper)(int depth, struct stack stack);

static int compare_numbers(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

struct sort_context {
	int depth;
	struct stack stack;
	bool done;
};

static int compare_and_go_on(const void *a, const void *b, void *data)
{
	struct sort_context *context = data;
	if (!context->done) {
		context->done = true;
		deeper(context->depth + 1, context->stack);
	}
	return compare_numbers(a, b);
}

/* Some frames of a fixed size, some not, some of the C library between them. */
static __attribute__((noinline)) int go_deep(int depth, struct stack stack)
{
	volatile char fixed[48];
	fixed[0] = (char)depth;
	if (depth == DEPTH) {
		compare_here(stack);
	} else if (depth % 7 == 3) {
		volatile char *some = alloca((size_t)(depth % 64) * 16 + 1);
		some[0] = 1;
		deeper(depth + 1, stack);
		fixed[1] = some[0];
	} else if (depth % 11 == 5) {
		int numbers[] = {3, 1, 2};
		struct sort_context context = {depth, stack, false};
		qsort_r(numbers, 3, sizeof *numbers, compare_and_go_on, &context);
	} else {
		deeper(depth + 1, stack);
	}
	return fixed[0];
}

static void *run_thread(void *unused)
{
	deeper(0, own_stack());
	return unused;
}

static void a_deep_stack_of_a_thread_is_found_whole(void **state)
{
	(void)state;
	pthread_t thread;
	deeper = go_deep;
	assert_int_equal(pthread_create(&thread, NULL, run_thread, NULL), 0);
	pthread_join(thread, NULL);
	check_same(DEPTH);
}

static void a_deep_stack_of_main_is_found_whole(void **state)
{
	(void)state;
	deeper = go_deep;
	deeper(0, own_stack());
	check_same(DEPTH);
}

/* --- signals --- */

static struct stack handler_stack;
static struct trace from_context;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	compare_here(handler_stack);
	walk(&from_context, context, &handler_stack);
}

static void check_signal(int flags)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags}, before;
	sigaction(SIGUSR1, &action, &before);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &before, NULL);
	check_same(6);
	/* From the interrupted instruction on, which is exact, both walks of ours are one. */
	assert_int_equal(from_context.end, UNWIND_COMPLETE);
	size_t skip = ours.count - from_context.count;
	for (size_t i = 0; i < from_context.count; i++)
		assert_int_equal(from_context.addresses[i], ours.addresses[i + skip]);
	assert_true(ours.exact[skip]);
}

static void signal_handlers_are_left_through_their_frame(void **state)
{
	(void)state;
	handler_stack = own_stack();
	check_signal(0);
}

static void signal_handlers_with_a_stack_of_their_own_too(void **state)
{
	(void)state;
	static char alternative[65536];
	stack_t other = {.ss_sp = alternative, .ss_size = sizeof alternative}, before;
	struct stack own = own_stack();
	uint64_t start = (uint64_t)alternative, end = start + sizeof alternative;
	/* Both, and what lies between: it is not touched unless a walk goes astray. */
	handler_stack.from = start < own.from ? start : own.from;
	handler_stack.to = end > own.to ? end : own.to;
	sigaltstack(&other, &before);
	check_signal(SA_ONSTACK);
	sigaltstack(&before, NULL);
}

/* --- every instruction --- */

static struct {
	struct stack stack;
	struct trace root; /* the callers of what is stepped through */
	struct trace now;
	size_t steps, wrong;
	uint64_t first_wrong;
	enum unwind_end first_end;
	volatile sig_atomic_t stop;
} stepper;

/* Each trap is one instruction: its stack must end with that of the function that set it all going. */
static void on_trap(int number, siginfo_t *info, void *data)
{
	(void)number;
	(void)info;
	ucontext_t *context = data;
	if (stepper.stop) {
		context->uc_mcontext.gregs[REG_EFL] &= ~0x100;
		return;
	}
	walk(&stepper.now, context, &stepper.stack);
	size_t root = stepper.root.count - 1, count = stepper.now.count;
	bool same = stepper.now.end == UNWIND_COMPLETE && count > root &&
		    memcmp(stepper.now.addresses + count - root, stepper.root.addresses + 1,
			   root * sizeof *stepper.root.addresses) == 0;
	stepper.steps++;
	if (!same && stepper.wrong++ == 0) {
		stepper.first_wrong = stepper.now.addresses[0];
		stepper.first_end = stepper.now.end;
	}
}

static __attribute__((noinline)) void step_through(void (*body)(void))
{
	ucontext_t context;
	getcontext(&context);
	walk(&stepper.root, &context, &stepper.stack);
	stepper.stop = 0;
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
	body();
	stepper.stop = 1;
	__asm__ volatile("nop; nop" ::: "memory");
}

static void check_steps(void (*body)(void), size_t min)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, before;
	stepper.stack = own_stack();
	stepper.steps = stepper.wrong = 0;
	sigaction(SIGTRAP, &action, &before);
	step_through(body);
	sigaction(SIGTRAP, &before, NULL);
	assert_int_equal(stepper.root.end, UNWIND_COMPLETE);
	print_message("# %zu instructions\n", stepper.steps);
	if (stepper.wrong) {
		struct unwind_place place = find(NULL, stepper.first_wrong);
		fail_msg("%zu of %zu stacks are wrong; the first at %#llx (%#llx in its file), end %d", stepper.wrong,
			 stepper.steps, (unsigned long long)stepper.first_wrong,
			 (unsigned long long)(stepper.first_wrong - place.bias), (int)stepper.first_end);
	}
	assert_true(stepper.steps >= min);
}

static void sort_and_print(void)
{
	int numbers[40];
	char text[200];
	for (int i = 0; i < 40; i++)
		numbers[i] = i * 17 % 41;
	qsort(numbers, 40, sizeof *numbers, compare_numbers);
	snprintf(text, sizeof text, "%d %s %.17g %llx", numbers[3], "text", strtod("3.14159e10", NULL), 1ull << 60);
}

static void use_memory(void)
{
	char *volatile pieces[20]; /* else compilers see that nothing comes of it */
	for (int i = 0; i < 20; i++)
		pieces[i] = malloc((size_t)i * 1000 + 1);
	pieces[3] = realloc(pieces[3], 50000);
	memset(pieces[3], 1, 50000 / 100);
	for (int i = 0; i < 20; i++)
		free(pieces[i]);
}

/* Functions that nothing else here calls: each first call goes through the dynamic linker, where it binds lazily. */
static void call_for_the_first_time(void)
{
	struct timespec now;
	char text[64];
	time_t second = 86400;
	struct tm parts;
	clock_gettime(CLOCK_MONOTONIC, &now);
	gmtime_r(&second, &parts);
	strftime(text, sizeof text, "%Y-%m-%d", &parts);
	(void)!getenv("PATH");
	(void)getppid();
	(void)strpbrk(text, "x-");
	(void)lrand48();
	(void)strcasecmp(text, "other");
}

static void read_a_file(void)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");
	while (file && fgets(line, sizeof line, file))
		(void)strtol(line, NULL, 10);
	if (file)
		fclose(file);
}

static void sorting_and_printing_is_whole_at_every_instruction(void **state)
{
	(void)state;
	check_steps(sort_and_print, 1000);
}

static void allocating_is_whole_at_every_instruction(void **state)
{
	(void)state;
	check_steps(use_memory, 1000);
}

static void first_calls_are_whole_at_every_instruction(void **state)
{
	(void)state;
	check_steps(call_for_the_first_time, 500);
}

static void reading_a_file_is_whole_at_every_instruction(void **state)
{
	(void)state;
	check_steps(read_a_file, 1000);
}

static int load_tables(void **state)
{
	(void)state;
	dl_iterate_phdr(add_module, NULL);
	return module_count >= 2 ? 0 : -1;
}

static int free_tables(void **state)
{
	(void)state;
	while (module_count)
		unwind_table_free(modules[--module_count].table);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deep_stack_of_a_thread_is_found_whole),
		cmocka_unit_test(a_deep_stack_of_main_is_found_whole),
		cmocka_unit_test(signal_handlers_are_left_through_their_frame),
		cmocka_unit_test(signal_handlers_with_a_stack_of_their_own_too),
		cmocka_unit_test(sorting_and_printing_is_whole_at_every_instruction),
		cmocka_unit_test(allocating_is_whole_at_every_instruction),
		cmocka_unit_test(first_calls_are_whole_at_every_instruction),
		cmocka_unit_test(reading_a_file_is_whole_at_every_instruction),
	};
	return cmocka_run_group_tests_name("unwinding this program", tests, load_tables, free_tables);
}
