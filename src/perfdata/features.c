/*
 * Header features: what perf notes about the machine and the recording. Sections of a file and records of a pipe
 * alike.
 */
#include "base/buf.h"
#include "base/cursor.h"
#include "perfdata/reader.h"

#include <inttypes.h>
#include <stdio.h>

#define PMUS_MAX 4096u
#define SIMPLEPERF_EVENTS_MAX 4096u

/* A length, then that many bytes with a text that may end before. "" on failure. */
static const char *take_text(struct cursor *section, size_t *ret_length)
{
	uint32_t size = cursor_u32(section);
	const char *text = (const char *)cursor_bytes(section, size);
	*ret_length = text ? strnlen(text, size) : 0;
	return text ? text : "";
}

static void add_text(struct cursor *section, struct buf *out)
{
	size_t length;
	const char *text = take_text(section, &length);
	buf_add(out, text, length);
}

static void fact_of_buf(struct perfdata *data, const char *name, const struct buf *text)
{
	perfdata_add_fact(data, name, text->data ? text->data : "", text->size);
}

static void __attribute__((format(printf, 3, 4))) fact(struct perfdata *data, const char *name, const char *format, ...)
{
	CLEANUP_BUF struct buf text = {0};
	va_list args;
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	fact_of_buf(data, name, &text);
}

static void text_fact(struct perfdata *data, struct cursor *section, const char *name)
{
	size_t length;
	const char *text = take_text(section, &length);
	if (!section->bad)
		perfdata_add_fact(data, name, text, length);
}

static void take_arch(struct perfdata *data, struct cursor *section)
{
	text_fact(data, section, "arch");
	if (!section->bad && data->fact_count)
		data->arch = data->facts[data->fact_count - 1].text;
}

static void take_cpus(struct perfdata *data, struct cursor *section)
{
	uint32_t available = cursor_u32(section), online = cursor_u32(section);
	if (section->bad)
		return;
	fact(data, "nrcpus online", "%u", online);
	fact(data, "nrcpus avail", "%u", available);
}

/* A count and as many texts, each a fact of its own or all in one. */
static void take_texts(struct perfdata *data, struct cursor *section, const char *name, bool joined)
{
	CLEANUP_BUF struct buf text = {0};
	uint32_t count = cursor_u32(section);
	for (uint32_t i = 0; i < count && !section->bad; i++) {
		if (text.size)
			buf_char(&text, ' ');
		add_text(section, &text);
		if (!joined && !section->bad) {
			fact_of_buf(data, name, &text);
			buf_clear(&text);
		}
	}
	if (joined && !section->bad)
		fact_of_buf(data, name, &text);
}

static void take_command_line(struct perfdata *data, struct cursor *section)
{
	take_texts(data, section, "cmdline", true);
}

static void take_topology(struct perfdata *data, struct cursor *section)
{
	take_texts(data, section, "sibling sockets", false);
	take_texts(data, section, "sibling threads", false);
}

/* The described event: by its ids, else by its place. */
static uint32_t described_source(struct perfdata *data, uint32_t index, uint32_t count, const uint8_t *ids,
				 uint32_t id_count)
{
	if (id_count)
		return sources_find(&data->sources, bytes_load64(ids));
	return count == data->sources.count ? index : SOURCE_NONE;
}

static void take_event_names(struct perfdata *data, struct cursor *section)
{
	uint32_t count = cursor_u32(section), attr_size = cursor_u32(section);
	for (uint32_t i = 0; i < count && !section->bad; i++) {
		cursor_skip(section, attr_size);
		uint32_t id_count = cursor_u32(section);
		size_t length;
		const char *name = take_text(section, &length);
		const uint8_t *ids = cursor_bytes(section, (size_t)id_count * 8);
		if (section->bad)
			return;
		uint32_t source = described_source(data, i, count, ids, id_count);
		/* Some writers give the ids only here. */
		if (source == SOURCE_NONE && count == data->sources.count && !data->sources.items[i].id_count &&
		    sources_add_ids(&data->sources, i, ids, id_count))
			source = i;
		if (source != SOURCE_NONE)
			sources_name(&data->sources, source, name, length);
	}
}

static void take_numa(struct perfdata *data, struct cursor *section)
{
	uint32_t count = cursor_u32(section);
	for (uint32_t i = 0; i < count && !section->bad; i++) {
		uint32_t node = cursor_u32(section);
		uint64_t total = cursor_u64(section), unused = cursor_u64(section);
		size_t length;
		const char *cpus = take_text(section, &length);
		char name[40];
		if (section->bad)
			return;
		snprintf(name, sizeof name, "node%u meminfo", node);
		fact(data, name, "total = %" PRIu64 " kB, free = %" PRIu64 " kB", total, unused);
		snprintf(name, sizeof name, "node%u cpu list", node);
		perfdata_add_fact(data, name, cpus, length);
	}
}

