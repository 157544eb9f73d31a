/* Writes samples as `perf script` does. */
#include "cmd/script_text.h"

#include "base/hash.h"
#include "base/index_map.h"
#include "base/text.h"
#include "name/short_name.h"
#include "profile/match.h"
#include "symbolize/rules.h"
#include "trace/frame.h"

#include <string.h>

#define MAX_INLINED 64

/* The lines of one address, made once: most frames of a recording repeat. */
struct frame_text {
	struct trace_frame frame;
	bool unwound;
	bool fits_module, fits_function; /* of the filters */
	size_t at, size; /* in printer.lines */
};

struct script_text {
	const struct profile_filter *filter;
	const char *event; /* NULL: all */
	struct script_format format;
	struct outfile *out;
	struct buf text; /* of one sample */
	struct buf lines;
	struct frame_text *frames;
	size_t frame_count, frame_capacity;
	struct index_map frame_map;
	bool printed; /* some sample */
};

int script_fields_parse(unsigned *fields, const char *text, struct err *err)
{
	static const struct {
		const char *name;
		unsigned bit;
	} known[] = {{"comm", SCRIPT_COMM}, {"pid", SCRIPT_PID},       {"tid", SCRIPT_TID},     {"cpu", SCRIPT_CPU},
		     {"time", SCRIPT_TIME}, {"period", SCRIPT_PERIOD}, {"event", SCRIPT_EVENT}, {"ip", SCRIPT_IP},
		     {"sym", SCRIPT_SYM},   {"symoff", SCRIPT_SYMOFF}, {"dso", SCRIPT_DSO},     {"trace", 0}};
	const size_t count = sizeof known / sizeof *known;
	const char *colon = strchr(text, ':'); /* "sw:": of one kind of events */
	text = colon ? colon + 1 : text;
	if (*text != '+' && *text != '-')
		*fields = 0;
	while (*text) {
		bool take = *text != '-';
		text += *text == '+' || *text == '-';
		size_t length = strcspn(text, ","), i = 0;
		while (i < count && (strncmp(known[i].name, text, length) || strlen(known[i].name) != length))
			i++;
		if (i == count)
			return err_set(err, ERR_USAGE,
				       "-F must be comm, pid, tid, cpu, time, period, event, ip, sym, symoff or "
				       "dso, not '%.*s'",
				       (int)length, text);
		*fields = take ? *fields | known[i].bit : *fields & ~known[i].bit;
		text += length + (text[length] == ',');
	}
	return 0;
}

static void add_time(struct buf *out, uint64_t time, bool nanoseconds)
{
	unsigned long long seconds = time / 1000000000, rest = time % 1000000000;
	if (nanoseconds)
		buf_printf(out, "%5llu.%09llu: ", seconds, rest);
	else
		buf_printf(out, "%5llu.%06llu: ", seconds, rest / 1000);
}

/* "java 24636 [000]  4794.109216:     250000 cycles: "; where no call chains are shown names are in columns. */
static void add_event_line(struct buf *out, const struct batch_sample *sample, const struct script_format *format,
			   bool chain)
{
	unsigned fields = format->fields;
	size_t start = out->size;
	if (fields & SCRIPT_COMM)
		buf_printf(out, chain ? "%s " : "%16s ", sample->comm);
	text_one_line(out->data + start, out->size - start);
	if (fields & SCRIPT_PID && fields & SCRIPT_TID)
		buf_printf(out, "%5d/%-5d ", sample->event.pid, sample->event.tid);
	else if (fields & (SCRIPT_PID | SCRIPT_TID))
		buf_printf(out, "%5d ", fields & SCRIPT_PID ? sample->event.pid : sample->event.tid);
	if (fields & SCRIPT_CPU && sample->event.cpu != UINT32_MAX)
		buf_printf(out, "[%03u] ", sample->event.cpu);
	if (fields & SCRIPT_TIME)
		add_time(out, sample->event.time, format->nanoseconds);
	if (fields & SCRIPT_PERIOD)
		buf_printf(out, "%10llu ", (unsigned long long)sample->event.period);
	if (fields & SCRIPT_EVENT)
		buf_printf(out, "%*s: ", (int)sample->event_columns, sample->event_name);
}

