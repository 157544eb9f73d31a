/* Reads the figures of a cgroup at the start and at the end of a recording. */
#include "recorder/cgroup_use.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void cgroup_use_open(struct cgroup_use *use, int directory)
{
	char link[40], place[4096];
	struct stat status;
	snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
	ssize_t size = readlink(link, place, sizeof place - 1);
	if (size <= 0 || fstat(directory, &status))
		return;
	place[size] = '\0';
	use->id = status.st_ino;
	hierarchies_read(&use->hierarchies, "");
	for (size_t i = 0; i < use->hierarchies.count && !use->path.size; i++) {
		const char *root = use->hierarchies.items[i].directory;
		size_t length = strlen(root);
		if (!strncmp(place, root, length) && place[length] == '/')
			buf_str(&use->path, place + length);
	}
}

void cgroup_use_close(struct cgroup_use *use)
{
	hierarchies_release(&use->hierarchies);
	buf_release(&use->path);
}

void cgroup_use_begin(struct cgroup_use *use)
{
	if (use->path.size)
		use->begin = cgroup_cpu_read(&use->hierarchies, use->path.data);
}

void cgroup_use_end(const struct cgroup_use *use, bool all, struct buf *out)
{
	if (!use->path.size)
		return;
	struct cgroup_cpu now = cgroup_cpu_read(&use->hierarchies, use->path.data);
	struct cgroup_cpu used = cgroup_cpu_since(&now, &use->begin);
	used.usage = all ? used.usage : 0;
	cgroup_cpu_write(&used, out);
}
