/* Reads cpu.stat, cpu.max, cpu.pressure, and what they are called in version 1. */
#include "container/cgroup_cpu.h"

#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* A small file of a cgroup; "" when it is not there. */
static void read_text(const struct hierarchy *hierarchy, const char *path, const char *file, char *text, size_t room)
{
	struct buf name CLEANUP_BUF = {0};
	*text = '\0';
	if (!hierarchy)
		return;
	buf_printf(&name, "%s%s/%s", hierarchy->directory, path, file);
	int fd = open(name.data, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, text, room - 1);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
}

/* The number behind a word; 0 when it is not there. */
static uint64_t number(const char *text, const char *word)
{
	unsigned long long value = 0;
	size_t length = strlen(word);
	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if (at == text || at[-1] == '\n' || at[-1] == ' ') {
			sscanf(at + length, "%llu", &value);
			break;
		}
	return value;
}

/* True when this cgroup has a limit. */
static bool read_limit(const struct hierarchies *hierarchies, const char *path, struct cgroup_cpu *cpu)
{
	char text[1024];
	long long quota = -1, period = 0;
	const struct hierarchy *unified = hierarchies_find(hierarchies, ""), *v1 = hierarchies_find(hierarchies, "cpu");
	read_text(unified, path, "cpu.max", text, sizeof text);
	bool old = sscanf(text, "%lld %lld", &quota, &period) != 2;
	if (old) {
		read_text(v1, path, "cpu.cfs_quota_us", text, sizeof text);
		sscanf(text, "%lld", &quota);
		read_text(v1, path, "cpu.cfs_period_us", text, sizeof text);
		sscanf(text, "%lld", &period);
	}
	if (quota <= 0 || period <= 0)
		return false;
	read_text(old ? v1 : unified, path, "cpu.stat", text, sizeof text);
	cpu->limit = (double)quota / (double)period;
	cpu->periods = number(text, "nr_periods ");
	cpu->throttled_periods = number(text, "nr_throttled ");
	cpu->throttled = old ? number(text, "throttled_time ") : number(text, "throttled_usec ") * 1000;
	return true;
}

/* The eighth number of the first line, in ticks of all CPUs. */
static uint64_t read_stolen(void)
{
	unsigned long long ticks = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), second = sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "re");
	if (!file || cpus <= 0 || second <= 0 || fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		ticks = 0;
	if (file)
		fclose(file);
	return ticks * (1000000000ull / (uint64_t)(second > 0 ? second : 1)) / (uint64_t)(cpus > 0 ? cpus : 1);
}

struct cgroup_cpu cgroup_cpu_read(const struct hierarchies *hierarchies, const char *path)
{
	char text[1024];
	struct cgroup_cpu cpu = {.time = clock_now()};
	struct buf at CLEANUP_BUF = {0};
	read_text(hierarchies_find(hierarchies, ""), path, "cpu.stat", text, sizeof text);
	cpu.usage = number(text, "usage_usec ") * 1000;
	read_text(hierarchies_find(hierarchies, "cpuacct"), path, "cpuacct.usage", text, sizeof text);
	cpu.usage = cpu.usage ? cpu.usage : number(text, "");
	read_text(hierarchies_find(hierarchies, ""), path, "cpu.pressure", text, sizeof text);
	cpu.pressure = !strncmp(text, "some ", 5) ? number(text, "total=") * 1000 : 0;
	cpu.stolen = read_stolen();
	buf_str(&at, path);
	while (!read_limit(hierarchies, at.data, &cpu) && at.size > 1) {
		at.size = (size_t)(strrchr(at.data, '/') - at.data);
		at.data[at.size] = '\0';
	}
	return cpu;
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

struct cgroup_cpu cgroup_cpu_since(const struct cgroup_cpu *now, const struct cgroup_cpu *before)
{
	return (struct cgroup_cpu){
		.time = since(now->time, before->time),
		.usage = since(now->usage, before->usage),
		.limit = now->limit,
		.periods = since(now->periods, before->periods),
		.throttled_periods = since(now->throttled_periods, before->throttled_periods),
		.throttled = since(now->throttled, before->throttled),
		.pressure = since(now->pressure, before->pressure),
		.stolen = since(now->stolen, before->stolen),
	};
}

/* --- text --- */

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
	{"time", offsetof(struct cgroup_cpu, time)},
	{"usage", offsetof(struct cgroup_cpu, usage)},
	{"periods", offsetof(struct cgroup_cpu, periods)},
	{"throttled_periods", offsetof(struct cgroup_cpu, throttled_periods)},
	{"throttled", offsetof(struct cgroup_cpu, throttled)},
	{"pressure", offsetof(struct cgroup_cpu, pressure)},
	{"stolen", offsetof(struct cgroup_cpu, stolen)},
};
#define FIELDS (sizeof fields / sizeof *fields)

void cgroup_cpu_write(const struct cgroup_cpu *cpu, struct buf *out)
{
	buf_printf(out, "cpu.limit=%.3f", cpu->limit);
	for (size_t i = 0; i < FIELDS; i++)
		buf_printf(out, "\tcpu.%s=%llu", fields[i].name,
			   (unsigned long long)*(const uint64_t *)((const char *)cpu + fields[i].offset));
}

bool cgroup_cpu_parse(struct cgroup_cpu *cpu, const char *text)
{
	char name[32];
	unsigned long long value;
	*cpu = (struct cgroup_cpu){0};
	if (sscanf(text, "cpu.limit=%lf", &cpu->limit) != 1 || !(cpu->limit >= 0 && cpu->limit < 1e6))
		return false;
	for (const char *at = strchr(text, '\t'); at; at = strchr(at + 1, '\t'))
		for (size_t i = 0; i < FIELDS; i++)
			if (sscanf(at + 1, "cpu.%31[a-z_]=%llu", name, &value) == 2 && !strcmp(name, fields[i].name))
				memcpy((char *)cpu + fields[i].offset, &value, sizeof value);
	return true;
}
