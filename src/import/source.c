/* Opens an input and decompresses gzip, xz and zstd within memory limits. */
#include "import/source.h"

#include "base/mem.h"
#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define RAW_SIZE (256u << 10)
#define XZ_MEMORY (1ull << 30) /* a hostile header can ask for 4 GiB */
#define ZSTD_WINDOW_MAX 27 /* as zstd has it: 128 MiB */

enum packing { PLAIN, GZIP, XZ, ZSTD };

struct source {
	int fd;
	const char *name;
	uint64_t size;
	_Atomic uint64_t consumed; /* queried while another thread reads */
	enum packing packing;
	bool raw_ended;
	bool between_members; /* a compressed stream is complete; another may follow */
	char *raw; /* bytes as they lie in the file */
	size_t raw_at, raw_end;
	union {
		z_stream gzip;
		lzma_stream xz;
		ZSTD_DStream *zstd;
	};
};

static int fill(struct source *source, struct err *err)
{
	if (source->raw_at < source->raw_end || source->raw_ended)
		return 0;
	ssize_t got;
	do
		got = read(source->fd, source->raw, RAW_SIZE);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_set(err, ERR_IO, "%s: cannot read: %s", source->name, strerror(errno));
	source->raw_at = 0;
	source->raw_end = (size_t)got;
	source->consumed += (size_t)got;
	source->raw_ended = got == 0;
	return 0;
}

static enum packing packing_of(const unsigned char *bytes, size_t count)
{
	if (count >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		return GZIP;
	if (count >= 6 && memcmp(bytes, "\3757zXZ\0", 6) == 0)
		return XZ;
	if (count >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0)
		return ZSTD;
	return PLAIN;
}

/* At most half of what wick may use in all. */
static uint64_t xz_memory(void)
{
	return mem_limit() / 2 < XZ_MEMORY ? mem_limit() / 2 : XZ_MEMORY;
}

static int zstd_window(void)
{
	int window = 63 - __builtin_clzll(mem_limit() / 2 | 1);
	return window < ZSTD_WINDOW_MAX ? window : ZSTD_WINDOW_MAX;
}

static int start_unpacking(struct source *source, struct err *err)
{
	bool ready = true;
	switch (source->packing) {
	case PLAIN:
		break;
	case GZIP:
		ready = inflateInit2(&source->gzip, 15 + 16) == Z_OK;
		break;
	case XZ:
		source->xz = (lzma_stream)LZMA_STREAM_INIT;
		ready = lzma_stream_decoder(&source->xz, xz_memory(), LZMA_CONCATENATED) == LZMA_OK;
		break;
	case ZSTD:
		source->zstd = ZSTD_createDStream();
		ready = source->zstd != NULL &&
			!ZSTD_isError(ZSTD_DCtx_setParameter(source->zstd, ZSTD_d_windowLogMax, zstd_window()));
		break;
	}
	if (ready)
		return 0;
	source->packing = PLAIN;
	return err_set(err, ERR_SYSTEM, "%s: cannot start decompressing", source->name);
}

static int open_file(struct source *source, const char *path, struct err *err)
{
	source->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0)
		return err_set(err, ERR_OPEN, "%s: %s", path, strerror(errno));
	return 0;
}

/* Reads until the magic numbers can be distinguished: a pipe may give one byte at a time. */
static int read_start(struct source *source, struct err *err)
{
	while (source->raw_end < 6 && !source->raw_ended) {
		ssize_t got = read(source->fd, source->raw + source->raw_end, RAW_SIZE - source->raw_end);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(err, ERR_IO, "%s: cannot read: %s", source->name, strerror(errno));
		source->raw_end += (size_t)got;
		source->consumed += (size_t)got;
		source->raw_ended = got == 0;
	}
	source->packing = packing_of((unsigned char *)source->raw, source->raw_end);
	return start_unpacking(source, err);
}

int source_open(struct source **ret_source, const char *path, const struct import_opened *opened, struct err *err)
{
	struct source *source = mem_zalloc(1, sizeof *source);
	source->fd = STDIN_FILENO;
	source->name = "standard input";
	source->raw = mem_alloc(RAW_SIZE);
	int result = 0;
	bool named = path && strcmp(path, "-") != 0;
	if (named)
		source->name = path;
	if (opened) {
		source->fd = opened->fd;
		memcpy(source->raw, opened->head, opened->head_size);
		source->raw_end = opened->head_size;
		source->consumed = opened->head_size;
	} else if (named) {
		result = open_file(source, path, err);
	}
	struct stat status;
	if (!result && fstat(source->fd, &status) == 0) {
		if (S_ISDIR(status.st_mode))
			result = err_set(err, ERR_OPEN, "%s: is a directory; use the names of files in it",
					 source->name);
		else if (S_ISREG(status.st_mode))
			source->size = (uint64_t)status.st_size;
	}
	if (!result)
		result = read_start(source, err);
	if (result) {
		source_close(source);
		return result;
	}
	*ret_source = source;
	return 0;
}

