/*
 * A picture of any profile with any side files: it must stay a picture. The input is three files, separated by lines
 * "=": folded stacks, attributes of functions and a palette map; its first byte picks options.
 */
#include "base/text.h"
#include "harness.h"
#include "import/import.h"
#include "render/nameattr.h"
#include "render/palette_map.h"
#include "render/svg/svg.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* The bytes as a file: its descriptor, and its path in `path`. */
static int as_file(const char *bytes, size_t size, char path[64])
{
	int fd = memfd_create("part", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static size_t occurrences(const struct buf *text, const char *part)
{
	size_t count = 0;
	const char *at = text->data, *end = text->data + text->size;
	while ((at = memmem(at, (size_t)(end - at), part, strlen(part)))) {
		count++;
		at++;
	}
	return count;
}

/* Leaves what is made of the input: without the style before it and the script behind it. */
static void cut_own_files(struct buf *picture)
{
	const char *begin = memmem(picture->data, picture->size, "<rect id=\"bg\"", strlen("<rect id=\"bg\""));
	if (!begin)
		abort();
	size_t skipped = (size_t)(begin - picture->data);
	picture->size -= skipped;
	memmove(picture->data, begin, picture->size);
	const char *script =
		memmem(picture->data, picture->size, "<script type=\"text/", strlen("<script type=\"text/"));
	if (script)
		picture->size = (size_t)(script - picture->data);
}

/* What no name and no attribute may bring about. */
static void check_picture(const struct buf *picture, bool script)
{
	for (size_t at = 0; at < picture->size;) {
		uint32_t code_point;
		size_t size = text_utf8(picture->data + at, picture->size - at, &code_point);
		if (code_point == 0xfffd && size == 1)
			abort(); /* not UTF-8 */
		if ((code_point < 0x20 && code_point != '\n' && code_point != '\t') || code_point == 0xfffe ||
		    code_point == 0xffff)
			abort(); /* not XML */
		at += size;
	}
	size_t sections = script; /* of the data */
	if (occurrences(picture, "]]>") != sections || occurrences(picture, "<![CDATA[") != sections)
		abort();
	if (occurrences(picture, "<script") != sections || occurrences(picture, "</script") != sections)
		abort();
	if (occurrences(picture, "<title>") != occurrences(picture, "</title>") ||
	    occurrences(picture, "<rect") != occurrences(picture, "<title>") + 1)
		abort();
}

static void draw(const struct profile *profile, struct svg_options *options, unsigned pick)
{
	struct calltree tree;
	struct calltree_options tree_options = {
		.values = {0, profile->differential ? 1 : PROFILE_NONE},
		.reverse = pick & 1,
		.order = pick & 2 ? ORDER_INPUT : ORDER_NAME,
		.annotate_kernel = true,
	};
	calltree_build(&tree, profile, &tree_options);
	options->palette = (enum palette)(pick % PALETTE_COUNT);
	options->inverted = pick & 4;
	options->colordiffusion = pick & 8;
	options->script = pick & 16;
	options->node_budget = pick & 32 ? 3 : 1000;
	options->shade = (enum shade_method)(pick >> 6);
	if (tree.total[0][0] > 0 || (tree.total[1] && tree.total[1][0] > 0)) {
		struct buf picture CLEANUP_BUF = {0};
		struct outfile out = {.fd = memfd_create("svg", MFD_CLOEXEC), .shown = mem_strdup("svg")};
		int fd = out.fd;
		svg_render(&tree, profile, options, &out);
		if (outfile_commit(&out, NULL))
			abort();
		size_t size = (size_t)lseek(fd, 0, SEEK_END);
		if (pread(fd, buf_reserve(&picture, size), size, 0) != (ssize_t)size)
			abort();
		picture.size = size;
		cut_own_files(&picture);
		check_picture(&picture, options->script);
		close(fd);
	}
	calltree_release(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct svg_options options = svg_defaults();
	struct import_options import = {.threads = 1, .keep_order = size && data[0] & 2};
	struct import_report report = {0};
	struct err err = {0};
	struct profile profile;
	struct nameattr attributes;
	struct palette_map map;
	const char *part = (const char *)data + (size > 0), *end = (const char *)data + size;
	profile_init(&profile);
	nameattr_init(&attributes);
	palette_map_init(&map);
	bool loaded = false;
	for (int i = 0; i < 3; i++) {
		const char *stop = i < 2 ? memmem(part, (size_t)(end - part), "\n=\n", 3) : NULL;
		char path[64];
		int fd = as_file(part, (size_t)((stop ? stop : end) - part), path);
		if (i == 0)
			loaded = import_file(&profile, path, &import, &report, &err) == 0;
		else if (i == 1 && nameattr_read(&attributes, path, &err) == 0)
			options.attributes = &attributes;
		else if (i == 2 && palette_map_read(&map, path, &err) == 0)
			options.map = &map;
		close(fd);
		part = stop ? stop + 3 : end;
	}
	if (loaded)
		draw(&profile, &options, data[0]);
	palette_map_release(&map);
	nameattr_release(&attributes);
	profile_release(&profile);
	return 0;
}
