/* Opens the root directories of processes, one per mount namespace and root. */
#include "process/roots.h"

#include "base/mem.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOTS_MAX 256 /* descriptors that are held; a machine with more containers than that names fewer files */

struct root {
	uint64_t device, inode, namespace;
	int fd;
	char *prefix;
};

/* Which root folder a process has and in which mount namespace it lies; false if that is unknown. */
static bool identify(const char *process, struct root *root)
{
	char path[64];
	struct stat status;
	snprintf(path, sizeof path, "/proc/%s/ns/mnt", process);
	if (stat(path, &status) != 0)
		return false;
	root->namespace = status.st_ino;
	snprintf(path, sizeof path, "/proc/%s/root", process);
	if (stat(path, &status) != 0)
		return false;
	root->device = status.st_dev;
	root->inode = status.st_ino;
	return true;
}

void roots_init(struct roots *roots)
{
	struct root own = {0};
	identify("self", &own);
	*roots = (struct roots){
		.own_device = own.device,
		.own_inode = own.inode,
		.own_namespace = own.namespace,
	};
}

void roots_release(struct roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		close(roots->items[i].fd);
		free(roots->items[i].prefix);
	}
	free(roots->items);
	*roots = (struct roots){0};
}

const char *roots_of(struct roots *roots, int32_t pid)
{
	char process[16], path[64];
	struct root root = {0};
	snprintf(process, sizeof process, "%d", (int)pid);
	if (pid <= 0 || !identify(process, &root))
		return "";
	if (root.device == roots->own_device && root.inode == roots->own_inode &&
	    root.namespace == roots->own_namespace)
		return "";
	for (size_t i = 0; i < roots->count; i++) {
		const struct root *known = &roots->items[i];
		if (known->device == root.device && known->inode == root.inode && known->namespace == root.namespace)
			return known->prefix;
	}
	snprintf(path, sizeof path, "/proc/%s/root", process);
	root.fd = roots->count < ROOTS_MAX ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (root.fd < 0)
		return "";
	snprintf(path, sizeof path, "/proc/self/fd/%d", root.fd);
	root.prefix = mem_strdup(path);
	MEM_ROOM(roots->items, roots->count, roots->capacity);
	roots->items[roots->count++] = root;
	return root.prefix;
}
