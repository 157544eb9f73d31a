/*
 * usage: perfdata_finish IN OUT [compress]
 *
 * Turns a recording with stack copies into one with finished call chains, through the collector and the writer: what a
 * live recording does. Prints the bytes of both.
 */
#include "collect/collect.h"
#include "event/tee.h"
#include "perfdata/perfdata.h"
#include "perfdata/write.h"

#include <stdio.h>
#include <sys/stat.h>

struct conversion {
	struct perfdata *data;
	struct perfdata_writer *writer;
	bool compress;
};

static const struct event_source *give_sources(void *context, size_t *ret_count)
{
	return perfdata_sources(((struct conversion *)context)->data, ret_count);
}

static void take_stack(void *context, const struct batch_sample *sample, const struct stack_frame *frames, size_t count,
		       enum stack_end end)
{
	struct conversion *conversion = context;
	perfdata_writer_stack(conversion->writer, &sample->event, frames, count, end);
	/* Stacks come in the order of time here, and other records before them. */
	perfdata_writer_settled(conversion->writer, sample->event.time);
}

static const char *fact(struct perfdata *data, const char *name)
{
	size_t count;
	const struct perfdata_fact *facts = perfdata_facts(data, &count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(facts[i].name, name))
			return facts[i].text;
	return NULL;
}

static int open_writer(struct conversion *conversion, const char *path, struct err *err)
{
	struct perfdata *data = conversion->data;
	const char *cpus = fact(data, "nrcpus online"), *command = fact(data, "cmdline");
	char *const line[] = {(char *)command, NULL};
	struct perfdata_writer_options options = {
		.hostname = fact(data, "hostname"),
		.release = fact(data, "os release"),
		.machine = fact(data, "arch"),
		.cpus = cpus ? (unsigned)atoi(cpus) : 0,
		.command = command ? line : NULL,
		.compress = conversion->compress,
	};
	options.sources = perfdata_sources(data, &options.source_count);
	return perfdata_writer_open(&conversion->writer, path, &options, err);
}

static int convert(struct conversion *conversion, struct err *err)
{
	struct collect_options options = {.each = take_stack, .each_context = conversion, .symbols = {.root = ""}};
	struct collector *collector = collector_new(&options);
	struct collect_reader reader = {.context = conversion, .sources = give_sources};
	struct event_tee tee = {perfdata_writer_sink(conversion->writer), collector_sink(collector)};
	struct event_sink sink = event_tee_sink(&tee);
	size_t count;
	const struct perfdata_build_id *ids = perfdata_build_ids(conversion->data, &count);
	for (size_t i = 0; i < count; i++) {
		bool kernel = (ids[i].misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
		collector_build_id(collector, ids[i].path, &ids[i].build_id);
		perfdata_writer_build_id(conversion->writer, ids[i].path, kernel, &ids[i].build_id);
	}
	collector_set_reader(collector, &reader);
	int result = perfdata_read(conversion->data, &sink, err);
	collector_finish(collector, NULL);
	collector_free(collector);
	return result;
}

int main(int argc, char **argv)
{
	struct conversion conversion = {.compress = argc == 4};
	struct err err = {0};
	struct stat before, after;
	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: perfdata_finish IN OUT [compress]\n");
		return 2;
	}
	int result = perfdata_open(&conversion.data, argv[1], &err);
	if (!result)
		result = open_writer(&conversion, argv[2], &err);
	if (!result) {
		result = convert(&conversion, &err);
		if (!result)
			result = perfdata_writer_finish(conversion.writer, &err);
		else
			perfdata_writer_abandon(conversion.writer);
	}
	if (conversion.data)
		perfdata_close(conversion.data);
	if (result) {
		fprintf(stderr, "perfdata_finish: %s\n", err_text(&err));
		return 1;
	}
	if (stat(argv[1], &before) == 0 && stat(argv[2], &after) == 0)
		printf("%lld bytes to %lld\n", (long long)before.st_size, (long long)after.st_size);
	return 0;
}
