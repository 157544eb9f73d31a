/* Makes perf.data files byte by byte, and reads them back, for tests. */
#ifndef WICK_TESTS_PERFDATA_BUILD_H
#define WICK_TESTS_PERFDATA_BUILD_H

#include "base/buf.h"
#include "perfdata/format.h"
#include "perfdata/perfdata.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static inline void put16(struct buf *out, uint16_t value)
{
	buf_add(out, &value, sizeof value);
}

static inline void put32(struct buf *out, uint32_t value)
{
	buf_add(out, &value, sizeof value);
}

static inline void put64(struct buf *out, uint64_t value)
{
	buf_add(out, &value, sizeof value);
}

static inline void put_pair(struct buf *out, uint32_t low, uint32_t high)
{
	put32(out, low);
	put32(out, high);
}

/* Zeros up to a multiple of `align` bytes, at least one when the text needs its NUL. */
static inline void put_text(struct buf *out, const char *text, size_t align)
{
	size_t size = strlen(text) + 1;
	buf_add(out, text, size);
	for (; size % align; size++)
		buf_char(out, 0);
}

/* A text of a header feature. */
static inline void put_feature_text(struct buf *out, const char *text)
{
	put32(out, (uint32_t)((strlen(text) + 1 + 63) / 64 * 64));
	put_text(out, text, 64);
}

static inline void put_record(struct buf *out, uint32_t type, uint16_t misc, const struct buf *body)
{
	put32(out, type);
	put16(out, misc);
	put16(out, (uint16_t)(8 + body->size));
	buf_add(out, body->data, body->size);
}

/* A record of words. */
#define put_words(out, type, misc, ...) \
	put_word_array(out, type, misc, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

static inline void put_word_array(struct buf *out, uint32_t type, uint16_t misc, const uint64_t *words, size_t count)
{
	put32(out, type);
	put16(out, misc);
	put16(out, (uint16_t)(8 + count * 8));
	buf_add(out, words, count * 8);
}

static inline void put_round(struct buf *out)
{
	put_pair(out, USER_FINISHED_ROUND, 8u << 16);
}

static inline struct perf_event_attr software_event(uint64_t config, uint64_t sample_type)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.sample_period = 1,
		.sample_type = sample_type,
		.sample_id_all = 1,
	};
}

/* The attribute of most tests: records of {ip, tid, time} and trailers of {tid, time}. */
#define SIMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static inline void put_simple_sample(struct buf *out, uint64_t ip, uint32_t tid, uint64_t time)
{
	put_words(out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, ip, (uint64_t)tid << 32 | 1, time);
}

static inline void put_simple_comm(struct buf *out, const char *comm, uint32_t tid, uint64_t time)
{
	CLEANUP_BUF struct buf body = {0};
	put_pair(&body, 1, tid);
	put_text(&body, comm, 8);
	put_pair(&body, 1, tid);
	put64(&body, time);
	put_record(out, PERF_RECORD_COMM, 0, &body);
}

struct build_event {
	struct perf_event_attr attr;
	const uint64_t *ids;
	size_t id_count;
};

struct build_feature {
	unsigned feature;
	const struct buf *bytes;
};

/* A file: header, ids, attrs, data, features (in ascending order). */
static inline struct buf build_file(const struct build_event *events, size_t event_count, const struct buf *records,
				    const struct build_feature *features, size_t feature_count)
{
	struct buf file = {0};
	struct file_header header = {.size = sizeof header,
				     .attr_size = sizeof events->attr + sizeof(struct file_section)};
	memcpy(header.magic, PERFDATA_MAGIC, sizeof header.magic);
	uint64_t at = sizeof header;
	for (size_t i = 0; i < event_count; i++)
		at += events[i].id_count * 8;
	header.attrs = (struct file_section){at, event_count * header.attr_size};
	header.data = (struct file_section){at + header.attrs.size, records->size};
	for (size_t i = 0; i < feature_count; i++)
		header.features[features[i].feature / 64] |= 1ull << features[i].feature % 64;
	buf_add(&file, &header, sizeof header);
	for (size_t i = 0; i < event_count; i++)
		buf_add(&file, events[i].ids, events[i].id_count * 8);
	at = sizeof header;
	for (size_t i = 0; i < event_count; i++) {
		buf_add(&file, &events[i].attr, sizeof events[i].attr);
		put64(&file, at);
		put64(&file, events[i].id_count * 8);
		at += events[i].id_count * 8;
	}
	buf_add(&file, records->data, records->size);
	at = file.size + feature_count * sizeof(struct file_section);
	for (size_t i = 0; i < feature_count; i++) {
		put64(&file, at);
		put64(&file, features[i].bytes->size);
		at += features[i].bytes->size;
	}
	for (size_t i = 0; i < feature_count; i++)
		buf_add(&file, features[i].bytes->data, features[i].bytes->size);
	return file;
}

