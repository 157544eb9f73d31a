/*
 * A file of the cache, header and all: it is the entry that was put there, byte for byte, or it is not used. Sections
 * that were decompressed are kept like this one, without a format of their own.
 */
#include "cache_folder.h"
#include "harness.h"

#define KIND "section-7"

static const struct build_id id = {.size = 4, .bytes = "file"};
static const struct file_identity file = {.device = 1, .inode = 2, .size = 3, .modified = 4, .changed = 5};
static const char name[] = "66696c65.1-2." KIND ".wick";

static void write_entry(const void *bytes, size_t size)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", cache_folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void read_entry(struct buf *out)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", cache_folder, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		abort();
	for (ssize_t got = 1; got > 0; out->size += (size_t)got)
		if ((got = read(fd, buf_reserve(out, 65536), 65536)) < 0)
			abort();
	close(fd);
}

/* The first byte chooses: the bytes are the whole file, or change some of one that is fine. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cache *cache = cache_folder_open();
	struct cache_bytes got;
	CLEANUP_BUF struct buf whole = {0}, changed = {0};
	if (size < 4)
		return 0;
	if (!cache_put(cache, &id, &file, KIND, data, size))
		abort();
	read_entry(&whole);
	if (data[0] & 1) {
		buf_add(&changed, data + 1, size - 1);
	} else {
		buf_add(&changed, whole.data, whole.size);
		for (size_t i = 1; i + 2 < size && i < 64; i += 3)
			changed.data[(size_t)(data[i] | data[i + 1] << 8) % whole.size] ^= (char)data[i + 2];
		changed.size -= data[0] & 2 ? data[1] % 16 : 0;
	}
	write_entry(changed.data, changed.size);
	bool same = changed.size == whole.size && !memcmp(changed.data, whole.data, whole.size);
	if (!cache_get(cache, &id, &file, KIND, &got)) {
		if (same || access(cache_folder, W_OK))
			abort();
		return 0;
	}
	/* The header has some spare bytes, which mean nothing. */
	if (got.size != size || memcmp(got.bytes, data, size))
		abort();
	cache_bytes_release(&got);
	return 0;
}
