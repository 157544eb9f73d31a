/* Modules, mappings, processes and threads, as records report them. */
#include "process/maps.h"
#include "process/process.h"
#include "unit.h"

#include <string.h>
#include <unistd.h>

#define SECOND 1000000000ull
#define NOBODY 10000000 /* no process has so high a number */

struct fixture {
	struct modules modules;
	struct processes processes;
};

static struct fixture *start(void)
{
	struct fixture *f = mem_zalloc(1, sizeof *f);
	modules_init(&f->modules);
	processes_init(&f->processes, &f->modules);
	return f;
}

static void end(struct fixture *f)
{
	processes_release(&f->processes);
	modules_release(&f->modules);
	free(f);
}

static void expect_maps(const struct map_set *maps, const struct mapping *wanted, size_t count)
{
	assert_int_equal(maps->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(maps->items[i].start, wanted[i].start);
		assert_int_equal(maps->items[i].end, wanted[i].end);
		assert_int_equal(maps->items[i].offset, wanted[i].offset);
		assert_int_equal(maps->items[i].module, wanted[i].module);
	}
}

static void addresses_are_found_in_their_mapping(void **state)
{
	(void)state;
	struct map_set *maps = map_set_new();
	assert_null(map_set_find(maps, 0x1000));
	map_set_add(maps, (struct mapping){0x3000, 0x4000, 0, 3});
	map_set_add(maps, (struct mapping){0x1000, 0x2000, 0, 1});
	map_set_add(maps, (struct mapping){0x2000, 0x3000, 0, 2});
	map_set_add(maps, (struct mapping){0x9000, 0x9000, 0, 9}); /* empty */
	assert_null(map_set_find(maps, 0xfff));
	assert_int_equal(map_set_find(maps, 0x1000)->module, 1);
	assert_int_equal(map_set_find(maps, 0x1fff)->module, 1);
	assert_int_equal(map_set_find(maps, 0x2000)->module, 2);
	assert_int_equal(map_set_find(maps, 0x3fff)->module, 3);
	assert_null(map_set_find(maps, 0x4000));
	assert_null(map_set_find(maps, UINT64_MAX));
	assert_null(map_set_find(NULL, 0x1000));
	map_set_release(maps);
}

static void a_mapping_cuts_what_it_overlaps(void **state)
{
	(void)state;
	struct map_set *maps = map_set_new();
	map_set_add(maps, (struct mapping){0x1000, 0x9000, 0x100000, 1});
	map_set_add(maps, (struct mapping){0x3000, 0x4000, 0x500, 2}); /* inside: two parts are left */
	struct mapping inside[] = {
		{0x1000, 0x3000, 0x100000, 1}, {0x3000, 0x4000, 0x500, 2}, {0x4000, 0x9000, 0x103000, 1}};
	expect_maps(maps, inside, 3);
	map_set_add(maps, (struct mapping){0x2000, 0x5000, 0, 3}); /* over one, and the ends of its neighbours */
	struct mapping over[] = {{0x1000, 0x2000, 0x100000, 1}, {0x2000, 0x5000, 0, 3}, {0x5000, 0x9000, 0x104000, 1}};
	expect_maps(maps, over, 3);
	map_set_add(maps, (struct mapping){0x0, UINT64_MAX, 0, 4}); /* over everything */
	expect_maps(maps, &(struct mapping){0x0, UINT64_MAX, 0, 4}, 1);
	map_set_release(maps);
}

static void mappings_that_were_handed_out_stay_as_they_were(void **state)
{
	(void)state;
	struct fixture *f = start();
	assert_null(processes_maps(&f->processes, 7));
	processes_mmap(&f->processes, 7, (struct mapping){0x1000, 0x2000, 0, 1});
	struct map_set *before = processes_maps(&f->processes, 7), *again = processes_maps(&f->processes, 7);
	assert_ptr_equal(before, again); /* nothing changed: no copy */
	processes_mmap(&f->processes, 7, (struct mapping){0x1000, 0x2000, 0, 2});
	struct map_set *after = processes_maps(&f->processes, 7);
	assert_int_equal(map_set_find(before, 0x1800)->module, 1);
	assert_int_equal(map_set_find(after, 0x1800)->module, 2);
	processes_mmap(&f->processes, -1, (struct mapping){0x1000, 0x2000, 0, 5});
	struct map_set *kernel = processes_kernel_maps(&f->processes);
	processes_mmap(&f->processes, -1, (struct mapping){0x5000, 0x6000, 0, 6});
	assert_int_equal(kernel->count, 1);
	struct map_set *held[] = {before, again, after, kernel};
	for (size_t i = 0; i < sizeof held / sizeof *held; i++)
		map_set_release(held[i]);
	end(f);
}

