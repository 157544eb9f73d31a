/* The module of a file, by its path: the interpreter keeps it in the globals of a frame, which are costly to read. */
#include "runtime/python/name.h"

#include <ctype.h>
#include <stdbool.h>

struct part {
	const char *start;
	size_t length;
};

static bool skip_text(const char **at, const char *text)
{
	size_t length = strlen(text);
	if (strncmp(*at, text, length) != 0)
		return false;
	*at += length;
	return true;
}

static void skip_digits(const char **at)
{
	while (isdigit((unsigned char)**at))
		++*at;
}

/* Behind "lib/python3.11/" or "lib/python3.13t/"; NULL if there is no such directory here. */
static const char *below_library(const char *at)
{
	if (!skip_text(&at, "lib/python") || !isdigit((unsigned char)*at))
		return NULL;
	skip_digits(&at);
	if (!skip_text(&at, "."))
		return NULL;
	skip_digits(&at);
	skip_text(&at, "t");
	return skip_text(&at, "/") ? at : NULL;
}

static const char *below_packages(const char *at)
{
	return skip_text(&at, "site-packages/") || skip_text(&at, "dist-packages/") ? at : NULL;
}

/* The path below the innermost directory that Python imports from; NULL if there is none. */
static const char *below_import_directory(const char *file)
{
	const char *below = NULL;
	for (const char *at = file; at; at = strchr(at, '/')) {
		at += *at == '/';
		const char *packages = below_packages(at), *library = below_library(at);
		if (packages || library)
			below = packages ? packages : library;
	}
	return below;
}

static struct part base_name(const char *file, size_t length)
{
	size_t start = length;
	while (start && file[start - 1] != '/')
		start--;
	return (struct part){file + start, length - start};
}

static size_t without_suffix(const char *path, size_t length, const char *suffix)
{
	size_t count = strlen(suffix);
	return length > count && !memcmp(path + length - count, suffix, count) ? length - count : length;
}

void python_module_name(struct buf *out, const char *file)
{
	static const char frozen[] = "<frozen ";
	size_t length = strlen(file);
	if (file[0] == '<') {
		if (!strncmp(file, frozen, sizeof frozen - 1) && file[length - 1] == '>') {
			file += sizeof frozen - 1;
			length -= sizeof frozen;
		}
		buf_add(out, file, length);
		return;
	}
	const char *below = below_import_directory(file);
	const char *path = below && *below ? below : file;
	/* A package is called like its directory. */
	length = without_suffix(path, strlen(path), ".py");
	length = without_suffix(path, length, "/__init__");
	struct part module = path == file ? base_name(path, length) : (struct part){path, length};
	for (size_t i = 0; i < module.length; i++)
		buf_char(out, module.start[i] == '/' ? '.' : module.start[i]);
}
