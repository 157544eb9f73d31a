/*
 * Looks for addresses of instructions and of frames among the words of a sample, the innermost ones first. Words may
 * also be left from functions that have returned long ago. So a frame is sure if it is still active, and both of its
 * addresses are among the words, close to each other. What is inside of it is not.
 */
#include "runtime/python/moment.h"

#include <string.h>

enum {
	NEAR_WORDS = 256, /* between the words of one evaluation, also those that functions save which it calls */
	ABOVE_BYTES = 16 << 10, /* a frame is followed by those that it calls, in pieces of this size */
	ABOVE_FRAMES = 4,
	READS_MAX = 32, /* of frames that may not be active any more */
	FOLLOWED_MAX = 4,
	INNER_MAX = 64,
};

struct match {
	const struct python_moment *moment;
	const struct python_known *known;
	struct python_frame *frames; /* that are active */
	size_t count, words;
	uint64_t lowest, highest; /* addresses of frames */
	struct python_frame first; /* the first function that the words show; no code: none */
	size_t first_place;
	size_t sure, sure_place; /* the innermost frame that is; `count`: none */
	struct python_frame inner[INNER_MAX]; /* replace the active frames before `join` */
	size_t inner_count, join;
};

static uint64_t word_at(const struct match *match, size_t place)
{
	const struct python_moment *moment = match->moment;
	uint64_t word;
	if (place < moment->register_count)
		return moment->registers[place];
	memcpy(&word, moment->stack + (place - moment->register_count) * sizeof word, sizeof word);
	return word;
}

static bool function_at(const struct match *match, size_t place, struct python_frame *ret_frame)
{
	return match->known->find(match->known->context, word_at(match, place), ret_frame);
}

static void find_limits(struct match *match)
{
	match->lowest = UINT64_MAX;
	for (size_t i = 0; i < match->count; i++) {
		uint64_t address = match->frames[i].address;
		match->lowest = address < match->lowest ? address : match->lowest;
		match->highest = address > match->highest ? address : match->highest;
	}
}

/* The active frame at an address; `count`: none. */
static size_t active_at(const struct match *match, uint64_t address)
{
	size_t i = 0;
	if (address < match->lowest || address > match->highest)
		return match->count;
	while (i < match->count && match->frames[i].address != address)
		i++;
	return i;
}

/* Steps through the words that may be of the same evaluation as that at `center`; `*place` begins with 0. */
static bool is_near(const struct match *match, size_t center, size_t *place)
{
	size_t registers = match->moment->register_count;
	if (*place >= registers && *place + NEAR_WORDS < center)
		*place = center - NEAR_WORDS;
	return *place < match->words && *place < center + NEAR_WORDS;
}

/* The active frame of a function whose instruction is at `center`; `count`: its address is not near. */
static size_t active_near(const struct match *match, size_t center, uint64_t code)
{
	for (size_t place = 0; is_near(match, center, &place); place++) {
		size_t active = active_at(match, word_at(match, place));
		if (active < match->count && match->frames[active].code == code)
			return active;
	}
	return match->count;
}

/* Finds the first function, and the first frame that is sure. */
static void find_sure(struct match *match)
{
	struct python_frame function;
	uint64_t tried = 0;
	size_t tried_at = 0;
	match->sure = match->count;
	for (size_t i = 0; i < match->words && match->sure == match->count; i++) {
		if (!function_at(match, i, &function) || (function.code == tried && i < tried_at + NEAR_WORDS / 2))
			continue;
		if (!match->first.code) {
			match->first = function;
			match->first_place = i;
		}
		tried = function.code;
		tried_at = match->sure_place = i;
		match->sure = active_near(match, i, function.code);
	}
	if (match->sure < match->count)
		match->frames[match->sure].offset = function.offset;
}

/* --- what is inside of the sure frame --- */

