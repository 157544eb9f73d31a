/*
 * Folded stacks → samples: "a;b;c 12" a line, or "a;b;c 10 12" where two profiles are compared.
 *
 * Such files are mostly sorted, so a line shares most of its bytes with the one before, and only the frames behind that
 * part are looked at. As long as no line sorts before its predecessor, the stacks of those frames are new and need no
 * look-up: siblings came in ascending order, and a stack that was left is never met again.
 */
#include "base/hash.h"
#include "import/shard.h"

#include <ctype.h>

#define MAX_DECIMALS 9

struct place {
	uint32_t end; /* where the frame's name ends in the line */
	stack_id stack;
};

struct parser {
	struct shard *shard;
	struct profile *profile;
	unsigned columns;
	value_id values[2];
	frame_id *frame_of_name; /* by string id; PROFILE_NONE where there is none yet */
	size_t name_capacity;
	bool *unresolved; /* by frame: it has no symbol. Used for each line, and smaller than the frames themselves */
	size_t frame_capacity;
	struct place *places; /* the frames of the line before */
	size_t place_count, place_capacity;
	size_t length_before; /* of the stack in the line before */
	struct buf last_line; /* of the block before */
	bool unsorted; /* some line sorted before its predecessor */
};

/* A number at the end of a line, in units of 10^-decimals. */
struct count {
	int64_t value;
	unsigned decimals;
};

static struct parser *start_columns(struct shard *shard, unsigned columns)
{
	struct parser *parser = mem_zalloc(1, sizeof *parser);
	parser->shard = shard;
	parser->profile = &shard->profile;
	parser->columns = columns;
	if (columns == 2) {
		parser->values[0] = profile_value(parser->profile, "before", "samples");
		parser->values[1] = profile_value(parser->profile, "after", "samples");
		parser->profile->differential = true;
	} else {
		parser->values[0] = profile_value(parser->profile, "samples", "samples");
	}
	for (unsigned i = 0; i < columns; i++)
		parser->profile->values[parser->values[i]].first_seen = i;
	return parser;
}

static void *start(struct shard *shard)
{
	return start_columns(shard, 1);
}

static void *start_pair(struct shard *shard)
{
	return start_columns(shard, 2);
}

static void finish(struct shard *shard)
{
	struct parser *parser = shard->parser;
	free(parser->frame_of_name);
	free(parser->unresolved);
	free(parser->places);
	buf_release(&parser->last_line);
	free(parser);
}

/*
 * Takes the number at the end of line[0…length) and the white space before it away and returns the new length, or 0
 * with the reason. Digits beyond the ninth decimal are rounded.
 */
static size_t take_count(const char *line, size_t length, struct count *ret_count, const char **reason)
{
	size_t at = length, dot = 0;
	while (at && (is_digit(line[at - 1]) || (line[at - 1] == '.' && !dot))) {
		at--;
		if (line[at] == '.')
			dot = at;
	}
	bool number = at < length && is_digit(line[at]);
	if (!number || !at || !is_space(line[at - 1])) {
		bool negative = at && line[at - 1] == '-' && number && (at < 2 || is_space(line[at - 2]));
		*reason = negative ? "negative count" : "no count at the end of the line";
		return 0;
	}
	int64_t value = 0;
	unsigned decimals = 0;
	bool overflow = false, round_up = false;
	for (size_t i = at; i < length; i++) {
		if (i == dot && dot)
			continue;
		if (dot && i > dot && decimals == MAX_DECIMALS) {
			round_up = line[i] >= '5';
			break;
		}
		decimals += dot && i > dot;
		overflow |= __builtin_mul_overflow(value, 10, &value) ||
			    __builtin_add_overflow(value, line[i] - '0', &value);
	}
	overflow |= round_up && __builtin_add_overflow(value, 1, &value);
	if (overflow) {
		*reason = "count does not fit into 64 bits";
		return 0;
	}
	while (decimals && value % 10 == 0) {
		value /= 10;
		decimals--;
	}
	*ret_count = (struct count){.value = value, .decimals = decimals};
	while (at && is_space(line[at - 1]))
		at--;
	if (!at)
		*reason = "count without a stack";
	return at;
}

static size_t shared_prefix(const char *a, const char *b, size_t max)
{
	size_t i = 0;
	while (i + 64 <= max && memcmp(a + i, b + i, 64) == 0)
		i += 64;
	for (; i + 8 <= max; i += 8) {
		uint64_t difference = bytes_load64(a + i) ^ bytes_load64(b + i);
		if (difference)
			return i + (size_t)__builtin_ctzll(difference) / 8;
	}
	while (i < max && a[i] == b[i])
		i++;
	return i;
}

