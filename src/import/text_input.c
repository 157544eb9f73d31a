/* Opens an input and decompresses gzip, xz and zstd within memory limits. */
#include "import/text_input.h"

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

struct text_input {
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

static int fill(struct text_input *input, struct err *err)
{
	if (input->raw_at < input->raw_end || input->raw_ended)
		return 0;
	ssize_t got;
	do
		got = read(input->fd, input->raw, RAW_SIZE);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_set(err, ERR_IO, "%s: cannot read: %s", input->name, strerror(errno));
	input->raw_at = 0;
	input->raw_end = (size_t)got;
	input->consumed += (size_t)got;
	input->raw_ended = got == 0;
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

static int start_unpacking(struct text_input *input, struct err *err)
{
	bool ready = true;
	switch (input->packing) {
	case PLAIN:
		break;
	case GZIP:
		ready = inflateInit2(&input->gzip, 15 + 16) == Z_OK;
		break;
	case XZ:
		input->xz = (lzma_stream)LZMA_STREAM_INIT;
		ready = lzma_stream_decoder(&input->xz, xz_memory(), LZMA_CONCATENATED) == LZMA_OK;
		break;
	case ZSTD:
		input->zstd = ZSTD_createDStream();
		ready = input->zstd != NULL &&
			!ZSTD_isError(ZSTD_DCtx_setParameter(input->zstd, ZSTD_d_windowLogMax, zstd_window()));
		break;
	}
	if (ready)
		return 0;
	input->packing = PLAIN;
	return err_set(err, ERR_SYSTEM, "%s: cannot start decompressing", input->name);
}

static int open_file(struct text_input *input, const char *path, struct err *err)
{
	input->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (input->fd < 0)
		return err_set(err, ERR_OPEN, "%s: %s", path, strerror(errno));
	return 0;
}

/* Reads until the magic numbers can be distinguished: a pipe may give one byte at a time. */
static int read_start(struct text_input *input, struct err *err)
{
	while (input->raw_end < 6 && !input->raw_ended) {
		ssize_t got = read(input->fd, input->raw + input->raw_end, RAW_SIZE - input->raw_end);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(err, ERR_IO, "%s: cannot read: %s", input->name, strerror(errno));
		input->raw_end += (size_t)got;
		input->consumed += (size_t)got;
		input->raw_ended = got == 0;
	}
	input->packing = packing_of((unsigned char *)input->raw, input->raw_end);
	return start_unpacking(input, err);
}

int text_input_open(struct text_input **ret_input, const char *path, const struct import_opened *opened,
		    struct err *err)
{
	struct text_input *input = mem_zalloc(1, sizeof *input);
	input->fd = STDIN_FILENO;
	input->name = "standard input";
	input->raw = mem_alloc(RAW_SIZE);
	int result = 0;
	bool named = path && strcmp(path, "-") != 0;
	if (named)
		input->name = path;
	if (opened) {
		input->fd = opened->fd;
		memcpy(input->raw, opened->head, opened->head_size);
		input->raw_end = opened->head_size;
		input->consumed = opened->head_size;
	} else if (named) {
		result = open_file(input, path, err);
	}
	struct stat status;
	if (!result && fstat(input->fd, &status) == 0) {
		if (S_ISDIR(status.st_mode))
			result =
				err_set(err, ERR_OPEN, "%s: is a directory; use the names of files in it", input->name);
		else if (S_ISREG(status.st_mode))
			input->size = (uint64_t)status.st_size;
	}
	if (!result)
		result = read_start(input, err);
	if (result) {
		text_input_close(input);
		return result;
	}
	*ret_input = input;
	return 0;
}

void text_input_close(struct text_input *input)
{
	if (!input)
		return;
	if (input->packing == GZIP)
		inflateEnd(&input->gzip);
	else if (input->packing == XZ)
		lzma_end(&input->xz);
	else if (input->packing == ZSTD)
		ZSTD_freeDStream(input->zstd);
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	free(input->raw);
	free(input);
}

static ssize_t read_plain(struct text_input *input, char *to, size_t size, struct err *err)
{
	size_t have = input->raw_end - input->raw_at;
	if (have) {
		if (have > size)
			have = size;
		memcpy(to, input->raw + input->raw_at, have);
		input->raw_at += have;
		return (ssize_t)have;
	}
	ssize_t got;
	do
		got = read(input->fd, to, size);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_set(err, ERR_IO, "%s: cannot read: %s", input->name, strerror(errno));
	input->consumed += (size_t)got;
	return got;
}

static int damaged(struct text_input *input, struct err *err, const char *what)
{
	return err_set(err, ERR_FORMAT, "%s: the %s data is %s; using everything before", input->name, what,
		       input->raw_ended ? "truncated" : "damaged");
}

static ssize_t read_gzip(struct text_input *input, char *to, size_t size, struct err *err)
{
	z_stream *z = &input->gzip;
	z->next_out = (Bytef *)to;
	z->avail_out = (uInt)size;
	while (z->avail_out == size) {
		int result = fill(input, err);
		if (result)
			return result;
		if (input->raw_ended && input->between_members)
			return 0;
		z->next_in = (Bytef *)input->raw + input->raw_at;
		z->avail_in = (uInt)(input->raw_end - input->raw_at);
		if (input->between_members) {
			inflateReset(z);
			input->between_members = false;
		}
		int status = inflate(z, Z_NO_FLUSH);
		input->raw_at = input->raw_end - z->avail_in;
		if (status == Z_STREAM_END)
			input->between_members = true;
		else if (status != Z_OK || (input->raw_ended && z->avail_out == size))
			return damaged(input, err, "gzip");
	}
	return (ssize_t)(size - z->avail_out);
}

static ssize_t read_xz(struct text_input *input, char *to, size_t size, struct err *err)
{
	lzma_stream *xz = &input->xz;
	xz->next_out = (uint8_t *)to;
	xz->avail_out = size;
	while (xz->avail_out == size) {
		int result = fill(input, err);
		if (result)
			return result;
		xz->next_in = (uint8_t *)input->raw + input->raw_at;
		xz->avail_in = input->raw_end - input->raw_at;
		lzma_ret status = lzma_code(xz, input->raw_ended ? LZMA_FINISH : LZMA_RUN);
		input->raw_at = input->raw_end - xz->avail_in;
		if (status == LZMA_STREAM_END)
			break;
		if (status == LZMA_MEMLIMIT_ERROR)
			return err_set(err, ERR_FORMAT,
				       "%s needs more than %llu MB of memory to decompress; use xz -d first",
				       input->name, (unsigned long long)xz_memory() >> 20);
		if (status != LZMA_OK)
			return damaged(input, err, "xz");
	}
	return (ssize_t)(size - xz->avail_out);
}

static ssize_t read_zstd(struct text_input *input, char *to, size_t size, struct err *err)
{
	ZSTD_outBuffer out = {.dst = to, .size = size};
	while (out.pos == 0) {
		int result = fill(input, err);
		if (result)
			return result;
		if (input->raw_ended) {
			if (input->between_members)
				return 0;
			return damaged(input, err, "zstd");
		}
		ZSTD_inBuffer in = {.src = input->raw + input->raw_at, .size = input->raw_end - input->raw_at};
		size_t status = ZSTD_decompressStream(input->zstd, &out, &in);
		input->raw_at += in.pos;
		if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge)
			return err_set(err, ERR_FORMAT,
				       "%s needs more than %d MB of memory to decompress; use zstd -d --long=31 first",
				       input->name, (1 << zstd_window()) >> 20);
		if (ZSTD_isError(status))
			return damaged(input, err, "zstd");
		input->between_members = status == 0;
	}
	return (ssize_t)out.pos;
}

ssize_t text_input_read(struct text_input *input, char *to, size_t size, struct err *err)
{
	switch (input->packing) {
	case GZIP:
		return read_gzip(input, to, size, err);
	case XZ:
		return read_xz(input, to, size, err);
	case ZSTD:
		return read_zstd(input, to, size, err);
	case PLAIN:
		break;
	}
	return read_plain(input, to, size, err);
}

const char *text_input_name(const struct text_input *input)
{
	return input->name;
}

uint64_t text_input_size(const struct text_input *input)
{
	return input->size;
}

uint64_t text_input_consumed(const struct text_input *input)
{
	return input->consumed;
}