static inline struct buf build_simple_file(const struct buf *records)
{
	struct build_event event = {.attr = software_event(PERF_COUNT_SW_CPU_CLOCK, SIMPLE_TYPE)};
	return build_file(&event, 1, records, NULL, 0);
}

static inline void put_pipe_header(struct buf *out)
{
	buf_str(out, PERFDATA_MAGIC);
	put64(out, PIPE_HEADER_SIZE);
}

static inline void put_attr_record(struct buf *out, const struct perf_event_attr *attr, const uint64_t *ids,
				   size_t count)
{
	CLEANUP_BUF struct buf body = {0};
	buf_add(&body, attr, sizeof *attr);
	buf_add(&body, ids, count * 8);
	put_record(out, USER_ATTR, 0, &body);
}

/* What came out: one line a record, and copies of the last ones. */
struct seen {
	struct buf log;
	unsigned samples, stop_after;
	struct event_sample sample;
	uint64_t chain[64], registers[64], interrupt[64], counters[8];
	struct perf_branch_entry branches[8];
	uint8_t raw[256], stack[256];
	struct event_mmap mmap;
	char path[128];
	struct event_switch change;
	struct event_lost lost;
	uint64_t lost_total, lost_of[LOST_OTHERS + 1];
};

static inline void keep(void *out, size_t max, const void *bytes, size_t size)
{
	if (size)
		memcpy(out, bytes, size < max ? size : max);
}

static inline int seen_sample(struct seen *seen, const struct event_sample *sample)
{
	seen->samples++;
	seen->sample = *sample;
	keep(seen->chain, sizeof seen->chain, sample->chain, sample->chain_count * 8);
	if (sample->user.abi)
		keep(seen->registers, sizeof seen->registers, sample->user.values,
		     (size_t)__builtin_popcountll(sample->user.mask) * 8);
	if (sample->interrupt.abi)
		keep(seen->interrupt, sizeof seen->interrupt, sample->interrupt.values,
		     (size_t)__builtin_popcountll(sample->interrupt.mask) * 8);
	keep(seen->branches, sizeof seen->branches, sample->branches, sample->branch_count * sizeof *sample->branches);
	if (sample->branch_counters)
		keep(seen->counters, sizeof seen->counters, sample->branch_counters, sample->branch_count * 8);
	keep(seen->raw, sizeof seen->raw, sample->raw, sample->raw_size);
	keep(seen->stack, sizeof seen->stack, sample->stack, sample->stack_size);
	buf_printf(&seen->log, "sample %llx %d %llu\n", (unsigned long long)sample->ip, sample->tid,
		   (unsigned long long)sample->time);
	return seen->stop_after && seen->samples == seen->stop_after ? ERR_LIMIT : 0;
}

static inline void seen_mmap(struct seen *seen, const struct event_mmap *mmap)
{
	seen->mmap = *mmap;
	snprintf(seen->path, sizeof seen->path, "%s", mmap->path);
	buf_printf(&seen->log, "mmap %s %llu\n", mmap->path, (unsigned long long)mmap->time);
}

static inline void seen_comm(struct seen *seen, const struct event_comm *comm)
{
	buf_printf(&seen->log, "comm %s%s %d/%d %llu\n", comm->comm, comm->exec ? " exec" : "", comm->pid, comm->tid,
		   (unsigned long long)comm->time);
}

static inline void seen_fork(struct seen *seen, const struct event_task *task)
{
	buf_printf(&seen->log, "fork %d/%d of %d/%d %llu\n", task->pid, task->tid, task->parent_pid, task->parent_tid,
		   (unsigned long long)task->time);
}

