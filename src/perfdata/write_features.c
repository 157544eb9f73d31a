/* Writes the attributes, build IDs and feature sections of a file. */
#include "perfdata/write_features.h"

#include "perfdata/pack.h"

#include <sys/utsname.h>
#include <unistd.h>

/* Texts in feature sections are filled up to multiples of these; perf has 64, and reads any. */
#define TEXT_ALIGN 4
#define PATH_ALIGN 8 /* behind which the next record begins */

/* The event as if only its finished chains had been requested. */
static struct perf_event_attr finished_attr(const struct perf_event_attr *original, uint64_t sample_type)
{
	struct perf_event_attr attr = *original;
	attr.size = WRITE_ATTR_SIZE;
	attr.sample_type = sample_type;
	attr.sample_id_all = 1;
	attr.read_format = 0;
	attr.branch_sample_type = 0;
	attr.sample_regs_user = attr.sample_regs_intr = 0;
	attr.sample_stack_user = 0;
	attr.aux_watermark = 0;
	attr.sample_max_stack = UINT16_MAX; /* a chain that is not whole says so itself */
	attr.exclude_callchain_kernel = attr.exclude_callchain_user = 0;
	attr.context_switch = attr.namespaces = attr.cgroup = attr.text_poke = attr.bpf_event = attr.aux_output = 0;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	if (!(sample_type & PERF_SAMPLE_PERIOD) && attr.freq && attr.sample_freq) {
		/* as the kernel does it for clocks */
		attr.sample_period = 1000000000 / attr.sample_freq;
		attr.freq = 0;
	}
	if (attr.type == PERF_TYPE_TRACEPOINT) {
		/* perf refuses tracepoints without the description of their data, which finished samples do not have */
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config1 = attr.config;
		attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	}
	return attr;
}

void write_facts_init(struct write_facts *facts, const struct perfdata_writer_options *options, uint64_t sample_type)
{
	struct utsname system;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (uname(&system) != 0)
		memset(&system, 0, sizeof system);
	*facts = (struct write_facts){
		.source_count = options->source_count,
		.hostname = mem_strdup(options->hostname ? options->hostname : system.nodename),
		.release = mem_strdup(options->release ? options->release : system.release),
		.machine = mem_strdup(options->machine ? options->machine : system.machine),
		.cpus = options->cpus ? options->cpus :
			cpus > 0      ? (unsigned)cpus :
					1,
	};
	strpool_init(&facts->paths);
	facts->sources = mem_zalloc(options->source_count, sizeof *facts->sources);
	for (size_t i = 0; i < options->source_count; i++) {
		const struct event_source *source = &options->sources[i];
		facts->sources[i].attr = finished_attr(&source->attr, sample_type);
		facts->sources[i].name = mem_strdup(source->name ? source->name : "");
	}
	while (options->command && options->command[facts->command_count])
		facts->command_count++;
	facts->command = mem_zalloc(facts->command_count + 1, sizeof *facts->command);
	for (size_t i = 0; i < facts->command_count; i++)
		facts->command[i] = mem_strdup(options->command[i]);
}

void write_facts_release(struct write_facts *facts)
{
	for (size_t i = 0; i < facts->source_count; i++)
		free(facts->sources[i].name);
	for (size_t i = 0; i < facts->command_count; i++)
		free(facts->command[i]);
	free(facts->sources);
	free(facts->command);
	free(facts->hostname);
	free(facts->release);
	free(facts->machine);
	free(facts->build_ids);
	strpool_release(&facts->paths);
}

void write_facts_build_id(struct write_facts *facts, const char *path, bool kernel, const struct build_id *build_id)
{
	/* The mapping "[kernel.kallsyms]_text" belongs to the module "[kernel.kallsyms]". */
	const char *bracket = kernel && path[0] == '[' ? strchr(path, ']') : NULL;
	size_t length = bracket ? (size_t)(bracket + 1 - path) : strlen(path);
	if (!length || !build_id->size)
		return;
	str_id id = strpool_add(&facts->paths, path, length);
	if (id >= facts->build_id_capacity) {
		size_t old = facts->build_id_capacity;
		facts->build_ids =
			mem_grow(facts->build_ids, &facts->build_id_capacity, (size_t)id + 1, sizeof *facts->build_ids);
		memset(facts->build_ids + old, 0, (facts->build_id_capacity - old) * sizeof *facts->build_ids);
	}
	if (!facts->build_ids[id].known)
		facts->build_ids[id] = (struct write_build_id){.known = true, .kernel = kernel, .id = *build_id};
}

/* --- bytes --- */

static void put32(struct buf *out, uint32_t value)
{
	buf_add(out, &value, sizeof value);
}

static void put64(struct buf *out, uint64_t value)
{
	buf_add(out, &value, sizeof value);
}

/* With its NUL, and zeros up to a multiple of `align`. */
static void put_filled_text(struct buf *out, const char *text, size_t length, size_t align)
{
	static const char zeros[PATH_ALIGN];
	buf_add(out, text, length);
	buf_add(out, zeros, align - length % align);
}

static void put_text(struct buf *out, const char *text)
{
	size_t length = strlen(text);
	put32(out, (uint32_t)(length / TEXT_ALIGN + 1) * TEXT_ALIGN);
	put_filled_text(out, text, length, TEXT_ALIGN);
}

