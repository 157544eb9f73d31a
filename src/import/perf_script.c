/*
 * perf script text → samples.
 *
 * A sample is an event line, the lines of its stack (innermost first) and an empty line. Most of the input are stack
 * lines, and most of those repeat: their meaning is looked up by their bytes, and the whole stack is looked up by the
 * ids of its frames, so that the usual line costs one search for its end, one hash and one comparison.
 */
#include "import/line_cache.h"
#include "import/perf_frame.h"
#include "import/perf_header.h"
#include "import/shard.h"
#include "import/uninline.h"
#include "profile/tidy.h"

/* What a line stands for: a frame, or one of these with an index in the lower bits. */
#define LINE_UNRESOLVED 0x80000000u /* a frame without a symbol */
#define LINE_SPECIAL 0x40000000u
#define LINE_KIND 0x70000000u
enum {
	LINE_CHAIN = LINE_SPECIAL | 0x00000000, /* several frames: index into chains */
	LINE_NOTHING = LINE_SPECIAL | 0x10000000, /* names a process: no frame */
	LINE_SOURCE = LINE_SPECIAL | 0x20000000, /* source position of the frame before: index of a string */
	LINE_BAD = LINE_SPECIAL | 0x30000000,
};
#define LINE_INDEX 0x0fffffffu

#define MAX_INLINED 64
static const char INLINED[] = "(inlined)"; /* where the module would stand */

struct chain {
	uint32_t first, count; /* in chain_frames, innermost first */
};

struct sourced_frame {
	frame_id frame;
	str_id source;
	frame_id with_source;
};

struct parser {
	struct shard *shard;
	struct profile *profile;
	struct uninliner *uninliner; /* NULL: none */
	/* +1: in threads called "java", whose symbols are tidied more; +2: what is inlined there was reported before */
	struct line_cache caches[4];
	struct chain *chains;
	size_t chain_count, chain_capacity;
	frame_id *chain_frames;
	size_t chain_frame_count, chain_frame_capacity;
	struct sourced_frame *sourced;
	size_t sourced_count, sourced_capacity;
	struct index_map sourced_map;
	uint64_t *unresolved; /* by frame: how often it was seen, for the quality by module */
	size_t unresolved_capacity;

	/* the sample being read */
	bool open, java, inlines_reported;
	thread_id thread;
	value_id value;
	int64_t weight;
	uint64_t first_line;
	frame_id *frames;
	size_t frame_count, frame_capacity;
	unsigned unresolved_frames;
	bool outermost_unresolved;

	/* what the last event line had, since it seldom changes */
	char last_event[128];
	size_t last_event_length;
	value_id last_value;
	struct buf scratch;
};

static void *start(struct shard *shard)
{
	struct parser *parser = mem_zalloc(1, sizeof *parser);
	parser->shard = shard;
	parser->profile = &shard->profile;
	parser->uninliner = shard->options->uninliner;
	for (size_t i = 0; i < sizeof parser->caches / sizeof *parser->caches; i++)
		line_cache_init(&parser->caches[i]);
	parser->last_value = PROFILE_NONE;
	return parser;
}

static void count_unresolved_by_module(struct parser *parser)
{
	struct profile *profile = parser->profile;
	for (size_t i = 0; i < parser->unresolved_capacity && i < profile->frame_count; i++)
		if (parser->unresolved[i])
			quality_unresolved(&profile->quality, profile->functions[profile->frames[i].function].module,
					   parser->unresolved[i]);
}

static void finish(struct shard *shard)
{
	struct parser *parser = shard->parser;
	count_unresolved_by_module(parser);
	for (size_t i = 0; i < sizeof parser->caches / sizeof *parser->caches; i++)
		line_cache_release(&parser->caches[i]);
	free(parser->chains);
	free(parser->chain_frames);
	free(parser->sourced);
	index_map_release(&parser->sourced_map);
	free(parser->unresolved);
	free(parser->frames);
	buf_release(&parser->scratch);
	free(parser);
}

/* Functions of one line, collected outermost first. */
struct line_functions {
	struct parser *parser;
	str_id module;
	uint32_t first;
};

static void add_function(void *context, const char *name, size_t length, enum frame_kind kind)
{
	struct line_functions *line = context;
	struct parser *parser = line->parser;
	struct function function = {
		.name = profile_string(parser->profile, name, length),
		.module = line->module,
	};
	struct frame frame = {.function = profile_function(parser->profile, function), .kind = kind};
	MEM_ROOM(parser->chain_frames, parser->chain_frame_count, parser->chain_frame_capacity);
	parser->chain_frames[parser->chain_frame_count++] = profile_frame(parser->profile, frame);
}

