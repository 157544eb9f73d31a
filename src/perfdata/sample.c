/* Samples: every field of PERF_SAMPLE_*, in the order in which the kernel writes them. */
#include "base/hash.h"
#include "perfdata/reader.h"

#define READS_MAX (1u << 20)

struct cursor {
	const uint64_t *at, *end;
};

/* The next `count` words, or NULL when there are not as many. */
static const uint64_t *take(struct cursor *cursor, uint64_t count)
{
	if (count > (uint64_t)(cursor->end - cursor->at))
		return NULL;
	const uint64_t *words = cursor->at;
	cursor->at += count;
	return words;
}

/* A count that is followed by that many words of `each`; false when they are not there. */
static bool take_counted(struct cursor *cursor, uint64_t each, const uint64_t **ret_words, uint64_t *ret_count)
{
	const uint64_t *count = take(cursor, 1);
	if (!count || *count > RECORD_SIZE_MAX)
		return false;
	*ret_words = take(cursor, *count * each);
	*ret_count = *count;
	return *ret_words;
}

/* The fields of one word each that come first. */
static bool take_fixed(struct cursor *cursor, uint64_t type, struct event_sample *sample)
{
	uint64_t fields = type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				  PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
				  PERF_SAMPLE_PERIOD);
	const uint64_t *word = take(cursor, (uint64_t)__builtin_popcountll(fields));
	if (!word)
		return false;
	if (type & PERF_SAMPLE_IDENTIFIER)
		sample->id = *word++;
	if (type & PERF_SAMPLE_IP)
		sample->ip = *word++;
	if (type & PERF_SAMPLE_TID) {
		sample->pid = (int32_t)*word;
		sample->tid = (int32_t)(*word++ >> 32);
	}
	if (type & PERF_SAMPLE_TIME)
		sample->time = *word++;
	if (type & PERF_SAMPLE_ADDR)
		sample->address = *word++;
	if (type & PERF_SAMPLE_ID)
		sample->id = *word++;
	if (type & PERF_SAMPLE_STREAM_ID)
		sample->stream_id = *word++;
	if (type & PERF_SAMPLE_CPU) {
		/* The kernel writes zeros behind the number, and other tools do not look there. */
		uint32_t behind = (uint32_t)(*word >> 32);
		sample->gil = behind < GIL_STATES ? (enum event_gil)behind : GIL_UNKNOWN;
		sample->cpu = (uint32_t)*word++;
	}
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = *word++;
	return true;
}

/* Counter values in a sample: `count` of them, `each` words apart. */
struct read_values {
	const uint64_t *words;
	uint64_t count, each;
	bool have_id;
};