static void take_pmus(struct perfdata *data, struct cursor *section)
{
	CLEANUP_BUF struct buf text = {0};
	uint32_t count = cursor_u32(section);
	if (data->pmu_count || count > PMUS_MAX)
		return;
	for (uint32_t i = 0; i < count && !section->bad; i++) {
		uint32_t type = cursor_u32(section);
		size_t length;
		const char *name = take_text(section, &length);
		if (section->bad)
			break;
		MEM_ROOM(data->pmus, data->pmu_count, data->pmu_capacity);
		data->pmus[data->pmu_count++] = (struct pmu){type, arena_copy(&data->arena, name, length)};
		buf_printf(&text, "%s%.*s = %u", text.size ? ", " : "", (int)length, name, type);
	}
	fact_of_buf(data, "pmu mappings", &text);
	perfdata_name_sources(data, 0);
}

static void take_groups(struct perfdata *data, struct cursor *section)
{
	uint32_t count = cursor_u32(section), next = 0;
	for (uint32_t i = 0; i < count && !section->bad; i++) {
		size_t length;
		const char *name = take_text(section, &length);
		uint32_t leader = cursor_u32(section), members = cursor_u32(section);
		if (section->bad || leader < next || leader >= data->sources.count ||
		    members > data->sources.count - leader)
			return;
		next = leader + members;
		CLEANUP_BUF struct buf text = {0};
		buf_printf(&text, "%.*s{", (int)length, name);
		for (uint32_t j = 0; j < members; j++)
			buf_printf(&text, "%s%s", j ? "," : "", data->sources.items[leader + j].name);
		buf_char(&text, '}');
		fact_of_buf(data, "group", &text);
	}
}

static void take_caches(struct perfdata *data, struct cursor *section)
{
	uint32_t version = cursor_u32(section), count = cursor_u32(section);
	for (uint32_t i = 0; i < count && version == 1 && !section->bad; i++) {
		CLEANUP_BUF struct buf text = {0};
		uint32_t level = cursor_u32(section);
		cursor_skip(section, 12); /* line size, sets, ways */
		buf_printf(&text, "L%u ", level);
		add_text(section, &text);
		buf_char(&text, ' ');
		add_text(section, &text);
		buf_str(&text, " [");
		add_text(section, &text);
		buf_char(&text, ']');
		if (!section->bad)
			fact_of_buf(data, "cpu cache", &text);
	}
}

static void take_sample_time(struct perfdata *data, struct cursor *section)
{
	uint64_t first = cursor_u64(section), last = cursor_u64(section);
	if (section->bad)
		return;
	fact(data, "time of first sample", "%" PRIu64 ".%06" PRIu64, first / 1000000000, first / 1000 % 1000000);
	fact(data, "time of last sample", "%" PRIu64 ".%06" PRIu64, last / 1000000000, last / 1000 % 1000000);
	if (last >= first)
		fact(data, "sample duration", "%" PRIu64 ".%03" PRIu64 " ms", (last - first) / 1000000,
		     (last - first) / 1000 % 1000);
}

static void take_clock(struct perfdata *data, struct cursor *section)
{
	uint64_t resolution = cursor_u64(section);
	if (!section->bad)
		fact(data, "clock resolution", "%" PRIu64 " ns", resolution);
}

static void take_clock_data(struct perfdata *data, struct cursor *section)
{
	uint32_t version = cursor_u32(section), clock = cursor_u32(section);
	uint64_t wall = cursor_u64(section), time = cursor_u64(section);
	if (section->bad || version != 1)
		return;
	fact(data, "clockid", "%u", clock);
	fact(data, "reference time",
	     "%" PRIu64 ".%09" PRIu64 " s of the clock = %" PRIu64 ".%09" PRIu64 " s since 1970", time / 1000000000,
	     time % 1000000000, wall / 1000000000, wall % 1000000000);
}

static void take_memory(struct perfdata *data, struct cursor *section)
{
	uint64_t total = cursor_u64(section);
	if (!section->bad)
		fact(data, "total memory", "%" PRIu64 " kB", total);
}

static void take_compressed(struct perfdata *data, struct cursor *section)
{
	uint32_t version = cursor_u32(section), type = cursor_u32(section), level = cursor_u32(section),
		 ratio = cursor_u32(section);
	if (!section->bad && version == 1)
		fact(data, "compressed", "%s, level %u, ratio %u", type == 1 ? "zstd" : "unknown", level, ratio);
}

static void take_capabilities(struct perfdata *data, struct cursor *section, const char *name)
{
	CLEANUP_BUF struct buf text = {0};
	uint32_t count = cursor_u32(section);
	for (uint32_t i = 0; i < count && !section->bad; i++) {
		buf_str(&text, text.size ? ", " : "");
		add_text(section, &text);
		buf_char(&text, '=');
		add_text(section, &text);
	}
	if (!name) { /* the PMU's name follows its capabilities */
		CLEANUP_BUF struct buf pmu = {0};
		add_text(section, &pmu);
		buf_str(&pmu, " pmu capabilities");
		if (!section->bad)
			fact_of_buf(data, pmu.data, &text);
	} else if (!section->bad) {
		fact_of_buf(data, name, &text);
	}
}

static void take_cpu_capabilities(struct perfdata *data, struct cursor *section)
{
	take_capabilities(data, section, "cpu pmu capabilities");
}