static bool is_unresolved(const struct parser *parser, frame_id frame)
{
	return parser->profile->frames[frame].kind == FRAME_UNKNOWN;
}

static uint32_t line_of_frames(struct parser *parser, uint32_t first)
{
	uint32_t count = (uint32_t)parser->chain_frame_count - first;
	if (!count)
		return LINE_NOTHING;
	if (count == 1) {
		frame_id frame = parser->chain_frames[first];
		parser->chain_frame_count = first;
		return frame | (is_unresolved(parser, frame) ? LINE_UNRESOLVED : 0);
	}
	for (uint32_t i = 0; i < count / 2; i++) {
		frame_id other = parser->chain_frames[first + i];
		parser->chain_frames[first + i] = parser->chain_frames[first + count - 1 - i];
		parser->chain_frames[first + count - 1 - i] = other;
	}
	MEM_ROOM(parser->chains, parser->chain_count, parser->chain_capacity);
	parser->chains[parser->chain_count] = (struct chain){.first = first, .count = count};
	return LINE_CHAIN | (uint32_t)parser->chain_count++;
}

/* "  file.cpp:137" or "  libc-2.33.so[27b25]", as perf script -F+srcline prints below a frame. */
static uint32_t line_of_source(struct parser *parser, const char *line, size_t length)
{
	while (length && is_space(*line))
		line++, length--;
	while (length && is_space(line[length - 1]))
		length--;
	if (!length || !(is_digit(line[length - 1]) || line[length - 1] == ']') ||
	    !(memchr(line, ':', length) || memchr(line, '[', length)))
		return LINE_BAD;
	struct buf *text = &parser->scratch;
	buf_clear(text);
	for (size_t i = 0; i < length; i++) {
		const char *close = line[i] == '[' ? memchr(line + i, ']', length - i) : NULL;
		if (close)
			i = (size_t)(close - line);
		else
			buf_char(text, line[i]);
	}
	while (text->size && is_space(text->data[text->size - 1]))
		text->size--;
	return LINE_SOURCE | profile_string(parser->profile, text->data ? text->data : "", text->size);
}

/* Adds the function of the line with what was inlined there, if that can be found out. */
static bool add_uninlined(struct line_functions *functions, const struct perf_frame *line)
{
	struct parser *parser = functions->parser;
	struct symbol_frame frames[MAX_INLINED];
	size_t count = 0;
	if (parser->uninliner && !parser->inlines_reported)
		count = uninliner_find(parser->uninliner, line, frames, MAX_INLINED);
	for (size_t i = count; i-- > 0;) {
		buf_clear(&parser->scratch);
		if (parser->shard->options->tidy)
			tidy_name(&parser->scratch, frames[i].name, strlen(frames[i].name), false);
		else
			tidy_whole(&parser->scratch, frames[i].name, strlen(frames[i].name));
		add_function(functions, parser->scratch.data, parser->scratch.size,
			     frames[i].inlined ? FRAME_INLINED : FRAME_NATIVE);
	}
	return count != 0;
}

static uint32_t understand(struct parser *parser, const char *line, size_t length)
{
	struct perf_frame frame;
	if (!perf_frame_split(line, length, &frame))
		return line_of_source(parser, line, length);
	/* perf writes "(inlined)" where the module stands. */
	bool inlined = frame.module_length == strlen("inlined") &&
		       !memcmp(frame.module, "inlined", frame.module_length);
	struct line_functions functions = {
		.parser = parser,
		.module = inlined ? 0 : profile_string(parser->profile, frame.module, frame.module_length),
	};
	uint32_t first = (uint32_t)parser->chain_frame_count;
	struct perf_frame_style style = {
		.tidy = parser->shard->options->tidy,
		.java = parser->java,
		.addresses = parser->shard->options->addresses,
	};
	if (inlined || !add_uninlined(&functions, &frame))
		perf_frame_functions(&frame, style, &parser->scratch, add_function, &functions);
	return line_of_frames(parser, first);
}

static void push_frame(struct parser *parser, frame_id frame, bool unresolved)
{
	if (parser->frame_count == parser->frame_capacity)
		parser->frames = mem_grow(parser->frames, &parser->frame_capacity, parser->frame_count + 1,
					  sizeof *parser->frames);
	parser->frames[parser->frame_count++] = frame;
	parser->outermost_unresolved = unresolved;
	if (!unresolved)
		return;
	parser->unresolved_frames++;
	if (frame >= parser->unresolved_capacity) {
		size_t old = parser->unresolved_capacity;
		parser->unresolved = mem_grow(parser->unresolved, &parser->unresolved_capacity, frame + 1,
					      sizeof *parser->unresolved);
		memset(parser->unresolved + old, 0, (parser->unresolved_capacity - old) * sizeof *parser->unresolved);
	}
	parser->unresolved[frame]++;
}

