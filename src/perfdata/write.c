/* Writes samples and side-band records, and finishes the header. */
#include "perfdata/write.h"

#include "base/outfile.h"
#include "event/source_facts.h"
#include "event/stack_mark.h"
#include "perfdata/format.h"
#include "perfdata/pack.h"
#include "perfdata/write_features.h"
#include "perfdata/write_held.h"
#include "perfdata/write_interpreted.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define ROUND_BYTES (1u << 20) /* what a reader holds in memory, roughly */
#define TEXT_MAX 4095u /* of a path or name; readers have buffers of PATH_MAX */
/* A record has at most 64 KiB: deeper stacks lose their outermost frames. */
#define CHAIN_MAX ((RECORD_SIZE_MAX - 1 - 128) / 8)
#define END_WORDS 2 /* that say that a stack is truncated */

struct perfdata_writer {
	pthread_mutex_t lock;
	struct outfile out;
	struct file_header header;
	uint64_t size; /* bytes written */
	uint64_t sample_type;
	struct write_facts facts;
	struct write_held held;
	struct write_interpreted interpreted;
	struct buf record; /* the one that is being made */
	struct pack pack;
	struct buf packed;
	uint64_t latest; /* largest time so far */
	uint64_t round_latest; /* largest time when the last round ended */
	uint64_t round_bytes; /* of the records since then */
};

/* --- pieces of a record --- */

static void put32(struct buf *out, uint32_t value)
{
	buf_add(out, &value, sizeof value);
}

static void put64(struct buf *out, uint64_t value)
{
	buf_add(out, &value, sizeof value);
}

static void put_pair(struct buf *out, int32_t low, int32_t high)
{
	put32(out, (uint32_t)low);
	put32(out, (uint32_t)high);
}

/* With its NUL, filled up to a whole word. */
static void put_text(struct buf *out, const char *text)
{
	static const char zeros[8];
	size_t length = strnlen(text, TEXT_MAX);
	buf_add(out, text, length);
	buf_add(out, zeros, 8 - length % 8);
}

static void write_bytes(struct perfdata_writer *writer, const void *bytes, size_t size)
{
	outfile_add(&writer->out, bytes, size);
	writer->size += size;
}

static void flush_pack(struct perfdata_writer *writer)
{
	if (!pack_flush(&writer->pack, &writer->packed) && !writer->out.failed.code)
		err_set(&writer->out.failed, ERR_IO, "cannot write %s: zstd failed", writer->out.shown);
	write_bytes(writer, writer->packed.data, writer->packed.size);
	buf_clear(&writer->packed);
}

static void write_record(struct perfdata_writer *writer, const void *bytes, size_t size)
{
	writer->round_bytes += size;
	if (!writer->pack.zstd) {
		write_bytes(writer, bytes, size);
		return;
	}
	buf_add(&writer->pack.plain, bytes, size);
	if (writer->pack.plain.size >= PACK_BATCH - RECORD_SIZE_MAX)
		flush_pack(writer);
}

static struct buf *record_start(struct perfdata_writer *writer, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};
	buf_clear(&writer->record);
	buf_add(&writer->record, &header, sizeof header);
	return &writer->record;
}

static void record_write(struct perfdata_writer *writer, uint64_t time)
{
	uint16_t size = (uint16_t)writer->record.size;
	memcpy(writer->record.data + offsetof(struct perf_event_header, size), &size, sizeof size);
	write_record(writer, writer->record.data, size);
	if (time > writer->latest)
		writer->latest = time;
}

static int unlock(struct perfdata_writer *writer)
{
	int failed = writer->out.failed.code;
	pthread_mutex_unlock(&writer->lock);
	return failed;
}

/* Locks the writer; record_end() unlocks it. */
static struct buf *record_begin(struct perfdata_writer *writer, uint32_t type, uint16_t misc)
{
	pthread_mutex_lock(&writer->lock);
	return record_start(writer, type, misc);
}

static int record_end(struct perfdata_writer *writer, uint64_t time)
{
	record_write(writer, time);
	return unlock(writer);
}

/* Which event a record is of, where there are several. */
static void put_source(struct perfdata_writer *writer, uint32_t source)
{
	if (writer->sample_type & PERF_SAMPLE_IDENTIFIER)
		put64(&writer->record, write_source_id(source == UINT32_MAX ? 0 : source));
}

