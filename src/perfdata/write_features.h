/* What a written file says about its events, its modules and the machine. Private to src/perfdata/. */
#ifndef WICK_PERFDATA_WRITE_FEATURES_H
#define WICK_PERFDATA_WRITE_FEATURES_H

#include "base/buf.h"
#include "base/strpool.h"
#include "perfdata/format.h"
#include "perfdata/write.h"

/* perf refuses attributes that are longer than those it knows; these it knows since Linux 4.1, and no more is used. */
#define WRITE_ATTR_SIZE PERF_ATTR_SIZE_VER5

struct write_source {
	struct perf_event_attr attr;
	char *name;
};

struct write_build_id {
	bool known, kernel;
	struct build_id id;
};

struct write_facts {
	struct write_source *sources;
	size_t source_count;
	char **command;
	size_t command_count;
	char *hostname, *release, *machine;
	unsigned cpus;
	struct strpool paths;
	struct write_build_id *build_ids; /* by id of the path */
	size_t build_id_capacity;
	bool compressed;
};

/* Every event has one id of its own. */
static inline uint64_t write_source_id(uint32_t source)
{
	return (uint64_t)source + 1;
}

void write_facts_init(struct write_facts *facts, const struct perfdata_writer_options *options, uint64_t sample_type);
void write_facts_release(struct write_facts *facts);
void write_facts_build_id(struct write_facts *facts, const char *path, bool kernel, const struct build_id *build_id);

/* Ids and attributes, to be written at `offset` of the file. */
void write_facts_attrs(const struct write_facts *facts, struct buf *out, uint64_t offset,
		       struct file_section *ret_attrs);
/* The table of sections and the sections, to be written at `offset`; sets the bits of those that are there. */
void write_facts_features(const struct write_facts *facts, struct buf *out, uint64_t offset, uint64_t *features);

#endif
