/* Reads cgroup paths, component by component. */
#include "container/cgroup_path.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 64 /* of an id */
#define TASK_DIGITS 32 /* of one of Amazon's Fargate: "0123…-1234567890" */

struct part {
	const char *text;
	size_t length;
};

static bool begins(struct part part, const char *with)
{
	size_t length = strlen(with);
	return part.length >= length && !memcmp(part.text, with, length);
}

static bool ends(struct part part, const char *with)
{
	size_t length = strlen(with);
	return part.length >= length && !memcmp(part.text + part.length - length, with, length);
}

static struct part without(struct part part, const char *beginning, const char *ending)
{
	if (begins(part, beginning)) {
		part.text += strlen(beginning);
		part.length -= strlen(beginning);
	}
	if (ends(part, ending))
		part.length -= strlen(ending);
	return part;
}

static bool is_hex(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isdigit((unsigned char)text[i]) && !(text[i] >= 'a' && text[i] <= 'f'))
			return false;
	return true;
}

/* How much of the end is an id; 0: nothing. */
static size_t id_length(struct part part)
{
	size_t digits = 0, rest;
	if (part.length >= DIGITS && is_hex(part.text + part.length - DIGITS, DIGITS))
		return DIGITS;
	while (digits < part.length && isdigit((unsigned char)part.text[part.length - 1 - digits]))
		digits++;
	rest = part.length - digits;
	return digits && rest == TASK_DIGITS + 1 && part.text[TASK_DIGITS] == '-' && is_hex(part.text, TASK_DIGITS) ?
		       part.length :
		       0;
}

static void copy(char *to, size_t room, struct part part)
{
	snprintf(to, room, "%.*s", (int)part.length, part.text);
}

/* "\x2d" of systemd → "-", in place. */
static void unescape(char *text)
{
	char *to = text;
	for (const char *from = text; *from; to++) {
		unsigned code;
		if (from[0] == '\\' && from[1] == 'x' && isxdigit((unsigned char)from[2]) &&
		    isxdigit((unsigned char)from[3]) && sscanf(from + 2, "%2x", &code) == 1 && code) {
			*to = (char)code;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* By what stands before the id, or in a directory above. */
static const char *engine_of(struct part prefix, const char *path, size_t before)
{
	static const struct {
		const char *prefix, *above, *engine;
	} engines[] = {
		{"docker-", "/docker", "docker"},
		{"libpod-", "/libpod", "podman"},
		{"cri-containerd-", "/containerd", "containerd"},
		{"nerdctl-", "/default", "containerd"},
		{"crio-", "/crio", "cri-o"},
	};
	for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
		size_t length = strlen(engines[i].above);
		if (begins(prefix, engines[i].prefix) ||
		    (!prefix.length && before >= length && !memcmp(path + before - length, engines[i].above, length)))
			return engines[i].engine;
	}
	return "container";
}

static void found(struct cgroup_owner *owner, const char *engine, struct part id, size_t length)
{
	if (id.length >= sizeof owner->id)
		return;
	owner->outer = owner->engine ? owner->length : 0;
	owner->engine = engine;
	owner->length = length;
	owner->id_is_name = false;
	copy(owner->id, sizeof owner->id, id);
}

/* A container whose directory has its name: `part` without what the engine adds. */
static bool take_named(struct cgroup_owner *owner, struct part part, size_t length)
{
	static const struct {
		const char *beginning, *ending, *engine;
	} layouts[] = {
		{"lxc.payload.", "", "lxc"},
		{"systemd-nspawn@", ".service", "nspawn"},
		{"machine-", ".scope", "nspawn"},
	};
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
		if (!begins(part, layouts[i].beginning) || !ends(part, layouts[i].ending))
			continue;
		struct part name = without(part, layouts[i].beginning, layouts[i].ending);
		bool machine = !begins(name, "qemu"); /* a virtual machine is no container */
		if (!machine || !name.length)
			return false;
		found(owner, layouts[i].engine, name, length);
		owner->id_is_name = true;
		unescape(owner->id);
		return true;
	}
	return false;
}

static void take_container(struct cgroup_owner *owner, const char *path, struct part part)
{
	size_t before = (size_t)(part.text - path - 1), length = (size_t)(part.text - path) + part.length;
	bool in_lxc = before == 4 && !memcmp(path, "/lxc", 4);
	if (take_named(owner, part, length))
		return;
	if (in_lxc) {
		found(owner, "lxc", part, length);
		owner->id_is_name = true;
		return;
	}
	struct part stem = without(part, "", ".scope");
	size_t digits = id_length(stem);
	struct part prefix = {stem.text, stem.length - digits};
	if (!digits || begins(prefix, "libpod-conmon-") || begins(prefix, "crio-conmon-") || ends(part, ".slice") ||
	    ends(part, ".mount") || begins(prefix, "libpod_pod_"))
		return;
	found(owner, engine_of(prefix, path, before), (struct part){stem.text + prefix.length, digits}, length);
}

/* "kubepods-burstable-pod1234_5678.slice", or "pod1234-5678" below "kubepods"; of podman "libpod_pod_" and its id. */
static void take_pod(struct cgroup_owner *owner, const char *path, struct part part)
{
	static const char podman[] = "libpod_pod_";
	const char *mark = NULL;
	if (begins(part, podman))
		copy(owner->pod, CONTAINER_SHORT_ID + 1, without(part, podman, ".slice"));
	if (!strstr(path, "kubepods"))
		return;
	struct part stem = without(part, "", ".slice");
	for (size_t i = 0; i + 3 < stem.length; i++)
		if (!memcmp(stem.text + i, "pod", 3) && (i == 0 || stem.text[i - 1] == '-') &&
		    isxdigit((unsigned char)stem.text[i + 3]))
			mark = stem.text + i + 3;
	if (!mark)
		return;
	struct part uid = {mark, (size_t)(stem.text + stem.length - mark)};
	copy(owner->pod, sizeof owner->pod, uid);
	for (char *at = owner->pod; *at; at++)
		*at = *at == '_' ? '-' : *at;
}

static void take_unit(struct cgroup_owner *owner, struct part part)
{
	unsigned user;
	if (begins(part, "user@") && sscanf(part.text, "user@%u.service", &user) == 1)
		owner->user = user;
	else if (begins(part, "user-") && sscanf(part.text, "user-%u.slice", &user) == 1)
		owner->user = user;
	if (part.length < sizeof owner->unit && (ends(part, ".service") || ends(part, ".scope")))
		copy(owner->unit, sizeof owner->unit, part);
}

void cgroup_path_read(const char *path, struct cgroup_owner *ret_owner)
{
	*ret_owner = (struct cgroup_owner){.user = UINT32_MAX};
	for (const char *at = path; *at == '/';) {
		struct part part = {at + 1, strcspn(at + 1, "/")};
		if (!ret_owner->engine)
			take_unit(ret_owner, part);
		take_pod(ret_owner, path, part);
		take_container(ret_owner, path, part);
		at = part.text + part.length;
	}
}

bool cgroup_path_is_container(const char *path, struct cgroup_owner *ret_owner)
{
	cgroup_path_read(path, ret_owner);
	return ret_owner->engine && !path[ret_owner->length];
}
