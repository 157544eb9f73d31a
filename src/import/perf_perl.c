/*
 * perf script text → samples, as stackcollapse-perf.pl reads it, with all its peculiarities: stacks are the same to the
 * byte. format_perf_script is what else is used.
 *
 * The script goes by the line: one that begins a sample, one that ends it (empty), a frame. A sample that follows
 * another without an empty line between continues the other's frames; one of another event leaves everything as it
 * was. With source lines each frame takes the line that follows, whatever it is. So a block cannot be read without
 * those before it.
 */
#include "import/line_cache.h"
#include "import/perf_header.h"
#include "import/perl_name.h"
#include "import/shard.h"
#include "import/uninline.h"
#include "profile/module.h"

#define MAX_INLINED 64

/* What a line stands for: a frame, or one of these. */
#define LINE_SPECIAL 0x40000000u
#define LINE_BAD 0x40000000u
#define LINE_CHAIN 0x80000000u /* any number of frames: index into chains */

struct chain {
	uint32_t first, count; /* in chain_frames, outermost first */
};

/* A function of the line being read; with source lines the end of its name is still to come. */
struct waiting {
	size_t name, size; /* in waiting_names */
	enum frame_kind kind;
	str_id module;
	bool wants_source;
};

struct parser {
	struct shard *shard;
	struct profile *profile;
	const struct import_options *options;
	struct line_cache caches[2]; /* [1]: in processes called "java…" */
	struct chain *chains;
	size_t chain_count, chain_capacity;
	frame_id *chain_frames;
	size_t chain_frame_count, chain_frame_capacity;
	struct waiting *waiting; /* the functions of the last line, outermost first */
	size_t waiting_count, waiting_capacity, waiting_done;
	struct buf waiting_names;
	frame_id *named; /* those of them that have their whole name */
	size_t named_count, named_capacity;
	struct buf event; /* the one that counts */
	bool has_event;

	/* the sample being read */
	bool open, java, has_outermost;
	thread_id thread;
	value_id value;
	int64_t weight;
	struct bad_line begin;
	frame_id *frames; /* innermost first */
	size_t frame_count, frame_capacity;
	struct buf outermost; /* what follows a semicolon in the name of the thread, and looks like frames */
	struct buf scratch;
};

static void *start(struct shard *shard)
{
	struct parser *parser = mem_zalloc(1, sizeof *parser);
	parser->shard = shard;
	parser->profile = &shard->profile;
	parser->options = shard->options;
	for (size_t i = 0; i < sizeof parser->caches / sizeof *parser->caches; i++)
		line_cache_init(&parser->caches[i]);
	if (parser->options->perl->event && *parser->options->perl->event) {
		buf_str(&parser->event, parser->options->perl->event);
		parser->has_event = true;
	}
	return parser;
}

/* Samples without an event belong to the requested one, also where it has none of its own. */
static void name_event(struct parser *parser)
{
	for (size_t i = 0; i < parser->profile->value_count; i++)
		if (!parser->profile->values[i].name && parser->has_event) {
			profile_value(parser->profile, parser->event.data, "");
			return;
		}
}

static void finish(struct shard *shard)
{
	struct parser *parser = shard->parser;
	name_event(parser);
	for (size_t i = 0; i < sizeof parser->caches / sizeof *parser->caches; i++)
		line_cache_release(&parser->caches[i]);
	free(parser->chains);
	free(parser->chain_frames);
	free(parser->waiting);
	free(parser->named);
	free(parser->frames);
	buf_release(&parser->waiting_names);
	buf_release(&parser->event);
	buf_release(&parser->outermost);
	buf_release(&parser->scratch);
	free(parser);
}

static void add_waiting(struct parser *parser, str_id module, enum frame_kind kind, size_t name, bool wants_source)
{
	MEM_ROOM(parser->waiting, parser->waiting_count, parser->waiting_capacity);
	parser->waiting[parser->waiting_count++] = (struct waiting){
		.name = name,
		.size = parser->waiting_names.size - name,
		.kind = kind,
		.module = module,
		.wants_source = wants_source,
	};
}

