/* Reads the files of docker, podman, containerd, cri-o, Kubernetes, LXC and Incus. */
#include "container/container_files.h"

#include "base/json_read.h"
#include "base/regular_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (16u << 20)
#define TEXT_MAX 1024u /* bytes that are kept of a name */
#define LABELS_MAX 256u
#define NAMESPACES_MAX 64u /* of containerd */
#define LOGS_MAX 65536u
#define SYSTEM_USER UINT32_MAX

/* A file that lists all containers of podman; read again when it has changed. */
struct store {
	char *path;
	uint32_t user;
	struct stat status;
	struct json_document document;
};

struct container_files {
	const char *root;
	struct store *stores;
	size_t store_count, store_capacity;
};

struct container_files *container_files_new(const char *root)
{
	struct container_files *files = mem_zalloc(1, sizeof *files);
	files->root = root;
	return files;
}

void container_files_free(struct container_files *files)
{
	for (size_t i = 0; files && i < files->store_count; i++) {
		free(files->stores[i].path);
		json_document_release(&files->stores[i].document);
	}
	free(files ? files->stores : NULL);
	free(files);
}

/* --- reading --- */

static int open_file(const char *path, uint32_t user, struct stat *ret_status)
{
	return user == SYSTEM_USER ? regular_file_open(path, false, ret_status) :
				     regular_file_open_of(path, user, ret_status);
}

static bool read_open(int fd, const struct stat *status, struct json_document *ret_document)
{
	struct buf text CLEANUP_BUF = {0};
	size_t size = status->st_size < 0 ? 0 : (size_t)status->st_size;
	if (!size || size > FILE_MAX || !regular_file_read(fd, 0, buf_reserve(&text, size), size))
		return false;
	return json_parse(ret_document, text.data, size);
}

static bool read_json(const char *path, uint32_t user, struct json_document *ret_document)
{
	struct stat status;
	int fd = open_file(path, user, &status);
	bool read = fd >= 0 && read_open(fd, &status, ret_document);
	if (fd >= 0)
		close(fd);
	return read;
}

/* A file of /proc, up to what fits; ends with NUL. */
static size_t read_small(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, text, room - 1);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	return size > 0 ? (size_t)size : 0;
}

static const char *keep(struct arena *texts, const char *text)
{
	return arena_copy(texts, text, strnlen(text, TEXT_MAX));
}

/* What the first source says stays. */
static void set(const char **field, struct arena *texts, const char *text)
{
	if (!**field && *text)
		*field = keep(texts, text);
}

/* Labels of docker and of Kubernetes, annotations of the container runtimes: who uses which key. */
static void take_labels(struct container *container, const struct json_document *document, json_id object,
			struct arena *texts)
{
	static const struct {
		const char *key;
		size_t field;
	} known[] = {
		{"io.kubernetes.container.name", offsetof(struct container, name)},
		{"io.kubernetes.cri.container-name", offsetof(struct container, name)},
		{"nerdctl/name", offsetof(struct container, name)},
		{"io.kubernetes.pod.name", offsetof(struct container, pod)},
		{"io.kubernetes.cri.sandbox-name", offsetof(struct container, pod)},
		{"io.kubernetes.pod.namespace", offsetof(struct container, namespace)},
		{"io.kubernetes.cri.sandbox-namespace", offsetof(struct container, namespace)},
		{"io.kubernetes.cri.image-name", offsetof(struct container, image)},
		{"io.kubernetes.cri-o.ImageName", offsetof(struct container, image)},
	};
	size_t count = 0;
	for (json_id at = json_first(document, object); at; at = json_next(document, at))
		count++;
	count = count < LABELS_MAX ? count : LABELS_MAX;
	if (container->label_count || json_type(document, object) != JSON_OBJECT)
		return;
	container->labels = arena_alloc(texts, (count + 1) * sizeof *container->labels, _Alignof(void *));
	for (json_id at = json_first(document, object); at && container->label_count < count;
	     at = json_next(document, at)) {
		const char *key = json_key(document, at), *value = json_text(document, at);
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (!strcmp(key, known[i].key))
				set((const char **)((char *)container + known[i].field), texts, value);
		container->labels[container->label_count++] =
			(struct container_label){keep(texts, key), keep(texts, value)};
	}
}