void write_facts_attrs(const struct write_facts *facts, struct buf *out, uint64_t offset,
		       struct file_section *ret_attrs)
{
	size_t ids = facts->source_count > 1 ? sizeof(uint64_t) : 0; /* bytes, of each */
	for (uint32_t i = 0; i < facts->source_count && ids; i++)
		put64(out, write_source_id(i));
	*ret_attrs = (struct file_section){
		.offset = offset + out->size,
		.size = facts->source_count * (WRITE_ATTR_SIZE + sizeof(struct file_section)),
	};
	for (size_t i = 0; i < facts->source_count; i++) {
		buf_add(out, &facts->sources[i].attr, WRITE_ATTR_SIZE);
		put64(out, offset + i * ids);
		put64(out, ids);
	}
}

/* --- sections; each returns whether there is something to say --- */

static bool put_build_ids(const struct write_facts *facts, struct buf *out)
{
	enum { ENTRY = sizeof(struct perf_event_header) + 4 + 24 };
	for (str_id i = 0; i < facts->paths.count && i < facts->build_id_capacity; i++) {
		const struct write_build_id *entry = &facts->build_ids[i];
		size_t length = strpool_length(&facts->paths, i), size = ENTRY + (length / PATH_ALIGN + 1) * PATH_ALIGN;
		if (!entry->known || size > UINT16_MAX)
			continue;
		uint16_t mode = entry->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
		struct perf_event_header header = {.misc = mode | MISC_BUILD_ID_SIZE, .size = (uint16_t)size};
		const uint8_t id_size[4] = {entry->id.size};
		buf_add(out, &header, sizeof header);
		put32(out, UINT32_MAX); /* of the host, no guest */
		buf_add(out, entry->id.bytes, BUILD_ID_MAX);
		buf_add(out, id_size, sizeof id_size);
		put_filled_text(out, strpool_text(&facts->paths, i), length, PATH_ALIGN);
	}
	return out->size;
}

static bool put_hostname(const struct write_facts *facts, struct buf *out)
{
	put_text(out, facts->hostname);
	return true;
}

static bool put_release(const struct write_facts *facts, struct buf *out)
{
	put_text(out, facts->release);
	return true;
}

static bool put_version(const struct write_facts *facts, struct buf *out)
{
	(void)facts;
	put_text(out, "wick " WICK_VERSION);
	return true;
}

static bool put_machine(const struct write_facts *facts, struct buf *out)
{
	put_text(out, facts->machine);
	return true;
}

static bool put_cpus(const struct write_facts *facts, struct buf *out)
{
	put32(out, facts->cpus); /* there */
	put32(out, facts->cpus); /* and online */
	return true;
}

static bool put_command(const struct write_facts *facts, struct buf *out)
{
	put32(out, (uint32_t)facts->command_count);
	for (size_t i = 0; i < facts->command_count; i++)
		put_text(out, facts->command[i]);
	return facts->command_count;
}

static bool put_events(const struct write_facts *facts, struct buf *out)
{
	put32(out, (uint32_t)facts->source_count);
	put32(out, WRITE_ATTR_SIZE);
	for (uint32_t i = 0; i < facts->source_count; i++) {
		buf_add(out, &facts->sources[i].attr, WRITE_ATTR_SIZE);
		put32(out, facts->source_count > 1);
		put_text(out, facts->sources[i].name);
		if (facts->source_count > 1)
			put64(out, write_source_id(i));
	}
	return true;
}

static bool put_compression(const struct write_facts *facts, struct buf *out)
{
	enum { VERSION = 0, ZSTD = 1, RATIO = 8 }; /* the ratio is only shown */
	put32(out, VERSION);
	put32(out, ZSTD);
	put32(out, PACK_LEVEL);
	put32(out, RATIO);
	put32(out, PACK_WINDOW);
	return facts->compressed;
}

/*
 * In the order of the bits, which is that of the table in the file. Hotspot's parser warns of sections that it does not
 * know: SAMPLE_TIME, the times of the first and the last sample, is such a one.
 */
static const struct {
	enum feature feature;
	bool (*put)(const struct write_facts *facts, struct buf *out);
} sections[] = {
	{FEATURE_BUILD_ID, put_build_ids}, {FEATURE_HOSTNAME, put_hostname}, {FEATURE_OSRELEASE, put_release},
	{FEATURE_VERSION, put_version},    {FEATURE_ARCH, put_machine},      {FEATURE_NRCPUS, put_cpus},
	{FEATURE_CMDLINE, put_command},    {FEATURE_EVENT_DESC, put_events}, {FEATURE_COMPRESSED, put_compression},
};
#define SECTION_COUNT (sizeof sections / sizeof *sections)

void write_facts_features(const struct write_facts *facts, struct buf *out, uint64_t offset, uint64_t *features)
{
	struct buf bytes[SECTION_COUNT] = {0};
	bool there[SECTION_COUNT];
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		there[i] = sections[i].put(facts, &bytes[i]);
		if (there[i])
			offset += sizeof(struct file_section);
	}
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		if (!there[i])
			continue;
		features[sections[i].feature / 64] |= 1ull << sections[i].feature % 64;
		put64(out, offset);
		put64(out, bytes[i].size);
		offset += bytes[i].size;
	}
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		if (there[i])
			buf_add(out, bytes[i].data, bytes[i].size);
		buf_release(&bytes[i]);
	}
}