/* What sample_id_all adds to records that are no samples, in the order of the kernel. */
static void put_trailer(struct perfdata_writer *writer, int32_t pid, int32_t tid, uint64_t time, uint32_t source)
{
	struct buf *out = &writer->record;
	put_pair(out, pid, tid);
	put64(out, time);
	if (writer->sample_type & PERF_SAMPLE_CPU)
		put_pair(out, -1, 0);
	put_source(writer, source);
}

static int record_end_with_trailer(struct perfdata_writer *writer, int32_t pid, int32_t tid, uint64_t time,
				   uint32_t source)
{
	put_trailer(writer, pid, tid, time, source);
	return record_end(writer, time);
}

/* --- mappings; the writer is locked --- */

static void write_mmap(struct perfdata_writer *writer, const struct event_mmap *mmap)
{
	bool has_id = mmap->build_id.size;
	uint32_t misc = mmap->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	misc |= has_id ? MISC_MMAP_BUILD_ID : 0;
	misc |= mmap->protection & PROT_EXEC || mmap->kernel ? 0 : MISC_MMAP_DATA;
	struct buf *out = record_start(writer, PERF_RECORD_MMAP2, (uint16_t)misc);
	put_pair(out, mmap->pid, mmap->tid);
	put64(out, mmap->start);
	put64(out, mmap->length);
	put64(out, mmap->offset);
	if (has_id) {
		const uint8_t size[4] = {mmap->build_id.size};
		buf_add(out, size, sizeof size);
		buf_add(out, mmap->build_id.bytes, BUILD_ID_MAX);
		write_facts_build_id(&writer->facts, mmap->path, mmap->kernel, &mmap->build_id);
	} else {
		put_pair(out, (int32_t)mmap->major, (int32_t)mmap->minor);
		put64(out, mmap->inode);
		put64(out, mmap->inode_generation);
	}
	put_pair(out, (int32_t)mmap->protection, (int32_t)mmap->flags);
	put_text(out, mmap->path);
	put_trailer(writer, mmap->pid, mmap->tid, mmap->time, 0);
	record_write(writer, mmap->time);
}

static void write_all_held(struct perfdata_writer *writer)
{
	for (size_t i = 0; i < writer->held.count; i++)
		write_mmap(writer, &writer->held.mappings[i]);
	write_held_close(&writer->held);
}

static void note_address(struct perfdata_writer *writer, uint64_t address)
{
	struct event_mmap mmap;
	if (!write_held_note(&writer->held, address))
		return;
	while (write_held_take(&writer->held, address, &mmap))
		write_mmap(writer, &mmap);
}

/* --- the sink --- */

static int take_mmap(struct perfdata_writer *writer, const struct event_mmap *mmap)
{
	pthread_mutex_lock(&writer->lock);
	if (!write_held_put(&writer->held, mmap))
		write_mmap(writer, mmap);
	else if (write_held_is_full(&writer->held))
		write_all_held(writer);
	return unlock(writer);
}

static int take_comm(struct perfdata_writer *writer, const struct event_comm *comm)
{
	struct buf *out = record_begin(writer, PERF_RECORD_COMM, comm->exec ? MISC_COMM_EXEC : 0);
	if (comm->exec)
		write_interpreted_forget(&writer->interpreted);
	put_pair(out, comm->pid, comm->tid);
	put_text(out, comm->comm);
	return record_end_with_trailer(writer, comm->pid, comm->tid, comm->time, 0);
}

static int take_task(struct perfdata_writer *writer, uint32_t type, const struct event_task *task)
{
	struct buf *out = record_begin(writer, type, 0);
	put_pair(out, task->pid, task->parent_pid);
	put_pair(out, task->tid, task->parent_tid);
	put64(out, task->time);
	return record_end_with_trailer(writer, task->pid, task->tid, task->time, 0);
}

static int take_lost(struct perfdata_writer *writer, const struct event_lost *lost)
{
	bool samples = lost->kind == LOST_SAMPLES;
	struct buf *out = record_begin(writer, samples ? PERF_RECORD_LOST_SAMPLES : PERF_RECORD_LOST,
				       lost->kind == LOST_OTHERS ? MISC_LOST_OTHERS : 0);
	if (!samples)
		put64(out, lost->source == UINT32_MAX ? 0 : write_source_id(lost->source));
	put64(out, lost->count);
	return record_end_with_trailer(writer, -1, -1, lost->time, lost->source);
}

static int take_count(struct perfdata_writer *writer, const struct event_count *count)
{
	struct buf *out = record_begin(writer, PERF_RECORD_READ, 0);
	put_pair(out, count->pid, count->tid);
	put64(out, count->value);
	return record_end_with_trailer(writer, count->pid, count->tid, count->time, count->source);
}

