/* Loads libdebuginfod, downloads files, and stops downloads that exceed the budget. */
#include "symbol/debuginfod.h"

#include "base/clock.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"

/* The library's interface, as its header <elfutils/debuginfod.h> has it. */
typedef struct debuginfod_client library_client;
typedef int progress_function(library_client *client, long done, long total);

struct library {
	void *handle;
	library_client *(*begin)(void);
	void (*end)(library_client *client);
	int (*find_debuginfo)(library_client *client, const unsigned char *id, int size, char **ret_path);
	int (*find_executable)(library_client *client, const unsigned char *id, int size, char **ret_path);
	void (*set_progress)(library_client *client, progress_function *function);
};

struct debuginfod {
	struct library library;
	library_client *client;
	struct debuginfod_options left; /* of the budget */
	/* of the download under way */
	const char *what;
	double started;
	uint64_t received;
	bool over_budget;
};

static double now(void)
{
	return (double)clock_now() / 1e9;
}

#ifdef WICK_STATIC
#define CANNOT_LOAD "a static wick cannot load " LIBRARY "; read the recording with another one"
static bool load(struct library *library)
{
	*library = (struct library){0};
	return false;
}
#else
#define CANNOT_LOAD "cannot load " LIBRARY ": apt install libdebuginfod1"
static bool load(struct library *library)
{
	library->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return false;
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{"debuginfod_begin", &library->begin},
		{"debuginfod_end", &library->end},
		{"debuginfod_find_debuginfo", &library->find_debuginfo},
		{"debuginfod_find_executable", &library->find_executable},
		{"debuginfod_set_progressfn", &library->set_progress},
	};
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *symbol = dlsym(library->handle, functions[i].name);
		if (!symbol) {
			dlclose(library->handle);
			return false;
		}
		memcpy(functions[i].to, &symbol, sizeof symbol);
	}
	return true;
}
#endif

/*
 * The download that this thread waits for: the library passes its own client to the function below, and nothing of
 * ours.
 */
static _Thread_local struct debuginfod *waiting;

/* The library calls this while it waits, and ends the download when it returns other than 0. */
static int on_progress(library_client *client, long done, long total)
{
	(void)client;
	struct debuginfod *self = waiting;
	uint64_t received = done > 0 ? (uint64_t)done : 0, size = total > 0 ? (uint64_t)total : 0;
	self->received = received > self->received ? received : self->received;
	if (now() - self->started > self->left.seconds || received > self->left.bytes || size > self->left.bytes)
		self->over_budget = true;
	else if (self->left.progress)
		self->left.progress(self->left.context, self->what, received, size);
	return self->over_budget;
}

bool debuginfod_is_enabled(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	return urls && urls[strspn(urls, " ")];
}

int debuginfod_open(struct debuginfod **ret_client, const struct debuginfod_options *options, struct err *err)
{
	if (!debuginfod_is_enabled())
		return err_set(err, ERR_EMPTY, "DEBUGINFOD_URLS is not set");
	struct library library;
	if (!load(&library))
		return err_set(err, ERR_UNSUPPORTED, "DEBUGINFOD_URLS is set, but " CANNOT_LOAD);
	library_client *client = library.begin();
	if (!client) {
		dlclose(library.handle);
		return err_set(err, ERR_SYSTEM, "cannot start the debuginfod client");
	}
	library.set_progress(client, on_progress);
	struct debuginfod *self = mem_zalloc(1, sizeof *self);
	self->library = library;
	self->client = client;
	self->left = *options;
	*ret_client = self;
	return 0;
}

void debuginfod_close(struct debuginfod *client)
{
	if (!client)
		return;
	client->library.end(client->client);
	/* Not dlclose(): libcurl leaves threads and handlers behind that must find their code. */
	free(client);
}

static int failure(const struct debuginfod *client, int code, struct err *err)
{
	if (client->over_budget)
		return err_set(err, ERR_LIMIT, "debuginfod: download limit reached");
	if (code == -ENOENT || code == -ENOSYS)
		return err_set(err, ERR_EMPTY, "debuginfod: not found on any server");
	return err_set(err, ERR_IO, "debuginfod: %s", strerror(-code));
}

int debuginfod_fetch(struct debuginfod *client, const struct build_id *build_id, enum debuginfod_kind kind,
		     const char *what, char **ret_path, struct err *err)
{
	if (!build_id->size)
		return err_set(err, ERR_EMPTY, "debuginfod: the file has no build ID");
	if (client->left.seconds <= 0 || !client->left.bytes)
		return err_set(err, ERR_LIMIT, "debuginfod: download limit reached");
	client->what = what;
	client->started = now();
	client->received = 0;
	client->over_budget = false;
	char *path = NULL;
	waiting = client;
	int fd = (kind == DEBUGINFOD_DEBUG ? client->library.find_debuginfo : client->library.find_executable)(
		client->client, build_id->bytes, build_id->size, &path);
	waiting = NULL;
	/* A client that gets the last bytes at once calls no progress function: look at the file. */
	struct stat status;
	if (fd >= 0 && client->received && !fstat(fd, &status) && (uint64_t)status.st_size > client->received)
		client->received = (uint64_t)status.st_size;
	client->left.seconds -= now() - client->started;
	client->left.bytes -= client->received < client->left.bytes ? client->received : client->left.bytes;
	if (fd < 0)
		return failure(client, fd, err);
	close(fd);
	if (!path)
		return err_set(err, ERR_IO, "debuginfod: no path");
	*ret_path = path;
	return 0;
}
