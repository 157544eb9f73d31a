/* Tries the paths of debug files in order, and checks the build ID of each. */
#include "symbol/debugfile.h"

#include "base/buf.h"

#include <limits.h>
#include <string.h>

#define DEBUG_FOLDER "/usr/lib/debug"

/* --- where copies are kept --- */

static const char *environment(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

char *debugfile_perf_copy(const struct build_id *build_id, const char *kind)
{
	const char *folder = environment("PERF_BUILDID_DIR"), *home = environment("HOME");
	char id[BUILD_ID_TEXT];
	struct buf path = {0};
	if (build_id->size < 2 || (!folder && !home))
		return NULL;
	build_id_text(build_id, id);
	if (folder)
		buf_str(&path, folder);
	else
		buf_printf(&path, "%s/.debug", home);
	buf_printf(&path, "/.build-id/%.2s/%s/%s", id, id + 2, kind);
	return path.data;
}

/* Kind is "debuginfo" or "executable". */
static char *client_copy(const struct build_id *build_id, const char *kind)
{
	const char *folder = environment("DEBUGINFOD_CACHE_PATH"), *cache = environment("XDG_CACHE_HOME");
	const char *home = environment("HOME");
	char id[BUILD_ID_TEXT];
	struct buf path = {0};
	if (folder)
		buf_str(&path, folder);
	else if (cache)
		buf_printf(&path, "%s/debuginfod_client", cache);
	else if (home)
		buf_printf(&path, "%s/.cache/debuginfod_client", home);
	else
		return NULL;
	buf_printf(&path, "/%s/%s", build_id_text(build_id, id), kind);
	return path.data;
}

static char *system_copy(const char *root, const struct build_id *build_id, const char *suffix)
{
	char id[BUILD_ID_TEXT];
	struct buf path = {0};
	build_id_text(build_id, id);
	buf_printf(&path, "%s" DEBUG_FOLDER "/.build-id/%.2s/%s%s", root, id, id + 2, suffix);
	return path.data;
}

/* --- the mapped file --- */

size_t debugfile_path_deleted(const char *path)
{
	static const char suffix[] = " (deleted)";
	size_t length = strlen(path), size = sizeof suffix - 1;
	return length > size && !strcmp(path + length - size, suffix) ? length - size : 0;
}

/* Without a build-id to compare with every ELF file is accepted. */
static enum debugfile_result open_matching(struct elf_file **ret_elf, const char *path, const struct build_id *wanted)
{
	struct elf_file *elf;
	int code = elf_open(&elf, path, NULL);
	if (code == ERR_OPEN)
		return DEBUGFILE_MISSING;
	if (code)
		return code == ERR_UNSUPPORTED ? DEBUGFILE_UNSUPPORTED : DEBUGFILE_DAMAGED;
	if (wanted->size) {
		struct build_id id = elf_build_id(elf);
		if (!build_id_equal(&id, wanted)) {
			elf_close(elf);
			return DEBUGFILE_MISMATCH;
		}
	}
	*ret_elf = elf;
	return DEBUGFILE_FOUND;
}

/* Takes `path` over; on success it becomes *ret_path. */
static enum debugfile_result try_path(struct elf_file **ret_elf, char **ret_path, char *path,
				      const struct build_id *wanted)
{
	enum debugfile_result result = path ? open_matching(ret_elf, path, wanted) : DEBUGFILE_MISSING;
	if (result == DEBUGFILE_FOUND)
		*ret_path = path;
	else
		free(path);
	return result;
}

enum debugfile_result debugfile_open_main(struct elf_file **ret_elf, char **ret_path,
					  const struct debugfile_query *query)
{
	const struct build_id *id = query->build_id;
	enum debugfile_result result = DEBUGFILE_MISSING;
	if (query->path[0] == '/') {
		struct buf path = {0};
		buf_printf(&path, "%s%s", query->root, query->path);
		result = try_path(ret_elf, ret_path, path.data, id);
	}
	if (result == DEBUGFILE_FOUND || id->size < 2)
		return result;
	if (try_path(ret_elf, ret_path, debugfile_perf_copy(id, "elf"), id) == DEBUGFILE_FOUND ||
	    try_path(ret_elf, ret_path, client_copy(id, "executable"), id) == DEBUGFILE_FOUND ||
	    try_path(ret_elf, ret_path, system_copy(query->root, id, ""), id) == DEBUGFILE_FOUND)
		return DEBUGFILE_FOUND;
	return result;
}

struct elf_file *debugfile_open_vdso(const struct build_id *build_id)
{
	struct elf_file *elf = NULL;
	CLEANUP_FREE char *path = debugfile_perf_copy(build_id, "vdso");
	if (path)
		open_matching(&elf, path, build_id);
	return elf;
}

/* --- the debug file --- */

struct search {
	struct elf_file *elf; /* the best so far */
	char *path;
	bool has_debug;
};

/* Takes `path` over. `crc` (may be NULL) is what the file must add up to when there is no build-id to compare. */
static void consider(struct search *search, char *path, const struct build_id *wanted, const uint32_t *crc)
{
	struct elf_file *elf = NULL;
	if (!path || search->has_debug || open_matching(&elf, path, wanted) != DEBUGFILE_FOUND) {
		free(path);
		return;
	}
	bool has_debug = elf_section_index(elf, ".debug_info") != 0;
	bool useful = has_debug || (!search->elf && elf_section_index(elf, ".symtab"));
	if (!useful || (!wanted->size && crc && elf_crc(elf) != *crc)) {
		elf_close(elf);
		free(path);
		return;
	}
	elf_close(search->elf);
	free(search->path);
	*search = (struct search){elf, path, has_debug};
}

/* The section holds a file name, padding to 4 bytes, and the CRC of the file. */
static bool read_debuglink(struct elf_file *elf, const char **ret_name, uint32_t *ret_crc)
{
	struct elf_section section;
	if (!elf_section(elf, ".gnu_debuglink", &section) || !section.data)
		return false;
	size_t length = strnlen((const char *)section.data, section.size);
	size_t crc = (length + 4) & ~(size_t)3;
	if (!length || crc > section.size || section.size - crc < 4 || memchr(section.data, '/', length))
		return false;
	*ret_name = (const char *)section.data;
	memcpy(ret_crc, section.data + crc, sizeof *ret_crc);
	return true;
}

static void consider_debuglink(struct search *search, const struct debugfile_query *query, struct elf_file *elf)
{
	const char *name;
	uint32_t crc;
	if (!read_debuglink(elf, &name, &crc) || query->path[0] != '/')
		return;
	int folder = (int)(strrchr(query->path, '/') - query->path);
	static const char *const formats[] = {"%s%.*s/%s", "%s%.*s/.debug/%s", "%s" DEBUG_FOLDER "%.*s/%s"};
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct buf path = {0};
		buf_printf(&path, formats[i], query->root, folder, query->path, name);
		consider(search, path.data, query->build_id, &crc);
	}
	/* With /usr merged the debug packages have /usr/lib, the mappings of old programs /lib. */
	if (strncmp(query->path, "/usr/", 5)) {
		struct buf path = {0};
		buf_printf(&path, "%s" DEBUG_FOLDER "/usr%.*s/%s", query->root, folder, query->path, name);
		consider(search, path.data, query->build_id, &crc);
	}
}

