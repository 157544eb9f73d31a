/*
 * Memory that is never there: a mapping of a file in a file system in user space (FUSE) that does not answer reads. Who
 * needs a page of it waits until this process ends. Needs root, and /dev/fuse.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void stuck_reply(int fd, const struct fuse_in_header *request, int error, const void *body, size_t size)
{
	char bytes[512];
	struct fuse_out_header header = {.len = sizeof(header) + size, .error = -error, .unique = request->unique};
	memcpy(bytes, &header, sizeof(header));
	if (size)
		memcpy(bytes + sizeof(header), body, size);
	if (write(fd, bytes, header.len) < 0)
		_exit(1);
}

/* A directory, node 1, in which all names are the same file, node 2. */
static struct fuse_attr stuck_attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node, .size = 1 << 20, .nlink = 1, .mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644};
}

static void stuck_answer(int fd, const struct fuse_in_header *request)
{
	struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = 4096};
	struct fuse_entry_out entry = {.nodeid = 2, .attr_valid = 3600, .attr = stuck_attributes(2)};
	struct fuse_attr_out attributes = {.attr_valid = 3600, .attr = stuck_attributes(request->nodeid)};
	struct fuse_open_out opened = {0};
	switch (request->opcode) {
	case FUSE_INIT:
		stuck_reply(fd, request, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		stuck_reply(fd, request, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		stuck_reply(fd, request, 0, &attributes, sizeof(attributes));
		break;
	case FUSE_OPEN:
		stuck_reply(fd, request, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
	case FUSE_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		stuck_reply(fd, request, ENOSYS, NULL, 0);
	}
}

static void stuck_serve(int fd, pid_t parent)
{
	static char bytes[1 << 20];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent && read(fd, bytes, sizeof(bytes)) >= (ssize_t)sizeof(struct fuse_in_header))
		stuck_answer(fd, (const struct fuse_in_header *)bytes);
	_exit(0);
}

/* At an address, which must be free; NULL: anywhere. Ends the process with 77 where this is not possible. */
static void *stuck_map(void *address, size_t size)
{
	char options[128], place[] = "/tmp/stuck.XXXXXX", path[64];
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC), fd = -1;
	pid_t parent = getpid();
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (fuse < 0 || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || !mkdtemp(place))
		_exit(77);
	if (mount("stuck", place, "fuse", MS_NOSUID | MS_NODEV, options) == 0) {
		if (fork() == 0)
			stuck_serve(fuse, parent);
		snprintf(path, sizeof(path), "%s/file", place);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		umount2(place, MNT_DETACH);
	}
	close(fuse);
	rmdir(place);
	void *start = fd < 0 ? MAP_FAILED :
			       mmap(address, size, PROT_READ, MAP_PRIVATE | (address ? MAP_FIXED : 0), fd, 0);
	if (start == MAP_FAILED)
		_exit(77);
	return start;
}
