/* Writes duration, threads and CPU time of a recording as text. */
#include "profile/extent.h"

#include "base/text.h"

#define SECOND 1e9
#define COVERAGE_MIN 0.9 /* of the CPU time; less is a warning */
#define COVERAGE_USER_MIN 0.5 /* where the kernel's part is not sampled */
#define DUE_MIN 400 /* samples, of which three standard errors are 15 % at most */
#define MENTIONED_MIN 0.01 /* of the time */
#define RATE_MIN 100 /* samples from which the CPUs used are estimated if the CPU time is not known */

void extent_add(struct extent *extent, const struct extent *from)
{
	extent->duration += from->duration;
	extent->processes += from->processes;
	extent->threads += from->threads;
	extent->cpu_time += from->cpu_time;
	extent->sampled += from->sampled;
	extent->samples += from->samples;
	extent->user_only |= from->user_only;
	extent->cpu_limit = from->cpu_limit > extent->cpu_limit ? from->cpu_limit : extent->cpu_limit;
	extent->watched += from->watched;
	extent->periods += from->periods;
	extent->throttled_periods += from->throttled_periods;
	extent->throttled += from->throttled;
	extent->pressure += from->pressure;
	extent->stolen += from->stolen;
}

static void separate(struct buf *out)
{
	if (out->size)
		buf_str(out, ", ");
}

void extent_time_text(const struct extent *extent, struct buf *out)
{
	struct buf text CLEANUP_BUF = {0};
	uint64_t used = extent->cpu_time;
	if (!used && extent->samples >= RATE_MIN && !extent->user_only)
		used = extent->sampled;
	if (extent->duration)
		buf_printf(&text, "%.2f s", (double)extent->duration / SECOND);
	if (extent->duration && used) {
		separate(&text);
		buf_printf(&text, "%.2f CPUs used", (double)used / (double)extent->duration);
	}
	if (extent->processes) {
		separate(&text);
		text_count(&text, extent->processes, "process", "processes");
	}
	if (extent->threads) {
		separate(&text);
		text_count(&text, extent->threads, "thread", "threads");
	}
	buf_add(out, text.data ? text.data : "", text.size);
}

double extent_coverage(const struct extent *extent)
{
	return (double)extent->sampled / (double)extent->cpu_time;
}

double extent_coverage_min(bool user_only)
{
	return user_only ? COVERAGE_USER_MIN : COVERAGE_MIN;
}

void extent_cpu_text(const struct extent *extent, struct buf *out)
{
	if (extent->cpu_time)
		buf_printf(out, "CPU time %.2f s, sampled %.2f s%s (%.0f %%)", (double)extent->cpu_time / SECOND,
			   (double)extent->sampled / SECOND, extent->user_only ? " in user space" : "",
			   100 * extent_coverage(extent));
}

/* Throttled time of several CPUs is added up, and may be longer than the recording. */
static void add_throttled(const struct extent *extent, double watched, struct buf *out)
{
	double share = (double)extent->throttled / watched;
	if (!extent->throttled_periods || extent->cpu_limit <= 0)
		return;
	if (share >= MENTIONED_MIN && share <= 1)
		buf_printf(out, "throttled %.0f %% of the time", 100 * share);
	else
		buf_printf(out, "throttled in %.0f %% of the periods",
			   100 * (double)extent->throttled_periods /
				   (double)(extent->periods ? extent->periods : extent->throttled_periods));
	buf_printf(out, " by its CPU limit of %g CPUs", extent->cpu_limit);
}

static void add_share(struct buf *out, const char *what, uint64_t part, double watched)
{
	if ((double)part < MENTIONED_MIN * watched)
		return;
	separate(out);
	buf_printf(out, "%s %.0f %% of the time", what, 100 * (double)part / watched);
}

void extent_limits_text(const struct extent *extent, struct buf *out)
{
	struct buf text CLEANUP_BUF = {0};
	double watched = (double)extent->watched;
	if (!extent->watched)
		return;
	add_throttled(extent, watched, &text);
	add_share(&text, "waited for a CPU", extent->pressure, watched);
	add_share(&text, "the host used the CPUs", extent->stolen, watched);
	buf_add(out, text.data ? text.data : "", text.size);
}

void extent_line(const struct extent *extent, struct buf *out)
{
	static void (*const parts[])(const struct extent *, struct buf *) = {extent_time_text, extent_cpu_text,
									     extent_limits_text};
	struct buf line CLEANUP_BUF = {0};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		struct buf part CLEANUP_BUF = {0};
		parts[i](extent, &part);
		if (part.size)
			buf_printf(&line, "%s%s", line.size ? " · " : "", part.data);
	}
	buf_add(out, line.data ? line.data : "", line.size);
}

bool extent_misses_time(const struct extent *extent)
{
	if (!extent->cpu_time || !extent->sampled || extent_coverage(extent) >= extent_coverage_min(extent->user_only))
		return false;
	double period = (double)extent->sampled / (double)extent->samples;
	return (double)extent->cpu_time / period >= DUE_MIN;
}

void extent_advice(const struct extent *extent, struct buf *out)
{
	if (!extent_misses_time(extent))
		return;
	buf_printf(
		out,
		"the samples cover %.0f %% of the CPU time: %sthreads shorter than a sampling period are not sampled; "
		"record with %sa higher frequency (-F)",
		100 * extent_coverage(extent), extent->user_only ? "kernel code and " : "",
		extent->user_only ? "sudo, or with " : "");
}
