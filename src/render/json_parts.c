/* What several JSON outputs have. */
#include "render/json_parts.h"

static void json_seconds(struct json *json, const char *name, uint64_t nanoseconds)
{
	buf_printf(json_value(json, name), "%.9f", (double)nanoseconds / 1e9);
}

/* What limited the cgroup that was recorded. */
static void json_cgroup(struct json *json, const struct extent *extent)
{
	if (!extent->watched) {
		json_null(json, "cgroup");
		return;
	}
	json_object(json, "cgroup", &json_inline);
	if (extent->cpu_limit > 0)
		json_number(json, "cpu_limit", extent->cpu_limit, 3);
	else
		json_null(json, "cpu_limit");
	json_uint(json, "periods", extent->periods);
	json_uint(json, "throttled_periods", extent->throttled_periods);
	json_seconds(json, "throttled", extent->throttled);
	json_seconds(json, "pressure", extent->pressure);
	json_seconds(json, "stolen", extent->stolen);
	json_seconds(json, "time", extent->watched);
	json_end(json);
}

void json_extent(struct json *json, const char *name, const struct extent *extent)
{
	const struct {
		const char *name;
		uint64_t value;
		bool time;
	} numbers[] = {
		{"duration", extent->duration, true}, {"cpu_time", extent->cpu_time, true},
		{"sampled", extent->sampled, true},   {"processes", extent->processes, false},
		{"threads", extent->threads, false},
	};
	json_object(json, name, &json_inline);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		if (!numbers[i].value)
			json_null(json, numbers[i].name);
		else if (numbers[i].time)
			json_seconds(json, numbers[i].name, numbers[i].value);
		else
			json_uint(json, numbers[i].name, numbers[i].value);
	}
	json_cgroup(json, extent);
	json_end(json);
}

void json_quality(struct json *json, const char *name, const struct profile *profile)
{
	const struct quality *quality = &profile->quality;
	const struct {
		const char *name;
		uint64_t count;
	} counters[] = {
		{"samples", quality->samples},     {"stacks", quality->stacks},
		{"lost", quality->lost},           {"lost_records", quality->lost_records},
		{"truncated", quality->truncated}, {"unresolved", quality->unresolved},
		{"derived", quality->derived},     {"late", quality->late},
		{"bad_lines", quality->bad_lines}, {"cut_stacks", quality->cut_stacks},
		{"overflows", quality->overflows}, {"filtered", quality->filtered},
	};
	json_object(json, name, &json_inline);
	for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
		json_uint(json, counters[i].name, counters[i].count);
	json_array(json, "modules", &json_inline);
	for (size_t i = 0; i < quality->module_count; i++) {
		json_object(json, NULL, &json_inline);
		json_known(json, "module", profile_text(profile, quality->modules[i].module));
		json_uint(json, "unresolved_frames", quality->modules[i].frames);
		if (quality->modules[i].advice)
			json_string(json, "advice", profile_text(profile, quality->modules[i].advice));
		json_end(json);
	}
	json_end(json);
	if (quality->truncated && quality->truncated_advice)
		json_string(json, "truncated_advice", profile_text(profile, quality->truncated_advice));
	struct buf line CLEANUP_BUF = {0};
	quality_line(quality, &profile->strings, &line);
	json_bytes(json, "text", line.data ? line.data : "", line.size);
	json_end(json);
}