struct elf_file *debugfile_open_debug(char **ret_path, const struct debugfile_query *query, struct elf_file *elf)
{
	struct build_id id = *query->build_id;
	struct search search = {0};
	if (!id.size && elf)
		id = elf_build_id(elf);
	struct debugfile_query exact = {query->path, query->root, &id};
	if (id.size >= 2)
		consider(&search, system_copy(query->root, &id, ".debug"), &id, NULL);
	if (elf)
		consider_debuglink(&search, &exact, elf);
	if (id.size >= 2) {
		if (*query->root)
			consider(&search, system_copy("", &id, ".debug"), &id, NULL);
		consider(&search, debugfile_perf_copy(&id, "debug"), &id, NULL);
		consider(&search, client_copy(&id, "debuginfo"), &id, NULL);
		consider(&search, debugfile_perf_copy(&id, "elf"), &id, NULL);
	}
	if (search.elf)
		*ret_path = search.path;
	return search.elf;
}

/* --- what dwz moved out --- */

struct altlink {
	const char *name;
	struct build_id id;
};

static bool read_altlink(struct elf_file *elf, struct altlink *ret_link)
{
	struct elf_section section;
	if (!elf_section(elf, ".gnu_debugaltlink", &section) || !section.data)
		return false;
	size_t length = strnlen((const char *)section.data, section.size);
	size_t id_size = length < section.size ? section.size - length - 1 : 0;
	if (!length || id_size < 2)
		return false;
	*ret_link = (struct altlink){.name = (const char *)section.data,
				     .id.size = id_size < BUILD_ID_MAX ? (uint8_t)id_size : BUILD_ID_MAX};
	memcpy(ret_link->id.bytes, section.data + length + 1, ret_link->id.size);
	return true;
}

struct elf_file *debugfile_open_alternate(struct elf_file *elf, const char *path, const char *root)
{
	struct altlink link;
	struct elf_file *alternate = NULL;
	char *found = NULL;
	if (!read_altlink(elf, &link))
		return NULL;
	struct buf candidate = {0};
	if (link.name[0] == '/') {
		buf_printf(&candidate, "%s%s", root, link.name);
	} else {
		/* Relative to where the file really is: debug files are reached through links. */
		char real[PATH_MAX];
		const char *base = realpath(path, real) ? real : path, *slash = strrchr(base, '/');
		buf_printf(&candidate, "%.*s%s", slash ? (int)(slash - base) + 1 : 0, base, link.name);
	}
	if (try_path(&alternate, &found, candidate.data, &link.id) != DEBUGFILE_FOUND &&
	    try_path(&alternate, &found, system_copy(root, &link.id, ".debug"), &link.id) != DEBUGFILE_FOUND)
		try_path(&alternate, &found, client_copy(&link.id, "debuginfo"), &link.id);
	free(found);
	return alternate;
}