void source_close(struct source *source)
{
	if (!source)
		return;
	if (source->packing == GZIP)
		inflateEnd(&source->gzip);
	else if (source->packing == XZ)
		lzma_end(&source->xz);
	else if (source->packing == ZSTD)
		ZSTD_freeDStream(source->zstd);
	if (source->fd > STDIN_FILENO)
		close(source->fd);
	free(source->raw);
	free(source);
}

static ssize_t read_plain(struct source *source, char *to, size_t size, struct err *err)
{
	size_t have = source->raw_end - source->raw_at;
	if (have) {
		if (have > size)
			have = size;
		memcpy(to, source->raw + source->raw_at, have);
		source->raw_at += have;
		return (ssize_t)have;
	}
	ssize_t got;
	do
		got = read(source->fd, to, size);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_set(err, ERR_IO, "%s: cannot read: %s", source->name, strerror(errno));
	source->consumed += (size_t)got;
	return got;
}

static int damaged(struct source *source, struct err *err, const char *what)
{
	return err_set(err, ERR_FORMAT, "%s: the %s data is %s; using everything before", source->name, what,
		       source->raw_ended ? "truncated" : "damaged");
}

static ssize_t read_gzip(struct source *source, char *to, size_t size, struct err *err)
{
	z_stream *z = &source->gzip;
	z->next_out = (Bytef *)to;
	z->avail_out = (uInt)size;
	while (z->avail_out == size) {
		int result = fill(source, err);
		if (result)
			return result;
		if (source->raw_ended && source->between_members)
			return 0;
		z->next_in = (Bytef *)source->raw + source->raw_at;
		z->avail_in = (uInt)(source->raw_end - source->raw_at);
		if (source->between_members) {
			inflateReset(z);
			source->between_members = false;
		}
		int status = inflate(z, Z_NO_FLUSH);
		source->raw_at = source->raw_end - z->avail_in;
		if (status == Z_STREAM_END)
			source->between_members = true;
		else if (status != Z_OK || (source->raw_ended && z->avail_out == size))
			return damaged(source, err, "gzip");
	}
	return (ssize_t)(size - z->avail_out);
}

static ssize_t read_xz(struct source *source, char *to, size_t size, struct err *err)
{
	lzma_stream *xz = &source->xz;
	xz->next_out = (uint8_t *)to;
	xz->avail_out = size;
	while (xz->avail_out == size) {
		int result = fill(source, err);
		if (result)
			return result;
		xz->next_in = (uint8_t *)source->raw + source->raw_at;
		xz->avail_in = source->raw_end - source->raw_at;
		lzma_ret status = lzma_code(xz, source->raw_ended ? LZMA_FINISH : LZMA_RUN);
		source->raw_at = source->raw_end - xz->avail_in;
		if (status == LZMA_STREAM_END)
			break;
		if (status == LZMA_MEMLIMIT_ERROR)
			return err_set(err, ERR_FORMAT,
				       "%s needs more than %llu MB of memory to decompress; use xz -d first",
				       source->name, (unsigned long long)xz_memory() >> 20);
		if (status != LZMA_OK)
			return damaged(source, err, "xz");
	}
	return (ssize_t)(size - xz->avail_out);
}

static ssize_t read_zstd(struct source *source, char *to, size_t size, struct err *err)
{
	ZSTD_outBuffer out = {.dst = to, .size = size};
	while (out.pos == 0) {
		int result = fill(source, err);
		if (result)
			return result;
		if (source->raw_ended) {
			if (source->between_members)
				return 0;
			return damaged(source, err, "zstd");
		}
		ZSTD_inBuffer in = {.src = source->raw + source->raw_at, .size = source->raw_end - source->raw_at};
		size_t status = ZSTD_decompressStream(source->zstd, &out, &in);
		source->raw_at += in.pos;
		if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge)
			return err_set(err, ERR_FORMAT,
				       "%s needs more than %d MB of memory to decompress; use zstd -d --long=31 first",
				       source->name, (1 << zstd_window()) >> 20);
		if (ZSTD_isError(status))
			return damaged(source, err, "zstd");
		source->between_members = status == 0;
	}
	return (ssize_t)out.pos;
}

ssize_t source_read(struct source *source, char *to, size_t size, struct err *err)
{
	switch (source->packing) {
	case GZIP:
		return read_gzip(source, to, size, err);
	case XZ:
		return read_xz(source, to, size, err);
	case ZSTD:
		return read_zstd(source, to, size, err);
	case PLAIN:
		break;
	}
	return read_plain(source, to, size, err);
}

const char *source_name(const struct source *source)
{
	return source->name;
}

uint64_t source_size(const struct source *source)
{
	return source->size;
}

uint64_t source_consumed(const struct source *source)
{
	return source->consumed;
}
