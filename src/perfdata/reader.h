/* What the files of this folder share: the open perf.data and the parts that read it. Private to src/perfdata/. */
#ifndef WICK_PERFDATA_READER_H
#define WICK_PERFDATA_READER_H

#include "event/order.h"
#include "perfdata/format.h"
#include "perfdata/perfdata.h"
#include "perfdata/sources.h"
#include "perfdata/unpack.h"
#include "perfdata/window.h"

/* One file of records, or the pipe. A folder written by several threads has many. */
struct stream {
	int fd;
	bool seekable;
	bool ended; /* nothing more to read from fd */
	bool finished; /* nothing more to expect, or nothing that makes sense */
	uint64_t start, position; /* of the first and the next record */
	uint64_t limit; /* offset behind the last record; UINT64_MAX: where the file ends */
	struct window window; /* the bytes as they lie in the file */
	struct unpack unpack;
	struct window plain; /* what its compressed records hold */
	uint64_t plain_position;
	bool has_plain;
	uint64_t last_time; /* of its last record that has one */
	uint64_t batch_time, earlier_batch_time; /* largest times of all batches, and of all but the last */
};

/* A record in one piece, 8-byte aligned. */
struct record {
	struct perf_event_header header;
	const uint64_t *body; /* behind the header */
	size_t words; /* whole words in it */
	size_t odd; /* bytes after them: fewer than 8 */
	bool lasting; /* the bytes stay until perfdata_close() */
};

struct pmu {
	uint32_t type;
	const char *name;
};

/* The counter value that the last sample of an event had (PERF_SAMPLE_READ), by event id and thread. */
struct read_state {
	uint64_t id, value;
	int32_t tid;
};

/* A sample that waits for the user part of its call chain. */
struct held_sample {
	uint64_t cookie;
	int32_t tid;
	uint64_t *bytes; /* header and body */
	size_t size;
};

struct perfdata {
	char *name; /* for messages */
	struct arena arena;
	struct sources sources;
	struct pmu *pmus;
	size_t pmu_count, pmu_capacity;
	struct perfdata_fact *facts;
	size_t fact_count, fact_capacity;
	struct perfdata_build_id *build_ids;
	size_t build_id_count, build_id_capacity;
	const char *arch;
	struct perfdata_quality quality;
	bool pipe_mode;

	struct stream *streams;
	size_t stream_count;
	uint64_t total_bytes;

	struct order order;
	bool seen_round;
	uint64_t largest_time; /* of what was added to the order */
	uint64_t round_limit; /* largest time when the last round ended */
	uint64_t delivered_time; /* largest time of what the sink got */
	size_t left_waiting; /* after the last flush */
	struct event_lost lost; /* what LOST records counted and no LOST_SAMPLES record counted again */

	const struct event_sink *sink;
	uint64_t *scratch; /* RECORD_SIZE_MAX bytes, for records that are not in one piece or not aligned */
	uint64_t *peek_scratch; /* the same for the record that is just read: reading it may deliver others */
	uint64_t *realigned; /* the same for what follows a stack of odd size; allocated when there is one */
	uint8_t *packed_scratch; /* the same for a compressed record, while the records in it are read */

	struct read_state *reads;
	size_t read_count, read_capacity;
	struct index_map reads_by_id;
	struct held_sample *held;
	size_t held_count, held_capacity, held_bytes;
	uint64_t *chain; /* a merged call chain */
	size_t chain_capacity;
};

/* open.c: adds the fact; the text is copied. */
void perfdata_add_fact(struct perfdata *data, const char *name, const char *text, size_t length);
void perfdata_add_build_id(struct perfdata *data, const uint8_t *record, size_t size);
/* Gives the events from `first` on that have no name of their own one made of their attributes. */
void perfdata_name_sources(struct perfdata *data, size_t first);
/* The file makes no sense from here on, or is not there. */
void perfdata_cut(struct perfdata *data, uint64_t offset);

/* features.c: takes one feature section or pipe record. What it does not understand it leaves. */
void features_take(struct perfdata *data, unsigned feature, const uint8_t *bytes, size_t size);
/* True when features_take() makes use of it: the others need not be read. */
bool features_wanted(unsigned feature);

/* records.c: gives one record to the sink. Returns what the sink said. */
int records_deliver(struct perfdata *data, const struct record *record);
/* What is known only when all records have been delivered. */
int records_finish(struct perfdata *data);
/* The time by which a record is put in order; 0: none. `record` need not be aligned. */
uint64_t records_time(struct perfdata *data, const struct perf_event_header *header, const uint8_t *record);

/* The fields that sample_id_all adds to the end of a record. */
struct trailer {
	int32_t pid, tid;
	uint64_t time, id, stream_id;
	uint32_t cpu, source;
};
/* Also takes the trailer off the record. */
struct trailer records_trailer(struct perfdata *data, struct record *record);

/* sample.c */
int sample_deliver(struct perfdata *data, const struct record *record);

/* deferred.c */
/* Takes a copy of a sample whose chain ends in CONTEXT_USER_DEFERRED. May deliver older ones to stay within bounds. */
int deferred_hold(struct perfdata *data, const struct record *record, const struct event_sample *sample);
/* Delivers the samples that waited for this chain (a CALLCHAIN_DEFERRED record). */
int deferred_chain(struct perfdata *data, const struct record *record);
/* Delivers all samples that still wait, or those of one thread (tid -1: all), without the chain that did not come. */
int deferred_flush(struct perfdata *data, int32_t tid);
/* sample.c, for deferred.c: delivers a held sample with these entries in place of the marker and the cookie. */
int sample_deliver_held(struct perfdata *data, const struct held_sample *held, const uint64_t *user, size_t user_count);

/* stream.c */
void stream_init(struct stream *stream, int fd, bool seekable, uint64_t start, uint64_t limit, size_t memory);
void stream_release(struct stream *stream);
/* Reads a batch of records: sets what the header contains, queues the rest. Returns 0 or what the sink returned. */
int stream_advance(struct perfdata *data, struct stream *stream);

/* read.c: places are a stream's number, whether the offset is in its plain window, and the offset. */
#define PLACE_STREAM_SHIFT 49
#define PLACE_PLAIN (1ull << 48)
#define PLACE_OFFSET (PLACE_PLAIN - 1)
#define STREAMS_MAX 4096
/* A record that has to wait for its turn. Delivers when too many wait. */
int read_queue(struct perfdata *data, struct stream *stream, const struct perf_event_header *header,
	       const uint8_t *record, uint64_t place);
int read_round(struct perfdata *data);

#endif
