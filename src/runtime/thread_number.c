/* /proc/PID/task/TID/status has the numbers of a thread in all namespaces, from that of /proc inwards. */
#include "runtime/thread_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t last_number(const char *numbers, int32_t tid, bool *ret_only)
{
	char *end;
	unsigned count = 0;
	for (const char *at = numbers;; at = end, count++) {
		long number = strtol(at, &end, 10);
		if (end == at)
			break;
		if (number > 0 && number <= INT32_MAX)
			tid = (int32_t)number;
	}
	*ret_only = count == 1;
	return tid;
}

int32_t thread_number_inside(int32_t pid, int32_t tid, bool *ret_only)
{
	char path[64], line[512];
	snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
	FILE *file = fopen(path, "re");
	*ret_only = false;
	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, "NSpid:", 6)) {
			tid = last_number(line + 6, tid, ret_only);
			break;
		}
	if (file)
		fclose(file);
	return tid;
}