/* Each frame has an evaluation: functions that have returned since are on the stack, as those that are active. */
static void find_returned(struct match *match)
{
	size_t end = match->sure < match->count ? match->sure_place : match->first_place + 1;
	match->join = match->sure;
	uint64_t last = 0;
	for (size_t i = match->first_place; i < end && match->inner_count < INNER_MAX; i++) {
		struct python_frame function;
		if (!function_at(match, i, &function) || function.code == last)
			continue;
		last = function.code;
		function.entry = true;
		match->inner[match->inner_count++] = function;
	}
}

static bool is_above_active(const struct match *match, uint64_t address)
{
	bool above = false;
	for (size_t i = 0; i < match->count && i < ABOVE_FRAMES; i++)
		above |= address > match->frames[i].address && address - match->frames[i].address < ABOVE_BYTES;
	return above && address % sizeof address == 0;
}

static bool has_first(const struct match *match, uint64_t address)
{
	struct python_frame frame;
	enum python_end end;
	return python_stack_follow(match->known->memory, match->known->layout, address, &frame, 1, &end) &&
	       frame.code == match->first.code;
}

/* A frame that is not active any more, but was not overwritten yet, and those that called it. */
static bool follow_returned(struct match *match, uint64_t address)
{
	const struct python_known *known = match->known;
	enum python_end end;
	size_t count = python_stack_follow(known->memory, known->layout, address, match->inner, INNER_MAX, &end);
	for (size_t i = 1; i < count; i++) {
		match->join = active_at(match, match->inner[i].address);
		match->inner_count = i;
		if (match->join < match->count)
			return match->inner[0].code == match->first.code && match->join <= match->sure;
	}
	return false;
}

/* Several frames have one evaluation. */
static void find_inner(struct match *match)
{
	unsigned reads = 0, followed = 0;
	for (size_t place = 0; is_near(match, match->first_place, &place) && reads < READS_MAX; place++) {
		uint64_t word = word_at(match, place);
		if (!is_above_active(match, word))
			continue;
		reads++;
		if (has_first(match, word) && followed++ < FOLLOWED_MAX && follow_returned(match, word))
			return;
	}
	/* Nobody knows who called it. What called these may be the same as now. */
	match->inner[0] = match->first;
	match->inner[1] = (struct python_frame){.entry = true};
	match->inner_count = 2;
	match->join = 0;
	while (match->join < match->sure && !match->frames[match->join++].entry)
		;
	match->join = match->sure < match->count ? match->sure : match->join;
}

/* The inner frames take the place of those before `join`. Returns how many there are then. */
static size_t use_inner(struct match *match, size_t max)
{
	struct python_frame *frames = match->frames;
	size_t kept = match->count - match->join, sure = match->count - match->sure;
	if (match->inner_count + kept > max)
		return 0;
	memmove(frames + match->inner_count, frames + match->join, kept * sizeof *frames);
	memcpy(frames, match->inner, match->inner_count * sizeof *frames);
	for (size_t i = 0; i < match->inner_count + kept - sure; i++)
		frames[i].doubtful = true;
	frames[0].shown = true;
	if (match->first.code && match->inner_count) {
		frames[0].offset = match->first.offset;
		frames[0].first_line = match->first.first_line;
	}
	return match->inner_count + kept;
}

size_t python_moment_match(const struct python_moment *moment, const struct python_known *known,
			   struct python_frame *frames, size_t count, size_t max)
{
	struct match match = {.moment = moment, .known = known, .frames = frames, .count = count};
	match.words = moment->register_count + moment->stack_size / sizeof(uint64_t);
	find_limits(&match);
	find_sure(&match);
	if (!match.first.code)
		return 0;
	if (match.sure < count && frames[match.sure].code == match.first.code)
		match.join = match.sure;
	else if (known->layout->entry == PYTHON_ENTRY_EACH)
		find_returned(&match);
	else
		find_inner(&match);
	return use_inner(&match, max);
}
