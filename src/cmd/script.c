/* Each sample of a recording as text, in the layout of `perf script`. */
#include "base/hash.h"
#include "base/outfile.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/recording.h"
#include "profile/match.h"

#include <string.h>

#define MOST_INLINED 64

struct script_options {
	struct input_options input;
	const char *output;
};

/* clang-format off */
static const struct option_row script_rows[] = {
	{.name = "output", .letter = 'o', .type = OPTION_STRING, .offset = offsetof(struct script_options, output),
	 .argument = "FILE", .help = "Write to FILE. Default: standard output."},
	INPUT_TAKE_ROWS(struct script_options),
	{.name = "comm", .type = OPTION_LIST, .offset = INPUT_FIELD(struct script_options, comms),
	 .argument = "PATTERN", .help = "Take only threads of such a name (*, ? and [] as in a shell)."},
	{.name = "pid", .type = OPTION_LIST, .offset = INPUT_FIELD(struct script_options, pids), .argument = "LIST",
	 .help = "Take only these processes: 12,13."},
	{.name = "tid", .type = OPTION_LIST, .offset = INPUT_FIELD(struct script_options, tids), .argument = "LIST",
	 .help = "Take only these threads: 12,13."},
	OPTION_END,
};
/* clang-format on */

/* The lines of one address, made once: most frames of a recording repeat. */
struct frame_text {
	module_id module;
	uint32_t version;
	bool exact, unwound;
	bool fits_module, fits_function; /* of the filters */
	uint64_t address;
	size_t at, size; /* in printer.lines */
};

struct printer {
	const struct script_options *options;
	const struct input_filter *filter;
	struct outfile out;
	struct buf text; /* of one sample */
	struct buf lines;
	struct frame_text *frames;
	size_t frame_count, frame_capacity;
	struct index_map frame_map;
	bool printed; /* some sample */
};

/* "java 24636 [000]  4794.109216:     250000 cycles: "; where no call chains were recorded names are in columns. */
static void add_event_line(struct buf *out, const struct batch_sample *sample)
{
	buf_printf(out, sample->chain_most ? "%s %5d " : "%16s %5d ", sample->comm, sample->tid);
	if (sample->cpu != UINT32_MAX)
		buf_printf(out, "[%03u] ", sample->cpu);
	uint64_t microseconds = sample->time / 1000;
	buf_printf(out, "%5llu.%06llu: %10llu %*s: ", (unsigned long long)(microseconds / 1000000),
		   (unsigned long long)(microseconds % 1000000), (unsigned long long)sample->period,
		   (int)sample->event_columns, sample->event);
}

/* "7f3c1d0e4a2b work+0x1b (/usr/bin/server)"; `found` NULL: no symbol. */
static void add_frame(struct buf *out, uint64_t shown, const struct symbol_frame *found, uint64_t address,
		      const char *module)
{
	buf_printf(out, "%16llx %s", (unsigned long long)shown, found ? found->name : "[unknown]");
	if (found && found->start)
		buf_printf(out, "+0x%llx", (unsigned long long)(address - found->start));
	buf_printf(out, " (%s)\n", found && found->inlined ? "inlined" : module);
}

/* What is known of one address. */
struct place {
	struct symbol_frame found[MOST_INLINED];
	size_t count;
	const char *module;
};

static void find_place(struct place *place, struct codes *codes, const struct stack_frame *frame)
{
	struct code *code = frame->module == MODULE_NONE ? NULL : codes_get(codes, frame->module);
	if (code)
		place->count = (frame->exact ? code_find : code_find_call)(code, frame->address, frame->version,
									   place->found, MOST_INLINED);
	else
		place->count = 0;
	place->module = code ? code_module_name(code, frame->address) : "[unknown]";
}

static struct frame_text make_frame(struct printer *printer, struct codes *codes, const struct stack_frame *frame)
{
	const struct profile_filter *filter = &printer->filter->takes.profile;
	struct place place;
	find_place(&place, codes, frame);
	/* Of callers perf shows the return address where the kernel found it, and one less where it unwound itself. */
	unsigned behind = !frame->exact && !frame->unwound;
	struct frame_text text = {
		.module = frame->module,
		.exact = frame->exact,
		.unwound = frame->unwound,
		.address = frame->address,
		.version = frame->version,
		.at = printer->lines.size,
		.fits_module = match_module(filter->modules, place.module),
		.fits_function = !filter->functions,
	};
	for (size_t i = 0; i < place.count; i++) {
		const struct symbol_frame *found = &place.found[i];
		buf_char(&printer->lines, '\t');
		add_frame(&printer->lines, frame->offset + behind, found, frame->address + behind, place.module);
		text.fits_function = text.fits_function || match_text(filter->functions, found->name);
	}
	if (!place.count) {
		buf_char(&printer->lines, '\t');
		add_frame(&printer->lines, frame->offset + behind, NULL, 0, place.module);
	}
	text.size = printer->lines.size - text.at;
	return text;
}

