/* Copies what the process in the sandbox has. It cannot change a copy after it was checked. */
#include "sandbox/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int peer_take_fd(const struct peer *peer, int number)
{
	if (number == AT_FDCWD)
		return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = (int)syscall(SYS_pidfd_getfd, peer->pid_fd, number, 0);
	return fd < 0 ? -errno : fd;
}

bool peer_read(const struct peer *peer, uint64_t address, void *bytes, size_t size)
{
	struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)address, size};
	return process_vm_readv(peer->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Piece by piece, since the next page may not be there. */
int peer_read_path(const struct peer *peer, uint64_t address, char path[PATH_MAX])
{
	enum { PIECE = 256 };
	for (size_t done = 0; done < PATH_MAX;) {
		size_t size = PIECE - (address + done) % PIECE;
		if (size > PATH_MAX - done)
			size = PATH_MAX - done;
		if (!peer_read(peer, address + done, path + done, size))
			return -EFAULT;
		if (memchr(path + done, '\0', size))
			return 0;
		done += size;
	}
	return -ENAMETOOLONG;
}