static frame_id with_source(struct parser *parser, frame_id frame, str_id source)
{
	uint64_t hash = hash_pair(frame, source);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&parser->sourced_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&parser->sourced_map, &probe))
		if (parser->sourced[i].frame == frame && parser->sourced[i].source == source)
			return parser->sourced[i].with_source;
	struct frame placed = parser->profile->frames[frame];
	struct function function = parser->profile->functions[placed.function];
	const char *text = profile_text(parser->profile, source);
	size_t length = strlen(text), name = length;
	while (name && is_digit(text[name - 1]))
		name--;
	if (name && name < length && text[name - 1] == ':') {
		placed.line = (uint32_t)strtoul(text + name, NULL, 10);
		length = name - 1;
	}
	CLEANUP_FREE char *file = mem_strdup(text);
	function.file = profile_string(parser->profile, file, length);
	placed.function = profile_function(parser->profile, function);
	MEM_ROOM(parser->sourced, parser->sourced_count, parser->sourced_capacity);
	uint32_t id = (uint32_t)parser->sourced_count++;
	parser->sourced[id] = (struct sourced_frame){frame, source, profile_frame(parser->profile, placed)};
	index_map_insert(&parser->sourced_map, hash, id);
	return parser->sourced[id].with_source;
}

static void take_special(struct parser *parser, uint32_t meaning)
{
	switch (meaning & LINE_KIND) {
	case LINE_CHAIN: {
		struct chain chain = parser->chains[meaning & LINE_INDEX];
		for (uint32_t i = 0; i < chain.count; i++) {
			frame_id frame = parser->chain_frames[chain.first + i];
			push_frame(parser, frame, is_unresolved(parser, frame));
		}
		break;
	}
	case LINE_SOURCE:
		if (parser->frame_count && (meaning & LINE_INDEX)) {
			frame_id *frame = &parser->frames[parser->frame_count - 1];
			*frame = with_source(parser, *frame, meaning & LINE_INDEX);
		}
		break;
	case LINE_BAD:
		shard_bad_line(parser->shard, "not a line of perf script");
		break;
	}
}

static bool ends_with(const char *line, size_t length, const char *end, size_t end_length)
{
	return length >= end_length && !memcmp(line + length - end_length, end, end_length);
}

static inline void take_stack_line(struct parser *parser, const char *line, size_t length)
{
	struct line_cache *cache = &parser->caches[parser->java | parser->inlines_reported << 1];
	uint64_t hash = hash_bytes(line, length);
	uint32_t meaning;
	if (!line_cache_find(cache, hash, line, length, &meaning)) {
		meaning = understand(parser, line, length);
		line_cache_add(cache, hash, line, length, meaning);
	}
	if (parser->uninliner)
		parser->inlines_reported = ends_with(line, length, INLINED, strlen(INLINED));
	if (__builtin_expect(meaning & LINE_SPECIAL, 0))
		take_special(parser, meaning);
	else
		push_frame(parser, meaning & ~LINE_UNRESOLVED, meaning & LINE_UNRESOLVED);
}

static void end_sample(struct parser *parser)
{
	struct profile *profile = parser->profile;
	stack_id stack = profile_path(profile, parser->frames, parser->frame_count);
	profile_add(profile, parser->thread, stack, parser->value, parser->weight);
	struct value_type *value = &profile->values[parser->value];
	bool truncated = parser->frame_count && parser->outermost_unresolved;
	value->samples++;
	value->truncated += truncated;
	value->unresolved += parser->unresolved_frames != 0;
	profile->quality.samples++;
	profile->quality.truncated += truncated;
	profile->quality.unresolved += parser->unresolved_frames != 0;
	parser->open = parser->inlines_reported = false;
	parser->frame_count = 0;
	parser->unresolved_frames = 0;
}