void container_take_listed(struct container *container, const struct json_document *list, uint32_t at,
			   struct arena *texts)
{
	const char *name = json_text(list, json_first(list, json_member(list, at, "Names")));
	take_labels(container, list, json_member(list, at, "Labels"), texts);
	set(&container->name, texts, name + (*name == '/'));
	set(&container->image, texts, json_member_text(list, at, "Image"));
}

/* --- where users keep theirs --- */

/* By the file, not by services for names, which a confined process cannot reach. */
static bool add_home(const struct container_files *files, uint32_t user, struct buf *path)
{
	struct buf list CLEANUP_BUF = {0};
	bool found = false;
	buf_printf(&list, "%s/etc/passwd", files->root);
	FILE *file = fopen(list.data, "re");
	for (struct passwd *entry; file && !found && (entry = fgetpwent(file));) {
		found = entry->pw_uid == user && *entry->pw_dir == '/';
		if (found)
			buf_printf(path, "%s%s", files->root, entry->pw_dir);
	}
	if (file)
		fclose(file);
	return found;
}

/* The path of a place: below the root, or in the home directory of the user. */
static bool add_place(const struct container_files *files, uint32_t user, const char *of_system, const char *of_user,
		      struct buf *path)
{
	buf_clear(path);
	if (user == SYSTEM_USER)
		buf_printf(path, "%s%s", files->root, of_system);
	else if (add_home(files, user, path))
		buf_str(path, of_user);
	return path->size;
}

/* --- docker --- */

static bool read_docker(struct container *container, const char *directory, struct arena *texts)
{
	struct buf path CLEANUP_BUF = {0};
	struct json_document document CLEANUP_JSON = {0};
	buf_printf(&path, "%s/containers/%s/config.v2.json", directory, container->id);
	if (!read_json(path.data, container->user, &document))
		return false;
	json_id config = json_member(&document, JSON_ROOT, "Config");
	const char *name = json_member_text(&document, JSON_ROOT, "Name");
	container->engine = "docker";
	take_labels(container, &document, json_member(&document, config, "Labels"), texts);
	set(&container->name, texts, name + (*name == '/'));
	set(&container->image, texts, json_member_text(&document, config, "Image"));
	return true;
}

/* The administrator may have moved it. */
static void add_data_root(const struct container_files *files, struct buf *path)
{
	struct json_document document CLEANUP_JSON = {0};
	buf_printf(path, "%s/etc/docker/daemon.json", files->root);
	bool read = read_json(path->data, SYSTEM_USER, &document);
	buf_clear(path);
	const char *moved = read ? json_member_text(&document, JSON_ROOT, "data-root") : "";
	if (*moved == '/')
		buf_printf(path, "%s%s", files->root, moved);
}

static bool from_docker(struct container_files *files, struct container *container, struct arena *texts)
{
	static const char *const places[] = {"/var/lib/docker", "/var/snap/docker/common/var-lib-docker"};
	struct buf path CLEANUP_BUF = {0};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (add_place(files, container->user, places[i], "/.local/share/docker", &path) &&
		    read_docker(container, path.data, texts))
			return true;
	buf_clear(&path);
	add_data_root(files, &path);
	return path.size && read_docker(container, path.data, texts);
}

/* --- containerd, cri-o: the bundle from which a runtime started the container --- */

static bool read_bundle(struct container *container, const char *directory, const char *engine, struct arena *texts)
{
	struct buf path CLEANUP_BUF = {0};
	struct json_document document CLEANUP_JSON = {0};
	buf_printf(&path, "%s/config.json", directory);
	if (!read_json(path.data, container->user, &document))
		return false;
	json_id annotations = json_member(&document, JSON_ROOT, "annotations");
	const char *manager = json_member_text(&document, annotations, "io.container.manager");
	if (*manager && strcmp(manager, engine) != 0)
		return false; /* podman has such files too */
	container->engine = engine;
	take_labels(container, &document, annotations, texts);
	if (!strcmp(json_member_text(&document, annotations, "io.kubernetes.cri.container-type"), "sandbox") ||
	    !strcmp(json_member_text(&document, annotations, "io.kubernetes.cri-o.ContainerType"), "sandbox"))
		set(&container->name, texts, "pause"); /* it only holds the namespaces of its pod */
	return true;
}