/* The functions that addr2line would have found; the script shows their names as they are. */
static bool add_uninlined(struct parser *parser, const struct perf_frame *line, str_id module)
{
	struct symbol_frame frames[MAX_INLINED];
	size_t count = 0;
	if (parser->options->uninliner)
		count = uninliner_find(parser->options->uninliner, line, frames, MAX_INLINED);
	for (size_t i = count; i-- > 0;) {
		size_t name = parser->waiting_names.size;
		buf_str(&parser->waiting_names, frames[i].name);
		add_waiting(parser, module, frames[i].inlined ? FRAME_INLINED : FRAME_NATIVE, name, false);
	}
	return count != 0;
}

/* split /->/, which leaves out empty parts at the end. */
static void add_functions(struct parser *parser, const struct perf_frame *line, str_id module)
{
	size_t length = line->symbol_length;
	while (length >= 2 && memcmp(line->symbol + length - 2, "->", 2) == 0)
		length -= 2;
	bool unknown = false;
	static const char no_symbol[] = "[unknown]";
	enum frame_kind kind = module_kind(line->module, line->module_length);
	for (size_t from = 0, part = 0; from < length; part++) {
		const char *arrow = memmem(line->symbol + from, length - from, "->", 2);
		size_t end = arrow ? (size_t)(arrow - line->symbol) : length, name = parser->waiting_names.size;
		bool unresolved = end - from == strlen(no_symbol) &&
				  memcmp(line->symbol + from, no_symbol, strlen(no_symbol)) == 0;
		unknown |= unresolved && line->module_length == strlen(no_symbol) &&
			   memcmp(line->module, no_symbol, strlen(no_symbol)) == 0;
		perl_name(&parser->waiting_names, line, line->symbol + from, end - from, part, parser->options,
			  parser->java);
		add_waiting(parser, module,
			    unresolved ? FRAME_UNKNOWN :
			    part       ? FRAME_INLINED :
					 kind,
			    name, parser->options->source_lines && !unknown);
		from = end + 2;
	}
}

/* Fills `waiting` with the functions of the line; false when it is no line of a stack. */
static bool take_apart(struct parser *parser, const char *line, size_t length)
{
	struct perf_frame frame;
	parser->waiting_count = parser->waiting_done = 0;
	buf_clear(&parser->waiting_names);
	if (!perf_frame_split_perl(line, length, &frame))
		return false;
	str_id module = profile_string(parser->profile, frame.module, frame.module_length);
	bool names_process = frame.symbol_length && frame.symbol[0] == '(';
	if (!add_uninlined(parser, &frame, module) && !names_process)
		add_functions(parser, &frame, module);
	return true;
}

static frame_id frame_of(struct parser *parser, const struct waiting *waiting, const char *name, size_t length)
{
	struct function function = {.name = profile_string(parser->profile, name, length), .module = waiting->module};
	struct frame frame = {.function = profile_function(parser->profile, function), .kind = waiting->kind};
	return profile_frame(parser->profile, frame);
}

static void push_frame(struct parser *parser, frame_id frame)
{
	MEM_ROOM(parser->frames, parser->frame_count, parser->frame_capacity);
	parser->frames[parser->frame_count++] = frame;
}

static uint32_t understand(struct parser *parser, const char *line, size_t length)
{
	if (!take_apart(parser, line, length))
		return LINE_BAD;
	uint32_t count = (uint32_t)parser->waiting_count, first = (uint32_t)parser->chain_frame_count;
	for (size_t i = 0; i < count; i++) {
		const struct waiting *waiting = &parser->waiting[i];
		const char *names = parser->waiting_names.data ? parser->waiting_names.data : "";
		MEM_ROOM(parser->chain_frames, parser->chain_frame_count, parser->chain_frame_capacity);
		parser->chain_frames[parser->chain_frame_count++] =
			frame_of(parser, waiting, names + waiting->name, waiting->size);
	}
	parser->waiting_count = 0;
	if (count == 1)
		return parser->chain_frames[parser->chain_frame_count = first];
	MEM_ROOM(parser->chains, parser->chain_count, parser->chain_capacity);
	parser->chains[parser->chain_count] = (struct chain){.first = first, .count = count};
	return LINE_CHAIN | (uint32_t)parser->chain_count++;
}

