/* The numbers that a directory of /proc lists: processes in /proc, threads in /proc/PID/task. */
#ifndef WICK_SYSTEM_PROC_LIST_H
#define WICK_SYSTEM_PROC_LIST_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

struct proc_list {
	DIR *directory; /* NULL: it cannot be opened, as that of a process that ended */
};

struct proc_list proc_list_processes(void);
struct proc_list proc_list_threads(int32_t pid);
/* The next one. False: there are no more, and the list is closed. */
bool proc_list_next(struct proc_list *list, int32_t *ret_number);
/* For who does not read to the end. */
void proc_list_close(struct proc_list *list);

#endif