static void take_pmu_capabilities(struct perfdata *data, struct cursor *section)
{
	uint32_t count = cursor_u32(section);
	for (uint32_t i = 0; i < count && !section->bad; i++)
		take_capabilities(data, section, NULL);
}

static void take_hybrid(struct perfdata *data, struct cursor *section)
{
	uint32_t count = cursor_u32(section);
	for (uint32_t i = 0; i < count && !section->bad; i++) {
		CLEANUP_BUF struct buf name = {0};
		add_text(section, &name);
		buf_str(&name, " cpu list");
		text_fact(data, section, name.data);
	}
}

static void take_build_ids(struct perfdata *data, struct cursor *section)
{
	while (section->at < section->end) {
		const uint8_t *record = section->at;
		const uint8_t *header = cursor_bytes(section, sizeof(struct perf_event_header));
		uint16_t size = header ? bytes_load16(header + 6) : 0;
		if (size < sizeof(struct perf_event_header) ||
		    !cursor_bytes(section, size - sizeof(struct perf_event_header)))
			return;
		perfdata_add_build_id(data, record, size);
	}
}

/* Names of events by type and config: "cpu-cycles,0,0" lines. */
static void take_simpleperf_events(struct perfdata *data, const char *text)
{
	for (unsigned lines = 0; *text && lines < SIMPLEPERF_EVENTS_MAX; lines++) {
		const char *line = text;
		size_t length = strcspn(line, "\n");
		size_t name_length = strcspn(line, ",\n");
		char *end;
		unsigned long long type = name_length < length ? strtoull(line + name_length + 1, &end, 10) : 0;
		unsigned long long config = name_length < length && *end == ',' ? strtoull(end + 1, NULL, 10) : 0;
		for (size_t i = 0; i < data->sources.count && name_length < length; i++) {
			const struct perf_event_attr *attr = &data->sources.items[i].attr;
			if (attr->type == type && attr->config == config && !data->sources.layouts[i].named)
				sources_name(&data->sources, (uint32_t)i, line, name_length);
		}
		text += length + (line[length] == '\n');
	}
}

/* simpleperf: names and values, each ended by a NUL. */
static void take_simpleperf(struct perfdata *data, struct cursor *section)
{
	while (section->at < section->end) {
		const char *name = (const char *)section->at;
		size_t left = (size_t)(section->end - section->at), name_length = strnlen(name, left);
		if (name_length + 1 >= left)
			return;
		const char *value = name + name_length + 1;
		size_t value_length = strnlen(value, left - name_length - 1);
		if (name_length + 1 + value_length >= left)
			return;
		if (strcmp(name, "event_type_info") == 0)
			take_simpleperf_events(data, value);
		else
			perfdata_add_fact(data, name, value, value_length);
		cursor_skip(section, name_length + value_length + 2);
	}
}

static const struct {
	const char *text; /* the section is one text, a fact of this name */
	void (*take)(struct perfdata *data, struct cursor *section);
} features[] = {
	[FEATURE_BUILD_ID] = {.take = take_build_ids},
	[FEATURE_HOSTNAME] = {.text = "hostname"},
	[FEATURE_OSRELEASE] = {.text = "os release"},
	[FEATURE_VERSION] = {.text = "perf version"},
	[FEATURE_ARCH] = {.take = take_arch},
	[FEATURE_NRCPUS] = {.take = take_cpus},
	[FEATURE_CPUDESC] = {.text = "cpudesc"},
	[FEATURE_CPUID] = {.text = "cpuid"},
	[FEATURE_TOTAL_MEM] = {.take = take_memory},
	[FEATURE_CMDLINE] = {.take = take_command_line},
	[FEATURE_EVENT_DESC] = {.take = take_event_names},
	[FEATURE_CPU_TOPOLOGY] = {.take = take_topology},
	[FEATURE_NUMA_TOPOLOGY] = {.take = take_numa},
	[FEATURE_PMU_MAPPINGS] = {.take = take_pmus},
	[FEATURE_GROUP_DESC] = {.take = take_groups},
	[FEATURE_CACHE] = {.take = take_caches},
	[FEATURE_SAMPLE_TIME] = {.take = take_sample_time},
	[FEATURE_CLOCKID] = {.take = take_clock},
	[FEATURE_COMPRESSED] = {.take = take_compressed},
	[FEATURE_CPU_PMU_CAPS] = {.take = take_cpu_capabilities},
	[FEATURE_CLOCK_DATA] = {.take = take_clock_data},
	[FEATURE_HYBRID_TOPOLOGY] = {.take = take_hybrid},
	[FEATURE_PMU_CAPS] = {.take = take_pmu_capabilities},
	[FEATURE_SIMPLEPERF_META] = {.take = take_simpleperf},
};

bool features_wanted(unsigned feature)
{
	return feature < sizeof features / sizeof *features && (features[feature].text || features[feature].take);
}

void features_take(struct perfdata *data, unsigned feature, const uint8_t *bytes, size_t size)
{
	struct cursor section = cursor_over(bytes, size);
	if (!features_wanted(feature) || !size)
		return;
	if (features[feature].text)
		text_fact(data, &section, features[feature].text);
	else
		features[feature].take(data, &section);
}
