/* Lists containers by their cgroups, and finds the one that is meant. */
#include "container/container.h"

#include "container/container_files.h"
#include "container/container_socket.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CONTAINERS_MAX 16384u
#define LISTED_MAX 10u /* candidates in a message */

/* --- the list --- */

struct listing {
	struct containers *containers;
	const struct hierarchy *hierarchy;
};

static bool is_known(const struct containers *containers, const struct cgroup_owner *owner)
{
	for (size_t i = 0; i < containers->count; i++)
		if (!strcmp(containers->items[i].id, owner->id) && containers->items[i].user == owner->user)
			return true;
	return false;
}

static bool take_cgroup(void *context, const char *path, int directory)
{
	struct listing *listing = context;
	struct containers *containers = listing->containers;
	struct arena *texts = &containers->texts;
	struct buf place CLEANUP_BUF = {0};
	struct cgroup_owner owner;
	if (!cgroup_path_is_container(path, &owner) || is_known(containers, &owner) ||
	    containers->count >= CONTAINERS_MAX)
		return true;
	int32_t pid = cgroup_process(directory);
	if (!pid)
		return true; /* it has ended, and its cgroup is still there */
	buf_printf(&place, "%s%s", listing->hierarchy->directory, path);
	MEM_ROOM(containers->items, containers->count, containers->capacity);
	containers->items[containers->count++] = (struct container){
		.engine = owner.engine,
		.id = arena_copy(texts, owner.id, strlen(owner.id)),
		.name = "",
		.image = "",
		.pod = "",
		.namespace = "",
		.cgroup = arena_copy(texts, path, strlen(path)),
		.directory = arena_copy(texts, place.data, place.size),
		.user = owner.user,
		.pid = pid,
	};
	return true;
}

static int by_cgroup(const void *left, const void *right)
{
	return strcmp(((const struct container *)left)->cgroup, ((const struct container *)right)->cgroup);
}

const char *containers_root(const char *requested)
{
	const char *variable = getenv("WICK_HOST_ROOT");
	if (requested && *requested)
		return requested;
	return variable && *variable == '/' ? variable : "";
}

void containers_list(struct containers *containers, const char *root)
{
	struct hierarchies hierarchies CLEANUP_HIERARCHIES;
	struct container_files *files = container_files_new(root);
	*containers = (struct containers){0};
	hierarchies_read(&hierarchies, root);
	/* Where version 1 is mounted beside version 2, a container may be in one of them only. */
	for (size_t i = 0; i < hierarchies.count; i++)
		hierarchy_walk(&hierarchies.items[i], take_cgroup,
			       &(struct listing){containers, &hierarchies.items[i]});
	for (size_t i = 0; i < containers->count; i++)
		container_files_describe(files, &containers->items[i], &containers->texts);
	container_socket_describe(containers, root);
	if (containers->count)
		qsort(containers->items, containers->count, sizeof *containers->items, by_cgroup);
	container_files_free(files);
}

void containers_release(struct containers *containers)
{
	free(containers->items);
	arena_release(&containers->texts);
	*containers = (struct containers){0};
}

void container_title(const struct container *container, struct buf *out)
{
	if (*container->pod)
		buf_printf(out, "%s/", container->pod);
	if (*container->name)
		buf_str(out, container->name);
	else
		buf_printf(out, "%.*s", CONTAINER_SHORT_ID, container->id);
}

/* --- the one that is meant --- */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_called(const struct container *container, const char *wish)
{
	struct buf title CLEANUP_BUF = {0};
	container_title(container, &title);
	return !strcmp(container->id, wish) || !strcmp(container->name, wish) || !strcmp(title.data, wish);
}

/* "nginx" and "nginx:1.25" are parts of "docker.io/library/nginx:1.25". */
static bool has_image(const struct container *container, const char *wish)
{
	const char *image = container->image;
	size_t length = strlen(wish);
	for (const char *at = image; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (begins(at, wish) && (!at[length] || at[length] == '@' || (at[length] == ':' && !strchr(wish, ':'))))
			return true;
	}
	return false;
}

static bool has_label(const struct container *container, const char *wish)
{
	size_t length = strcspn(wish, "=");
	for (size_t i = 0; wish[length] && i < container->label_count; i++) {
		const struct container_label *label = &container->labels[i];
		if (strlen(label->key) == length && !memcmp(label->key, wish, length) &&
		    !strcmp(label->value, wish + length + 1))
			return true;
	}
	return false;
}

static bool begins_so(const struct container *container, const char *wish)
{
	struct buf title CLEANUP_BUF = {0};
	container_title(container, &title);
	return begins(container->id, wish) || begins(container->name, wish) || begins(title.data, wish);
}