static bool ends_with(const char *name, size_t length, const char *end)
{
	return length >= 4 && memcmp(name + length - 4, end, 4) == 0;
}

/* Folded text has no modules; marks and brackets are the conventions of the scripts that write it. */
static enum frame_kind kind_of_name(const char *name, size_t length)
{
	if (ends_with(name, length, "_[k]"))
		return FRAME_KERNEL;
	if (ends_with(name, length, "_[j]"))
		return FRAME_JIT;
	if (ends_with(name, length, "_[i]"))
		return FRAME_INLINED;
	if (length >= 2 && name[0] == '[' && name[length - 1] == ']' &&
	    (memmem(name, length, "unknown", 7) || memmem(name, length, ".so", 3) || memchr(name, '<', length)))
		return FRAME_UNKNOWN;
	return FRAME_NATIVE;
}

static frame_id new_frame(struct parser *parser, str_id name, enum frame_kind kind)
{
	function_id function = profile_new_function(parser->profile, (struct function){.name = name});
	frame_id id = profile_new_frame(parser->profile, (struct frame){.function = function, .kind = kind});
	parser->unresolved = mem_grow(parser->unresolved, &parser->frame_capacity, id + 1, sizeof *parser->unresolved);
	parser->unresolved[id] = kind == FRAME_UNKNOWN;
	return id;
}

static frame_id frame_of(struct parser *parser, const char *name, size_t length, uint64_t hash, str_id likely)
{
	struct strpool *strings = &parser->profile->strings;
	str_id id = likely != INDEX_NONE && strpool_is(strings, likely, name, length) ?
			    likely :
			    strpool_add_hashed(strings, hash, name, length);
	if (id >= parser->name_capacity) {
		size_t old = parser->name_capacity;
		parser->frame_of_name =
			mem_grow(parser->frame_of_name, &parser->name_capacity, id + 1, sizeof *parser->frame_of_name);
		memset(parser->frame_of_name + old, 0xff,
		       (parser->name_capacity - old) * sizeof *parser->frame_of_name);
	}
	if (parser->frame_of_name[id] == PROFILE_NONE)
		parser->frame_of_name[id] = new_frame(parser, id, kind_of_name(name, length));
	return parser->frame_of_name[id];
}

/* Names of frames found ahead of their look-up. */
#define NAMES_AHEAD 16
struct name {
	size_t at, length;
	uint64_t hash;
	str_id likely;
};

/* Takes up to NAMES_AHEAD names from line[*at…length) and fetches what their look-ups will need. */
static size_t find_names(const struct parser *parser, const char *line, size_t length, size_t *at, struct name *names)
{
	const struct strpool *strings = &parser->profile->strings;
	size_t count = 0;
	while (*at <= length && count < NAMES_AHEAD) {
		const char *separator = memchr(line + *at, ';', length - *at);
		size_t end = separator ? (size_t)(separator - line) : length;
		/* A semicolon at the very end, as some writers leave it, does not name one more frame. */
		if (end == length && end == *at && *at) {
			*at = length + 1;
			break;
		}
		struct name *name = &names[count++];
		*name = (struct name){.at = *at, .length = end - *at, .hash = hash_bytes(line + *at, end - *at)};
		strpool_fetch_slot(strings, name->hash);
		*at = end + 1;
	}
	for (size_t i = 0; i < count; i++)
		names[i].likely = strpool_fetch_entry(strings, names[i].hash);
	for (size_t i = 0; i < count; i++)
		strpool_fetch_text(strings, names[i].likely);
	return count;
}

/* What the line shares with the one before, the separator behind a whole shared stack included. */
static size_t shared_with_before(const struct parser *parser, const char *line, size_t length, const char *before)
{
	size_t max = length < parser->length_before ? length : parser->length_before;
	size_t shared = shared_prefix(line, before, max);
	bool whole = shared == parser->length_before && (length == shared || line[shared] == ';');
	return shared + whole;
}

/*
 * True when the frame line[…end), which differs from its sibling before[…end_before) at `shared`, has no equal among
 * its siblings, since all of them sort before it.
 */
static bool is_next_sibling(struct parser *parser, const char *line, size_t end, const char *before, size_t end_before,
			    size_t shared)
{
	unsigned char sibling = (unsigned char)(shared < end_before ? before[shared] : ';');
	unsigned char own = (unsigned char)(shared < end ? line[shared] : ';');
	parser->unsorted |= own <= sibling;
	return !parser->unsorted;
}

