/* Options of perf's commands that read recordings, for the `perf_options` of wick's. */
#ifndef WICK_CMD_PERF_ROWS_H
#define WICK_CMD_PERF_ROWS_H

#include "cmd/input.h"

#define PERF_IGNORED(text) .name = text, .type = OPTION_IGNORED
#define PERF_REFUSED(text, instead) .name = text, .type = OPTION_REFUSED, .help = instead
#define PERF_NO_KERNEL_FILE "leave it out; the kernel's functions are found by its build-id, here or by debuginfod"
#define PERF_NO_ITRACE "wick does not decode instruction traces; perf does"

/* clang-format off */
#define PERF_FILE_ROWS                                                                                                \
	{.name = "input", .letter = 'i', .type = OPTION_ARGUMENT, .argument = "FILE",                                 \
	 .help = "Another way to name FILE."},                                                                        \
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
	 .argument = "LIST", .help = "Take only threads of these names."},                                            \
	{.name = "dsos", .letter = 'd', .type = OPTION_COMMAS, .offset = INPUT_FIELD(owner, dsos),                    \
	 .argument = "LIST", .help = "Take only stacks with a frame of one of these modules."},                       \
	{.name = "symbols", .letter = 'S', .type = OPTION_COMMAS, .offset = INPUT_FIELD(owner, symbols),              \
	 .argument = "LIST", .help = "Take only stacks with one of these functions."},                                \
	{.name = "cpu", .letter = 'C', .type = OPTION_LIST, .offset = INPUT_FIELD(owner, cpus), .argument = "LIST",   \
	 .help = "Take only samples of these CPUs."},                                                                 \
	{.name = "demangle", .type = OPTION_FLAG, .offset = INPUT_FIELD(owner, demangle), .negatable = true,          \
	 .help = "--no-demangle is --names raw."},                                                                    \
	{PERF_REFUSED("vmlinux", PERF_NO_KERNEL_FILE), .letter = 'k'},                                                \
	{PERF_REFUSED("kallsyms", PERF_NO_KERNEL_FILE)},                                                              \
	{PERF_REFUSED("itrace", PERF_NO_ITRACE)},                                                                     \
	{PERF_REFUSED("dump-raw-trace", "wick shows samples only; perf script -D dumps records"), .letter = 'D'}
/* clang-format on */

#endif