static int take_ksymbol(struct perfdata_writer *writer, const struct event_ksymbol *symbol)
{
	struct buf *out = record_begin(writer, PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL);
	uint16_t flags = symbol->flags;
	if (symbol->unregister)
		flags |= PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	put64(out, symbol->address);
	put32(out, symbol->length);
	put32(out, (uint32_t)flags << 16 | symbol->type);
	put_text(out, symbol->name);
	return record_end_with_trailer(writer, -1, -1, symbol->time, 0);
}

static int take_cgroup(struct perfdata_writer *writer, const struct event_cgroup *cgroup)
{
	struct buf *out = record_begin(writer, PERF_RECORD_CGROUP, 0);
	put64(out, cgroup->id);
	put_text(out, cgroup->path ? cgroup->path : cgroup->names);
	return record_end_with_trailer(writer, -1, -1, cgroup->time, 0);
}

static int take(void *context, const struct event *event)
{
	switch (event->type) {
	case EVENT_MMAP:
		return take_mmap(context, event->mmap);
	case EVENT_COMM:
		return take_comm(context, event->comm);
	case EVENT_FORK:
		return take_task(context, PERF_RECORD_FORK, event->task);
	case EVENT_EXIT:
		return take_task(context, PERF_RECORD_EXIT, event->task);
	case EVENT_LOST:
		return take_lost(context, event->lost);
	case EVENT_COUNT:
		return take_count(context, event->count);
	case EVENT_KSYMBOL:
		return take_ksymbol(context, event->ksymbol);
	case EVENT_CGROUP:
		return take_cgroup(context, event->cgroup);
	case EVENT_SAMPLE: /* comes with its stack: perfdata_writer_stack() */
	case EVENT_SWITCH:
	case EVENT_ASLEEP:
		break;
	}
	return 0;
}

struct event_sink perfdata_writer_sink(struct perfdata_writer *writer)
{
	return (struct event_sink){.context = writer, .take = take};
}

/* --- samples --- */

static uint16_t misc_of_mode(enum event_mode mode)
{
	switch (mode) {
	case MODE_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case MODE_USER:
		return PERF_RECORD_MISC_USER;
	case MODE_HYPERVISOR:
		return PERF_RECORD_MISC_HYPERVISOR;
	case MODE_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case MODE_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	case MODE_UNKNOWN:
		break;
	}
	return PERF_RECORD_MISC_CPUMODE_UNKNOWN;
}

/* The word that says whose the following addresses are. */
static uint64_t chain_marker(enum event_mode mode, bool kernel)
{
	bool guest = mode == MODE_GUEST_KERNEL || mode == MODE_GUEST_USER;
	if (kernel)
		return (uint64_t)(guest ? PERF_CONTEXT_GUEST_KERNEL : PERF_CONTEXT_KERNEL);
	return (uint64_t)(guest ? PERF_CONTEXT_GUEST_USER : PERF_CONTEXT_USER);
}

/*
 * Readers of call chains differ in whether they look up the word as it is (perf) or one less. A byte within the call
 * and not the return address is right for both, also where a call that never returns ends its function.
 */
static uint64_t chain_word(const struct stack_frame *frame)
{
	bool whole = stack_frame_is_kernel(frame) || stack_frame_is_exact(frame) ||
		     !frame->ip; /* less than 0 would be a marker */
	return whole ? frame->ip : frame->ip - 1;
}

/* Before the first marker readers take addresses for those of user space. */
static bool needs_marker(enum event_mode mode, const struct stack_frame *frames, size_t i)
{
	bool kernel = stack_frame_is_kernel(&frames[i]);
	return i == 0 ? mode != MODE_USER || kernel : kernel != stack_frame_is_kernel(&frames[i - 1]);
}

static void put_chain(struct buf *out, enum event_mode mode, const struct stack_frame *frames, size_t count,
		      enum stack_end end)
{
	size_t words = 0, count_at = out->size;
	bool kernel = true; /* where the chain is so far */
	put64(out, 0);
	for (size_t i = 0; i < count; i++) {
		bool changes = needs_marker(mode, frames, i);
		if (words + 1 + changes > CHAIN_MAX - END_WORDS) {
			end = STACK_DEEP;
			break;
		}
		kernel = stack_frame_is_kernel(&frames[i]);
		if (changes)
			put64(out, chain_marker(mode, kernel));
		put64(out, chain_word(&frames[i]));
		words += 1 + changes;
	}
	if (end != STACK_WHOLE) {
		if (kernel)
			put64(out, chain_marker(mode, false));
		put64(out, stack_end_mark(end));
		words += 1 + kernel;
	}
	memcpy(out->data + count_at, &(uint64_t){words}, sizeof(uint64_t));
}

