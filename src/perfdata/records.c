/* Records other than samples: what happened to processes, mappings, the kernel's code and the recording itself. */
#include "event/source_facts.h"
#include "perfdata/reader.h"

#include <stddef.h>
#include <sys/mman.h>

static uint64_t plausible(uint64_t time)
{
	return time == UINT64_MAX ? 0 : time;
}

/* Records of kernels before sample_id_all (Linux 2.6.38), or of writers without it, that have a time of their own. */
static uint64_t time_in_body(uint32_t type, const uint8_t *body, size_t words)
{
	switch (type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return words >= 3 ? bytes_load64(body + 16) : 0;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return words >= 1 ? bytes_load64(body) : 0;
	default:
		return 0;
	}
}

uint64_t records_time(struct perfdata *data, const struct perf_event_header *header, const uint8_t *record)
{
	const uint8_t *body = record + sizeof *header;
	size_t words = (header->size - sizeof *header) / 8;
	if (header->type == PERF_RECORD_SAMPLE) {
		bool unknown_id;
		uint32_t source = sources_of_sample(&data->sources, body, words, &unknown_id);
		int at = source == SOURCE_NONE ? -1 : data->sources.layouts[source].sample_time;
		return at >= 0 && (size_t)at < words ? plausible(bytes_load64(body + 8 * (size_t)at)) : 0;
	}
	uint32_t source = sources_of_other(&data->sources, body, words);
	int from_end = source == SOURCE_NONE ? -1 : data->sources.layouts[source].trailer_time;
	uint64_t time = 0;
	if (from_end >= 0 && (size_t)from_end <= words)
		time = plausible(bytes_load64(body + 8 * (words - (size_t)from_end)));
	return time ? time : plausible(time_in_body(header->type, body, words));
}

struct trailer records_trailer(struct perfdata *data, struct record *record)
{
	struct trailer trailer = {.pid = -1, .tid = -1, .cpu = UINT32_MAX};
	trailer.source = sources_of_other(&data->sources, record->body, record->words);
	if (trailer.source == SOURCE_NONE)
		return trailer;
	size_t words = (size_t)data->sources.layouts[trailer.source].trailer_words;
	if (words > record->words)
		return trailer;
	record->words -= words;
	const uint64_t *word = record->body + record->words;
	uint64_t type = words ? data->sources.items[trailer.source].attr.sample_type : 0;
	if (type & PERF_SAMPLE_TID) {
		trailer.pid = (int32_t)*word;
		trailer.tid = (int32_t)(*word++ >> 32);
	}
	if (type & PERF_SAMPLE_TIME)
		trailer.time = plausible(*word++);
	if (type & PERF_SAMPLE_ID)
		trailer.id = *word++;
	if (type & PERF_SAMPLE_STREAM_ID)
		trailer.stream_id = *word++;
	if (type & PERF_SAMPLE_CPU)
		trailer.cpu = (uint32_t)*word++;
	if (type & PERF_SAMPLE_IDENTIFIER)
		trailer.id = *word++;
	return trailer;
}

/* The text from word `from` to the end of the record; NULL when it has no end. */
static const char *text_at(const struct record *record, size_t from)
{
	if (from >= record->words)
		return NULL;
	const char *text = (const char *)(record->body + from);
	return memchr(text, 0, (record->words - from) * 8) ? text : NULL;
}

static int32_t low(uint64_t word)
{
	return (int32_t)word;
}

static int32_t high(uint64_t word)
{
	return (int32_t)(word >> 32);
}

static int malformed(struct perfdata *data)
{
	data->quality.malformed++;
	return 0;
}

static bool is_kernel(const struct record *record)
{
	unsigned mode = record->header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	return mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL;
}

static int deliver_mmap(struct perfdata *data, const struct record *record, const struct trailer *trailer)
{
	const char *path = text_at(record, 4);
	if (!path)
		return malformed(data);
	const uint64_t *body = record->body;
	bool is_data = record->header.misc & MISC_MMAP_DATA;
	struct event_mmap mmap = {
		.pid = low(body[0]),
		.tid = high(body[0]),
		.kernel = is_kernel(record),
		.time = trailer->time,
		.start = body[1],
		.length = body[2],
		.offset = body[3],
		.protection = is_data ? PROT_READ : PROT_READ | PROT_EXEC, /* the record does not say more */
		.path = path,
	};
	return sink_mmap(data->sink, &mmap);
}

