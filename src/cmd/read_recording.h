/* Reading a perf.data recording into a profile. */
#ifndef WICK_CMD_READ_RECORDING_H
#define WICK_CMD_READ_RECORDING_H

#include "base/outfile.h"
#include "cmd/filter_options.h"
#include "cmd/input.h"
#include "collect/stack.h"

/* The first bytes of an input, enough to distinguish a recording from text. */
struct input_head {
	int fd; /* −1: it could not be opened */
	bool is_folder; /* of the kind that perf record --threads writes */
	char bytes[IMPORT_HEAD_MAX];
	size_t size;
};

/*
 * What to read of a path: a folder that wick record wrote stands for its perf.data, for the part of it that was written
 * before wick died, or for its folded stacks. The result is `path` or lies in `room`.
 */
const char *input_path(const char *path, struct buf *room);

/* Opens a path ("-": standard input) and looks at its start. False when that fails; import_file() will say why. */
bool input_head_open(struct input_head *head, const char *path);
bool input_head_is_recording(const struct input_head *head);
void input_head_close(struct input_head *head);

/* What to do with a recording. */
struct recording_use {
	struct profile *profile; /* gets it, or: */
	void (*each)(void *context, struct module_store *codes, const struct batch_sample *sample,
		     const struct stack_frame *frames, size_t count);
	void *context;
	bool keep_order;
};

/* Reads a recording; takes the descriptor of `head` over. −1 to continue, else the exit code. */
int recording_load(struct input_head *head, const char *path, const struct input_options *options,
		   const struct input_filter *filter, const struct recording_use *use);

/*
 * Writes what the header of a recording says, a line for each fact by `format`, which takes its name and its text.
 * −1 to continue, else the exit code.
 */
int recording_write_facts(struct outfile *out, const char *path, const char *format);

/* Prints what the headers of recordings say, on standard output. The exit code. */
int recording_print_facts(const struct option_list *files);

#endif
