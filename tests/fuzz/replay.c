/*
 * Runs files, and the files of folders, through a fuzz harness without a fuzzer: the rerun of a corpus in `make test`.
 * Writes TAP. A finding kills the process, and its name was printed before.
 */
#include "base/buf.h"
#include "harness.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

static unsigned count;

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int replay_file(const char *path)
{
	CLEANUP_BUF struct buf bytes = {0};
	FILE *file = fopen(path, "rb");
	if (!file) {
		printf("not ok %u - cannot open %s\n", ++count, path);
		return 1;
	}
	for (size_t got = 1; got > 0; bytes.size += got)
		got = fread(buf_reserve(&bytes, 65536), 1, 65536, file);
	fclose(file);
	printf("# %s\n", path);
	fflush(stdout);
	/* A copy of the exact size, so that a sanitizer sees a read behind its end. */
	uint8_t *exact = mem_alloc(bytes.size ? bytes.size : 1);
	memcpy(exact, bytes.data, bytes.size);
	LLVMFuzzerTestOneInput(exact, bytes.size);
	free(exact);
	printf("ok %u - %s\n", ++count, path);
	return 0;
}

static int replay_folder(const char *path)
{
	char **names = NULL;
	size_t found = 0, capacity = 0;
	int failed = 0;
	DIR *folder = opendir(path);
	if (!folder) {
		printf("not ok %u - cannot open %s\n", ++count, path);
		return 1;
	}
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (entry->d_name[0] == '.')
			continue;
		struct buf name = {0};
		buf_printf(&name, "%s/%s", path, entry->d_name);
		MEM_ROOM(names, found, capacity);
		names[found++] = name.data;
	}
	closedir(folder);
	if (found)
		qsort(names, found, sizeof *names, compare_names);
	for (size_t i = 0; i < found; i++) {
		failed |= replay_file(names[i]);
		free(names[i]);
	}
	free(names);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;
	for (int i = 1; i < argc; i++) {
		struct stat status;
		bool is_folder = stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode);
		failed |= is_folder ? replay_folder(argv[i]) : replay_file(argv[i]);
	}
	printf("1..%u\n", count);
	if (!count)
		fprintf(stderr, "no file to replay\n");
	return failed || !count;
}