/*
 * Whether a MMAP2 record has a build-id (its size, three zeros, its bytes and zeros behind them) in the place of device
 * and inode. The flag is not enough: the kernel (6.18) also sets it for a session that did not ask for build-ids
 * when another one that did follows the same process.
 */
static bool has_build_id(const struct record *record)
{
	const uint8_t *bytes = (const uint8_t *)(record->body + 4);
	size_t size = bytes[0];
	if (!(record->header.misc & MISC_MMAP_BUILD_ID) || !size || size > MMAP_BUILD_ID_MAX || size > BUILD_ID_MAX)
		return false;
	bool zeros = !bytes[1] && !bytes[2] && !bytes[3];
	for (size_t i = size; i < MMAP_BUILD_ID_MAX; i++)
		zeros &= !bytes[4 + i];
	return zeros;
}

static int deliver_mmap2(struct perfdata *data, const struct record *record, const struct trailer *trailer)
{
	const char *path = text_at(record, 8);
	if (!path)
		return malformed(data);
	const uint64_t *body = record->body;
	struct event_mmap mmap = {
		.pid = low(body[0]),
		.tid = high(body[0]),
		.kernel = is_kernel(record),
		.time = trailer->time,
		.start = body[1],
		.length = body[2],
		.offset = body[3],
		.protection = (uint32_t)low(body[7]),
		.flags = (uint32_t)high(body[7]),
		.path = path,
	};
	if (has_build_id(record)) {
		const uint8_t *bytes = (const uint8_t *)(body + 4);
		mmap.build_id.size = bytes[0];
		memcpy(mmap.build_id.bytes, bytes + 4, mmap.build_id.size);
	} else {
		mmap.major = (uint32_t)low(body[4]);
		mmap.minor = (uint32_t)high(body[4]);
		mmap.inode = body[5];
		mmap.inode_generation = body[6];
	}
	return sink_mmap(data->sink, &mmap);
}

static int deliver_comm(struct perfdata *data, const struct record *record, const struct trailer *trailer)
{
	struct event_comm comm = {.time = trailer->time, .comm = text_at(record, 1)};
	if (!comm.comm)
		return malformed(data);
	comm.pid = low(record->body[0]);
	comm.tid = high(record->body[0]);
	comm.exec = record->header.misc & MISC_COMM_EXEC;
	return sink_comm(data->sink, &comm);
}

static int deliver_task(struct perfdata *data, const struct record *record, const struct trailer *trailer)
{
	if (record->words < 3)
		return malformed(data);
	const uint64_t *body = record->body;
	struct event_task task = {
		.pid = low(body[0]),
		.parent_pid = high(body[0]),
		.tid = low(body[1]),
		.parent_tid = high(body[1]),
		.time = trailer->time ? trailer->time : plausible(body[2]),
	};
	if (record->header.type == PERF_RECORD_FORK)
		return sink_fork(data->sink, &task);
	int result = deferred_flush(data, task.tid);
	return result < 0 ? result : sink_exit(data->sink, &task);
}

static int give_lost(struct perfdata *data, const struct event_lost *lost)
{
	return lost->count ? sink_lost(data->sink, lost) : 0;
}

/* A record without a time is the sum of an event that perf 6.1 and later writes at the end. LOST records had it too. */
static int deliver_lost_samples(struct perfdata *data, const struct record *record, const struct trailer *trailer)
{
	if (record->header.misc & MISC_LOST_SAMPLES_BPF)
		return 0;
	struct event_lost lost = {
		.kind = LOST_SAMPLES, .time = trailer->time, .count = record->body[0], .source = trailer->source};
	if (lost.source != SOURCE_NONE && attr_is_dummy(&data->sources.items[lost.source].attr))
		lost.kind = LOST_OTHERS;
	if (!lost.time)
		data->lost.count -= lost.count < data->lost.count ? lost.count : data->lost.count;
	return give_lost(data, &lost);
}

