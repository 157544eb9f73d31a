/* Reads the files that a process maps, and rates their symbols and unwind information. */
#include "doctor/check_modules.h"

#include "object/file_identity.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOKED_AT 4096 /* functions per file: enough for a share */
#define MODULES_MAX 65536

extern char **environ;

void check_modules_release(struct check_modules *modules)
{
	for (size_t i = 0; i < modules->count; i++) {
		free(modules->items[i].path);
		buf_release(&modules->items[i].advice);
	}
	free(modules->items);
	if (modules->root_fd > 0)
		close(modules->root_fd);
	*modules = (struct check_modules){0};
}

/* --- one file --- */

/* push %rbp; mov %rsp,%rbp, with or without endbr64 before it. */
static bool sets_frame_pointer(const uint8_t *code, size_t size)
{
	static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t moves[][3] = {{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}};
	if (size >= 4 && !memcmp(code, landing, 4)) {
		code += 4;
		size -= 4;
	}
	/* A few instructions may stand between the two. */
	if (size < 4 || code[0] != 0x55)
		return false;
	for (size_t at = 1; at + 3 <= size && at < 16; at++)
		if (!memcmp(code + at, moves[0], 3) || !memcmp(code + at, moves[1], 3))
			return true;
	return false;
}

enum frame_pointers check_frame_pointers(struct elf_file *elf)
{
	enum { TABLE = 12, ENTRY = 8, DATA_RELATIVE_SDATA4 = 0x3b };
	struct elf_section header;
	if (elf_header(elf)->e_machine != EM_X86_64 || !elf_section(elf, ".eh_frame_hdr", &header) || !header.data ||
	    header.size < TABLE + ENTRY || header.data[0] != 1 || header.data[3] != DATA_RELATIVE_SDATA4)
		return FRAME_POINTERS_UNKNOWN;
	size_t count = (header.size - TABLE) / ENTRY, step = count / LOOKED_AT + 1, seen = 0, found = 0;
	for (size_t i = 0; i < count; i += step) {
		int32_t relative;
		size_t size;
		memcpy(&relative, header.data + TABLE + i * ENTRY, sizeof relative);
		const uint8_t *code = elf_bytes_at(elf, header.address + (uint64_t)(int64_t)relative, &size);
		if (!code)
			continue;
		seen++;
		found += sets_frame_pointer(code, size);
	}
	/* Half: parts of functions that were moved away, thunks and entries in assembly have none in any case. */
	return !seen ? FRAME_POINTERS_UNKNOWN : found * 2 >= seen ? FRAME_POINTERS_YES : FRAME_POINTERS_NO;
}

enum check_verdict check_module_verdict(const struct check_module *module)
{
	switch (module->symbols) {
	case SYMBOLS_NONE:
	case SYMBOLS_MISSING:
	case SYMBOLS_MISMATCH:
	case SYMBOLS_DAMAGED:
	case SYMBOLS_UNSUPPORTED:
	case SYMBOLS_CRASHED:
		return CHECK_BAD;
	case SYMBOLS_DEBUG:
	case SYMBOLS_TABLE:
	case SYMBOLS_DYNAMIC:
		break;
	}
	if (!module->unwind_table && module->frame_pointers != FRAME_POINTERS_YES)
		return CHECK_BAD;
	return module->symbols == SYMBOLS_DEBUG && module->unwind_table ? CHECK_OK : CHECK_WARN;
}

static bool has_module(const struct check_modules *modules, const char *path)
{
	for (size_t i = 0; i < modules->count; i++)
		if (!strcmp(modules->items[i].path, path))
			return true;
	return false;
}

static void add_module(struct check_modules *modules, const char *path)
{
	if (has_module(modules, path) || modules->count == MODULES_MAX)
		return;
	MEM_ROOM(modules->items, modules->count, modules->capacity);
	modules->items[modules->count++] = (struct check_module){.path = mem_strdup(path)};
}

static void read_module(struct check_module *module, const char *root)
{
	struct symbol_options options = {.root = root};
	struct build_id any = {0};
	struct symbols *symbols = symbols_open(module->path, &any, &options);
	struct elf_file *elf = symbols_elf(symbols);
	struct unwind_table *table = NULL;
	module->symbols = symbols_state(symbols);
	symbols_advice(symbols, &module->advice);
	if (elf) {
		module->frame_pointers = check_frame_pointers(elf);
		module->unwind_table = unwind_table_build(&table, elf, symbols_debug_elf(symbols), NULL) == 0;
	}
	module->unwind_derived = module->unwind_table &&
				 unwind_table_derived_rows(table) > unwind_table_rows(table) / 2;
	if (module->unwind_table)
		unwind_table_free(table);
	symbols_close(symbols);
	module->verdict = check_module_verdict(module);
}

int check_modules_read(struct check_modules *modules, struct err *err)
{
	for (size_t i = 0; i < modules->count; i++) {
		struct check_module *module = &modules->items[i];
		read_module(module, modules->root);
		if (i == 0 && modules->program &&
		    (module->symbols == SYMBOLS_DAMAGED || module->symbols == SYMBOLS_UNSUPPORTED))
			return err_set(err, ERR_FORMAT,
				       "%s is not a 64-bit ELF program; if it is a script, use its interpreter",
				       module->path);
	}
	return 0;
}