static void push_line(struct parser *parser, const char *line, size_t length)
{
	struct line_cache *cache = &parser->caches[parser->java];
	uint64_t hash = hash_bytes(line, length);
	uint32_t meaning;
	if (!line_cache_find(cache, hash, line, length, &meaning)) {
		meaning = understand(parser, line, length);
		line_cache_add(cache, hash, line, length, meaning);
	}
	if (meaning & LINE_CHAIN) {
		struct chain chain = parser->chains[meaning & ~LINE_CHAIN];
		for (uint32_t i = chain.count; i-- > 0;)
			push_frame(parser, parser->chain_frames[chain.first + i]);
	} else if (meaning & LINE_SPECIAL) {
		shard_bad_line(parser->shard, "not a line of perf script");
	} else {
		push_frame(parser, meaning);
	}
}

/* Semicolons in a source line, or in the name of a thread, separate frames in what the script writes. */
static void add_named(struct parser *parser, const struct waiting *waiting, const char *name, size_t length)
{
	for (const char *end = name + length, *next; name <= end; name = next + 1) {
		next = name < end ? memchr(name, ';', (size_t)(end - name)) : NULL;
		next = next ? next : end;
		MEM_ROOM(parser->named, parser->named_count, parser->named_capacity);
		parser->named[parser->named_count++] = frame_of(parser, waiting, name, (size_t)(next - name));
	}
}

static void push_named(struct parser *parser)
{
	while (parser->named_count)
		push_frame(parser, parser->named[--parser->named_count]);
}

/* Gives functions their names, `source` to the first that wants one. Those behind wait for the next line. */
static void name_waiting(struct parser *parser, const char *source, size_t length)
{
	for (; parser->waiting_done < parser->waiting_count; parser->waiting_done++) {
		const struct waiting *waiting = &parser->waiting[parser->waiting_done];
		if (waiting->wants_source && !source)
			return;
		buf_clear(&parser->scratch);
		if (waiting->size)
			buf_add(&parser->scratch, parser->waiting_names.data + waiting->name, waiting->size);
		if (waiting->wants_source) {
			perl_source(&parser->scratch, source, length);
			source = NULL;
		}
		add_named(parser, waiting, parser->scratch.data ? parser->scratch.data : "", parser->scratch.size);
	}
	parser->waiting_count = parser->waiting_done = 0;
	push_named(parser);
}

static void take_stack_line(struct parser *parser, const char *line, size_t length)
{
	struct perf_frame frame;
	if (!parser->open) {
		if (!perf_frame_split_perl(line, length, &frame))
			shard_bad_line(parser->shard, "not a line of perf script");
	} else if (!parser->options->source_lines) {
		push_line(parser, line, length);
	} else if (take_apart(parser, line, length)) {
		name_waiting(parser, NULL, 0);
	} else {
		shard_bad_line(parser->shard, "not a line of perf script");
	}
}

static void end_sample(struct parser *parser)
{
	struct profile *profile = parser->profile;
	if (parser->has_outermost) {
		add_named(parser, &(struct waiting){0}, parser->outermost.data ? parser->outermost.data : "",
			  parser->outermost.size);
		push_named(parser);
	}
	stack_id stack = profile_path(profile, parser->frames, parser->frame_count);
	profile_add(profile, parser->thread, stack, parser->value, parser->weight);
	profile->values[parser->value].samples++;
	profile->quality.samples++;
	parser->open = false;
	parser->frame_count = 0;
}