/* The event in a LOST record is the one that wrote next. It does not show what was lost. Sums that do may follow. */
static int deliver_lost(struct perfdata *data, const struct record *record, const struct trailer *trailer)
{
	bool samples = record->header.type == PERF_RECORD_LOST_SAMPLES;
	if (record->words < (samples ? 1 : 2))
		return malformed(data);
	if (samples)
		return deliver_lost_samples(data, record, trailer);
	struct event_lost lost = {
		.kind = record->header.misc & MISC_LOST_OTHERS ? LOST_OTHERS : LOST_ANY,
		.time = trailer->time,
		.count = record->body[1],
		.source = sources_find(&data->sources, record->body[0]),
	};
	if (lost.kind == LOST_OTHERS)
		return give_lost(data, &lost);
	if (__builtin_add_overflow(lost.count, data->lost.count, &lost.count))
		lost.count = UINT64_MAX;
	data->lost = lost;
	return 0;
}

int records_finish(struct perfdata *data)
{
	struct event_lost lost = data->lost;
	data->lost.count = 0;
	return give_lost(data, &lost);
}

static int deliver_switch(struct perfdata *data, const struct record *record, const struct trailer *trailer)
{
	bool cpu_wide = record->header.type == PERF_RECORD_SWITCH_CPU_WIDE;
	if (cpu_wide && record->words < 1)
		return malformed(data);
	struct event_switch change = {
		.pid = trailer->pid,
		.tid = trailer->tid,
		.other_pid = cpu_wide ? low(record->body[0]) : -1,
		.other_tid = cpu_wide ? high(record->body[0]) : -1,
		.time = trailer->time,
		.cpu = trailer->cpu,
		.out = record->header.misc & MISC_SWITCH_OUT,
		.preempted = record->header.misc & MISC_SWITCH_OUT_PREEMPT,
	};
	return sink_switch(data->sink, &change);
}

static int deliver_ksymbol(struct perfdata *data, const struct record *record, const struct trailer *trailer)
{
	struct event_ksymbol symbol = {.time = trailer->time, .name = text_at(record, 2)};
	if (!symbol.name)
		return malformed(data);
	symbol.address = record->body[0];
	symbol.length = (uint32_t)record->body[1];
	symbol.type = (uint16_t)(record->body[1] >> 32);
	symbol.flags = (uint16_t)(record->body[1] >> 48);
	symbol.unregister = symbol.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	return sink_ksymbol(data->sink, &symbol);
}

static int deliver_cgroup(struct perfdata *data, const struct record *record, const struct trailer *trailer)
{
	const char *text = text_at(record, 1);
	if (!text)
		return malformed(data);
	struct event_cgroup cgroup = {.time = trailer->time, .id = record->body[0]};
	if (strchr(text, '=') && *text != '/')
		cgroup.names = text;
	else
		cgroup.path = text;
	return sink_cgroup(data->sink, &cgroup);
}

/* Of a single event: groups list all of their values. */
static int deliver_count(struct perfdata *data, const struct record *record, const struct trailer *trailer)
{
	if (trailer->source == SOURCE_NONE || data->sources.items[trailer->source].attr.read_format & PERF_FORMAT_GROUP)
		return 0;
	if (record->words < 2)
		return malformed(data);
	struct event_count count = {
		.pid = low(record->body[0]),
		.tid = high(record->body[0]),
		.time = trailer->time,
		.value = record->body[1],
		.source = trailer->source,
	};
	return sink_count(data->sink, &count);
}

int records_deliver(struct perfdata *data, const struct record *record)
{
	if (record->header.type == PERF_RECORD_SAMPLE)
		return sample_deliver(data, record);
	if (record->header.type == RECORD_CALLCHAIN_DEFERRED)
		return deferred_chain(data, record);
	struct record inner = *record;
	struct trailer trailer = records_trailer(data, &inner);
	switch (record->header.type) {
	case PERF_RECORD_MMAP:
		return deliver_mmap(data, &inner, &trailer);
	case PERF_RECORD_MMAP2:
		return deliver_mmap2(data, &inner, &trailer);
	case PERF_RECORD_COMM:
		return deliver_comm(data, &inner, &trailer);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return deliver_task(data, &inner, &trailer);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return deliver_lost(data, &inner, &trailer);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return deliver_switch(data, &inner, &trailer);
	case PERF_RECORD_KSYMBOL:
		return deliver_ksymbol(data, &inner, &trailer);
	case PERF_RECORD_CGROUP:
		return deliver_cgroup(data, &inner, &trailer);
	case PERF_RECORD_READ:
		return deliver_count(data, &inner, &trailer);
	default: /* THROTTLE, NAMESPACES, BPF_EVENT, TEXT_POKE: nothing a profile needs */
		return 0;
	}
}
