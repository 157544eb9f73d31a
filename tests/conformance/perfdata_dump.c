/*
 * usage: perfdata_dump [-q] FILE
 *
 * Prints the records of a perf.data as wick decodes them, one line each, in the order of delivery: to be compared with
 * what `perf script -D` and its --show-…-events print. With -q only counts, to measure.
 */
#include "perfdata/perfdata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dump {
	struct perfdata *data;
	bool quiet;
	uint64_t samples, others, lost, period, chain, stack, sum;
};

static void print_registers(const char *what, const struct event_registers *registers)
{
	if (!registers->abi)
		return;
	printf(" %s %" PRIx64, what, registers->mask);
	for (int i = 0; i < __builtin_popcountll(registers->mask); i++)
		printf(" %" PRIx64, registers->values[i]);
}

static void on_sample(struct dump *dump, const struct event_sample *sample)
{
	dump->samples++;
	dump->period += sample->period;
	dump->chain += sample->chain_count;
	dump->stack += sample->stack_size;
	for (size_t i = 0; i < sample->chain_count; i++)
		dump->sum += sample->chain[i];
	if (dump->quiet) {
		/* Touch what a consumer would. */
		for (size_t i = 0; i + 8 <= sample->stack_size; i += 64)
			dump->sum += sample->stack[i];
		return;
	}
	size_t count;
	const struct event_source *sources = perfdata_sources(dump->data, &count);
	printf("sample %" PRIu64 " %d/%d %" PRIx64 " %" PRIu64 " %s addr %" PRIx64 " mode %d chain", sample->time,
	       sample->pid, sample->tid, sample->ip, sample->period, sources[sample->source].name, sample->address,
	       sample->mode);
	for (size_t i = 0; i < sample->chain_count; i++)
		printf(" %" PRIx64, sample->chain[i]);
	print_registers("user", &sample->user);
	print_registers("intr", &sample->interrupt);
	if (sample->stack_size)
		printf(" stack %zu", sample->stack_size);
	printf("\n  cpu %d exact %d weight %" PRIu64 "/%u/%u src %" PRIx64 " txn %" PRIx64 " phys %" PRIx64
	       " cgroup %" PRIu64 " pages %" PRIu64 "/%" PRIu64 " raw %zu branches %zu",
	       (int)sample->cpu, sample->exact_ip, sample->weight, sample->instruction_latency, sample->retire_latency,
	       sample->data_source, sample->transaction, sample->physical_address, sample->cgroup,
	       sample->data_page_size, sample->code_page_size, sample->raw_size, sample->branch_count);
	putchar('\n');
}

static void on_mmap(struct dump *dump, const struct event_mmap *mmap)
{
	dump->others++;
	if (dump->quiet)
		return;
	printf("mmap %" PRIu64 " %d/%d %" PRIx64 "(%" PRIx64 ") @ %" PRIx64 " ", mmap->time, mmap->pid, mmap->tid,
	       mmap->start, mmap->length, mmap->offset);
	for (unsigned i = 0; i < mmap->build_id.size; i++)
		printf("%02x", mmap->build_id.bytes[i]);
	if (!mmap->build_id.size)
		printf("%02x:%02x %" PRIu64 " %" PRIu64, mmap->major, mmap->minor, mmap->inode, mmap->inode_generation);
	printf(" %u %s\n", mmap->protection, mmap->path);
}

static void on_comm(struct dump *dump, const struct event_comm *comm)
{
	dump->others++;
	if (!dump->quiet)
		printf("comm %" PRIu64 " %s%s:%d/%d\n", comm->time, comm->exec ? "exec " : "", comm->comm, comm->pid,
		       comm->tid);
}

static void print_task(struct dump *dump, const char *what, const struct event_task *task)
{
	dump->others++;
	if (!dump->quiet)
		printf("%s %" PRIu64 " (%d:%d):(%d:%d)\n", what, task->time, task->pid, task->tid, task->parent_pid,
		       task->parent_tid);
}

static void on_lost(struct dump *dump, const struct event_lost *lost)
{
	dump->lost += lost->count;
	if (!dump->quiet)
		printf("lost %" PRIu64 " %" PRIu64 "\n", lost->time, lost->count);
}

static void on_ksymbol(struct dump *dump, const struct event_ksymbol *symbol)
{
	dump->others++;
	if (!dump->quiet)
		printf("ksymbol %" PRIu64 " %" PRIx64 " %x %u %x %s\n", symbol->time, symbol->address, symbol->length,
		       symbol->type, symbol->flags, symbol->name);
}

