/* Decodes records of the rings with the decoder of files. */
#include "perfdata/live_decoder.h"

#include "perfdata/reader.h"

struct perfdata *perfdata_live_new(void)
{
	struct perfdata *data = mem_zalloc(1, sizeof *data);
	data->name = mem_strdup("");
	data->arch = "";
	sources_init(&data->sources, &data->arena);
	return data;
}

void perfdata_live_sink(struct perfdata *data, const struct event_sink *sink)
{
	data->sink = sink;
}

bool perfdata_live_source(struct perfdata *data, const struct perf_event_attr *attr, const char *name,
			  const uint64_t *ids, size_t id_count)
{
	if (!sources_add(&data->sources, attr, sizeof *attr, ids, id_count))
		return false;
	sources_name(&data->sources, (uint32_t)data->sources.count - 1, name, strlen(name));
	return true;
}

void perfdata_live_id(struct perfdata *data, uint32_t source, uint64_t id)
{
	sources_learn_id(&data->sources, source, id);
}

uint64_t perfdata_live_time(struct perfdata *data, const struct perf_event_header *record)
{
	return records_time(data, record, (const uint8_t *)record);
}

int perfdata_live_deliver(struct perfdata *data, const struct perf_event_header *record)
{
	data->quality.records++;
	return records_deliver(data, &(struct record){
					     .header = *record,
					     .body = (const uint64_t *)(record + 1),
					     .words = (record->size - sizeof *record) / 8,
					     .odd = record->size % 8,
				     });
}

int perfdata_live_finish(struct perfdata *data)
{
	return deferred_flush(data, -1);
}
