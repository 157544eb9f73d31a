/* Watches a counter per CPU, and reports CPUs whose events have to be opened again. */
#include "capture/hotplug.h"

#include "base/mem.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHECK_EVERY 250000000ull /* nanoseconds */
#define LISTED_MAX 4 /* CPUs that the description names */

static bool open_counter(struct hotplug_cpu *cpu, uint64_t now)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.exclude_kernel = 1,
	};
	cpu->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	cpu->opened = now;
	cpu->enabled = 0;
	return cpu->fd >= 0;
}

static struct hotplug_cpu *add(struct hotplug *hotplug, int32_t cpu, uint64_t left)
{
	MEM_ROOM(hotplug->cpus, hotplug->count, hotplug->capacity);
	struct hotplug_cpu *added = &hotplug->cpus[hotplug->count++];
	*added = (struct hotplug_cpu){.cpu = cpu, .fd = -1, .left = left};
	return added;
}

void hotplug_open(struct hotplug *hotplug, const struct target *target, bool chosen, uint64_t now)
{
	*hotplug = (struct hotplug){.chosen = chosen, .checked = now};
	for (size_t i = 0; i < target->cpu_count; i++)
		if (!open_counter(add(hotplug, target->cpus[i], now), now)) {
			hotplug_close(hotplug);
			return;
		}
}

void hotplug_close(struct hotplug *hotplug)
{
	for (size_t i = 0; i < hotplug->count; i++)
		if (hotplug->cpus[i].fd >= 0)
			close(hotplug->cpus[i].fd);
	free(hotplug->cpus);
	*hotplug = (struct hotplug){0};
}

/* Between two looks it counts the time that passed, or it was taken away. */
static void look(struct hotplug_cpu *cpu)
{
	struct {
		uint64_t value, enabled;
	} answer;
	if (cpu->fd < 0)
		return;
	bool read_all = read(cpu->fd, &answer, sizeof answer) == sizeof answer;
	if (read_all && answer.enabled > cpu->enabled) {
		cpu->enabled = answer.enabled;
		return;
	}
	close(cpu->fd);
	cpu->fd = -1;
	cpu->left = cpu->opened + cpu->enabled;
}

static struct hotplug_cpu *find(struct hotplug *hotplug, int32_t cpu)
{
	for (size_t i = 0; i < hotplug->count; i++)
		if (hotplug->cpus[i].cpu == cpu)
			return &hotplug->cpus[i];
	return NULL;
}

static void try_again(struct hotplug_cpu *cpu, uint64_t now, bool (*back)(void *context, int32_t cpu), void *context)
{
	if (cpu->fd >= 0 || !open_counter(cpu, now))
		return;
	if (back(context, cpu->cpu)) {
		cpu->away += now > cpu->left ? now - cpu->left : 0;
		return;
	}
	close(cpu->fd);
	cpu->fd = -1;
}

void hotplug_check(struct hotplug *hotplug, uint64_t now, bool (*back)(void *context, int32_t cpu), void *context)
{
	if (!hotplug->count || now < hotplug->checked + CHECK_EVERY)
		return;
	struct target online = {0};
	bool known = target_online(&online);
	for (size_t i = 0; i < hotplug->count; i++)
		look(&hotplug->cpus[i]);
	for (size_t i = 0; known && i < online.cpu_count; i++) {
		struct hotplug_cpu *cpu = find(hotplug, online.cpus[i]);
		if (!cpu && !hotplug->chosen)
			cpu = add(hotplug, online.cpus[i], hotplug->checked);
		if (cpu)
			try_again(cpu, now, back, context);
	}
	hotplug->checked = now;
	free(online.cpus);
}

void hotplug_describe(struct hotplug *hotplug, uint64_t now, struct buf *out)
{
	size_t count = 0;
	uint64_t longest = 0;
	struct buf list CLEANUP_BUF = {0};
	for (size_t i = 0; i < hotplug->count; i++) {
		struct hotplug_cpu *cpu = &hotplug->cpus[i];
		look(cpu);
		uint64_t away = cpu->away + (cpu->fd < 0 && now > cpu->left ? now - cpu->left : 0);
		if (!away)
			continue;
		if (count++ < LISTED_MAX)
			buf_printf(&list, "%s%d (%.1f s)", count > 1 ? ", " : "", (int)cpu->cpu, (double)away / 1e9);
		longest = away > longest ? away : longest;
	}
	if (count > LISTED_MAX)
		buf_printf(&list, " and %zu more (at most %.1f s)", count - LISTED_MAX, (double)longest / 1e9);
	if (count)
		buf_printf(out, "not recorded while offline: CPU %s", list.data);
}
