/*
 * Reads a perf.data as a file and through a pipe: both must give the same records. Every byte that a record points to
 * is touched.
 */
#ifndef WICK_TESTS_FUZZ_PERFDATA_READ_H
#define WICK_TESTS_FUZZ_PERFDATA_READ_H

#include "base/mem.h"
#include "perfdata/perfdata.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct seen {
	uint64_t samples, others, sum;
};

static void touch(struct seen *seen, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		seen->sum = seen->sum * 31 + ((const uint8_t *)bytes)[i];
}

static void touch_words(struct seen *seen, const uint64_t *words, size_t count)
{
	if ((uintptr_t)words % sizeof *words)
		abort();
	touch(seen, words, count * sizeof *words);
}

static void touch_text(struct seen *seen, const char *text)
{
	seen->others++;
	touch(seen, text, strlen(text));
}

static int on_sample(struct seen *seen, const struct event_sample *sample)
{
	seen->samples++;
	touch_words(seen, sample->chain, sample->chain_count);
	touch_words(seen, (const uint64_t *)sample->branches, sample->branch_count * sizeof *sample->branches / 8);
	touch_words(seen, sample->branch_counters, sample->branch_counters ? sample->branch_count : 0);
	touch_words(seen, sample->user.values, sample->user.abi ? (size_t)__builtin_popcountll(sample->user.mask) : 0);
	touch_words(seen, sample->interrupt.values,
		    sample->interrupt.abi ? (size_t)__builtin_popcountll(sample->interrupt.mask) : 0);
	touch_words(seen, (const uint64_t *)sample->stack, sample->stack_size / 8);
	touch(seen, sample->stack, sample->stack_size);
	touch(seen, sample->raw, sample->raw_size);
	seen->sum += sample->source + sample->period + sample->time + sample->ip + (uint32_t)sample->tid;
	if (sample->stack_size > sample->stack_asked)
		abort();
	return 0;
}

static int on_event(void *context, const struct event *event)
{
	struct seen *seen = context;
	seen->sum = seen->sum * 31 + (uint64_t)event->type;
	switch (event->type) {
	case EVENT_SAMPLE:
		return on_sample(seen, event->sample);
	case EVENT_MMAP:
		touch_text(seen, event->mmap->path);
		touch(seen, event->mmap->build_id.bytes, event->mmap->build_id.size);
		seen->sum += event->mmap->start + event->mmap->length + event->mmap->inode;
		break;
	case EVENT_COMM:
		touch_text(seen, event->comm->comm);
		break;
	case EVENT_KSYMBOL:
		touch_text(seen, event->ksymbol->name);
		break;
	case EVENT_CGROUP:
		touch_text(seen, event->cgroup->path ? event->cgroup->path : event->cgroup->names);
		break;
	case EVENT_FORK:
	case EVENT_EXIT:
		seen->sum += (uint32_t)event->task->pid;
		break;
	case EVENT_LOST:
		seen->sum += event->lost->count;
		break;
	case EVENT_COUNT:
		seen->sum += event->count->value;
		break;
	case EVENT_SWITCH:
		seen->sum += (uint32_t)event->change->other_tid;
		break;
	case EVENT_ASLEEP:
		abort();
	}
	seen->others++;
	return 0;
}

static void touch_header(struct seen *seen, const struct perfdata *data)
{
	size_t count;
	const struct perfdata_fact *facts = perfdata_facts(data, &count);
	for (size_t i = 0; i < count; i++) {
		touch_text(seen, facts[i].name);
		touch_text(seen, facts[i].text);
	}
	const struct perfdata_build_id *ids = perfdata_build_ids(data, &count);
	for (size_t i = 0; i < count; i++)
		touch_text(seen, ids[i].path);
	const struct event_source *sources = perfdata_sources(data, &count);
	for (size_t i = 0; i < count; i++) {
		touch_text(seen, sources[i].name);
		touch_words(seen, sources[i].ids, sources[i].id_count);
	}
	touch_text(seen, perfdata_arch(data));
}

static int read_fd(int fd, struct seen *seen, struct perfdata_quality *quality)
{
	struct event_sink sink = {.context = seen, .take = on_event};
	struct perfdata *data;
	struct err err = {0};
	if (perfdata_open_fd(&data, fd, "input", NULL, 0, &err) < 0) {
		if (!err.text[0])
			abort();
		return -1;
	}
	int result = perfdata_read(data, &sink, &err);
	touch_header(seen, data);
	*quality = *perfdata_quality(data);
	perfdata_close(data);
	return result;
}

static inline void read_both_ways(const void *bytes, size_t size)
{
	struct seen from_file = {0}, from_pipe = {0};
	struct perfdata_quality file_quality = {0}, pipe_quality = {0};
	int fd = memfd_create("input", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	int result = read_fd(fd, &from_file, &file_quality);
	int ends[2];
	if (size > 65536) /* what a pipe holds */
		return;
	if (pipe2(ends, O_CLOEXEC) < 0 || write(ends[1], bytes, size) != (ssize_t)size)
		abort();
	close(ends[1]);
	int pipe_result = read_fd(ends[0], &from_pipe, &pipe_quality);
	if (result != pipe_result || memcmp(&from_file, &from_pipe, sizeof from_file) != 0 ||
	    file_quality.records != pipe_quality.records || file_quality.cut_off != pipe_quality.cut_off)
		abort();
}

#endif
