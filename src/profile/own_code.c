/* Removes frames of system libraries from the stacks of waits. */
#include "profile/own_code.h"

#include "base/buf.h"
#include "profile/hot_functions.h"
#include "profile/module.h"
#include "profile/view.h"

#include <ctype.h>
#include <string.h>

#define KIND_COLUMNS 8 /* of the longest one */

bool own_code_applies(const struct profile *profile, value_id value)
{
	const struct profile_view *view = profile_view_find(profile_text(profile, profile->values[value].name));
	for (size_t i = 0; view && i < VIEW_PARTS_MAX; i++)
		if (view->parts[i].waits)
			return true;
	return false;
}

static const char *name_of(const struct profile *profile, stack_id stack)
{
	return profile_text(profile, profile->functions[profile->frames[profile->stacks[stack].frame].function].name);
}

static const char *module_of(const struct profile *profile, stack_id stack)
{
	return profile_text(profile, profile->functions[profile->frames[profile->stacks[stack].frame].function].module);
}

const char *own_code_wait(const struct profile *profile, stack_id stack)
{
	if (stack == STACK_ROOT)
		return NULL;
	while (profile->stacks[stack].parent != STACK_ROOT)
		stack = profile->stacks[stack].parent;
	return part_label_time(name_of(profile, stack));
}

/* Programs may lie there too (/usr/lib/postgresql/15/bin/postgres), so the name must be that of a library. */
static bool is_system_library(const char *module)
{
	static const char *const folders[] = {"/lib/",       "/lib32/",     "/lib64/",         "/usr/lib/",
					      "/usr/lib32/", "/usr/lib64/", "/usr/local/lib/", "/nix/store/"};
	const char *slash = strrchr(module, '/'), *name = slash ? slash + 1 : module;
	if (!strstr(name, ".so"))
		return false;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (!strncmp(module, folders[i], strlen(folders[i])))
			return true;
	return !slash; /* text names no folder */
}

static bool is_c_library(const char *module)
{
	static const char *const names[] = {"libc.so", "libc-", "libpthread", "ld-", "libstdc++", "ld.so", "libgcc_s"};
	const char *slash = strrchr(module, '/'), *name = slash ? slash + 1 : module;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Python's own modules: /usr/lib/python3.11/queue.py, "<frozen importlib._bootstrap>". Installed ones are programs. */
static bool is_python_library(const char *module)
{
	const char *folder = strstr(module, "/lib/python");
	return !strncmp(module, "<frozen ", 8) ||
	       (folder && isdigit((unsigned char)folder[11]) && !strstr(folder, "-packages/"));
}

/* As the C library starts native threads, so does this one those of Python. */
static bool starts_threads(const char *module)
{
	const char *slash = strrchr(module, '/');
	return is_c_library(module) || !strcmp(slash ? slash + 1 : module, "threading.py");
}

/* Below the stack of who ended the wait, if it has one on top. */
static stack_id without_waker(const struct profile *profile, stack_id stack)
{
	for (stack_id at = stack; at != STACK_ROOT; at = profile->stacks[at].parent)
		if (!strcmp(name_of(profile, at), "--"))
			return profile->stacks[at].parent;
	return stack;
}

stack_id own_code_stack(const struct profile *profile, stack_id stack)
{
	const char *kind = own_code_wait(profile, stack);
	if (!kind || !strcmp(kind, "running"))
		return stack;
	stack_id waited = without_waker(profile, stack);
	stack_id library = STACK_ROOT, caller = STACK_ROOT, interpreter = STACK_ROOT;
	bool python = false;
	for (stack_id at = waited; at != STACK_ROOT; at = profile->stacks[at].parent) {
		const char *module = module_of(profile, at);
		if (!*module || module[0] == '[' || frame_is_kernel(profile, profile->stacks[at].frame))
			continue; /* the kernel, [vdso], frames that are only a text */
		python |= profile->frames[profile->stacks[at].frame].kind == FRAME_PYTHON;
		if (module_is_python(module)) {
			interpreter = interpreter == STACK_ROOT ? at : interpreter;
			continue;
		}
		if (!is_system_library(module) && !is_python_library(module))
			return at;
		if (!starts_threads(module))
			library = at;
		if (caller == STACK_ROOT)
			caller = at;
	}
	if (interpreter != STACK_ROOT && !python)
		return interpreter;
	return library != STACK_ROOT ? library : caller != STACK_ROOT ? caller : waited;
}

/* The frame with the kind before its name. */
static frame_id labelled(struct profile *profile, frame_id id, const char *kind)
{
	struct buf text CLEANUP_BUF = {0};
	struct frame frame = profile->frames[id];
	struct function function = profile->functions[frame.function];
	buf_printf(&text, "%-*s  %s", KIND_COLUMNS, kind, profile_text(profile, function.name));
	function.name = profile_string(profile, text.data, text.size);
	frame.function = profile_function(profile, function);
	return profile_frame(profile, frame);
}

void own_code_apply(struct profile *profile, value_id value)
{
	for (size_t i = 0; i < profile->sample_count; i++) {
		if (profile->samples[i].value != value)
			continue;
		stack_id stack = profile->samples[i].stack;
		const char *kind = own_code_wait(profile, stack);
		stack_id own = kind ? own_code_stack(profile, stack) : STACK_ROOT;
		/* A stack of the kind alone has nothing to put it before. */
		if (!kind || profile->stacks[own].parent == STACK_ROOT)
			continue;
		struct stack at = profile->stacks[own];
		profile->samples[i].stack = profile_stack(profile, at.parent, labelled(profile, at.frame, kind));
	}
}
