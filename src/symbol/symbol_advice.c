/* Finds the package or server that has the debug information of a file. */
#include "symbol/symbol_advice.h"

#include "base/hash.h"
#include "symbol/debugfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PACKAGE_LISTS "/var/lib/dpkg/info"
#define LIST_MAX ((size_t)16 << 20)

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
	ssize_t count = size && size < LIST_MAX ? read(fd, buf_reserve(text, size), size) : -1;
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
	if (cache_get(cache, &id, NULL, "package", &bytes)) {
		buf_add(&found, bytes.bytes, bytes.size);
		cache_bytes_release(&bytes);
	} else {
		search_lists(&found, folder, path);
		cache_put(cache, &id, NULL, "package", found.data ? found.data : "", found.size);
	}
	buf_add(out, found.data, found.size);
	return found.size;
}

/* --- which server --- */

static FILE *open_below(const char *root, const char *path)
{
	CLEANUP_BUF struct buf full = {0};
	buf_printf(&full, "%s%s", root, path);
	return fopen(full.data, "re");
}

/* A value of /etc/os-release without quotes; "" when it is not there. */
static void os_release(const char *root, const char *name, char *value, size_t room)
{
	FILE *file = open_below(root, "/etc/os-release");
	char line[256];
	size_t length = strlen(name);
	*value = '\0';
	while (file && fgets(line, sizeof line, file)) {
		if (strncmp(line, name, length) || line[length] != '=')
			continue;
		const char *text = line + length + 1 + (line[length + 1] == '"');
		snprintf(value, room, "%.*s", (int)strcspn(text, "\"\n"), text);
	}
	if (file)
		fclose(file);
}

const char *advice_server(const char *root)
{
	static const struct {
		const char *id, *server;
	} servers[] = {
		{"debian", "https://debuginfod.debian.net"},        {"ubuntu", "https://debuginfod.ubuntu.com"},
		{"fedora", "https://debuginfod.fedoraproject.org"}, {"centos", "https://debuginfod.centos.org"},
		{"arch", "https://debuginfod.archlinux.org"},       {"opensuse", "https://debuginfod.opensuse.org"},
	};
	char id[64];
	os_release(root, "ID", id, sizeof id);
	for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
		if (!strncmp(id, servers[i].id, strlen(servers[i].id)))
			return servers[i].server;
	return "https://debuginfod.elfutils.org";
}

/* --- which archive --- */

static bool file_has(const char *path, const char *const texts[])
{
	FILE *file = fopen(path, "re");
	char line[1024];
	bool found = false;
	while (file && !found && fgets(line, sizeof line, file))
		for (size_t i = 0; texts[i] && line[0] != '#'; i++)
			found = found || strstr(line, texts[i]);
	if (file)
		fclose(file);
	return found;
}

/* Whether apt knows an archive of debug packages. */
static bool knows_debug_archive(const char *root)
{
	static const char *const texts[] = {"-debug", "ddebs.ubuntu.com", NULL};
	CLEANUP_BUF struct buf path = {0};
	buf_printf(&path, "%s/etc/apt/sources.list", root);
	bool found = file_has(path.data, texts);
	buf_str(&path, ".d");
	DIR *folder = opendir(path.data);
	size_t length = path.size;
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
		path.size = length;
		buf_printf(&path, "/%s", entry->d_name);
		found = entry->d_name[0] != '.' && file_has(path.data, texts);
	}
	if (folder)
		closedir(folder);
	return found;
}

void advice_debug_package(struct buf *out, const char *root, const char *package, bool servers_known)
{
	char id[64], codename[64];
	os_release(root, "ID", id, sizeof id);
	os_release(root, "VERSION_CODENAME", codename, sizeof codename);
	/* The C library's are the ones with a name of their own, in the usual archive. */
	if (!strcmp(package, "libc6"))
		buf_str(out, "sudo apt install libc6-dbg");
	else if (knows_debug_archive(root))
		buf_printf(out, "sudo apt install %s-dbgsym", package);
	else if (!servers_known)
		buf_printf(out, "export DEBUGINFOD_URLS=%s and read the recording again", advice_server(root));
	else if (!strcmp(id, "debian") && *codename)
		buf_printf(out,
			   "echo 'deb http://deb.debian.org/debian-debug %s-debug main' | sudo tee "
			   "/etc/apt/sources.list.d/debug.list; sudo apt update; sudo apt install %s-dbgsym",
			   codename, package);
	else if (!strcmp(id, "ubuntu") && *codename)
		buf_printf(
			out,
			"sudo apt install ubuntu-dbgsym-keyring; echo 'deb http://ddebs.ubuntu.com %s main universe' | "
			"sudo tee /etc/apt/sources.list.d/ddebs.list; sudo apt update; sudo apt install %s-dbgsym",
			codename, package);
	else
		buf_printf(out, "install the debug package of %s", package);
}

/* --- the line --- */

static void write_remedy(struct buf *out, const char *path, struct cache *cache)
{
	CLEANUP_BUF struct buf package = {0};
	const char *servers = getenv("DEBUGINFOD_URLS");
	if (advice_package(&package, PACKAGE_LISTS, path, cache))
		advice_debug_package(out, "", package.data, servers && *servers);
	else
		buf_str(out, "build it with -g and do not strip it, or install its debug file in "
			     "/usr/lib/debug/.build-id");
}

void advice_write(struct buf *out, enum symbol_state state, const char *path, struct cache *cache)
{
	switch (state) {
	case SYMBOLS_DEBUG:
		break;
	case SYMBOLS_TABLE:
		buf_str(out, "no debug information for inlined functions and source lines: ");
		write_remedy(out, path, cache);
		break;
	case SYMBOLS_DYNAMIC:
		buf_str(out, "stripped, with names of exported functions only: ");
		write_remedy(out, path, cache);
		break;
	case SYMBOLS_NONE:
		buf_str(out, "stripped, without function names: ");
		write_remedy(out, path, cache);
		break;
	case SYMBOLS_MISSING:
		if (debugfile_path_deleted(path))
			buf_str(out, "the file was deleted or replaced while it was running: restart the program and "
				     "record again");
		else
			buf_str(out, "file not found (deleted, in a container, or on another machine): read the "
				     "recording where it was made, or use --symfs DIRECTORY with a copy of that "
				     "file system");
		break;
	case SYMBOLS_MISMATCH:
		buf_str(out, "the file was replaced after the recording (different build ID): record again");
		break;
	case SYMBOLS_DAMAGED:
		buf_str(out, "not an ELF file, so it has no function names");
		break;
	case SYMBOLS_UNSUPPORTED:
		buf_str(out, "only 64-bit little-endian ELF files are supported");
		break;
	case SYMBOLS_CRASHED:
		buf_str(out, "skipped because wick crashed when it read this file: please report it, with the file; "
			     "--no-cache reads it again");
		break;
	}
}