static value_id value_of(struct parser *parser, const char *event, size_t length)
{
	if (parser->last_value != PROFILE_NONE && length == parser->last_event_length &&
	    memcmp(event, parser->last_event, length) == 0)
		return parser->last_value;
	buf_clear(&parser->scratch);
	buf_add(&parser->scratch, event, length);
	value_id value = profile_value(parser->profile, parser->scratch.data, "");
	if (length <= sizeof parser->last_event) {
		memcpy(parser->last_event, event, length);
		parser->last_event_length = length;
		parser->last_value = value;
	}
	struct value_type *type = &parser->profile->values[value];
	if (type->first_seen == UINT64_MAX)
		type->first_seen = parser->shard->block << 32 | (parser->shard->lines & UINT32_MAX);
	return value;
}

static void begin_sample(struct parser *parser, const struct perf_event_line *event)
{
	struct buf *comm = &parser->scratch;
	buf_clear(comm);
	buf_add(comm, event->comm, event->comm_length);
	for (size_t i = 0; i < comm->size; i++)
		if (comm->data[i] == ' ' || comm->data[i] == ';')
			comm->data[i] = comm->data[i] == ' ' ? '_' : ':';
	parser->java = parser->shard->options->tidy && comm->size >= 4 && memcmp(comm->data, "java", 4) == 0;
	parser->thread =
		profile_thread(parser->profile, (struct thread){
							.pid = event->pid,
							.tid = event->tid,
							.comm = profile_string(parser->profile, comm->data, comm->size),
						});
	parser->value = value_of(parser, event->event ? event->event : "", event->event_length);
	parser->weight = event->period;
	parser->profile->quality.overflows += event->period_overflow;
	parser->open = true;
	parser->first_line = parser->shard->lines;
	if (event->rest) {
		take_stack_line(parser, event->rest, event->rest_length);
		end_sample(parser);
	}
}

/* An event line, or a stack line that is not indented, or neither. */
static void take_other_line(struct parser *parser, const char *line, size_t length)
{
	struct perf_event_line event;
	uint64_t lost;
	if (perf_event_is_record(line, length, &lost)) {
		parser->profile->quality.lost += lost;
		return;
	}
	if (perf_event_parse(line, length, &event)) {
		if (parser->open)
			end_sample(parser);
		begin_sample(parser, &event);
	} else if (parser->open) {
		take_stack_line(parser, line, length);
	} else {
		shard_bad_line(parser->shard, "not a line of perf script");
	}
}

/* Indented text outside a sample: recordings without call chains have their event lines padded so. */
static void take_stray_line(struct parser *parser, const char *line, size_t length)
{
	struct perf_event_line event;
	uint64_t lost;
	if (perf_event_is_record(line, length, &lost))
		parser->profile->quality.lost += lost;
	else if (perf_event_parse(line, length, &event) && event.rest)
		begin_sample(parser, &event);
	else
		shard_bad_line(parser->shard, "stack line without an event line before it");
}

static void cut_off(struct parser *parser)
{
	struct shard *shard = parser->shard;
	shard->profile.quality.cut_stacks++;
	shard->first_cut = (struct bad_line){.block = shard->block, .line = parser->first_line};
	parser->open = false;
	parser->frame_count = 0;
	parser->unresolved_frames = 0;
}

/* The last line of the input is whole when a newline ends it, or when it is a frame with its module. */
static bool ends_whole(const char *data, size_t size)
{
	if (data[size - 1] == '\n')
		return true;
	const char *newline = memrchr(data, '\n', size);
	const char *line = newline ? newline + 1 : data;
	struct perf_frame frame;
	return is_space(*line) && data[size - 1] == ')' && perf_frame_split(line, size - (size_t)(line - data), &frame);
}

static void parse(struct shard *shard, const char *data, size_t size)
{
	struct parser *parser = shard->parser;
	const char *end = data + size;
	for (const char *line = data; line < end; shard->lines++) {
		const char *newline = memchr(line, '\n', (size_t)(end - line) + 1);
		const char *next = newline + 1;
		if (newline > line && newline[-1] == '\r')
			newline--;
		size_t length = (size_t)(newline - line);
		if (length == 0) {
			if (parser->open)
				end_sample(parser);
		} else if (*line == ' ' || *line == '\t') {
			if (parser->open)
				take_stack_line(parser, line, length);
			else
				take_stray_line(parser, line, length);
		} else if (*line != '#') {
			take_other_line(parser, line, length);
		}
		line = next;
	}
	if (!parser->open)
		return;
	if (shard->last_block && (shard->damaged || !ends_whole(data, size)))
		cut_off(parser);
	else
		end_sample(parser);
}

const struct import_format format_perf_script = {
	.name = "perf script text",
	.boundary = AT_BLANK_LINE,
	.parallel = true,
	.start = start,
	.parse = parse,
	.finish = finish,
};
