/* Interns modules by path, build ID and process, and classifies them by path. */
#include "base/hash.h"
#include "process/process.h"

#include <stdio.h>
#include <string.h>

void modules_init(struct modules *modules)
{
	*modules = (struct modules){0};
	strpool_init(&modules->strings);
}

void modules_release(struct modules *modules)
{
	strpool_release(&modules->strings);
	free(modules->items);
	index_map_release(&modules->map);
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Memory without a file that holds code is taken for that of a just-in-time compiler, as perf does. */
static bool is_anonymous(const char *path)
{
	return !*path || starts_with(path, "//anon") || starts_with(path, "[anon") || starts_with(path, "/dev/zero") ||
	       starts_with(path, "/anon_hugepage") || starts_with(path, "[heap]") || starts_with(path, "[stack");
}

static enum module_kind kind_of(const char *path, int32_t pid)
{
	if (pid < 0)
		return starts_with(path, "[kernel") || starts_with(path, "[guest.kernel") || strstr(path, "vmlinux") ?
			       MODULE_KERNEL :
			       MODULE_KERNEL_MODULE;
	if (starts_with(path, "[vdso]"))
		return MODULE_VDSO;
	return is_anonymous(path) ? MODULE_JIT : MODULE_FILE;
}

module_id modules_add(struct modules *modules, const char *path, const struct build_id *build_id, int32_t pid)
{
	struct module module = {.kind = kind_of(path, pid), .pid = -1};
	char name[64];
	if (module.kind == MODULE_JIT) {
		/* What perf shows for such code, and where its names are looked for. */
		snprintf(name, sizeof name, "/tmp/perf-%d.map", pid);
		path = name;
		module.pid = pid;
	} else if (module.kind == MODULE_KERNEL) {
		path = "[kernel.kallsyms]"; /* the record adds the symbol it is relative to: [kernel.kallsyms]_text */
	}
	module.path = strpool_add(&modules->strings, path, strlen(path));
	if (build_id)
		module.build_id = *build_id;
	uint64_t hash = hash_mix(hash_pair(module.path, (uint32_t)module.pid),
				 hash_bytes((const char *)module.build_id.bytes, module.build_id.size) ^ module.kind);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&modules->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&modules->map, &probe)) {
		const struct module *other = &modules->items[i];
		if (other->path == module.path && other->kind == module.kind && other->pid == module.pid &&
		    other->build_id.size == module.build_id.size &&
		    memcmp(other->build_id.bytes, module.build_id.bytes, module.build_id.size) == 0)
			return i;
	}
	MEM_ROOM(modules->items, modules->count, modules->capacity);
	module_id id = (module_id)modules->count++;
	modules->items[id] = module;
	index_map_insert(&modules->map, hash, id);
	return id;
}
