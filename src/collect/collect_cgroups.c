/* The cgroups of samples: their labels, and what the kernel accounted to the one that was recorded. */
#include "collect/collector.h"
#include "container/cgroup_cpu.h"
#include "container/cgroup_names.h"

#include <stdio.h>
#include <string.h>

static const char *keep_text(struct collector *collector, const char *text)
{
	struct strpool *strings = &collector->processes.strings;
	return strpool_text(strings, strpool_add(strings, text, strlen(text)));
}

/* Samples that are under way keep the labels that they have, so new ones are made. */
static const struct batch_cgroup *add_cgroup(struct collector *collector, uint64_t id, const char *path,
					     const char *names)
{
	struct cgroup_labels labels;
	struct batch_cgroup *made = arena_alloc(&collector->cgroup_labels, sizeof *made, _Alignof(struct batch_cgroup));
	cgroup_labels_read(path, names, &labels);
	*made = (struct batch_cgroup){
		.path = keep_text(collector, path),
		.container = keep_text(collector, labels.container),
		.pod = keep_text(collector, labels.pod),
		.unit = keep_text(collector, labels.unit),
	};
	MEM_ROOM(collector->cgroups, collector->cgroup_count, collector->cgroup_capacity);
	collector->cgroups[collector->cgroup_count++] = (struct cgroup){id, made};
	return made;
}

static const struct batch_cgroup *find_cgroup(const struct collector *collector, uint64_t id)
{
	for (size_t i = collector->cgroup_count; i-- > 0;)
		if (collector->cgroups[i].id == id)
			return collector->cgroups[i].labels;
	return NULL;
}

const struct batch_cgroup *collector_cgroup(struct collector *collector, uint64_t id)
{
	char text[40];
	const struct batch_cgroup *known = find_cgroup(collector, id);
	if (known || !id)
		return known;
	snprintf(text, sizeof text, "cgroup ID %llu", (unsigned long long)id);
	return add_cgroup(collector, id, text, NULL);
}

/* Figures of the kernel about the cgroup that was recorded. */
static void take_cpu(struct extent *extent, const struct cgroup_cpu *cpu)
{
	extent->cpu_time = cpu->usage;
	extent->cpu_limit = cpu->limit;
	extent->watched = cpu->time;
	extent->periods = cpu->periods;
	extent->throttled_periods = cpu->throttled_periods;
	extent->throttled = cpu->throttled;
	extent->pressure = cpu->pressure;
	extent->stolen = cpu->stolen;
}

int collector_take_cgroup(struct collector *collector, const struct event_cgroup *cgroup)
{
	const struct batch_cgroup *known = find_cgroup(collector, cgroup->id);
	struct cgroup_cpu cpu;
	if (cgroup->names && cgroup_cpu_parse(&cpu, cgroup->names))
		take_cpu(&collector->measure.extent, &cpu);
	else if (cgroup->path || known)
		add_cgroup(collector, cgroup->id, cgroup->path ? cgroup->path : known->path, cgroup->names);
	return 0;
}
