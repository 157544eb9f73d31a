/* Reads the entries of a directory of /proc whose names are numbers. */
#include "system/proc_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

struct proc_list proc_list_processes(void)
{
	return (struct proc_list){opendir("/proc")};
}

struct proc_list proc_list_threads(int32_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	return (struct proc_list){opendir(path)};
}

bool proc_list_next(struct proc_list *list, int32_t *ret_number)
{
	for (struct dirent *entry; list->directory && (entry = readdir(list->directory));)
		if (isdigit((unsigned char)entry->d_name[0])) {
			*ret_number = (int32_t)atol(entry->d_name);
			return true;
		}
	proc_list_close(list);
	return false;
}

void proc_list_close(struct proc_list *list)
{
	if (list->directory)
		closedir(list->directory);
	list->directory = NULL;
}
