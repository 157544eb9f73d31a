/* Options of perf's commands that read recordings, for the `perf_options` of wick's. */
#ifndef WICK_CMD_PERF_ROWS_H
#define WICK_CMD_PERF_ROWS_H

#include "cmd/input.h"

#define PERF_IGNORED(text) .name = text, .type = OPTION_IGNORED
#define PERF_REFUSED(text, instead) .name = text, .type = OPTION_REFUSED, .help = instead
#define PERF_NO_KERNEL_FILE "not needed: the kernel is found by its build ID, on this machine or with debuginfod"
#define PERF_NO_ITRACE "wick does not decode instruction traces; use perf"

/* clang-format off */
#define PERF_FILE_ROWS                                                                                                \
	{.name = "input", .letter = 'i', .type = OPTION_ARGUMENT, .argument = "FILE",                                 \
	 .help = "The same as FILE."},                                                                                \
	{PERF_IGNORED("force"), .letter = 'f'}

/* `owner` is the struct with a member `input` of type struct input_options. */
#define PERF_READING_ROWS(owner)                                                                                      \
	PERF_FILE_ROWS,                                                                                               \
	{PERF_IGNORED("verbose"), .letter = 'v'},                                                                     \
	{PERF_IGNORED("quiet"), .letter = 'q'},                                                                       \
	{PERF_IGNORED("demangle-kernel")},                                                                            \
	{PERF_IGNORED("full-source-path")},                                                                           \
	{PERF_IGNORED("ignore-vmlinux")},                                                                             \
	{PERF_IGNORED("modules"), .letter = 'm'},                                                                     \
	{PERF_IGNORED("max-stack"), .argument = "N"},                                                                 \
	{.name = "comms", .letter = 'c', .type = OPTION_COMMAS, .offset = INPUT_FIELD(owner, comms),                  \
	 .argument = "LIST", .help = "Select threads with these names."},                                             \
	{.name = "dsos", .letter = 'd', .type = OPTION_COMMAS, .offset = INPUT_FIELD(owner, dsos),                    \
	 .argument = "LIST", .help = "Select stacks with a frame of these modules."},                                 \
	{.name = "symbols", .letter = 'S', .type = OPTION_COMMAS, .offset = INPUT_FIELD(owner, symbols),              \
	 .argument = "LIST", .help = "Select stacks with these functions."},                                          \
	{.name = "cpu", .letter = 'C', .type = OPTION_LIST, .offset = INPUT_FIELD(owner, cpus), .argument = "LIST",   \
	 .help = "Select samples on these CPUs."},                                                                    \
	{.name = "demangle", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, demangle), .negatable = true,          \
	 .help = "--no-demangle is the same as --names raw."},                                                        \
	{PERF_REFUSED("vmlinux", PERF_NO_KERNEL_FILE), .letter = 'k'},                                                \
	{PERF_REFUSED("kallsyms", PERF_NO_KERNEL_FILE)},                                                              \
	{PERF_REFUSED("itrace", PERF_NO_ITRACE)},                                                                     \
	{PERF_REFUSED("dump-raw-trace", "wick shows only samples; for records use perf script -D"), .letter = 'D'}
/* clang-format on */

#endif