/* A sample with its stack. */
struct finished {
	const struct event_sample *sample;
	const struct stack_frame *frames;
	size_t count;
	enum stack_end end;
};

static void write_sample(struct perfdata_writer *writer, const struct finished *finished, uint64_t time,
			 uint64_t period)
{
	const struct event_sample *sample = finished->sample;
	struct buf *out = record_begin(writer, PERF_RECORD_SAMPLE, misc_of_mode(sample->mode));
	put_source(writer, sample->source);
	put64(out, sample->ip);
	put_pair(out, sample->pid, sample->tid);
	put64(out, time);
	if (writer->sample_type & PERF_SAMPLE_CPU)
		put_pair(out, (int32_t)sample->cpu, (int32_t)sample->gil);
	if (writer->sample_type & PERF_SAMPLE_PERIOD)
		put64(out, period ? period : 1);
	put_chain(out, sample->mode, finished->frames, finished->count, finished->end);
	if (writer->sample_type & PERF_SAMPLE_CGROUP)
		put64(out, sample->cgroup);
	record_end(writer, time);
}

/* The mappings that stand for interpreted functions. */
static void note_interpreted(struct perfdata_writer *writer, const struct finished *finished)
{
	struct event_mmap mmap;
	for (size_t i = 0; i < finished->count; i++) {
		const struct trace_frame *frame = &finished->frames[i].frame;
		if (frame->kind == TRACE_PYTHON &&
		    write_interpreted_take(&writer->interpreted, finished->sample->pid, (uint32_t)frame->address,
					   finished->sample->since, &mmap))
			write_mmap(writer, &mmap);
	}
}

void perfdata_writer_set_interpreted(struct perfdata_writer *writer, struct interpreted *functions)
{
	writer->interpreted.functions = functions;
}

static void note_stack(struct perfdata_writer *writer, const struct finished *finished)
{
	pthread_mutex_lock(&writer->lock);
	note_interpreted(writer, finished);
	if (!writer->held.closed) {
		note_address(writer, finished->sample->ip);
		for (size_t i = 0; i < finished->count; i++)
			note_address(writer, chain_word(&finished->frames[i]));
	}
	unlock(writer);
}

/* Samples that were added up become records of their own again: other tools count records. */
void perfdata_writer_stack(struct perfdata_writer *writer, const struct event_sample *sample,
			   const struct stack_frame *frames, size_t count, enum stack_end end)
{
	struct finished finished = {sample, frames, count, end};
	uint64_t samples = sample->count && !sample->sum ? sample->count : 1;
	uint64_t share = sample->period / samples, rest = sample->period % samples;
	double step = (double)(sample->time - sample->since) / (double)samples;
	note_stack(writer, &finished);
	for (uint64_t i = 0; i < samples; i++) {
		uint64_t time = i + 1 == samples ? sample->time : sample->since + (uint64_t)(step * (double)(i + 1));
		write_sample(writer, &finished, time, share + (i < rest));
	}
}

void perfdata_writer_build_id(struct perfdata_writer *writer, const char *path, bool kernel,
			      const struct build_id *build_id)
{
	pthread_mutex_lock(&writer->lock);
	write_facts_build_id(&writer->facts, path, kernel, build_id);
	pthread_mutex_unlock(&writer->lock);
}

/* At the end of a round a reader takes everything that is not younger than the end of the round before. */
void perfdata_writer_settled(struct perfdata_writer *writer, uint64_t time)
{
	const struct perf_event_header round = {.type = USER_FINISHED_ROUND, .size = sizeof round};
	pthread_mutex_lock(&writer->lock);
	if (writer->round_bytes >= ROUND_BYTES && time >= writer->round_latest) {
		write_all_held(writer); /* what comes later is too late for readers */
		flush_pack(writer);
		write_bytes(writer, &round, sizeof round);
		writer->round_latest = writer->latest;
		writer->round_bytes = 0;
	}
	pthread_mutex_unlock(&writer->lock);
}

/* --- the file --- */