static void on_cgroup(struct dump *dump, const struct event_cgroup *cgroup)
{
	dump->others++;
	if (!dump->quiet)
		printf("cgroup %" PRIu64 " %" PRIu64 " %s\n", cgroup->time, cgroup->id,
		       cgroup->path ? cgroup->path : cgroup->names);
}

static void on_switch(struct dump *dump, const struct event_switch *change)
{
	dump->others++;
	if (!dump->quiet)
		printf("switch %" PRIu64 " %s%s %d/%d\n  of %d/%d on %d\n", change->time, change->out ? "OUT" : "IN",
		       change->preempted ? " preempt" : "", change->other_pid, change->other_tid, change->pid,
		       change->tid, (int)change->cpu);
}

static int on_event(void *context, const struct event *event)
{
	struct dump *dump = context;
	switch (event->type) {
	case EVENT_SAMPLE:
		on_sample(dump, event->sample);
		break;
	case EVENT_MMAP:
		on_mmap(dump, event->mmap);
		break;
	case EVENT_COMM:
		on_comm(dump, event->comm);
		break;
	case EVENT_FORK:
		print_task(dump, "fork", event->task);
		break;
	case EVENT_EXIT:
		print_task(dump, "exit", event->task);
		break;
	case EVENT_LOST:
		on_lost(dump, event->lost);
		break;
	case EVENT_KSYMBOL:
		on_ksymbol(dump, event->ksymbol);
		break;
	case EVENT_CGROUP:
		on_cgroup(dump, event->cgroup);
		break;
	case EVENT_SWITCH:
		on_switch(dump, event->change);
		break;
	case EVENT_COUNT:
	case EVENT_ASLEEP:
		break;
	}
	return 0;
}

static void print_header(const struct perfdata *data)
{
	size_t count;
	const struct perfdata_fact *facts = perfdata_facts(data, &count);
	for (size_t i = 0; i < count; i++)
		printf("# %s: %s\n", facts[i].name, facts[i].text);
	const struct event_source *sources = perfdata_sources(data, &count);
	for (size_t i = 0; i < count; i++)
		printf("# event %s: type %u config 0x%llx sample_type 0x%llx, %zu ids\n", sources[i].name,
		       sources[i].attr.type, sources[i].attr.config, sources[i].attr.sample_type, sources[i].id_count);
	const struct perfdata_build_id *ids = perfdata_build_ids(data, &count);
	for (size_t i = 0; i < count; i++) {
		printf("# build-id ");
		for (unsigned j = 0; j < ids[i].build_id.size; j++)
			printf("%02x", ids[i].build_id.bytes[j]);
		printf(" %s\n", ids[i].path);
	}
}

int main(int argc, char **argv)
{
	struct dump dump = {.quiet = argc > 2 && strcmp(argv[1], "-q") == 0};
	struct event_sink sink = {.context = &dump, .take = on_event};
	struct err err = {0};
	if (argc < 2 || perfdata_open(&dump.data, argv[argc - 1], &err) < 0) {
		fprintf(stderr, "%s\n", argc < 2 ? "usage: perfdata_dump [-q] FILE" : err_text(&err));
		return 1;
	}
	int result = perfdata_read(dump.data, &sink, &err);
	if (result < 0)
		fprintf(stderr, "%s\n", err_text(&err));
	if (!dump.quiet)
		print_header(dump.data);
	const struct perfdata_quality *quality = perfdata_quality(dump.data);
	printf("# %" PRIu64 " samples, period %" PRIu64 ", %" PRIu64 " chain entries, %" PRIu64 " stack bytes, %" PRIu64
	       " others, %" PRIu64 " lost, checksum %" PRIx64 "\n",
	       dump.samples, dump.period, dump.chain, dump.stack, dump.others, dump.lost, dump.sum);
	printf("# %" PRIu64 " records, %" PRIu64 " unknown, %" PRIu64 " malformed, %" PRIu64 " aux, %" PRIu64
	       " unknown ids, %" PRIu64 " out of order, %" PRIu64 " deferred missing, cut %d at %" PRIu64 "\n",
	       quality->records, quality->unknown_records, quality->malformed, quality->aux_records,
	       quality->unknown_ids, quality->out_of_order, quality->deferred_missing, quality->cut_off,
	       quality->cut_at);
	perfdata_close(dump.data);
	return result < 0;
}
