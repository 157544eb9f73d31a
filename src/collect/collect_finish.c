/* The end of a collector: its traces become a profile, with advice on what is missing in it. */
#include "base/parallel.h"
#include "collect/advice.h"
#include "collect/collector.h"
#include "symbolize/symbolize.h"

static void find_broken(struct collector *collector, struct advice_broken *broken)
{
	size_t modules = collector->modules.count;
	uint64_t *amounts CLEANUP_FREE = mem_zalloc(modules + 1, sizeof *amounts);
	for (unsigned i = 0; i < collector->worker_count; i++) {
		const struct tally *tally = &collector->workers[i].tally;
		for (size_t k = 0; k <= modules && k < tally->broken_capacity; k++)
			amounts[k] += tally->broken[k];
	}
	advice_find_broken(broken, &collector->codes, amounts);
}

static void advise(struct collector *collector, struct profile *profile)
{
	struct advice_facts facts = {.by_wick = collector->options.live || collector->options.by_wick,
				     .by_engine = collector->options.engine};
	for (unsigned i = 0; i < collector->worker_count; i++)
		facts.by_wick |= collector->workers[i].maker.marked;
	for (int k = 0; k < STACK_ENDS; k++)
		facts.ends[k] = collector_ends(collector, k);
	for (size_t i = 0; i < collector->source_count; i++) {
		const struct source_facts *source = &collector->sources[i];
		facts.stack_bytes = source->stack_bytes > facts.stack_bytes ? source->stack_bytes : facts.stack_bytes;
		facts.each |= source->each;
		facts.frequency = source->frequency > facts.frequency ? source->frequency : facts.frequency;
	}
	find_broken(collector, &facts.broken);
	struct buf text CLEANUP_BUF = {0}, lost CLEANUP_BUF = {0}, names CLEANUP_BUF = {0}, records CLEANUP_BUF = {0};
	advice_on_names(&names, &collector->codes, profile);
	if (names.size)
		profile->quality.names_advice = profile_string(profile, names.data, names.size);
	advice_on_lost(&lost, &facts);
	advice_on_lost_records(&records, &facts);
	advice_on_truncated(&text, &facts);
	if (text.size)
		profile->quality.truncated_advice = profile_string(profile, text.data, text.size);
	if (collector->lost)
		profile->quality.lost_advice = profile_string(profile, lost.data, lost.size);
	if (collector->lost_records)
		profile->quality.lost_records_advice = profile_string(profile, records.data, records.size);
}

static bool has_kernel_frames(const struct trace *trace)
{
	for (size_t i = 0; i < trace->frame_count; i++)
		if (trace->frames[i].kind == TRACE_KERNEL)
			return true;
	return false;
}

static void *open_kernel(void *codes)
{
	module_store_open_kernel(codes);
	return NULL;
}

/* The sums take one core: on another one kernel symbols are read meanwhile, which takes the longest of all files. */
static bool start_kernel(struct collector *collector, pthread_t *ret_thread)
{
	return collector->worker_count > 1 && has_kernel_frames(&collector->workers[0].tally.trace) &&
	       pthread_create(ret_thread, NULL, open_kernel, &collector->codes) == 0;
}

static void add_extent(const struct collector *collector, struct profile *profile)
{
	struct extent extent = measure_extent(&collector->measure);
	extent.threads = processes_recorded(&collector->processes, &extent.processes);
	extent_add(&profile->extent, &extent);
}

void collector_finish(struct collector *collector, struct profile *profile)
{
	collector_stop(collector);
	if (!collector_makes_profile(&collector->options))
		return;
	pthread_t thread;
	bool started = start_kernel(collector, &thread);
	struct trace **traces CLEANUP_FREE = mem_alloc(collector->worker_count * sizeof *traces);
	for (unsigned i = 0; i < collector->worker_count; i++)
		traces[i] = &collector->workers[i].tally.trace;
	if (collector->options.followed || collector->options.live)
		module_store_reread_maps(&collector->codes);
	struct symbolize_options options = {
		.threads = collector->options.threads ? collector->options.threads : parallel_cores(),
		.keep_lines = collector->options.keep_lines,
		.keep_names = collector->options.live && collector->options.symbols.inlines,
		.addresses = collector->options.addresses,
		.filter = collector->options.filter.profile,
	};
	symbolize_traces(profile, traces, collector->worker_count, &collector->codes, &options);
	if (started)
		pthread_join(thread, NULL);
	profile->quality.lost += collector->lost;
	profile->quality.lost_records += collector->lost_records;
	profile->quality.overflows += collector->overflows;
	add_extent(collector, profile);
	advise(collector, profile);
}