static void write_beginning(struct perfdata_writer *writer)
{
	CLEANUP_BUF struct buf attrs = {0};
	struct file_header *header = &writer->header;
	memcpy(header->magic, PERFDATA_MAGIC, sizeof header->magic);
	header->size = sizeof *header;
	header->attr_size = WRITE_ATTR_SIZE + sizeof(struct file_section);
	write_facts_attrs(&writer->facts, &attrs, sizeof *header, &header->attrs);
	header->data.offset = sizeof *header + attrs.size;
	write_bytes(writer, header, sizeof *header);
	write_bytes(writer, attrs.data, attrs.size);
}

/* The only event that has samples; NULL when there are several, or none. */
static const struct event_source *only_source(const struct perfdata_writer_options *options)
{
	const struct event_source *only = NULL;
	for (size_t i = 0; i < options->source_count; i++) {
		if (attr_is_dummy(&options->sources[i].attr))
			continue;
		if (only)
			return NULL;
		only = &options->sources[i];
	}
	return only;
}

/* What is the same in all samples is not said in each. */
static uint64_t common_sample_type(const struct perfdata_writer_options *options)
{
	uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN;
	if (options->source_count > 1)
		type |= PERF_SAMPLE_IDENTIFIER;
	if (options->source_count > 1 || !options->steady_clocks || !attr_is_clock(&options->sources[0].attr))
		type |= PERF_SAMPLE_PERIOD;
	/* A number that nobody knows would be shown as one. */
	type |= PERF_SAMPLE_CGROUP;
	for (size_t i = 0; i < options->source_count; i++)
		type &= options->sources[i].attr.sample_type | ~(uint64_t)(PERF_SAMPLE_CPU | PERF_SAMPLE_CGROUP);
	return type;
}

int perfdata_writer_open(struct perfdata_writer **ret_writer, const char *path,
			 const struct perfdata_writer_options *given, struct err *err)
{
	struct perfdata_writer_options of_one = *given, *options = &of_one;
	const struct event_source *only = only_source(given);
	if (only) {
		of_one.sources = only;
		of_one.source_count = 1;
	}
	struct stat status;
	struct outfile_place usual = outfile_usual_place();
	const struct outfile_place *place = options->place ? options->place : &usual;
	/* The header is completed at the end, so there must be a way back. */
	bool is_pipe = !strcmp(path, "-") ||
		       (fstatat(place->directory, path, &status, 0) == 0 && S_ISFIFO(status.st_mode));
	if (is_pipe)
		return err_set(err, ERR_USAGE, "cannot write a recording to a pipe; use a file");
	if (!options->source_count)
		return err_set(err, ERR_USAGE, "cannot write %s: there is no event to describe", path);
	struct perfdata_writer *writer = mem_zalloc(1, sizeof *writer);
	int result = (options->keep_part ? outfile_open_part : outfile_open_at)(&writer->out, place, path, err);
	if (result < 0) {
		free(writer);
		return result;
	}
	pthread_mutex_init(&writer->lock, NULL);
	writer->sample_type = common_sample_type(options);
	write_facts_init(&writer->facts, options, writer->sample_type);
	write_held_init(&writer->held);
	writer->facts.compressed = options->compress && pack_init(&writer->pack);
	write_beginning(writer);
	*ret_writer = writer;
	return 0;
}

void perfdata_writer_flush(struct perfdata_writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	flush_pack(writer);
	writer->header.data.size = writer->size - writer->header.data.offset;
	outfile_rewrite(&writer->out, 0, &writer->header, sizeof writer->header);
	pthread_mutex_unlock(&writer->lock);
}

int perfdata_writer_failed(struct perfdata_writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	int failed = writer->out.failed.code;
	pthread_mutex_unlock(&writer->lock);
	return failed;
}

static void writer_free(struct perfdata_writer *writer)
{
	pthread_mutex_destroy(&writer->lock);
	write_facts_release(&writer->facts);
	write_held_release(&writer->held);
	write_interpreted_release(&writer->interpreted);
	buf_release(&writer->record);
	buf_release(&writer->packed);
	pack_release(&writer->pack);
	free(writer);
}

int perfdata_writer_finish(struct perfdata_writer *writer, struct err *err)
{
	CLEANUP_BUF struct buf features = {0};
	struct file_header *header = &writer->header;
	flush_pack(writer);
	header->data.size = writer->size - header->data.offset;
	write_facts_features(&writer->facts, &features, writer->size, header->features);
	write_bytes(writer, features.data, features.size);
	outfile_rewrite(&writer->out, 0, header, sizeof *header);
	int result = outfile_commit(&writer->out, err);
	writer_free(writer);
	return result;
}

void perfdata_writer_abandon(struct perfdata_writer *writer)
{
	outfile_abandon(&writer->out);
	writer_free(writer);
}