/* "k8s.io" of Kubernetes, "default" of ctr and nerdctl, or any other. */
static bool from_containerd_in(struct container *container, const char *directory, struct arena *texts)
{
	struct buf path CLEANUP_BUF = {0};
	bool found = false;
	unsigned left = NAMESPACES_MAX;
	DIR *entries = opendir(directory);
	for (struct dirent *entry; entries && !found && left && (entry = readdir(entries));) {
		if (entry->d_name[0] == '.')
			continue;
		left--;
		buf_clear(&path);
		buf_printf(&path, "%s/%s/%s", directory, entry->d_name, container->id);
		found = read_bundle(container, path.data, "containerd", texts);
	}
	if (entries)
		closedir(entries);
	return found;
}

static bool from_containerd(struct container_files *files, struct container *container, struct arena *texts)
{
	static const char *const states[] = {"/run/containerd", "/run/k3s/containerd",
					     "/var/snap/microk8s/common/run/containerd"};
	struct buf path CLEANUP_BUF = {0};
	if (container->user != SYSTEM_USER)
		return false;
	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		buf_clear(&path);
		buf_printf(&path, "%s%s/io.containerd.runtime.v2.task", files->root, states[i]);
		if (from_containerd_in(container, path.data, texts))
			return true;
	}
	return false;
}

static bool from_crio(struct container_files *files, struct container *container, struct arena *texts)
{
	static const char *const places[] = {"/run/containers/storage", "/var/lib/containers/storage"};
	struct buf path CLEANUP_BUF = {0};
	if (container->user != SYSTEM_USER)
		return false;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		buf_clear(&path);
		buf_printf(&path, "%s%s/overlay-containers/%s/userdata", files->root, places[i], container->id);
		if (read_bundle(container, path.data, "cri-o", texts))
			return true;
	}
	return false;
}

/* --- podman --- */

static struct store *find_store(struct container_files *files, const char *path, uint32_t user)
{
	for (size_t i = 0; i < files->store_count; i++)
		if (files->stores[i].user == user && !strcmp(files->stores[i].path, path))
			return &files->stores[i];
	MEM_ROOM(files->stores, files->store_count, files->store_capacity);
	files->stores[files->store_count] = (struct store){.path = mem_strdup(path), .user = user};
	return &files->stores[files->store_count++];
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static const struct json_document *read_store(struct container_files *files, const char *path, uint32_t user)
{
	struct store *store = find_store(files, path, user);
	struct stat status;
	int fd = open_file(path, user, &status);
	if (fd >= 0 && !is_same(&status, &store->status)) {
		json_document_release(&store->document);
		(void)!read_open(fd, &status, &store->document);
		store->status = status;
	}
	if (fd >= 0)
		close(fd);
	return &store->document;
}

static bool read_podman(struct container *container, const struct json_document *list, struct arena *texts)
{
	struct json_document more CLEANUP_JSON = {0};
	json_id at = json_first(list, JSON_ROOT);
	while (at && strcmp(json_member_text(list, at, "id"), container->id) != 0)
		at = json_next(list, at);
	if (!at)
		return false;
	const char *text = json_member_text(list, at, "metadata"); /* JSON again */
	container->engine = "podman";
	set(&container->name, texts, json_text(list, json_first(list, json_member(list, at, "names"))));
	if (!json_parse(&more, text, strlen(text)))
		return true;
	set(&container->name, texts, json_member_text(&more, JSON_ROOT, "name"));
	set(&container->image, texts, json_member_text(&more, JSON_ROOT, "image-name"));
	set(&container->pod, texts, json_member_text(&more, JSON_ROOT, "pod-name"));
	return true;
}

static bool from_podman(struct container_files *files, struct container *container, struct arena *texts)
{
	static const char *const drivers[] = {"overlay", "vfs", "btrfs", "zfs"};
	struct buf path CLEANUP_BUF = {0};
	for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
		if (!add_place(files, container->user, "/var/lib/containers/storage",
			       "/.local/share/containers/storage", &path))
			return false;
		buf_printf(&path, "/%s-containers/containers.json", drivers[i]);
		if (read_podman(container, read_store(files, path.data, container->user), texts))
			return true;
	}
	return false;
}

