/* Containers that run now: found by their cgroups, with the names that the files of their engines give them. */
#ifndef WICK_CONTAINER_CONTAINER_H
#define WICK_CONTAINER_CONTAINER_H

#include "base/buf.h"
#include "base/err.h"
#include "container/cgroup_path.h"
#include "container/hierarchy.h"

struct container_label {
	const char *key, *value;
};

/* Texts are "" where nothing is known. They may contain anything but NUL: containers and users choose them. */
struct container {
	const char *engine; /* "docker", "podman", "containerd", "cri-o", "lxc", "incus", "nspawn", "container" */
	const char *id; /* of LXC and systemd-nspawn its name */
	const char *name, *image;
	const char *pod, *namespace; /* of Kubernetes */
	const char *cgroup; /* path in its hierarchy */
	const char *directory; /* of the cgroup */
	struct container_label *labels;
	size_t label_count;
	uint32_t user; /* who runs it without root; UINT32_MAX: the system does */
	int32_t pid; /* its first process, seen from here */
};

struct containers {
	struct container *items; /* in the order of cgroups */
	size_t count, capacity;
	struct arena texts;
};

/* `root` is "", or where the file system of the host is mounted. */
void containers_list(struct containers *containers, const char *root);
/* Where the file system of the host is: as requested, or else as WICK_HOST_ROOT says. */
const char *containers_root(const char *requested);
void containers_release(struct containers *containers);
#define CLEANUP_CONTAINERS __attribute__((cleanup(containers_release)))

/* What a container is called: "web1", "shop-7d9f/web" in a pod, or the beginning of its id. */
void container_title(const struct container *container, struct buf *out);

/*
 * The container that is meant by its name or id, a label "KEY=VALUE", its image, or a unique beginning of its name or
 * id. The first of these that matches any decides. NULL: none (ERR_SYSTEM), or several, which are listed (ERR_USAGE).
 */
const struct container *containers_choose(const struct containers *containers, const char *wish, struct err *err);
/* Whether the wish means this one of them, alone or among others. */
bool containers_fits(const struct containers *containers, size_t index, const char *wish);

/*
 * The directory of a cgroup that is meant by a part of its path: of version 2, if it is mounted. Of those that match,
 * the ones that are in no other. 0, ERR_SYSTEM: none, or ERR_USAGE: several.
 */
int cgroup_choose(const char *root, const char *part, struct buf *ret_directory, struct err *err);
/* The same by the name of a unit of systemd; ".service" may be missing. */
int cgroup_choose_unit(const char *root, const char *unit, struct buf *ret_directory, struct err *err);

#endif