static bool take_read(struct cursor *cursor, uint64_t format, struct read_values *values)
{
	uint64_t times = (uint64_t)__builtin_popcountll(
		format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
	values->have_id = format & PERF_FORMAT_ID;
	values->each = 1u + values->have_id + !!(format & READ_FORMAT_LOST);
	if (format & PERF_FORMAT_GROUP) {
		const uint64_t *count = take(cursor, 1 + times);
		if (!count || *count > RECORD_SIZE_MAX)
			return false;
		values->count = *count;
		values->words = take(cursor, *count * values->each);
		return values->words;
	}
	/* The times are between the value and its id. */
	const uint64_t *words = take(cursor, times + values->each);
	values->count = words ? 1 : 0;
	values->words = words;
	values->have_id = false; /* it is the sample's own */
	return words;
}

static bool take_raw(struct cursor *cursor, struct event_sample *sample)
{
	if (cursor->at == cursor->end)
		return false;
	uint32_t size = (uint32_t)*cursor->at;
	const uint64_t *words = take(cursor, (sizeof size + (uint64_t)size + 7) / 8);
	if (!words)
		return false;
	sample->raw = (const uint8_t *)words + sizeof size;
	sample->raw_size = size;
	return true;
}

static bool take_branches(struct cursor *cursor, uint64_t type, struct event_sample *sample)
{
	const uint64_t words_of_entry = sizeof(struct perf_branch_entry) / 8;
	const uint64_t *count = take(cursor, 1 + !!(type & BRANCH_HW_INDEX));
	if (!count || *count > RECORD_SIZE_MAX)
		return false;
	const uint64_t *entries = take(cursor, *count * words_of_entry);
	if (!entries)
		return false;
	sample->branches = (const struct perf_branch_entry *)entries;
	sample->branch_count = *count;
	if (type & BRANCH_COUNTERS)
		sample->branch_counters = take(cursor, *count);
	return !(type & BRANCH_COUNTERS) || sample->branch_counters;
}

static bool take_registers(struct cursor *cursor, uint64_t mask, unsigned count, struct event_registers *registers)
{
	const uint64_t *abi = take(cursor, 1);
	if (!abi)
		return false;
	if (!*abi)
		return true;
	registers->abi = *abi & ~(uint64_t)REGISTERS_ABI_SIMD;
	registers->mask = mask;
	registers->values = take(cursor, count);
	if (!registers->values)
		return false;
	if (!(*abi & REGISTERS_ABI_SIMD))
		return true;
	const uint64_t *shape =
		take(cursor, 1); /* four 16-bit numbers: vectors, their words, predicates, their words */
	return shape && take(cursor, (*shape & 0xffff) * (*shape >> 16 & 0xffff) +
					     (*shape >> 32 & 0xffff) * (*shape >> 48 & 0xffff));
}

/*
 * Where the stack is near the end of the address space, as in 32-bit programs, Linux copies all bytes up to there: if
 * they are no multiple of 8, neither is the record, and what follows must be moved to be read as words.
 */
static const uint64_t *take_odd_bytes(struct perfdata *data, struct cursor *cursor, size_t odd, uint64_t size)
{
	const uint64_t *bytes = cursor->at;
	size_t left = (size_t)(cursor->end - cursor->at) * 8 + odd;
	if (size > left)
		return NULL;
	if (!data->realigned)
		data->realigned = mem_alloc(RECORD_SIZE_MAX);
	memcpy(data->realigned, (const uint8_t *)bytes + size, left - size);
	*cursor = (struct cursor){data->realigned, data->realigned + (left - size) / 8};
	return bytes;
}

static bool take_stack(struct perfdata *data, struct cursor *cursor, size_t odd, struct event_sample *sample)
{
	const uint64_t *size = take(cursor, 1);
	if (!size || *size > RECORD_SIZE_MAX)
		return false;
	if (!*size)
		return true;
	bool is_odd = odd && *size % 8 == odd;
	const uint64_t *bytes = is_odd ? take_odd_bytes(data, cursor, odd, *size) : take(cursor, (*size + 7) / 8);
	const uint64_t *real = bytes ? take(cursor, 1) : NULL;
	if (!real)
		return false;
	sample->stack = (const uint8_t *)bytes;
	sample->stack_asked = *size;
	sample->stack_size = *real < *size ? *real : *size;
	return true;
}

static bool take_word(struct cursor *cursor, bool there, uint64_t *ret_value)
{
	const uint64_t *word = there ? take(cursor, 1) : NULL;
	if (word)
		*ret_value = *word;
	return word || !there;
}

static bool take_weight(struct cursor *cursor, uint64_t type, struct event_sample *sample)
{
	if (!take_word(cursor, type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT), &sample->weight))
		return false;
	if (type & PERF_SAMPLE_WEIGHT_STRUCT) {
		sample->instruction_latency = (uint16_t)(sample->weight >> 32);
		sample->retire_latency = (uint16_t)(sample->weight >> 48);
		sample->weight &= 0xffffffff;
	}
	return true;
}

/* All fields behind the fixed ones. */
static bool take_variable(struct perfdata *data, const struct record *record, struct cursor *cursor,
			  struct event_sample *sample, struct read_values *values)
{
	const struct perf_event_attr *attr = &data->sources.items[sample->source].attr;
	const struct source_layout *layout = &data->sources.layouts[sample->source];
	uint64_t type = attr->sample_type, count = 0;
	if (type & PERF_SAMPLE_READ && !take_read(cursor, attr->read_format, values))
		return false;
	if (type & PERF_SAMPLE_CALLCHAIN && !take_counted(cursor, 1, &sample->chain, &count))
		return false;
	sample->chain_count = count;
	if (type & PERF_SAMPLE_RAW && !take_raw(cursor, sample))
		return false;
	if (type & PERF_SAMPLE_BRANCH_STACK && !take_branches(cursor, attr->branch_sample_type, sample))
		return false;
	if (type & PERF_SAMPLE_REGS_USER &&
	    !take_registers(cursor, attr->sample_regs_user, layout->user_registers, &sample->user))
		return false;
	if (type & PERF_SAMPLE_STACK_USER && !take_stack(data, cursor, record->odd, sample))
		return false;
	if (!take_weight(cursor, type, sample) ||
	    !take_word(cursor, type & PERF_SAMPLE_DATA_SRC, &sample->data_source) ||
	    !take_word(cursor, type & PERF_SAMPLE_TRANSACTION, &sample->transaction))
		return false;
	if (type & PERF_SAMPLE_REGS_INTR &&
	    !take_registers(cursor, attr->sample_regs_intr, layout->interrupt_registers, &sample->interrupt))
		return false;
	/* AUX data comes last and is not looked at. */
	return take_word(cursor, type & PERF_SAMPLE_PHYS_ADDR, &sample->physical_address) &&
	       take_word(cursor, type & PERF_SAMPLE_CGROUP, &sample->cgroup) &&
	       take_word(cursor, type & PERF_SAMPLE_DATA_PAGE_SIZE, &sample->data_page_size) &&
	       take_word(cursor, type & PERF_SAMPLE_CODE_PAGE_SIZE, &sample->code_page_size);
}