static int say_several(const struct containers *containers, const char *wish,
		       bool (*fits)(const struct container *, const char *), size_t count, struct err *err)
{
	struct buf list CLEANUP_BUF = {0};
	size_t listed = 0;
	for (size_t i = 0; i < containers->count && listed < LISTED_MAX; i++) {
		if (!fits(&containers->items[i], wish))
			continue;
		buf_str(&list, listed++ ? ", " : "");
		container_title(&containers->items[i], &list);
		if (*containers->items[i].name)
			buf_printf(&list, " (%.*s)", CONTAINER_SHORT_ID, containers->items[i].id);
	}
	if (count > listed)
		buf_str(&list, ", …");
	return err_set(err, ERR_USAGE, "'%s' matches %zu containers: %s", wish, count, list.data);
}

/* In the order in which they are tried. */
static bool (*const rules[])(const struct container *, const char *) = {is_called, has_label, has_image, begins_so};
#define RULES (sizeof rules / sizeof *rules)

bool containers_fits(const struct containers *containers, size_t index, const char *wish)
{
	for (size_t rule = 0; *wish && rule < RULES; rule++)
		for (size_t i = 0; i < containers->count; i++)
			if (rules[rule](&containers->items[i], wish))
				return rules[rule](&containers->items[index], wish);
	return false;
}

const struct container *containers_choose(const struct containers *containers, const char *wish, struct err *err)
{
	for (size_t rule = 0; *wish && rule < RULES; rule++) {
		const struct container *found = NULL;
		size_t count = 0;
		for (size_t i = 0; i < containers->count; i++) {
			if (!rules[rule](&containers->items[i], wish))
				continue;
			found = &containers->items[i];
			count++;
		}
		if (count > 1)
			say_several(containers, wish, rules[rule], count, err);
		if (count)
			return count == 1 ? found : NULL;
	}
	err_set(err, ERR_SYSTEM, "no running container matches '%s'; wick containers lists them", wish);
	return NULL;
}

/* --- cgroups --- */

struct wish {
	const char *text;
	bool unit;
	struct buf found; /* path of the first */
	struct buf list;
	size_t count;
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length >= end_length && !strcmp(text + length - end_length, end);
}

static bool fits_unit(const char *path, const char *unit)
{
	const char *last = strrchr(path, '/') + 1;
	size_t length = strlen(unit);
	return !strcmp(last, unit) || (!strncmp(last, unit, length) && !strcmp(last + length, ".service"));
}

static bool take_match(void *context, const char *path, int directory)
{
	struct wish *wish = context;
	bool fits = wish->unit ? fits_unit(path, wish->text) : strstr(path, wish->text) != NULL;
	(void)directory;
	if (!fits)
		return true;
	if (!wish->count++)
		buf_str(&wish->found, path);
	if (wish->count <= LISTED_MAX)
		buf_printf(&wish->list, "%s%s", wish->list.size ? ", " : "", path);
	else if (!ends_with(wish->list.data, ", …"))
		buf_str(&wish->list, ", …");
	return false; /* those below are in it */
}

/* Version 2 first: perf events can follow it. Who is only in the others is found there. */
static int choose_cgroup(const char *root, struct wish *wish, struct buf *ret_directory, struct err *err)
{
	struct hierarchies hierarchies CLEANUP_HIERARCHIES;
	int result = 0;
	hierarchies_read(&hierarchies, root);
	for (size_t i = 0; i < hierarchies.count && !wish->count; i++) {
		hierarchy_walk(&hierarchies.items[i], take_match, wish);
		if (wish->count)
			buf_printf(ret_directory, "%s%s", hierarchies.items[i].directory, wish->found.data);
	}
	if (wish->count > 1)
		result = err_set(err, ERR_USAGE, "'%s' matches %zu cgroups: %s", wish->text, wish->count,
				 wish->list.data);
	else if (!wish->count)
		result = err_set(err, ERR_SYSTEM, "no %s '%s'", wish->unit ? "running unit" : "cgroup", wish->text);
	buf_release(&wish->found);
	buf_release(&wish->list);
	return result;
}

int cgroup_choose(const char *root, const char *part, struct buf *ret_directory, struct err *err)
{
	return choose_cgroup(root, &(struct wish){.text = part}, ret_directory, err);
}

int cgroup_choose_unit(const char *root, const char *unit, struct buf *ret_directory, struct err *err)
{
	return choose_cgroup(root, &(struct wish){.text = unit, .unit = true}, ret_directory, err);
}
