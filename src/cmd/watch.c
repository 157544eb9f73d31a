/* The thread that refreshes the full screen during a recording. */
#include "cmd/watch.h"

#include "base/clock.h"
#include "base/fullscreen.h"
#include "base/term.h"
#include "render/top/top.h"
#include "render/top/top_meter.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define FIRST_MS 300 /* until there is something to see */
#define ESCAPE_MS 40 /* an Escape that nothing follows is the key */
#define KEEP_SECONDS 61 /* the longest window, and the period it begins in */
#define BUSY_MAX 120

struct watch {
	struct watch_options options;
	struct fullscreen *screen;
	struct live *live;
	struct top_state state;
	struct top_content content;
	struct hot_functions hot_functions;
	unsigned counted_window; /* that the hot_functions are of */
	bool hot_functions_stale;
	struct sample_list recent; /* samples of the window */
	struct sample_list shown; /* those, or all of the profile: not its own memory */
	struct top_meter meter;
	double busy[BUSY_MAX];
	size_t busy_count;
	uint64_t active, last; /* time that was recorded, and when it was last looked at */
	uint64_t next;
	int columns, rows;
	bool colour, gone; /* the terminal is not there any more */
	int wake, resized;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the following */
	struct recorder_progress progress;
	bool over;
};

/* --- what is shown --- */

static const char *shown_name(const struct watch *watch)
{
	return watch->options.view ? watch->options.view->name : watch->options.event;
}

/* What was requested first; where the kernel's part is missing, it has another name. */
static value_id value_of(const struct watch *watch)
{
	const struct profile *profile = live_profile(watch->live);
	for (size_t i = 0; i < profile->value_count; i++)
		if (strcmp(profile_text(profile, profile->values[i].name), shown_name(watch)) == 0)
			return (value_id)i;
	return profile_first_value(profile);
}

static bool shows_time(const struct watch *watch)
{
	return watch->options.view && !strcmp(watch->options.view->unit, "ns");
}

static struct top_load load_of(const struct watch *watch)
{
	const struct profile_view *view = watch->options.view;
	if (view)
		return (struct top_load){view->load, shows_time(watch) ? 2 : 0};
	return watch->options.frequency ? (struct top_load){"CPUs busy", 2} : (struct top_load){"samples/s", 0};
}

static void note_load(struct watch *watch, const struct sample_list *news, uint64_t until, uint64_t time)
{
	double count = 0, unit = 1;
	bool times = shows_time(watch), cpus = !watch->options.view && watch->options.frequency;
	value_id value = value_of(watch);
	for (size_t i = 0; i < news->count; i++)
		if (news->items[i].value == value)
			count += times ? (double)news->items[i].weight : (double)news->items[i].count;
	if (times) /* that all threads spent in a second is how many they are */
		unit = (double)CLOCK_SECOND;
	else if (cpus)
		unit = (double)watch->options.frequency;
	if (watch->busy_count == BUSY_MAX)
		memmove(watch->busy, watch->busy + 1, --watch->busy_count * sizeof *watch->busy);
	watch->meter.max = cpus ? watch->options.cpus : 0;
	watch->busy[watch->busy_count++] = top_meter_add(&watch->meter, count / unit, until, time);
}

static void count_all(struct watch *watch)
{
	const struct profile *profile = live_profile(watch->live);
	hot_functions_clear(&watch->hot_functions);
	hot_functions_add(&watch->hot_functions, profile, value_of(watch), watch->shown.items, watch->shown.count);
	watch->counted_window = watch->state.window;
	watch->hot_functions_stale = false;
}

static void choose_samples(struct watch *watch)
{
	const struct profile *profile = live_profile(watch->live);
	uint64_t window = watch->state.window * CLOCK_SECOND;
	if (!window) {
		watch->shown = (struct sample_list){
			.items = profile->samples,
			.count = profile->sample_count,
			.labels = profile->labels,
		};
		return;
	}
	watch->recent.count = 0;
	live_since(watch->live, watch->active > window ? watch->active - window : 0, &watch->recent);
	watch->shown = watch->recent;
}

