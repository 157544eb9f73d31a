/*
 * Records that come straight from the kernel's ring buffers: decoded as those of a file are. The caller puts them in
 * order and owns their bytes.
 */
#ifndef WICK_PERFDATA_LIVE_DECODER_H
#define WICK_PERFDATA_LIVE_DECODER_H

#include "perfdata/perfdata.h"

/* A decoder without a file, for perfdata_close(); perfdata_sources() and perfdata_quality() describe it. */
struct perfdata *perfdata_live_new(void);
/* Where the records go; must stay until it is replaced. */
void perfdata_live_sink(struct perfdata *data, const struct event_sink *sink);
/* Adds an event; its number is the count before. Name and ids are copied. False when there are too many. */
bool perfdata_live_source(struct perfdata *data, const struct perf_event_attr *attr, const char *name,
			  const uint64_t *ids, size_t id_count);

/* Another id of an event. */
void perfdata_live_id(struct perfdata *data, uint32_t source, uint64_t id);

/* The time by which a record, whole and in one piece, is put in order; 0: none. */
uint64_t perfdata_live_time(struct perfdata *data, const struct perf_event_header *record);
/* Decodes a record, in one piece and 8-byte aligned, and gives it to the sink. Returns what that said. */
int perfdata_live_deliver(struct perfdata *data, const struct perf_event_header *record);
/* Delivers the samples that still wait for something. */
int perfdata_live_finish(struct perfdata *data);

#endif