/* "7f3c1d0e4a2b work+0x1b (/usr/bin/server)"; `found` NULL: no symbol. */
static void add_frame(const struct script_format *format, struct buf *out, uint64_t shown,
		      const struct symbol_frame *found, uint64_t address, const char *module)
{
	unsigned fields = format->fields;
	size_t start = out->size;
	buf_printf(out, "%16llx", (unsigned long long)shown);
	if (fields & SCRIPT_SYM) {
		buf_char(out, ' ');
		if (found && format->short_names)
			short_name(out, found->name, strlen(found->name), 0);
		else
			buf_str(out, found ? found->name : "[unknown]");
	}
	if (fields & SCRIPT_SYM && fields & SCRIPT_SYMOFF && found && found->start)
		buf_printf(out, "+0x%llx", (unsigned long long)(address - found->start));
	if (fields & SCRIPT_DSO)
		buf_printf(out, " (%s)", found && found->inlined ? "inlined" : module);
	text_one_line(out->data + start, out->size - start);
	buf_char(out, '\n');
}

/* What is known of one address. */
struct place {
	struct symbol_frame found[MAX_INLINED];
	size_t count;
	const char *module;
};

/* A function of an interpreter; false: the frame is none, or nobody could name it. */
static bool find_interpreted(struct place *place, struct module_store *codes, const struct trace_frame *frame)
{
	struct interpreted_function function;
	if (frame->kind != TRACE_PYTHON || !interpreted_get(&codes->interpreted, (uint32_t)frame->address, &function))
		return false;
	place->found[0] = (struct symbol_frame){.name = function.name, .file = function.file, .line = frame->version};
	place->count = 1;
	place->module = function.file;
	return true;
}

static void find_place(struct place *place, struct module_store *codes, const struct trace_frame *frame)
{
	if (find_interpreted(place, codes, frame))
		return;
	module_id module = frame_rule_module(frame);
	struct module_code *code = module == MODULE_NONE ? NULL : module_store_get(codes, module);
	if (code)
		place->count = (trace_frame_is_exact(frame) ? module_code_find : module_code_find_call)(
			code, frame->address, frame->version, place->found, MAX_INLINED);
	else
		place->count = 0;
	place->module = code ? module_code_module_name(code, frame->address) : "[unknown]";
}

static struct frame_text make_frame(struct script_text *printer, struct module_store *codes,
				    const struct stack_frame *frame)
{
	const struct profile_filter *filter = printer->filter;
	struct place place;
	find_place(&place, codes, &frame->frame);
	/* Of callers perf shows the return address where the kernel found it, and one less where it unwound itself. */
	unsigned behind = !stack_frame_is_exact(frame) && !frame->unwound;
	struct frame_text text = {
		.frame = frame->frame,
		.unwound = frame->unwound,
		.at = printer->lines.size,
		.fits_module = match_module(filter->modules, place.module),
		.fits_function = !filter->functions,
	};
	for (size_t i = 0; i < place.count; i++) {
		const struct symbol_frame *found = &place.found[i];
		buf_char(&printer->lines, '\t');
		add_frame(&printer->format, &printer->lines, frame->offset + behind, found,
			  frame->frame.address + behind, place.module);
		text.fits_function = text.fits_function || match_function(filter->functions, found->name);
	}
	if (!place.count) {
		buf_char(&printer->lines, '\t');
		add_frame(&printer->format, &printer->lines, frame->offset + behind, NULL, 0, place.module);
	}
	text.size = printer->lines.size - text.at;
	return text;
}

