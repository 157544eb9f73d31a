/* Finds a mounted tracefs, or mounts a private one, and reads files below it. */
#include "system/tracefs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_MAX (256u << 10)
#define READ_AT_ONCE 4096
#define NAME_LONGEST 255u /* NAME_MAX */

#define NO_PROGRAMS (MS_NOSUID | MS_NODEV | MS_NOEXEC)
#define NO_PROGRAMS_DETACHED (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/*
 * A folder of that name may be there without the file system on it. statfs() comes first: it makes the kernel mount the
 * second place, which is mounted on first use. Before Linux 4.1 that was a folder of debugfs.
 */
static int open_place(const char *place)
{
	struct statfs about;
	if (statfs(place, &about) < 0 || (about.f_type != TRACEFS_MAGIC && about.f_type != DEBUGFS_MAGIC))
		return -1;
	return open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool find_mounted(struct tracefs *tracefs, enum tracefs_way way)
{
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		int fd = open_place(places[i]);
		if (fd >= 0) {
			*tracefs = (struct tracefs){.fd = fd, .way = way, .place = places[i]};
			return true;
		}
	}
	return false;
}

/* Linux 5.2. Returns the descriptor of the mount, or -1 with errno. */
static int mount_detached(void)
{
	int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	if (context < 0)
		return -1;
	int fd = -1;
	if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, NO_PROGRAMS_DETACHED);
	int error = errno;
	close(context);
	errno = error;
	return fd;
}

static bool mount_at_its_place(void)
{
	return syscall(SYS_mount, "tracefs", places[0], "tracefs", NO_PROGRAMS, NULL) == 0;
}

struct tracefs tracefs_open(bool may_mount)
{
	struct tracefs tracefs;
	if (find_mounted(&tracefs, TRACEFS_MOUNTED))
		return tracefs;
	int fd = mount_detached();
	if (fd >= 0)
		return (struct tracefs){.fd = fd, .way = TRACEFS_DETACHED};
	int error = errno;
	if (may_mount && mount_at_its_place() && find_mounted(&tracefs, TRACEFS_MOUNTED_NOW))
		return tracefs;
	if (may_mount && error == ENOSYS)
		error = errno;
	return (struct tracefs){.fd = -1, .way = TRACEFS_UNREACHABLE, .error = error};
}

void tracefs_close(struct tracefs *tracefs)
{
	if (tracefs->fd >= 0)
		close(tracefs->fd);
	*tracefs = (struct tracefs){.fd = -1, .way = TRACEFS_UNREACHABLE};
}

bool tracefs_is_name(const char *name)
{
	size_t length = strnlen(name, NAME_LONGEST + 1);
	if (!length || length > NAME_LONGEST || *name == '.')
		return false;
	for (size_t i = 0; i < length; i++)
		if (name[i] == '/' || iscntrl((unsigned char)name[i]))
			return false;
	return true;
}

int tracefs_read(const struct tracefs *tracefs, const char *system, const char *name, const char *file, struct buf *out)
{
	if (!tracefs_is_name(system) || !tracefs_is_name(name) || !tracefs_is_name(file))
		return ENOENT;
	CLEANUP_BUF struct buf path = {0};
	buf_printf(&path, "events/%s/%s/%s", system, name, file);
	int fd = openat(tracefs->fd, path.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno;
	buf_clear(out);
	ssize_t got = 1;
	while (got > 0 && out->size < FILE_MAX) {
		got = read(fd, buf_reserve(out, READ_AT_ONCE), READ_AT_ONCE);
		out->size += got > 0 ? (size_t)got : 0;
	}
	int error = got < 0 ? errno : 0;
	close(fd);
	buf_str(out, "");
	return error;
}