static value_id value_of(struct parser *parser, const struct perf_event_line *event)
{
	buf_clear(&parser->scratch);
	buf_add(&parser->scratch, event->event, event->event_length);
	value_id value = profile_value(parser->profile, event->event ? parser->scratch.data : "", "");
	struct value_type *type = &parser->profile->values[value];
	if (type->first_seen == UINT64_MAX)
		type->first_seen = parser->shard->block << 32 | (parser->shard->lines & UINT32_MAX);
	return value;
}

/* Is it a sample of the event that counts? The first one that has a name decides. */
static bool counts(struct parser *parser, const struct perf_event_line *event)
{
	if (!event->event)
		return true;
	if (!parser->has_event) {
		buf_add(&parser->event, event->event, event->event_length);
		parser->has_event = true;
	}
	return event->event_length == parser->event.size &&
	       memcmp(event->event, parser->event.data, event->event_length) == 0;
}

static thread_id thread_of(struct parser *parser, const struct perf_event_line *event)
{
	const struct import_perl *perl = parser->options->perl;
	struct buf *name = &parser->scratch;
	buf_clear(name);
	buf_add(name, event->comm, event->comm_length);
	if (perl->pid || perl->tid) {
		buf_char(name, '-');
		buf_add(name, event->pid_text ? event->pid_text : "?", event->pid_text ? event->pid_length : 1);
	}
	if (perl->tid) {
		buf_char(name, '/');
		buf_add(name, event->tid_text, event->tid_length);
	}
	for (size_t i = 0; i < name->size; i++)
		if (name->data[i] == ' ')
			name->data[i] = '_';
	/* With ids in the name it was another than "java" until 2023, and the recorded results are from before that. */
	parser->java = !perl->pid && !perl->tid && name->size >= 4 && memcmp(name->data, "java", 4) == 0;
	buf_clear(&parser->outermost);
	const char *semicolon = memchr(name->data, ';', name->size);
	size_t first = semicolon ? (size_t)(semicolon - name->data) : name->size;
	parser->has_outermost = semicolon;
	if (semicolon)
		buf_add(&parser->outermost, semicolon + 1, name->size - first - 1);
	return profile_thread(parser->profile, (struct thread){
						       .pid = event->pid,
						       .tid = event->tid,
						       .comm = profile_string(parser->profile, name->data, first),
					       });
}

static void take_event(struct parser *parser, const struct perf_event_line *event)
{
	value_id value = value_of(parser, event);
	if (!counts(parser, event)) {
		parser->profile->values[value].samples++;
		parser->profile->quality.samples++;
		return;
	}
	if (!parser->open)
		parser->begin = (struct bad_line){.block = parser->shard->block, .line = parser->shard->lines};
	parser->thread = thread_of(parser, event);
	parser->value = value;
	parser->weight = event->period;
	parser->profile->quality.overflows += event->period_overflow;
	parser->open = true;
}

static void take_line(struct parser *parser, const char *line, size_t length)
{
	struct perf_event_line event;
	if (parser->waiting_count) {
		name_waiting(parser, line, length);
	} else if (!length) {
		if (parser->open)
			end_sample(parser);
	} else if (*line != '#') {
		if (perf_event_parse_perl(line, length, &event))
			take_event(parser, &event);
		else
			take_stack_line(parser, line, length);
	}
}

static void parse(struct shard *shard, const char *data, size_t size)
{
	struct parser *parser = shard->parser;
	const char *end = data + size;
	for (const char *line = data; line < end; shard->lines++) {
		const char *newline = memchr(line, '\n', (size_t)(end - line) + 1);
		take_line(parser, line, (size_t)(newline - line));
		line = newline + 1;
	}
	if (!shard->last_block || !parser->open)
		return;
	shard->profile.quality.cut_stacks++;
	shard->first_cut = parser->begin;
}

const struct import_format format_perf_perl = {
	.name = "perf script text",
	.boundary = AT_LINE,
	.in_order = true,
	.start = start,
	.parse = parse,
	.finish = finish,
};