/* The stack of line[0…length), which shares its first `shared` bytes with the line before. */
static stack_id stack_of(struct parser *parser, const char *line, size_t length, const char *before, size_t shared)
{
	const struct place *sibling = NULL;
	while (parser->place_count && parser->places[parser->place_count - 1].end >= shared)
		sibling = &parser->places[--parser->place_count];
	stack_id stack = STACK_ROOT;
	size_t at = 0;
	if (parser->place_count) {
		stack = parser->places[parser->place_count - 1].stack;
		at = parser->places[parser->place_count - 1].end + 1;
	}
	struct name names[NAMES_AHEAD];
	while (at <= length) {
		size_t count = find_names(parser, line, length, &at, names);
		for (size_t i = 0; i < count; i++) {
			size_t end = names[i].at + names[i].length;
			frame_id frame =
				frame_of(parser, line + names[i].at, names[i].length, names[i].hash, names[i].likely);
			bool is_new = sibling && is_next_sibling(parser, line, end, before, sibling->end, shared);
			stack = is_new ? profile_new_stack(parser->profile, stack, frame) :
					 profile_stack(parser->profile, stack, frame);
			sibling = NULL;
			MEM_ROOM(parser->places, parser->place_count, parser->place_capacity);
			parser->places[parser->place_count++] = (struct place){.end = (uint32_t)end, .stack = stack};
		}
	}
	return stack;
}

static void add(struct parser *parser, stack_id stack, bool is_new, value_id value, struct count count)
{
	struct profile *profile = parser->profile;
	profile_set_decimals(profile, value, count.decimals);
	int64_t weight = count.value;
	for (unsigned i = count.decimals; i < profile->values[value].decimals; i++)
		if (__builtin_mul_overflow(weight, 10, &weight)) {
			weight = INT64_MAX;
			profile->quality.overflows++;
			break;
		}
	struct sample sample = {weight, THREAD_UNKNOWN, stack, value, 1};
	if (is_new)
		profile_new_sample(profile, sample);
	else
		profile_add_sum(profile, sample);
}

static void count_quality(struct parser *parser, stack_id stack)
{
	struct profile *profile = parser->profile;
	profile->quality.stacks++;
	if (parser->unresolved[profile->stacks[stack].frame]) {
		profile->quality.unresolved++;
		profile->values[parser->values[0]].unresolved++;
	}
}

/* Returns false when the line is bad and cannot be the next line's predecessor. */
static bool parse_line(struct parser *parser, const char *line, size_t length, const char *before)
{
	struct count counts[2];
	const char *reason = NULL;
	size_t stack_length = length;
	for (unsigned i = parser->columns; i-- > 0;) {
		stack_length = take_count(line, stack_length, &counts[i], &reason);
		if (!stack_length) {
			if (line[0] != '#')
				shard_bad_line(parser->shard, reason);
			return false;
		}
	}
	if (stack_length > UINT32_MAX - 1) {
		shard_bad_line(parser->shard, "stack longer than 4 GB");
		return false;
	}
	size_t known = parser->profile->stack_count;
	size_t shared = before ? shared_with_before(parser, line, stack_length, before) : 0;
	if (!before) {
		parser->place_count = 0;
		parser->unsorted |= known > 1;
	}
	stack_id stack = stack_of(parser, line, stack_length, before, shared);
	for (unsigned i = 0; i < parser->columns; i++)
		add(parser, stack, stack >= known, parser->values[i], counts[i]);
	count_quality(parser, stack);
	parser->length_before = stack_length;
	return true;
}

static void parse(struct shard *shard, const char *data, size_t size)
{
	struct parser *parser = shard->parser;
	const char *end = data + size, *before = parser->last_line.size ? parser->last_line.data : NULL;
	for (const char *line = data; line < end; shard->lines++) {
		const char *newline = memchr(line, '\n', (size_t)(end - line) + 1);
		size_t length = (size_t)(newline - line);
		while (length && is_space(line[length - 1]))
			length--;
		if (length)
			before = parse_line(parser, line, length, before) ? line : NULL;
		line = newline + 1;
	}
	if (before && before == parser->last_line.data)
		return;
	buf_clear(&parser->last_line);
	if (before)
		buf_add(&parser->last_line, before, parser->length_before);
}

const struct import_format format_folded = {
	.name = "folded stacks",
	.boundary = AT_LINE,
	.start = start,
	.parse = parse,
	.finish = finish,
};

const struct import_format format_folded_pair = {
	.name = "folded stacks with two counts",
	.boundary = AT_LINE,
	.start = start_pair,
	.parse = parse,
	.finish = finish,
};