static void a_child_has_its_parents_mappings_until_it_changes_them(void **state)
{
	(void)state;
	struct fixture *f = start();
	struct processes *p = &f->processes;
	processes_mmap(p, 7, (struct mapping){0x1000, 0x2000, 0, 1});
	processes_comm(p, 7, 7, "parent", false);
	processes_fork(p, 8, 8, 7, 7);
	processes_fork(p, 7, 9, 7, 7); /* a thread */
	processes_mmap(p, 8, (struct mapping){0x1000, 0x2000, 0, 2});
	struct map_set *parent = processes_maps(p, 7), *child = processes_maps(p, 8);
	assert_int_equal(map_set_find(parent, 0x1000)->module, 1);
	assert_int_equal(map_set_find(child, 0x1000)->module, 2);
	map_set_release(parent);
	map_set_release(child);
	assert_string_equal(processes_comm_of(p, 8, 8), "parent");
	assert_string_equal(processes_comm_of(p, 7, 9), "parent");
	/* The pid is used again, by a child of another process. */
	processes_mmap(p, 20, (struct mapping){0x7000, 0x8000, 0, 3});
	processes_fork(p, 8, 8, 20, 20);
	child = processes_maps(p, 8);
	assert_null(map_set_find(child, 0x1000));
	assert_int_equal(map_set_find(child, 0x7000)->module, 3);
	map_set_release(child);
	end(f);
}

static void exec_begins_with_nothing_mapped(void **state)
{
	(void)state;
	struct fixture *f = start();
	struct processes *p = &f->processes;
	processes_mmap(p, 7, (struct mapping){0x1000, 0x2000, 0, 1});
	processes_comm(p, 7, 7, "renamed", false);
	struct map_set *maps = processes_maps(p, 7);
	assert_non_null(map_set_find(maps, 0x1000));
	processes_comm(p, 7, 7, "executed", true);
	assert_null(processes_maps(p, 7));
	assert_string_equal(processes_comm_of(p, 7, 7), "executed");
	assert_non_null(map_set_find(maps, 0x1000)); /* whoever holds them still has them */
	map_set_release(maps);
	processes_comm(p, 30, 30, "first seen", true);
	assert_string_equal(processes_comm_of(p, 30, 30), "first seen");
	end(f);
}

static void a_thread_without_a_name_has_that_of_its_process(void **state)
{
	(void)state;
	struct fixture *f = start();
	struct processes *p = &f->processes;
	assert_string_equal(processes_comm_of(p, 7, 7), "");
	processes_comm(p, 7, 7, "server", false);
	processes_comm(p, 7, 8, "worker", false);
	assert_string_equal(processes_comm_of(p, 7, 8), "worker");
	assert_string_equal(processes_comm_of(p, 7, 9), "server");
	assert_string_equal(processes_comm_of(p, 6, 9), "");
	end(f);
}

/* A process that forks, executes a program and ends, at its second. */
static void come_and_go(struct processes *p, int32_t pid, uint64_t time)
{
	processes_fork(p, pid, pid, 1, 1);
	processes_comm(p, pid, pid, "short", true);
	processes_mmap(p, pid, (struct mapping){0x1000, 0x2000, 0, 1});
	processes_fork(p, pid, pid + NOBODY, pid, pid);
	processes_exit(p, pid, pid + NOBODY, time);
	processes_exit(p, pid, pid, time);
}