static const struct frame_text *frame_text(struct script_text *printer, struct module_store *codes,
					   const struct stack_frame *frame)
{
	const struct trace_frame *sought = &frame->frame;
	uint64_t hash = hash_mix(sought->address ^ HASH_K0,
				 hash_pair(sought->module, sought->version << 3 | sought->flags << 1 | frame->unwound));
	struct index_probe probe;
	for (uint32_t i = index_map_first(&printer->frame_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&printer->frame_map, &probe)) {
		const struct frame_text *known = &printer->frames[i];
		if (trace_frame_equal(&known->frame, sought) && known->unwound == frame->unwound)
			return known;
	}
	MEM_ROOM(printer->frames, printer->frame_count, printer->frame_capacity);
	index_map_insert(&printer->frame_map, hash, (uint32_t)printer->frame_count);
	printer->frames[printer->frame_count] = make_frame(printer, codes, frame);
	return &printer->frames[printer->frame_count++];
}

/* Appends the stack; false when it does not fit the filters. */
static bool add_stack(struct script_text *printer, struct module_store *codes, const struct stack_frame *frames,
		      size_t count)
{
	const struct profile_filter *filter = printer->filter;
	bool fits_module = !filter->modules, fits_function = !filter->functions;
	buf_char(&printer->text, '\n');
	for (size_t i = 0; i < count; i++) {
		const struct frame_text *text = frame_text(printer, codes, &frames[i]);
		fits_module |= text->fits_module;
		fits_function |= text->fits_function;
		buf_add(&printer->text, printer->lines.data + text->at, text->size);
	}
	buf_char(&printer->text, '\n');
	return fits_module && fits_function;
}

/* The one address of a sample without call chain, behind the event: as it was recorded, without inlined frames. */
static bool add_address(struct script_text *printer, struct module_store *codes, const struct batch_sample *sample,
			const struct stack_frame *frame)
{
	const struct profile_filter *filter = printer->filter;
	struct place place;
	find_place(&place, codes, &frame->frame);
	const struct symbol_frame *found = place.count ? &place.found[place.count - 1] : NULL;
	if (printer->format.fields & SCRIPT_IP) {
		buf_char(&printer->text, ' ');
		add_frame(&printer->format, &printer->text, sample->event.ip, found, frame->frame.address,
			  place.module);
	} else {
		buf_char(&printer->text, '\n');
	}
	return match_module(filter->modules, place.module) &&
	       (!filter->functions || (found && match_function(filter->functions, found->name)));
}

struct script_text *script_text_new(struct outfile *out, const struct profile_filter *filter, const char *event,
				    const struct script_format *format)
{
	struct script_text *printer = mem_zalloc(1, sizeof *printer);
	printer->out = out;
	printer->filter = filter;
	printer->event = event;
	printer->format = format ? *format : (struct script_format){.fields = SCRIPT_USUAL};
	return printer;
}

void script_text_free(struct script_text *printer)
{
	if (!printer)
		return;
	buf_release(&printer->text);
	buf_release(&printer->lines);
	free(printer->frames);
	index_map_release(&printer->frame_map);
	free(printer);
}

void script_text_next_recording(struct script_text *printer)
{
	printer->frame_count = 0;
	index_map_clear(&printer->frame_map);
	buf_clear(&printer->lines);
}

void script_text_sample(void *context, struct module_store *codes, const struct batch_sample *sample,
			const struct stack_frame *frames, size_t count)
{
	struct script_text *printer = context;
	if (printer->event && strcmp(printer->event, sample->event_name) != 0)
		return;
	buf_clear(&printer->text);
	bool chain = sample->chain_max && !printer->format.no_stacks && printer->format.fields & SCRIPT_IP;
	add_event_line(&printer->text, sample, &printer->format, chain);
	if (chain || !count ? !add_stack(printer, codes, frames, count) :
			      !add_address(printer, codes, sample, &frames[0]))
		return;
	outfile_add(printer->out, printer->text.data, printer->text.size);
	printer->printed = true;
}

bool script_text_printed(const struct script_text *printer)
{
	return printer->printed;
}
