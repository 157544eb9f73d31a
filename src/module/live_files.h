/*
 * Where the files of live processes are and which build they are. Answers are kept: the process may be gone the next
 * time, and records of a whole system come without build-ids.
 */
#ifndef WICK_MODULE_LIVE_FILES_H
#define WICK_MODULE_LIVE_FILES_H

#include "base/id_map.h"
#include "object/build_id.h"
#include "process/roots.h"

#include <stdbool.h>

struct live_root {
	int32_t pid;
	const char *root;
	bool stale; /* it may have another by now */
};

struct live_file {
	const char *root; /* of `roots` */
	char *path;
	struct build_id build_id;
};

/* A file that was deleted while a process has it mapped, held open. */
struct live_held {
	int32_t pid;
	char *path; /* as the kernel calls it */
	char open[32]; /* by which it can be opened; "": it cannot */
	int fd;
};

struct live_files {
	struct roots roots;
	struct live_root *pids;
	size_t pid_count, pid_capacity;
	struct id_map pid_map;
	struct live_file *files;
	size_t file_count, file_capacity;
	struct index_map file_map;
	struct live_held **held;
	size_t held_count, held_capacity;
};

void live_files_init(struct live_files *files);
void live_files_release(struct live_files *files);
/* What to put before a path of the process: "" when it sees the same files as we. Stays until release. */
const char *live_files_root(struct live_files *files, int32_t pid);
/* The process began, or became another program: its root may be another. */
void live_files_changed(struct live_files *files, int32_t pid);
/* The build-id of a file below a root that live_files_root() gave; size 0 when it has none or cannot be read. */
struct build_id live_files_build_id(struct live_files *files, const char *root, const char *path);
/*
 * By which path a file can be opened that was deleted while the process has it mapped; NULL when it cannot (it needs
 * root). Stays until release.
 */
const char *live_files_hold(struct live_files *files, int32_t pid, const char *path);

#endif