static bool decode(struct perfdata *data, const struct record *record, struct event_sample *sample,
		   struct read_values *values)
{
	bool unknown_id;
	uint32_t source = sources_of_sample(&data->sources, record->body, record->words, &unknown_id);
	if (source == SOURCE_NONE)
		return false;
	const struct perf_event_attr *attr = &data->sources.items[source].attr;
	*sample = (struct event_sample){
		.source = source,
		.mode = (record->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) <= MODE_GUEST_USER ?
				(enum event_mode)(record->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) :
				MODE_UNKNOWN,
		.pid = -1,
		.tid = -1,
		.cpu = UINT32_MAX,
		.period = attr->freq || !attr->sample_period ? 1 :
							       attr->sample_period, /* when the samples do not say */
		.exact_ip = record->header.misc & MISC_EXACT_IP,
		.stack_lasts = record->lasting,
	};
	struct cursor cursor = {record->body, record->body + record->words};
	*values = (struct read_values){0};
	if (!take_fixed(&cursor, attr->sample_type, sample) || !take_variable(data, record, &cursor, sample, values))
		return false;
	data->quality.unknown_ids += unknown_id;
	return true;
}

/*
 * The counter of an event and thread; threads share it unless children inherit the event. NULL when there are too
 * many.
 */
static struct read_state *find_read(struct perfdata *data, uint64_t id, int32_t tid)
{
	uint64_t hash = hash_mix(id ^ HASH_K0, (uint32_t)tid ^ HASH_K1);
	struct index_probe probe;
	uint32_t i = index_map_first(&data->reads_by_id, hash, &probe);
	for (; i != INDEX_NONE; i = index_map_next(&data->reads_by_id, &probe))
		if (data->reads[i].id == id && data->reads[i].tid == tid)
			return &data->reads[i];
	if (data->read_count >= READS_MAX)
		return NULL;
	MEM_ROOM(data->reads, data->read_count, data->read_capacity);
	index_map_insert(&data->reads_by_id, hash, (uint32_t)data->read_count);
	data->reads[data->read_count] = (struct read_state){.id = id, .tid = tid};
	return &data->reads[data->read_count++];
}

/*
 * A sample that carries counter values stands for one sample of each counter that moved, weighing what it moved by: so
 * the members of a group that do not sample themselves get their share.
 */
static int deliver_values(struct perfdata *data, struct event_sample *sample, const struct read_values *values)
{
	bool by_thread = data->sources.items[sample->source].attr.inherit;
	for (uint64_t i = 0; i < values->count; i++) {
		const uint64_t *words = values->words + i * values->each;
		if (values->have_id) {
			sample->id = words[1];
			sample->source = sources_find(&data->sources, words[1]);
			if (sample->source == SOURCE_NONE) {
				data->quality.unknown_ids++;
				continue;
			}
		}
		struct read_state *state = find_read(data, sample->id, by_thread ? sample->tid : -1);
		if (!state) {
			data->quality.malformed++;
			continue;
		}
		sample->period = words[0] - state->value;
		state->value = words[0];
		int result = sample->period ? sink_sample(data->sink, sample) : 0;
		if (result < 0)
			return result;
	}
	return 0;
}

static int deliver_decoded(struct perfdata *data, struct event_sample *sample, const struct read_values *values)
{
	if (values->count)
		return deliver_values(data, sample, values);
	return sink_sample(data->sink, sample);
}

int sample_deliver(struct perfdata *data, const struct record *record)
{
	struct event_sample sample;
	struct read_values values;
	if (!data->sink->take)
		return 0;
	if (!decode(data, record, &sample, &values)) {
		data->quality.malformed++;
		return 0;
	}
	if (sample.chain_count >= 2 && sample.chain[sample.chain_count - 2] == CONTEXT_USER_DEFERRED)
		return deferred_hold(data, record, &sample);
	return deliver_decoded(data, &sample, &values);
}

int sample_deliver_held(struct perfdata *data, const struct held_sample *held, const uint64_t *user, size_t user_count)
{
	struct record record = {
		.body = held->bytes + 1,
		.words = held->size / 8 - 1,
	};
	memcpy(&record.header, held->bytes, sizeof record.header);
	struct event_sample sample;
	struct read_values values;
	/* It was decoded before it was held. */
	if (!decode(data, &record, &sample, &values) || sample.chain_count < 2)
		return 0;
	size_t kernel_count = sample.chain_count - 2;
	data->chain = mem_grow(data->chain, &data->chain_capacity, kernel_count + user_count + 1, sizeof *data->chain);
	memcpy(data->chain, sample.chain, kernel_count * sizeof *data->chain);
	if (user_count)
		memcpy(data->chain + kernel_count, user, user_count * sizeof *data->chain);
	sample.chain = data->chain;
	sample.chain_count = kernel_count + user_count;
	return deliver_decoded(data, &sample, &values);
}