static inline void seen_exit(struct seen *seen, const struct event_task *task)
{
	buf_printf(&seen->log, "exit %d/%d %llu\n", task->pid, task->tid, (unsigned long long)task->time);
}

static inline void seen_count(struct seen *seen, const struct event_count *count)
{
	buf_printf(&seen->log, "count %d/%d %llu %llu\n", count->pid, count->tid, (unsigned long long)count->value,
		   (unsigned long long)count->time);
}

static inline void seen_lost(struct seen *seen, const struct event_lost *lost)
{
	seen->lost = *lost;
	seen->lost_total += lost->count;
	seen->lost_of[lost->kind] += lost->count;
	buf_printf(&seen->log, "lost %llu\n", (unsigned long long)lost->count);
}

static inline void seen_ksymbol(struct seen *seen, const struct event_ksymbol *symbol)
{
	buf_printf(&seen->log, "ksymbol %s %llx+%x type %u%s %llu\n", symbol->name, (unsigned long long)symbol->address,
		   symbol->length, symbol->type, symbol->unregister ? " gone" : "", (unsigned long long)symbol->time);
}

static inline void seen_cgroup(struct seen *seen, const struct event_cgroup *cgroup)
{
	buf_printf(&seen->log, "cgroup %llu %s%s\n", (unsigned long long)cgroup->id, cgroup->path ? "" : "names ",
		   cgroup->path ? cgroup->path : cgroup->names);
}

static inline void seen_switch(struct seen *seen, const struct event_switch *change)
{
	seen->change = *change;
	buf_printf(&seen->log, "switch %s%s %d/%d other %d/%d %llu\n", change->out ? "out" : "in",
		   change->preempted ? " preempted" : "", change->pid, change->tid, change->other_pid,
		   change->other_tid, (unsigned long long)change->time);
}

static inline int seen_take(void *context, const struct event *event)
{
	struct seen *seen = context;
	switch (event->type) {
	case EVENT_SAMPLE:
		return seen_sample(seen, event->sample);
	case EVENT_MMAP:
		seen_mmap(seen, event->mmap);
		break;
	case EVENT_COMM:
		seen_comm(seen, event->comm);
		break;
	case EVENT_FORK:
		seen_fork(seen, event->task);
		break;
	case EVENT_EXIT:
		seen_exit(seen, event->task);
		break;
	case EVENT_LOST:
		seen_lost(seen, event->lost);
		break;
	case EVENT_COUNT:
		seen_count(seen, event->count);
		break;
	case EVENT_KSYMBOL:
		seen_ksymbol(seen, event->ksymbol);
		break;
	case EVENT_CGROUP:
		seen_cgroup(seen, event->cgroup);
		break;
	case EVENT_SWITCH:
		seen_switch(seen, event->change);
		break;
	case EVENT_ASLEEP:
		break;
	}
	return 0;
}

static inline struct event_sink seen_sink(struct seen *seen)
{
	return (struct event_sink){.context = seen, .take = seen_take};
}

static inline void seen_release(struct seen *seen)
{
	buf_release(&seen->log);
}

static inline const char *seen_text(const struct seen *seen)
{
	return seen->log.data ? seen->log.data : "";
}

/* A file that has no name any more. */
static inline int file_of(const void *bytes, size_t size)
{
	char path[] = "/tmp/wick-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

/* Opens and reads; the caller closes `*ret_data` when 0 or a failure of reading is returned and it is not NULL. */
static inline int read_bytes(const void *bytes, size_t size, struct perfdata **ret_data, struct seen *seen)
{
	struct err err = {0};
	*ret_data = NULL;
	int result = perfdata_open_fd(ret_data, file_of(bytes, size), "test", NULL, 0, &err);
	struct event_sink sink = seen_sink(seen);
	return result < 0 ? result : perfdata_read(*ret_data, &sink, &err);
}

static inline uint64_t value_of(unsigned field)
{
	return 0x0101010101010101ull * (field + 1);
}

/* The read end of a pipe that a child fills. */
static inline int pipe_of(const void *bytes, size_t size, pid_t *ret_child)
{
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*ret_child = fork();
	assert_true(*ret_child >= 0);
	if (*ret_child == 0) {
		const char *at = bytes;
		for (ssize_t wrote; size && (wrote = write(ends[1], at, size)) > 0; size -= (size_t)wrote)
			at += wrote;
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

#endif
