/*
 * What a debuginfod server answers, as far as it reaches wick: HTTP itself is libdebuginfod's and libcurl's. A library
 * of the harness stands in for them. The input says what it reports while it downloads, how it ends, and what the file
 * holds that came.
 */
#include "harness.h"

#include <dlfcn.h>

static void *fake_dlopen(const char *name, int flags);
static void *fake_dlsym(void *handle, const char *name);
#define dlopen fake_dlopen
#define dlsym fake_dlsym
#define dlclose(handle) ((void)(handle))
#include "symbol/debuginfod.c"
#undef dlopen
#undef dlsym
#undef dlclose

#include "symbol/symbols.h"

#include <stdio.h>
#include <sys/mman.h>

#define BUDGET (1u << 20)

/* What is left of the input, and what the library was given. */
static struct {
	const uint8_t *at, *end;
	progress_function *progress;
	int file;
} script;

static uint64_t take(size_t size)
{
	uint64_t value = 0;
	size_t left = (size_t)(script.end - script.at);
	size = size < left ? size : left;
	if (size)
		memcpy(&value, script.at, size);
	script.at += size;
	return value;
}

static library_client *begin(void)
{
	return (library_client *)&script;
}

static void end(library_client *client)
{
	(void)client;
}

static void set_progress(library_client *client, progress_function *function)
{
	(void)client;
	script.progress = function;
}

/* A byte says how often progress is reported, another how it ends: 0 with a file, 1 without a path, else an error. */
static int find(library_client *client, const unsigned char *id, int size, char **ret_path)
{
	char path[40];
	unsigned reports = (unsigned)take(1) % 8, ending = (unsigned)take(1);
	if (size <= 0 || !id)
		abort();
	for (unsigned i = 0; i < reports; i++) {
		long done = (long)take(8), total = (long)take(8);
		if (script.progress(client, done, total))
			return -EINTR;
	}
	if (ending > 1)
		return -(int)ending;
	snprintf(path, sizeof path, "/proc/self/fd/%d", script.file);
	if (!ending)
		*ret_path = strdup(path);
	return dup(script.file);
}

static void *fake_dlopen(const char *name, int flags)
{
	(void)flags;
	return strcmp(name, LIBRARY) ? NULL : &script;
}

static void *fake_dlsym(void *handle, const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} functions[] = {
		{"debuginfod_begin", (void *)begin},
		{"debuginfod_end", (void *)end},
		{"debuginfod_find_debuginfo", (void *)find},
		{"debuginfod_find_executable", (void *)find},
		{"debuginfod_set_progressfn", (void *)set_progress},
	};
	for (size_t i = 0; i < sizeof functions / sizeof *functions && handle; i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].function;
	return NULL;
}

static void on_report(void *context, const char *what, uint64_t done, uint64_t total)
{
	if (context != &script || !what || done > BUDGET || total > BUDGET)
		abort();
}

/* The requested build ID is the one of the file in two of three cases. */
static struct build_id wanted_id(unsigned choice, const uint8_t *bytes, size_t size)
{
	struct build_id id = {.size = 20, .bytes = "another build ID...."};
	struct elf_file *elf;
	if (choice % 3 && !elf_open_bytes(&elf, bytes, size, NULL)) {
		struct build_id own = elf_build_id(elf);
		id = own.size ? own : id;
		elf_close(elf);
	}
	return id;
}

static void ask(struct symbols *symbols)
{
	static volatile size_t sink;
	CLEANUP_BUF struct buf advice = {0};
	struct symbol_frame frames[8];
	symbols_advice(symbols, &advice);
	for (uint64_t address = 0x1000; address < 0x2000; address += 64)
		for (size_t count = symbols_find(symbols, address, frames, 8); count--;)
			sink += strlen(frames[count].name) + (frames[count].file ? strlen(frames[count].file) : 0);
	(void)sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct debuginfod_options options = {.seconds = 60, .bytes = BUDGET, .context = &script, .progress = on_report};
	struct symbol_options how = {.inlines = true, .lines = true, .root = ""};
	struct debuginfod *client;
	struct err err = {0};
	if (size < 3)
		return 0;
	/* The file comes last; before it, in as many bytes as the second one says, what the library does. */
	size_t script_size = data[1] < size - 2 ? data[1] : size - 2;
	const uint8_t *file = data + 2 + script_size;
	script.at = data + 2;
	script.end = file;
	script.file = memfd_create("answer", MFD_CLOEXEC);
	size_t file_size = size - 2 - script_size;
	if (script.file < 0 || write(script.file, file, file_size) != (ssize_t)file_size)
		abort();
	setenv("DEBUGINFOD_URLS", "http://localhost", 1);
	if (debuginfod_open(&client, &options, &err))
		abort();
	struct build_id id = wanted_id(data[0], file, file_size);
	struct symbols *symbols = symbols_open("/nonexistent/module", &id, &how);
	if (!symbols_fetch(symbols, client, &err) && !err.text[0])
		abort();
	if (client->left.bytes > BUDGET || client->left.seconds > 60)
		abort();
	ask(symbols);
	symbols_close(symbols);
	debuginfod_close(client);
	close(script.file);
	return 0;
}