static const struct frame_text *frame_text(struct printer *printer, struct codes *codes,
					   const struct stack_frame *frame)
{
	uint64_t hash = hash_mix(frame->address ^ HASH_K0,
				 hash_pair(frame->module, frame->version << 2 | frame->exact | frame->unwound << 1));
	struct index_probe probe;
	for (uint32_t i = index_map_first(&printer->frame_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&printer->frame_map, &probe)) {
		const struct frame_text *known = &printer->frames[i];
		if (known->address == frame->address && known->module == frame->module &&
		    known->version == frame->version && known->exact == frame->exact &&
		    known->unwound == frame->unwound)
			return known;
	}
	MEM_ROOM(printer->frames, printer->frame_count, printer->frame_capacity);
	index_map_insert(&printer->frame_map, hash, (uint32_t)printer->frame_count);
	printer->frames[printer->frame_count] = make_frame(printer, codes, frame);
	return &printer->frames[printer->frame_count++];
}

/* Appends the stack; false when it does not fit the filters. */
static bool add_stack(struct printer *printer, struct codes *codes, const struct stack_frame *frames, size_t count)
{
	const struct profile_filter *filter = &printer->filter->takes.profile;
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
static bool add_address(struct printer *printer, struct codes *codes, const struct batch_sample *sample,
			const struct stack_frame *frame)
{
	const struct profile_filter *filter = &printer->filter->takes.profile;
	struct place place;
	find_place(&place, codes, frame);
	const struct symbol_frame *found = place.count ? &place.found[place.count - 1] : NULL;
	buf_char(&printer->text, ' ');
	add_frame(&printer->text, sample->ip, found, frame->address, place.module);
	return match_module(filter->modules, place.module) &&
	       (!filter->functions || (found && match_text(filter->functions, found->name)));
}

static void print_sample(void *context, struct codes *codes, const struct batch_sample *sample,
			 const struct stack_frame *frames, size_t count)
{
	struct printer *printer = context;
	const char *event = printer->options->input.event_filter;
	if (event && strcmp(event, sample->event) != 0)
		return;
	buf_clear(&printer->text);
	add_event_line(&printer->text, sample);
	if (sample->chain_most || !count ? !add_stack(printer, codes, frames, count) :
					   !add_address(printer, codes, sample, &frames[0]))
		return;
	outfile_add(&printer->out, printer->text.data, printer->text.size);
	printer->printed = true;
}

static int print_file(struct printer *printer, const char *path)
{
	struct input_head head;
	struct buf room CLEANUP_BUF = {0};
	path = input_path(path, &room);
	struct recording_use use = {.each = print_sample, .context = printer};
	if (!input_head_open(&head, path)) {
		say_error("%s: %m", path);
		return EXIT_FAILED;
	}
	if (input_head_is_recording(&head)) {
		/* Modules are numbered anew in each recording. */
		printer->frame_count = 0;
		index_map_clear(&printer->frame_map);
		buf_clear(&printer->lines);
		return recording_load(&head, path, &printer->options->input, printer->filter, &use);
	}
	input_head_close(&head);
	say_error("%s: not a perf.data file", strcmp(path, "-") == 0 ? "standard input" : path);
	return EXIT_FAILED;
}

static int print_files(struct printer *printer, const struct option_list *files)
{
	struct err err = {0};
	if (outfile_open(&printer->out, printer->options->output, &err))
		return say_failure(&err);
	size_t count = files->count ? files->count : 1;
	int result = -1;
	for (size_t i = 0; i < count && result < 0; i++)
		result = print_file(printer, files->count ? files->items[i] : input_without_files());
	if (result < 0 && !printer->printed) {
		bool filtered = printer->filter->any || printer->options->input.event_filter;
		say_error(filtered ? "no sample fits the filters" : "no samples in it");
		result = EXIT_FAILED;
	}
	if (result < 0)
		return outfile_commit(&printer->out, &err) ? say_failure(&err) : EXIT_DONE;
	outfile_abandon(&printer->out);
	return result;
}

static int run_script(int argc, char **argv)
{
	struct script_options options = {.input = input_defaults(false)};
	struct option_list files = {0};
	struct input_filter filter;
	int result = options_parse(&command_script, argc, argv, &options, &files);
	if (result >= 0)
		return result;
	result = input_filter_parse(&filter, &options.input);
	struct printer printer = {.options = &options, .filter = &filter};
	if (result < 0)
		result = print_files(&printer, &files);
	buf_release(&printer.text);
	buf_release(&printer.lines);
	free(printer.frames);
	index_map_release(&printer.frame_map);
	input_filter_release(&filter);
	option_list_release(&files);
	input_release(&options.input);
	return result;
}

const struct command command_script = {
	.name = "script",
	.summary = "Print each sample of a recording as text, as perf script does",
	.arguments = "[FILE…]",
	.description =
		"Reads perf.data and prints each sample with its stack, unwound and with names, in the layout of perf "
		"script, so that what reads that text goes on working. Samples come in the order of time.\n\n"
		"Without FILE standard input is read, or the file perf.data when standard input is a terminal.",
	.options = script_rows,
	.examples =
		(const struct command_example[]){
			{"wick script perf.data | stackcollapse-perf.pl >out.folded", "feed an old pipeline"},
			{"wick script --no-inline --comm nginx perf.data", "one program, without inlined frames"},
			{"perf record -o - -g -- ./server | wick script", "from a pipe, without a file"},
			{0},
		},
	.run = run_script,
};
