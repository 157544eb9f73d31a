/* Parses names of events into attributes. */
#include "capture/events.h"

#include "base/buf.h"
#include "base/text.h"
#include "capture/pmu.h"

#include <stdint.h>

struct known {
	const char *name;
	uint32_t type;
	uint64_t config;
};

static const struct known known_events[] = {
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
	{"cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

void capture_events_release(struct capture_events *events)
{
	for (size_t i = 0; i < events->count; i++) {
		free(events->items[i].name);
		free(events->items[i].path);
	}
	free(events->items);
	*events = (struct capture_events){0};
}

void capture_events_drop_last(struct capture_events *events)
{
	struct capture_event *last = &events->items[--events->count];
	free(last->name);
	free(last->path);
}

static bool find_known(const char *name, struct perf_event_attr *attr)
{
	for (size_t i = 0; i < COUNT(known_events); i++)
		if (!strcmp(known_events[i].name, name)) {
			attr->type = known_events[i].type;
			attr->config = known_events[i].config;
			return true;
		}
	return false;
}

/* "L1-dcache-load-misses", "LLC-stores": cache, operation and, unless misses are meant, no more. */
static bool find_cache(const char *name, struct perf_event_attr *attr)
{
	static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
	static const char *const operations[] = {"loads", "stores", "prefetches"};
	static const char *const misses[] = {"load-misses", "store-misses", "prefetch-misses"};
	for (uint64_t cache = 0; cache < COUNT(caches); cache++) {
		size_t length = strlen(caches[cache]);
		if (strncmp(name, caches[cache], length) || name[length] != '-')
			continue;
		for (uint64_t operation = 0; operation < COUNT(operations); operation++) {
			bool missed = !strcmp(name + length + 1, misses[operation]);
			if (!missed && strcmp(name + length + 1, operations[operation]) != 0)
				continue;
			attr->type = PERF_TYPE_HW_CACHE;
			attr->config = cache | operation << 8 | (uint64_t)missed << 16;
			return true;
		}
	}
	return false;
}

static bool find_raw(const char *name, struct perf_event_attr *attr)
{
	char *end;
	if (*name != 'r' || !name[1] || name[1 + strspn(name + 1, "0123456789abcdefABCDEF")] || strlen(name) > 17)
		return false;
	attr->type = PERF_TYPE_RAW;
	attr->config = strtoull(name + 1, &end, 16);
	return true;
}

static int take_modifiers(struct capture_event *event, const char *letters, struct err *err)
{
	struct perf_event_attr *attr = &event->attr;
	bool user = false, kernel = false, hypervisor = false;
	unsigned precise = 0;
	for (const char *at = letters; *at; at++) {
		switch (*at) {
		case 'u':
			user = true;
			break;
		case 'k':
			kernel = true;
			break;
		case 'h':
			hypervisor = true;
			break;
		case 'p':
			precise++;
			break;
		default:
			return err_set(err, ERR_USAGE,
				       "%s: unknown modifier '%c'; use u (user), k (kernel), h (hypervisor) or p "
				       "(precise, up to three)",
				       event->name, *at);
		}
	}
	if (precise > 3)
		return err_set(err, ERR_USAGE, "%s: at most three p are supported", event->name);
	attr->precise_ip = precise;
	event->modes_chosen = user || kernel || hypervisor;
	if (event->modes_chosen) {
		attr->exclude_user = !user;
		attr->exclude_kernel = !kernel;
		attr->exclude_hv = !hypervisor;
	}
	return 0;
}

static int unknown_event(const char *name, struct err *err)
{
	const char *nearest = NULL;
	unsigned best = (unsigned)strlen(name) / 3 + 1;
	for (size_t i = 0; i < COUNT(known_events); i++) {
		unsigned distance = text_distance(name, known_events[i].name);
		if (distance < best) {
			best = distance;
			nearest = known_events[i].name;
		}
	}
	if (nearest)
		return err_set(err, ERR_USAGE, "unknown event '%s'; did you mean %s?", name, nearest);
	return err_set(err, ERR_USAGE,
		       "unknown event '%s'; use cpu-clock, cycles, page-faults, SYSTEM:TRACEPOINT, rHEX or "
		       "PMU/TERMS/",
		       name);
}

/* What stands before the modifiers. `text` is changed. Stores where the modifiers begin. */
static int take_name(struct perf_event_attr *attr, char *text, const char **ret_modifiers, struct err *err)
{
	char *slash = strchr(text, '/'), *end = slash ? strrchr(slash + 1, '/') : NULL;
	if (end) {
		*slash = *end = '\0';
		*ret_modifiers = end[1] == ':' ? end + 2 : end + 1;
		return pmu_event(attr, NULL, text, slash + 1, err);
	}
	char *colon = strchr(text, ':');
	*ret_modifiers = colon ? colon + 1 : "";
	if (colon)
		*colon = '\0';
	if (find_known(text, attr) || find_cache(text, attr) || find_raw(text, attr))
		return 0;
	if (!colon)
		return unknown_event(text, err);
	char *second = strchr(colon + 1, ':');
	*ret_modifiers = second ? second + 1 : "";
	if (second)
		*second = '\0';
	return pmu_tracepoint(attr, text, colon + 1, err);
}

/* Events of other kinds never begin so. */
static bool is_path(const char *text)
{
	return *text == '/' || !strncmp(text, "./", 2) || !strncmp(text, "../", 3);
}

/* "/usr/lib/libc.so.6:malloc", "./program+0x1234": where a program passes that place. `text` is changed. */
static int take_probe(struct capture_event *event, char *text, struct err *err)
{
	char *separator = strrchr(text, '/'), *end;
	separator += strcspn(separator, ":+");
	if (!separator[0] || !separator[1])
		return err_set(err, ERR_USAGE, "%s: use FILE:FUNCTION or FILE+OFFSET", text);
	bool named = *separator == ':';
	uint64_t offset = named ? 0 : strtoull(separator + 1, &end, 0);
	if (!named && *end)
		return err_set(err, ERR_USAGE, "%s: the offset must be a number", text);
	*separator = '\0';
	int result = pmu_probe(&event->attr, text, named ? separator + 1 : NULL, offset, err);
	if (result)
		return result;
	event->path = mem_strdup(text);
	event->attr.config1 = (uintptr_t)event->path;
	/* New threads cannot inherit it: the kernel would look for the path in their memory, and clone() would fail. */
	event->everywhere = event->derive.only_known = true;
	event->attr.sample_period = 1;
	return 0;
}

static int parse_one(struct capture_events *events, const char *text, size_t length, struct err *err)
{
	CLEANUP_BUF struct buf copy = {0};
	buf_add(&copy, text, length);
	if (!length)
		return err_set(err, ERR_USAGE, "an event has no name");
	MEM_ROOM(events->items, events->count, events->capacity);
	struct capture_event *event = &events->items[events->count];
	*event = (struct capture_event){.attr = {.size = sizeof event->attr}, .name = mem_strdup(copy.data)};
	const char *modifiers = "";
	int result = is_path(text) ? take_probe(event, copy.data, err) :
				     take_name(&event->attr, copy.data, &modifiers, err);
	if (!result && !is_path(text))
		result = take_modifiers(event, modifiers, err);
	if (result) {
		free(event->name);
		free(event->path);
	} else {
		events->count++;
	}
	return result;
}

int capture_events_parse(struct capture_events *events, const char *text, struct err *err)
{
	for (;;) {
		/* The terms of a PMU's event are separated by commas too. */
		size_t length = is_path(text) ? strcspn(text, ",") : strcspn(text, ",/");
		if (text[length] == '/')
			length += 1 + strcspn(text + length + 1, "/");
		length += strcspn(text + length, ",");
		int result = parse_one(events, text, length, err);
		if (result || !text[length])
			return result;
		text += length + 1;
	}
}

void capture_event_user_only(struct capture_event *event)
{
	if (event->attr.exclude_kernel)
		return;
	event->attr.exclude_kernel = event->attr.exclude_hv = 1;
	size_t length = strlen(event->name);
	bool has_modifiers = event->modes_chosen || event->attr.precise_ip;
	char *name = mem_alloc(length + 3);
	memcpy(name, event->name, length);
	memcpy(name + length, has_modifiers ? "u" : ":u", has_modifiers ? 2 : 3);
	free(event->name);
	event->name = name;
}
