#include "symbol/advice.h"

#include "base/hash.h"
#include "symbol/debugfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PACKAGE_LISTS "/var/lib/dpkg/info"
#define LIST_MOST ((size_t)16 << 20)

/* --- which package --- */

static bool read_list(int folder, const char *name, struct buf *text)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	struct stat status;
	size_t size = !fstat(fd, &status) && S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
	buf_clear(text);
	buf_char(text, '\n');
	ssize_t count = size && size < LIST_MOST ? read(fd, buf_reserve(text, size), size) : -1;
	close(fd);
	if (count <= 0)
		return false;
	text->size += (size_t)count;
	text->data[text->size] = '\0';
	return true;
}

static bool list_has(const struct buf *text, const struct buf *line)
{
	return memmem(text->data, text->size, line->data, line->size);
}

/* "libc6:amd64.list" → "libc6" */
static size_t package_length(const char *list, size_t length)
{
	size_t colon = strcspn(list, ":");
	return colon < length ? colon : length - 5;
}

static bool search_lists(struct buf *out, const char *folder, const char *path)
{
	CLEANUP_BUF struct buf line = {0}, merged = {0}, text = {0};
	DIR *lists = opendir(folder);
	if (!lists)
		return false;
	/* Where /usr is merged, lists may say /lib for what is mapped as /usr/lib, and the other way round. */
	bool below_usr = !strncmp(path, "/usr/", 5);
	buf_printf(&line, "\n%s\n", path);
	buf_printf(&merged, "\n%s%s\n", below_usr ? "" : "/usr", below_usr ? path + 4 : path);
	struct dirent *entry;
	bool found = false;
	while (!found && (entry = readdir(lists))) {
		size_t length = strlen(entry->d_name);
		if (length < 6 || strcmp(entry->d_name + length - 5, ".list") ||
		    !read_list(dirfd(lists), entry->d_name, &text))
			continue;
		found = list_has(&text, &line) || list_has(&text, &merged);
		if (found)
			buf_add(out, entry->d_name, package_length(entry->d_name, length));
	}
	closedir(lists);
	return found;
}

/* There are some thousand lists. Their folder changes whenever one of them does. */
bool advice_package(struct buf *out, const char *folder, const char *path, struct cache *cache)
{
	struct stat status;
	if (stat(folder, &status))
		return false;
	CLEANUP_BUF struct buf found = {0}, version = {0};
	struct cache_bytes bytes;
	buf_printf(&version, "%s %lld.%09ld", folder, (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
	uint64_t words[2] = {hash_bytes(path, strlen(path)), hash_bytes(version.data, version.size)};
	struct build_id id = {.size = sizeof words};
	memcpy(id.bytes, words, sizeof words);
	if (cache_get(cache, &id, "package", &bytes)) {
		buf_add(&found, bytes.bytes, bytes.size);
		cache_bytes_release(&bytes);
	} else {
		search_lists(&found, folder, path);
		cache_put(cache, &id, "package", found.data ? found.data : "", found.size);
	}
	buf_add(out, found.data, found.size);
	return found.size;
}

/* --- which server --- */

static const char *debuginfod_server(void)
{
	static const struct {
		const char *id, *server;
	} servers[] = {
		{"debian", "https://debuginfod.debian.net"},        {"ubuntu", "https://debuginfod.ubuntu.com"},
		{"fedora", "https://debuginfod.fedoraproject.org"}, {"centos", "https://debuginfod.centos.org"},
		{"arch", "https://debuginfod.archlinux.org"},       {"opensuse", "https://debuginfod.opensuse.org"},
	};
	const char *server = "https://debuginfod.elfutils.org";
	FILE *file = fopen("/etc/os-release", "re");
	char line[256];
	while (file && fgets(line, sizeof line, file)) {
		if (strncmp(line, "ID=", 3))
			continue;
		const char *id = line + 3 + (line[3] == '"');
		for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
			if (!strncmp(id, servers[i].id, strlen(servers[i].id)))
				server = servers[i].server;
	}
	if (file)
		fclose(file);
	return server;
}

/* --- the line --- */

static void write_remedy(struct buf *out, const char *path, struct cache *cache)
{
	CLEANUP_BUF struct buf package = {0};
	if (!advice_package(&package, PACKAGE_LISTS, path, cache)) {
		buf_str(out, "build it with -g and do not strip it, or keep its debug file where .gnu_debuglink or "
			     "/usr/lib/debug/.build-id lead");
		return;
	}
	/* The C library's are the ones with a name of their own. */
	if (!strcmp(package.data, "libc6"))
		buf_str(out, "apt install libc6-dbg");
	else
		buf_printf(out, "apt install %s-dbgsym", package.data);
	if (!getenv("DEBUGINFOD_URLS"))
		buf_printf(out, ", or set DEBUGINFOD_URLS=%s", debuginfod_server());
}

void advice_write(struct buf *out, enum symbol_state state, const char *path, struct cache *cache)
{
	switch (state) {
	case SYMBOLS_DEBUG:
		break;
	case SYMBOLS_TABLE:
		buf_str(out, "no debug information, so no inlined functions and lines: ");
		write_remedy(out, path, cache);
		break;
	case SYMBOLS_DYNAMIC:
		buf_str(out, "stripped, only exported functions have names: ");
		write_remedy(out, path, cache);
		break;
	case SYMBOLS_NONE:
		buf_str(out, "stripped, no function has a name: ");
		write_remedy(out, path, cache);
		break;
	case SYMBOLS_MISSING:
		if (debugfile_path_deleted(path))
			buf_str(out,
				"the file was deleted or replaced while it ran: restart the program and record again");
		else
			buf_str(out, "the file is not here (deleted, in a container, of another machine): "
				     "run wick where it was recorded, or name a copy of its file system as root");
		break;
	case SYMBOLS_MISMATCH:
		buf_str(out, "the file was replaced since the recording, its build-id differs: record again");
		break;
	case SYMBOLS_DAMAGED:
		buf_str(out, "not a 64-bit ELF file, or a damaged one: install it again");
		break;
	}
}