static void what_ended_is_forgotten_after_a_while(void **state)
{
	(void)state;
	struct fixture *f = start();
	struct processes *p = &f->processes;
	int32_t self = getpid();
	uint64_t process_count;
	processes_comm(p, self, self, "self", false);
	processes_mmap(p, self, (struct mapping){0x1000, 0x2000, 0, 1});
	processes_exit(p, self, self, SECOND); /* its other threads still run */
	come_and_go(p, NOBODY, 2 * SECOND);
	struct map_set *held = processes_maps(p, NOBODY);
	for (int32_t i = 1; i <= 1000; i++)
		come_and_go(p, NOBODY + i, (uint64_t)(2 + i) * SECOND);
	assert_non_null(processes_look(p, NOBODY + 1000));
	assert_null(processes_look(p, NOBODY + 1));
	assert_string_equal(processes_comm_of(p, NOBODY + 1, NOBODY + 1), "");
	assert_non_null(processes_look(p, self));
	assert_string_equal(processes_comm_of(p, self, self), "self");
	assert_in_range(p->count, 1, 100);
	assert_in_range(p->thread_count, 1, 200);
	/* Samples that have their mappings keep them. */
	assert_int_equal(map_set_find(held, 0x1000)->module, 1);
	map_set_release(held);
	/* They are counted, though. */
	assert_int_equal(processes_recorded(p, &process_count), 1 + 2 * 1001);
	assert_int_equal(process_count, 1 + 1001);
	end(f);
}

static void a_number_that_is_used_again_is_not_forgotten(void **state)
{
	(void)state;
	struct fixture *f = start();
	struct processes *p = &f->processes;
	come_and_go(p, NOBODY, SECOND);
	processes_fork(p, NOBODY, NOBODY, 1, 1);
	processes_mmap(p, NOBODY, (struct mapping){0x5000, 0x6000, 0, 2});
	for (int32_t i = 1; i <= 1000; i++)
		come_and_go(p, NOBODY + i, (uint64_t)(2 + i) * SECOND);
	assert_int_equal(map_set_find(processes_look(p, NOBODY), 0x5000)->module, 2);
	end(f);
}

static void modules_are_distinguished_by_what_they_are(void **state)
{
	(void)state;
	struct fixture *f = start();
	struct modules *m = &f->modules;
	struct build_id one = {.size = 2, .bytes = {1, 2}}, two = {.size = 2, .bytes = {1, 3}};
	module_id plain = modules_add(m, "/lib/x.so", NULL, 7), first = modules_add(m, "/lib/x.so", &one, 7);
	assert_int_equal(modules_add(m, "/lib/x.so", NULL, 8), plain);
	assert_int_equal(modules_add(m, "/lib/x.so", &one, 9), first);
	assert_int_not_equal(first, plain);
	assert_int_not_equal(modules_add(m, "/lib/x.so", &two, 7), first);
	assert_int_equal(m->items[plain].kind, MODULE_FILE);

	module_id jit = modules_add(m, "//anon", NULL, 7);
	assert_int_equal(m->items[jit].kind, MODULE_JIT);
	assert_string_equal(module_path(m, jit), "/tmp/perf-7.map");
	assert_int_equal(modules_add(m, "[anon:.bss]", NULL, 7), jit);
	assert_int_equal(modules_add(m, "", NULL, 7), jit);
	assert_int_not_equal(modules_add(m, "//anon", NULL, 8), jit);

	assert_int_equal(m->items[modules_add(m, "[vdso]", NULL, 7)].kind, MODULE_VDSO);
	module_id kernel = modules_add(m, "[kernel.kallsyms]_text", NULL, -1);
	assert_int_equal(m->items[kernel].kind, MODULE_KERNEL);
	assert_string_equal(module_path(m, kernel), "[kernel.kallsyms]");
	assert_int_equal(m->items[modules_add(m, "/lib/modules/6.1/nf.ko", NULL, -1)].kind, MODULE_KERNEL_MODULE);
	end(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_found_in_their_mapping),
		cmocka_unit_test(a_mapping_cuts_what_it_overlaps),
		cmocka_unit_test(mappings_that_were_handed_out_stay_as_they_were),
		cmocka_unit_test(a_child_has_its_parents_mappings_until_it_changes_them),
		cmocka_unit_test(exec_begins_with_nothing_mapped),
		cmocka_unit_test(a_thread_without_a_name_has_that_of_its_process),
		cmocka_unit_test(what_ended_is_forgotten_after_a_while),
		cmocka_unit_test(a_number_that_is_used_again_is_not_forgotten),
		cmocka_unit_test(modules_are_distinguished_by_what_they_are),
	};
	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
