/* Classifies modules by their path. */
#include "profile/module.h"

#include <ctype.h>
#include <string.h>

static bool starts_with(const char *text, size_t length, const char *start)
{
	return length >= strlen(start) && memcmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	return length >= strlen(end) && memcmp(text + length - strlen(end), end, strlen(end)) == 0;
}

static bool equals(const char *text, size_t length, const char *other)
{
	return length == strlen(other) && memcmp(text, other, length) == 0;
}

static bool contains(const char *text, size_t length, const char *part)
{
	return memmem(text, length, part, strlen(part)) != NULL;
}

/* A name that is `start`, digits and a rest that begins with `behind`: perf-12.map, jitted-12-3.so, jit-12.dump. */
static bool is_numbered(const char *name, size_t length, const char *start, const char *behind)
{
	if (!starts_with(name, length, start))
		return false;
	size_t first = strlen(start), at = first;
	while (at < length && isdigit((unsigned char)name[at]))
		at++;
	return at > first && starts_with(name + at, length - at, behind);
}

/* Names in brackets are the kernel or one of its modules, except for these parts of a process. */
static enum frame_kind kind_in_brackets(const char *module, size_t length)
{
	static const char *const parts[] = {"[vdso", "[vsyscall", "[vectors", "[heap",    "[stack",
					    "[vvar", "[unknown",  "[anon",    "[uprobes", "[sigpage"};
	if (equals(module, length, MODULE_JIT_NAME))
		return FRAME_JIT;
	/* [anon:jit-cache] and the like are named by prctl(PR_SET_VMA_ANON_NAME) */
	if (starts_with(module, length, "[anon") &&
	    (contains(module, length, "jit") || contains(module, length, "JIT")))
		return FRAME_JIT;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (starts_with(module, length, parts[i]))
			return FRAME_NATIVE;
	return FRAME_KERNEL;
}

static bool is_kernel_file(const char *name, size_t length)
{
	static const char *const packed[] = {".ko", ".ko.xz", ".ko.gz", ".ko.zst", ".ko.debug"};
	static const char *const programs[] = {"bpf_prog_", "bpf_trampoline_", "bpf_dispatcher_"};
	for (size_t i = 0; i < sizeof packed / sizeof *packed && memchr(name, 'k', length); i++)
		if (ends_with(name, length, packed[i]))
			return true;
	for (size_t i = 0; i < sizeof programs / sizeof *programs && length && name[0] == 'b'; i++)
		if (starts_with(name, length, programs[i]))
			return true;
	/* vmlinux, vmlinux-6.1.0-13-amd64, vmlinux.debug; not libvmlinuxparser.so or vmlinux_reader */
	return ends_with(name, length, "vmlinux") || starts_with(name, length, "vmlinux-") ||
	       starts_with(name, length, "vmlinux.");
}

bool module_is_jit_file(const char *module, size_t length)
{
	const char *slash = memrchr(module, '/', length);
	const char *name = slash ? slash + 1 : module;
	size_t name_length = length - (size_t)(name - module);
	return is_numbered(name, name_length, "perf-", ".map") || is_numbered(name, name_length, "jitted-", "-") ||
	       is_numbered(name, name_length, "jit-", ".dump");
}

enum frame_kind module_kind(const char *module, size_t length)
{
	if (equals(module, length, "inlined"))
		return FRAME_INLINED;
	if (length && module[0] == '[')
		return kind_in_brackets(module, length);
	const char *slash = memrchr(module, '/', length);
	const char *name = slash ? slash + 1 : module;
	if (is_kernel_file(name, length - (size_t)(name - module)))
		return FRAME_KERNEL;
	return module_is_jit_file(module, length) || equals(module, length, "//anon") ? FRAME_JIT : FRAME_NATIVE;
}

bool module_is_python(const char *module)
{
	const char *slash = strrchr(module, '/'), *name = slash ? slash + 1 : module;
	if (!strncmp(name, "lib", 3))
		name += 3;
	return !strncmp(name, "python", 6) && isdigit((unsigned char)name[6]) && name[7] == '.' &&
	       isdigit((unsigned char)name[8]);
}
