/* In a build without clang, bpftool or libbpf. */
#include "engine/engine.h"

int engine_open(struct engine **ret_engine, const struct engine_options *options, struct err *err)
{
	(void)ret_engine;
	(void)options;
	return err_set(err, ERR_UNSUPPORTED,
		       "wick was built without the BPF engine; apt install clang bpftool libbpf-dev and rebuild "
		       "wick");
}

void engine_close(struct engine *engine)
{
	(void)engine;
}

int engine_attach(struct engine *engine, size_t source, int event_fd, struct err *err)
{
	(void)engine;
	(void)source;
	(void)event_fd;
	return err_set(err, ERR_UNSUPPORTED, "no BPF engine");
}

void engine_add_member(struct engine *engine, int32_t id)
{
	(void)engine;
	(void)id;
}

bool engine_has_cpu_time(const struct engine *engine)
{
	(void)engine;
	return false;
}

uint64_t engine_cpu_time_begin(struct engine *engine)
{
	(void)engine;
	return 0;
}

uint64_t engine_cpu_time_end(struct engine *engine)
{
	(void)engine;
	return 0;
}

void engine_begin(struct engine *engine, uint64_t time, int32_t command)
{
	(void)engine;
	(void)time;
	(void)command;
}

void engine_registers(struct engine *engine, void (*add)(void *context, int32_t tid, const uint64_t *values),
		      void *context)
{
	(void)engine;
	(void)add;
	(void)context;
}

size_t engine_interpreted(struct engine *engine, int32_t pid, int32_t tid, uint64_t *words, size_t max)
{
	(void)engine;
	(void)pid;
	(void)tid;
	(void)words;
	(void)max;
	return 0;
}

void engine_end(struct engine *engine, uint64_t time)
{
	(void)engine;
	(void)time;
}

void engine_start(struct engine *engine, struct module_store *codes)
{
	(void)engine;
	(void)codes;
}

void engine_stop(struct engine *engine)
{
	(void)engine;
}

struct event_sink engine_early(struct engine *engine)
{
	(void)engine;
	return (struct event_sink){0};
}

int engine_fd(const struct engine *engine)
{
	(void)engine;
	return -1;
}

void engine_look(struct engine *engine, void (*add)(void *context, uint64_t time, uint64_t number), void *context)
{
	(void)engine;
	(void)add;
	(void)context;
}

void engine_announce(struct engine *engine, uint64_t number, const struct event_sink *sink)
{
	(void)engine;
	(void)number;
	(void)sink;
}

void engine_supply(struct engine *engine)
{
	(void)engine;
}

int engine_deliver(struct engine *engine, uint64_t number, const struct event_sink *sink)
{
	(void)engine;
	(void)number;
	(void)sink;
	return 0;
}

bool engine_replaced(struct engine *engine, const struct event_mmap *mmap)
{
	(void)engine;
	(void)mmap;
	return false;
}

int engine_retire(struct engine *engine, int32_t pid, int32_t tid, const struct event_sink *sink)
{
	(void)engine;
	(void)pid;
	(void)tid;
	(void)sink;
	return 0;
}

int engine_exit(struct engine *engine, const struct event_task *task, const struct event_sink *sink)
{
	(void)engine;
	(void)task;
	(void)sink;
	return 0;
}

int engine_counts(struct engine *engine, const struct event_sink *sink, bool last)
{
	(void)engine;
	(void)sink;
	(void)last;
	return 0;
}

struct engine_statistics engine_statistics(const struct engine *engine)
{
	(void)engine;
	return (struct engine_statistics){0};
}
