#include "event/tee.h"

/* A sink that lacks a function takes no such records; a failure of the first keeps the record from the second. */
#define TEE(name, type)                                                                   \
	static int tee_##name(void *context, const type *record)                          \
	{                                                                                 \
		const struct event_sink *first = &((struct event_tee *)context)->first;   \
		const struct event_sink *second = &((struct event_tee *)context)->second; \
		int result = first->name ? first->name(first->context, record) : 0;       \
		if (result >= 0 && second->name)                                          \
			result = second->name(second->context, record);                   \
		return result;                                                            \
	}

TEE(sample, struct event_sample)
TEE(mmap, struct event_mmap)
TEE(comm, struct event_comm)
TEE(fork, struct event_task)
TEE(exit, struct event_task)
TEE(lost, struct event_lost)
TEE(count, struct event_count)
TEE(ksymbol, struct event_ksymbol)
TEE(cgroup, struct event_cgroup)
TEE(namespaces, struct event_namespaces)
TEE(context_switch, struct event_switch)
TEE(asleep, struct event_sample)

static int tee_throttle(void *context, uint64_t time, bool unthrottle)
{
	const struct event_tee *tee = context;
	int result = tee->first.throttle ? tee->first.throttle(tee->first.context, time, unthrottle) : 0;
	if (result >= 0 && tee->second.throttle)
		result = tee->second.throttle(tee->second.context, time, unthrottle);
	return result;
}

struct event_sink event_tee_sink(struct event_tee *tee)
{
	return (struct event_sink){
		.context = tee,
		.sample = tee_sample,
		.mmap = tee_mmap,
		.comm = tee_comm,
		.fork = tee_fork,
		.exit = tee_exit,
		.lost = tee_lost,
		.count = tee_count,
		.throttle = tee_throttle,
		.ksymbol = tee_ksymbol,
		.cgroup = tee_cgroup,
		.namespaces = tee_namespaces,
		.context_switch = tee_context_switch,
		.asleep = tee_asleep,
	};
}