static void build_content(struct watch *watch)
{
	const struct profile *profile = live_profile(watch->live);
	choose_samples(watch);
	if (watch->state.window != watch->counted_window || (watch->hot_functions_stale && !watch->state.frozen))
		count_all(watch);
	top_content_release(&watch->content);
	top_content_build(&watch->content, &watch->state, profile, value_of(watch), &watch->hot_functions,
			  &watch->shown);
}

/* Takes what is new. */
static void refresh(struct watch *watch)
{
	uint64_t time = clock_now(), passed = time - watch->last;
	watch->last = time;
	if (!watch->state.paused)
		watch->active += passed;
	pthread_mutex_lock(&watch->lock);
	uint64_t until = watch->progress.until;
	pthread_mutex_unlock(&watch->lock);
	const struct sample_list *news = live_update(watch->live, watch->active, KEEP_SECONDS * CLOCK_SECOND);
	note_load(watch, news, until, clock_now());
	bool grows = !watch->state.window && !watch->counted_window;
	if (grows && !watch->hot_functions_stale && !watch->state.frozen)
		hot_functions_add(&watch->hot_functions, live_profile(watch->live), value_of(watch), news->items,
				  news->count);
	else
		watch->hot_functions_stale = true;
	if (!watch->state.frozen)
		build_content(watch);
}

static void draw(struct watch *watch)
{
	struct buf text CLEANUP_BUF = {0};
	const struct profile *profile = live_profile(watch->live);
	value_id value = value_of(watch);
	pthread_mutex_lock(&watch->lock);
	struct recorder_progress progress = watch->progress;
	pthread_mutex_unlock(&watch->lock);
	struct top_facts facts = {
		.title = watch->options.title,
		.event = value == PROFILE_NONE ? shown_name(watch) : profile_text(profile, profile->values[value].name),
		.frequency = watch->options.frequency,
		.seconds = (double)progress.elapsed / (double)CLOCK_SECOND,
		.lost = progress.lost,
		.load = load_of(watch),
		.busy = watch->busy,
		.busy_count = watch->busy_count,
	};
	top_draw(&text, &watch->state, &watch->content, &facts, watch->columns, watch->rows, watch->colour);
	fullscreen_draw(watch->screen, &text);
}

/* --- what the user does --- */

static void resize(struct watch *watch)
{
	struct signalfd_siginfo info;
	while (read(watch->resized, &info, sizeof info) == sizeof info)
		;
	fullscreen_size(watch->screen, &watch->columns, &watch->rows);
	fullscreen_forget(watch->screen);
}

static void act(struct watch *watch, enum top_action action)
{
	switch (action) {
	case TOP_QUIT:
		atomic_store(&watch->options.control->stop, true);
		break;
	case TOP_RESET:
		live_reset(watch->live);
		watch->hot_functions_stale = true;
		build_content(watch);
		break;
	case TOP_REBUILD:
		build_content(watch);
		break;
	case TOP_SUSPEND:
		fullscreen_suspend(watch->screen);
		resize(watch);
		break;
	default:
		break;
	}
	atomic_store(&watch->options.control->pause, watch->state.paused);
}

/* Returns whether there was a key. */
static bool take_keys(struct watch *watch, bool waited)
{
	uint32_t key;
	int error;
	bool some = false;
	while (fullscreen_key(watch->screen, waited && !some, &key, &error)) {
		if (key == 'L' - 'A' + 1)
			fullscreen_forget(watch->screen);
		act(watch, top_key(&watch->state, key, &watch->content, top_page_lines(&watch->state, watch->rows)));
		some = true;
	}
	watch->gone = watch->gone || error;
	return some;
}

static bool is_over(struct watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	bool over = watch->over;
	pthread_mutex_unlock(&watch->lock);
	return over;
}