/* A store that is elsewhere: the parent of the container, which watches it, was started with its name. */
static bool from_monitor(struct container_files *files, struct container *container, struct arena *texts)
{
	struct buf path CLEANUP_BUF = {0};
	char text[16384];
	int32_t parent = 0;
	buf_printf(&path, "%s/proc/%d/stat", files->root, (int)container->pid);
	size_t size = read_small(path.data, text, sizeof text);
	const char *name_end = strrchr(text, ')');
	if (!size || !name_end || sscanf(name_end + 1, " %*c %d", &parent) != 1)
		return false;
	buf_clear(&path);
	buf_printf(&path, "%s/proc/%d/cmdline", files->root, (int)parent);
	size = read_small(path.data, text, sizeof text);
	const char *program = strrchr(text, '/') ? strrchr(text, '/') + 1 : text, *id = "", *name = "";
	if (strcmp(program, "conmon") != 0)
		return false;
	for (const char *at = text; at < text + size; at += strlen(at) + 1) {
		const char *value = at + strlen(at) + 1;
		if (value < text + size && !strcmp(at, "-c"))
			id = value;
		if (value < text + size && !strcmp(at, "-n"))
			name = value;
	}
	if (strcmp(id, container->id) != 0)
		return false;
	set(&container->name, texts, name);
	return true;
}

/* --- Kubernetes: names of log files, whatever the container runtime --- */

/* "POD_NAMESPACE_CONTAINER-ID.log" */
static bool read_log_name(struct container *container, const char *file, struct arena *texts)
{
	char pod[TEXT_MAX], namespace[TEXT_MAX], name[TEXT_MAX];
	const char *dash = strrchr(file, '-');
	size_t length = strlen(container->id);
	if (!dash || strncmp(dash + 1, container->id, length) != 0 || strcmp(dash + 1 + length, ".log") != 0 ||
	    (size_t)(dash - file) >= TEXT_MAX)
		return false;
	if (sscanf(file, "%1023[^_]_%1023[^_]_%1023[^_]", pod, namespace, name) != 3)
		return false;
	const char *last = strrchr(name, '-'); /* that before the id */
	set(&container->pod, texts, pod);
	set(&container->namespace, texts, namespace);
	if (last && !*container->name)
		container->name = arena_copy(texts, name, (size_t)(last - name));
	return true;
}

static bool from_logs(struct container_files *files, struct container *container, struct arena *texts)
{
	struct buf path CLEANUP_BUF = {0};
	bool found = false;
	unsigned left = LOGS_MAX;
	buf_printf(&path, "%s/var/log/containers", files->root);
	DIR *entries = opendir(path.data);
	for (struct dirent *entry; entries && !found && left && (entry = readdir(entries)); left--)
		found = read_log_name(container, entry->d_name, texts);
	if (entries)
		closedir(entries);
	return found;
}

/* --- LXC, Incus, LXD --- */

static bool from_lxc(struct container_files *files, struct container *container, struct arena *texts)
{
	static const char *const engines[] = {"incus", "lxd"};
	struct buf path CLEANUP_BUF = {0};
	struct stat status;
	container->name = keep(texts, container->id);
	for (size_t i = 0; i < sizeof engines / sizeof *engines && !strcmp(container->engine, "lxc"); i++) {
		buf_clear(&path);
		buf_printf(&path, "%s/var/lib/%s/containers/%s", files->root, engines[i], container->id);
		if (!lstat(path.data, &status))
			container->engine = engines[i];
	}
	return true;
}

void container_files_describe(struct container_files *files, struct container *container, struct arena *texts)
{
	static bool (*const sources[])(struct container_files *, struct container *, struct arena *) = {
		from_docker,     from_crio,    from_podman, /* whose list has the containers of cri-o too */
		from_containerd, from_monitor,
	};
	if (!strcmp(container->engine, "lxc") || !strcmp(container->engine, "nspawn")) {
		from_lxc(files, container, texts);
		return;
	}
	bool found = false;
	for (size_t i = 0; i < sizeof sources / sizeof *sources && !found; i++)
		found = sources[i](files, container, texts);
	if (!*container->name && container->user == SYSTEM_USER)
		from_logs(files, container, texts);
}
