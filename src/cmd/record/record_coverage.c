/* What to say where samples stand for less than the CPU time of the target, or there are none. */
#include "cmd/record/record.h"

#include <math.h>

#define CHANCE 3 /* standard errors */
#define MISSED_MAX 0.1 /* of the CPU time, by events on threads: half a period of each thread that ends */
#define RATE_MIN 999
#define RATE_MAX 50000
#define FEW_CHANCES 10 /* a second has to be so many times longer than the recording to call it short */
#define ENOUGH_SAMPLES 100

/* Seconds of CPU time. */
static double coverage_used(const struct record_coverage *coverage)
{
	return (double)coverage->extent.cpu_time / RECORD_SECOND;
}

/* Each thread begins a period of its own, and what it computes after its last sample is missed. */
static bool misses_threads(const struct record_run *run, const struct record_coverage *coverage)
{
	double period = coverage_used(coverage) / coverage->due;
	return !run->events.items[0].by_cpu &&
	       (double)run->result.ended_threads * period / 2 >= MISSED_MAX * coverage_used(coverage);
}

bool record_coverage_is_low(const struct record_run *run, const struct record_coverage *coverage)
{
	if (coverage->due <= 0)
		return false;
	bool kernel = coverage->extent.user_only && !misses_threads(run, coverage);
	double min = extent_coverage_min(kernel) * coverage->due;
	return (double)run->result.last.samples < min - CHANCE * sqrt(min);
}

/* Two digits are enough. */
static long long round_up(double rate)
{
	long long unit = 1;
	while (rate / (double)unit > 99)
		unit *= 10;
	return (long long)ceil(rate / (double)unit) * unit;
}

long long record_coverage_rate(const struct record_run *run, const struct record_coverage *coverage)
{
	/* So that half of a period of each thread is a twentieth of the time. */
	double rate = coverage_used(coverage) > 0 ? 10 * (double)run->result.ended_threads / coverage_used(coverage) :
						    0;
	rate = rate < RATE_MIN ? RATE_MIN : rate > RATE_MAX ? RATE_MAX : rate;
	long long doubled = 2 * (long long)run->options.capture.frequency;
	return rate > (double)doubled ? round_up(rate) : doubled;
}

static void add_time(struct buf *out, double seconds)
{
	if (seconds < 0.1)
		buf_printf(out, "%.2g ms", seconds * 1e3);
	else
		buf_printf(out, "%.2f s", seconds);
}

/* It ran, for too short a time, or in threads of which each did. */
static void explain_clock(const struct record_run *run, const struct record_coverage *coverage, struct buf *out)
{
	buf_str(out, "used ");
	add_time(out, coverage_used(coverage));
	buf_str(out, " of CPU time");
	if (coverage->due >= 1 && misses_threads(run, coverage)) {
		buf_printf(out, " in threads shorter than a sampling period; run with sudo, or use -F %lld",
			   record_coverage_rate(run, coverage));
		return;
	}
	double rate = ENOUGH_SAMPLES / coverage_used(coverage);
	buf_printf(out, ", too little for %llu Hz", (unsigned long long)run->options.capture.frequency);
	if (coverage->extent.user_only)
		buf_str(out, " in user space");
	buf_printf(out, "; use -F %lld", rate < RATE_MIN ? RATE_MIN : rate > 9999 ? 9999 : round_up(rate));
}

void record_explain_no_samples(const struct record_run *run, struct buf *out)
{
	double elapsed = (double)run->result.last.elapsed / RECORD_SECOND;
	bool too_short = !run->options.capture.period && elapsed * FEW_CHANCES < 1;
	bool known = run->result.cpu_time != RECORDER_TIME_UNKNOWN;
	struct record_coverage coverage;
	bool clock = record_coverage(run, &coverage);
	if (!(run->needs & TYPE_CLOCK_KEPT)) {
		buf_str(out, "had no events of this profile type");
	} else if (known && !run->result.cpu_time) {
		buf_str(out, "did not run on a CPU; use -t offcpu or wall to see where it waits");
	} else if (too_short && run->result.end == RECORDER_TARGET_ENDED && !(clock && coverage.due >= 1)) {
		buf_printf(out, "ended too early for %llu Hz; use -F 9999",
			   (unsigned long long)run->options.capture.frequency);
	} else if (clock) {
		explain_clock(run, &coverage, out);
	} else if (known) {
		buf_str(out, "used ");
		add_time(out, (double)run->result.cpu_time / RECORD_SECOND);
		buf_str(out, " of CPU time, in which the event did not occur often enough; use a smaller period (-c)");
	} else if (run->options.capture.cpus) {
		buf_str(out, "was not sampled there; omit --cpu, or use a higher frequency (-F)");
	} else {
		buf_str(out, "was not sampled on a CPU; use a higher frequency (-F), or -t offcpu or wall to see where "
			     "it waits");
	}
}