/* One wait and what came of it. */
static void attend(struct watch *watch, bool *pending)
{
	struct pollfd fds[] = {
		{.fd = watch->wake, .events = POLLIN},
		{.fd = watch->resized, .events = POLLIN},
		{.fd = watch->gone ? -1 : fullscreen_fd(watch->screen), .events = POLLIN},
	};
	uint64_t time = clock_now();
	int wait = watch->next > time ? (int)((watch->next - time) / 1000000) + 1 : 0;
	int ready = poll(fds, 3, *pending && wait > ESCAPE_MS ? ESCAPE_MS : wait);
	bool change = false;
	if (fds[1].revents) {
		resize(watch);
		change = true;
	}
	if (fds[2].revents & (POLLHUP | POLLERR | POLLNVAL))
		watch->gone = true;
	bool keys = !watch->gone && take_keys(watch, *pending && ready == 0);
	*pending = (fds[2].revents & POLLIN) && !keys;
	if (clock_now() >= watch->next) {
		refresh(watch);
		watch->next = clock_now() + watch->state.refresh * (CLOCK_SECOND / 1000);
		change = true;
	}
	if (watch->gone)
		atomic_store(&watch->options.control->stop, true); /* who should see it? */
	else if (change || keys)
		draw(watch);
}

static void *look(void *context)
{
	struct watch *watch = context;
	bool pending = false; /* the beginning of a key may be there */
	resize(watch);
	watch->last = watch->meter.until = clock_now();
	watch->next = watch->last + FIRST_MS * (CLOCK_SECOND / 1000);
	build_content(watch);
	draw(watch);
	while (!is_over(watch))
		attend(watch, &pending);
	return NULL;
}

/* --- from outside --- */

static void watch_free(struct watch *watch)
{
	fullscreen_close(watch->screen);
	top_content_release(&watch->content);
	top_state_release(&watch->state);
	hot_functions_release(&watch->hot_functions);
	live_free(watch->live);
	sample_list_release(&watch->recent);
	if (watch->wake >= 0)
		close(watch->wake);
	if (watch->resized >= 0)
		close(watch->resized);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

/* SIGWINCH is blocked in this thread and all that it will start; the recorder restores the mask at its end. */
static int open_signals(struct watch *watch, struct err *err)
{
	sigset_t resizing;
	sigemptyset(&resizing);
	sigaddset(&resizing, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, &resizing, NULL);
	watch->resized = signalfd(-1, &resizing, SFD_CLOEXEC | SFD_NONBLOCK);
	watch->wake = eventfd(0, EFD_CLOEXEC);
	if (watch->resized < 0 || watch->wake < 0)
		return err_set(err, ERR_SYSTEM, "cannot wait for keys: %s", strerror(errno));
	return 0;
}

int watch_start(struct watch **ret_watch, struct collector *collector, const struct watch_options *options,
		struct err *err)
{
	struct watch *watch = mem_zalloc(1, sizeof *watch);
	watch->options = *options;
	watch->wake = watch->resized = -1;
	watch->colour = term_colour(STDERR_FILENO) || term_colour(STDOUT_FILENO);
	watch->live = live_new(collector, &options->symbolize, options->view);
	pthread_mutex_init(&watch->lock, NULL);
	top_state_init(&watch->state);
	watch->state.window = options->window;
	watch->state.refresh = options->refresh;
	watch->state.names = label_names_of_table(options->names);
	int result = open_signals(watch, err);
	if (!result)
		result = fullscreen_open(&watch->screen, err);
	if (!result && pthread_create(&watch->thread, NULL, look, watch))
		result = err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(errno));
	if (result)
		watch_free(watch);
	else
		*ret_watch = watch;
	return result;
}

void watch_progress(struct watch *watch, const struct recorder_progress *progress)
{
	pthread_mutex_lock(&watch->lock);
	watch->progress = *progress;
	pthread_mutex_unlock(&watch->lock);
}

void watch_stop(struct watch *watch)
{
	uint64_t one = 1;
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->over = true;
	pthread_mutex_unlock(&watch->lock);
	(void)!write(watch->wake, &one, sizeof one);
	pthread_join(watch->thread, NULL);
	watch_free(watch);
}