/* --- a process --- */

int check_modules_of_process(struct check_modules *modules, int pid, struct err *err)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/root", pid);
	/* By a descriptor, links of a container do not lead out of it (see base/regular_file.h). */
	modules->root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (modules->root_fd > 0)
		snprintf(modules->root, sizeof modules->root, "/proc/self/fd/%d", modules->root_fd);
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	if (!maps && (errno == ENOENT || errno == ESRCH))
		return err_set(err, ERR_OPEN, "process %d does not exist", pid);
	if (!maps)
		return err_set(err, ERR_OPEN, "cannot read process %d: %s; run wick with sudo", pid, strerror(errno));
	char *line = NULL;
	size_t room = 0;
	errno = 0;
	while (getline(&line, &room, maps) > 0 && modules->count < MODULES_MAX) {
		char permissions[5];
		int name_at = 0;
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*x-%*x %4s %*x %*s %*u %n", permissions, &name_at) != 1 || permissions[2] != 'x' ||
		    !name_at || line[name_at] != '/')
			continue;
		add_module(modules, line + name_at);
	}
	int error = ferror(maps) ? errno : 0;
	free(line);
	fclose(maps);
	if (error)
		return err_set(err, ERR_OPEN, "cannot read process %d: %s; run wick with sudo", pid, strerror(error));
	if (!modules->count)
		return err_set(err, ERR_EMPTY,
			       "process %d has no executable mappings: it is a kernel thread, or has exited", pid);
	return 0;
}

/* --- a command --- */

static bool is_program(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool find_program(const char *command, struct buf *out)
{
	if (strchr(command, '/')) {
		buf_str(out, command);
		return is_program(command);
	}
	const char *folders = getenv("PATH");
	for (const char *at = folders ? folders : "/usr/bin:/bin"; *at;) {
		size_t length = strcspn(at, ":");
		buf_clear(out);
		buf_printf(out, "%.*s/%s", length ? (int)length : 1, length ? at : ".", command);
		if (is_program(out->data))
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

/* The loader that the program names, if it is one that root installed; else "". */
static const char *trusted_loader(struct elf_file *elf)
{
	for (size_t i = 0; i < elf_segment_count(elf); i++) {
		const Elf64_Phdr *segment = elf_segment(elf, i);
		size_t size;
		if (segment->p_type != PT_INTERP)
			continue;
		const char *name = (const char *)elf_bytes_at(elf, segment->p_vaddr, &size);
		struct stat status;
		if (!name || !memchr(name, '\0', size < segment->p_filesz ? size : segment->p_filesz))
			return "";
		bool safe = (!strncmp(name, "/lib", 4) || !strncmp(name, "/usr/lib", 8)) && !strstr(name, "..") &&
			    stat(name, &status) == 0 && status.st_uid == 0 && !(status.st_mode & (S_IWGRP | S_IWOTH));
		return safe ? name : "";
	}
	return "";
}

/* Lines such as "\tlibc.so.6 => /lib/libc.so.6 (0x…)" and "\t/lib64/ld-linux.so.2 (0x…)". */
static void take_loader_line(struct check_modules *modules, char *line)
{
	char *path = strstr(line, "=> /");
	path = path ? path + 3 : line + strspn(line, " \t");
	char *end = strstr(path, " (0x");
	if (*path != '/' || !end)
		return;
	*end = '\0';
	add_module(modules, path);
}

static int ask_loader(struct check_modules *modules, const char *loader, const char *program, struct err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_set(err, ERR_SYSTEM, "cannot create a pipe: %s", strerror(errno));
	char *arguments[] = {(char *)loader, "--list", (char *)program, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	pid_t child;
	int error = posix_spawn(&child, loader, &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	FILE *in = fdopen(ends[0], "r");
	char *line = NULL;
	size_t room = 0;
	while (!error && in && getline(&line, &room, in) > 0 && modules->count < MODULES_MAX)
		take_loader_line(modules, line);
	free(line);
	if (in)
		fclose(in);
	else
		close(ends[0]);
	if (!error)
		waitpid(child, NULL, 0);
	return error ? err_set(err, ERR_SYSTEM, "cannot run %s: %s", loader, strerror(error)) : 0;
}

int check_modules_of_command(struct check_modules *modules, const char *command, struct err *err)
{
	CLEANUP_BUF struct buf program = {0};
	struct elf_file *elf;
	if (!find_program(command, &program))
		return err_set(err, ERR_OPEN, "program %s not found", command);
	char *path CLEANUP_FREE = realpath(program.data, NULL); /* as mappings have it */
	add_module(modules, path ? path : program.data);
	modules->program = modules->items[0].path;
	if (file_writer_at(modules->program) != FILE_TRUSTED || elf_open(&elf, program.data, NULL))
		return 0;
	const char *loader = trusted_loader(elf);
	int result = *loader ? ask_loader(modules, loader, program.data, err) : 0;
	elf_close(elf);
	return result;
}
