/* Looks up names of cgroups, and turns them into labels. */
#include "container/cgroup_names.h"

#include "base/clock.h"
#include "base/text.h"
#include "container/container_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Whoever makes cgroups with names of containers must not keep the recorder busy. */
#define BUDGET_NS 200000000ull
#define BUDGET_SHARE 20u /* of the time that has passed, one part of so many is added */

struct cgroup_names {
	const char *root;
	struct container_files *files;
	struct hierarchies hierarchies;
	uint64_t began, spent;
	struct buf text;
};

struct cgroup_names *cgroup_names_new(const char *root)
{
	struct cgroup_names *names = mem_zalloc(1, sizeof *names);
	names->root = root;
	names->files = container_files_new(root);
	names->began = clock_now();
	hierarchies_read(&names->hierarchies, root);
	return names;
}

void cgroup_names_free(struct cgroup_names *names)
{
	if (!names)
		return;
	container_files_free(names->files);
	hierarchies_release(&names->hierarchies);
	buf_release(&names->text);
	free(names);
}

/* In the first hierarchy that has the cgroup. */
static int32_t process_of(const struct cgroup_names *names, const char *path)
{
	int32_t pid = 0;
	for (size_t i = 0; i < names->hierarchies.count && !pid; i++) {
		struct buf directory CLEANUP_BUF = {0};
		buf_printf(&directory, "%s%s", names->hierarchies.items[i].directory, path);
		int fd = open(directory.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		pid = fd < 0 ? 0 : cgroup_process(fd);
		if (fd >= 0)
			close(fd);
	}
	return pid;
}

static void add(struct buf *out, const char *key, const char *first, const char *separator, const char *second)
{
	struct buf value CLEANUP_BUF = {0};
	buf_printf(&value, "%s%s%s", first, *first && *second ? separator : "", second);
	text_one_line(value.data, value.size); /* no tab stays */
	if (value.size)
		buf_printf(out, "%s%s=%s", out->size ? "\t" : "", key, value.data);
}

static void describe(struct cgroup_names *names, const char *path, const struct cgroup_owner *owner)
{
	struct arena texts = {0};
	struct buf cgroup CLEANUP_BUF = {0}, title CLEANUP_BUF = {0};
	buf_add(&cgroup, path, owner->length);
	struct container container = {
		.engine = owner->engine,
		.id = owner->id,
		.name = "",
		.image = "",
		.pod = "",
		.namespace = "",
		.user = owner->user,
		.pid = process_of(names, cgroup.data),
	};
	container_files_describe(names->files, &container, &texts);
	container_title(&container, &title);
	if (*container.name)
		add(&names->text, "container", title.data, "", "");
	if (*container.pod)
		add(&names->text, "pod", container.namespace, "/", container.pod);
	arena_release(&texts);
}

const char *cgroup_names_find(struct cgroup_names *names, const char *path)
{
	struct cgroup_owner owner;
	uint64_t began = clock_now();
	buf_clear(&names->text);
	cgroup_path_read(path, &owner);
	if (!owner.engine || owner.id_is_name || names->spent > BUDGET_NS + (began - names->began) / BUDGET_SHARE)
		return NULL;
	describe(names, path, &owner);
	names->spent += clock_now() - began;
	return names->text.size ? names->text.data : NULL;
}

/* The value of a key, up to the next tab. False: it is not there. */
static bool read_name(const char *names, const char *key, char *to, size_t room)
{
	size_t length = strlen(key);
	for (const char *at = names; at && *at; at += strcspn(at, "\t"), at += *at == '\t')
		if (!strncmp(at, key, length) && at[length] == '=') {
			snprintf(to, room, "%.*s", (int)strcspn(at + length + 1, "\t"), at + length + 1);
			return *to;
		}
	return false;
}

void cgroup_labels_read(const char *path, const char *names, struct cgroup_labels *ret_labels)
{
	struct cgroup_owner owner;
	struct cgroup_labels *labels = ret_labels;
	cgroup_path_read(path, &owner);
	if (!read_name(names, "container", labels->container, sizeof labels->container))
		snprintf(labels->container, sizeof labels->container, "%.*s",
			 owner.engine && !owner.id_is_name ? CONTAINER_SHORT_ID : CONTAINER_ID_MAX,
			 owner.engine ? owner.id : "[no container]");
	if (!read_name(names, "pod", labels->pod, sizeof labels->pod))
		snprintf(labels->pod, sizeof labels->pod, "%s", *owner.pod ? owner.pod : "[no pod]");
	snprintf(labels->unit, sizeof labels->unit, "%s", *owner.unit ? owner.unit : "[no unit]");
}
