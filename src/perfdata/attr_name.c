/* Derives the name of an event from its type and configuration. */
#include "perfdata/attr_name.h"

#include <inttypes.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const hardware_names[] = {
	"cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
	"branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

static void cache_name(struct buf *out, uint64_t config)
{
	static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
	static const char *const operations[] = {"load", "store", "prefetch"};
	static const char *const plurals[] = {"loads", "stores", "prefetches"};
	uint64_t cache = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16 & 0xff;
	if (cache >= COUNT(caches) || operation >= COUNT(operations) || result > 1)
		buf_printf(out, "cache:0x%" PRIx64, config);
	else if (result)
		buf_printf(out, "%s-%s-misses", caches[cache], operations[operation]);
	else
		buf_printf(out, "%s-%s", caches[cache], plurals[operation]);
}

static void breakpoint_name(struct buf *out, const struct perf_event_attr *attr)
{
	buf_printf(out, "mem:0x%" PRIx64 ":", (uint64_t)attr->bp_addr);
	if (attr->bp_type & 1)
		buf_char(out, 'r');
	if (attr->bp_type & 2)
		buf_char(out, 'w');
	if (attr->bp_type & 4)
		buf_char(out, 'x');
}

/* As perf shows them: which modes are counted when some are not, and how precise the address is. */
static void modifiers(struct buf *out, const struct perf_event_attr *attr)
{
	char letters[8];
	size_t count = 0;
	if (attr->exclude_kernel || attr->exclude_user || attr->exclude_hv) {
		if (!attr->exclude_kernel)
			letters[count++] = 'k';
		if (!attr->exclude_user)
			letters[count++] = 'u';
		if (!attr->exclude_hv)
			letters[count++] = 'h';
	}
	for (unsigned i = 0; i < attr->precise_ip; i++)
		letters[count++] = 'p';
	if (attr->exclude_host)
		letters[count++] = 'G';
	if (count) {
		buf_char(out, ':');
		buf_add(out, letters, count);
	}
}

void event_name(struct buf *out, const struct perf_event_attr *attr, const char *pmu)
{
	uint64_t event = attr->config & 0xffffffff; /* above: which of a hybrid machine's PMUs */
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		if (event < COUNT(hardware_names))
			buf_str(out, hardware_names[event]);
		else
			buf_printf(out, "hardware:0x%" PRIx64, event);
		break;
	case PERF_TYPE_SOFTWARE:
		if (event < COUNT(software_names))
			buf_str(out, software_names[event]);
		else
			buf_printf(out, "software:0x%" PRIx64, event);
		break;
	case PERF_TYPE_TRACEPOINT:
		buf_printf(out, "tracepoint:%" PRIu64, (uint64_t)attr->config);
		break;
	case PERF_TYPE_HW_CACHE:
		cache_name(out, event);
		break;
	case PERF_TYPE_RAW:
		buf_printf(out, "r%" PRIx64, (uint64_t)attr->config);
		break;
	case PERF_TYPE_BREAKPOINT:
		breakpoint_name(out, attr);
		break;
	default:
		if (pmu)
			buf_printf(out, "%s/config=0x%" PRIx64 "/", pmu, (uint64_t)attr->config);
		else
			buf_printf(out, "type%u:0x%" PRIx64, attr->type, (uint64_t)attr->config);
		break;
	}
	modifiers(out, attr);
}
