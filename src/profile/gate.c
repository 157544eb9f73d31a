/* Parses thresholds, and checks the rows of a comparison. */
#include "profile/gate.h"

#include "profile/match.h"

#include <math.h>

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static int parse_limit(struct gate *gate, const char *from, struct err *err)
{
	char *end;
	double limit = strtod(from, &end);
	bool number = end != from && isfinite(limit);
	while (*end == ' ')
		end++;
	if (*end == '%')
		end++;
	while (*end == ' ')
		end++;
	if (!number || *end)
		return err_set(err, ERR_USAGE, "'%s': '%s' must be a percentage such as 3%%", gate->text, from);
	if (limit < 0)
		return err_set(err, ERR_USAGE, "'%s': the threshold must not be negative", gate->text);
	gate->limit = limit;
	return 0;
}

int gate_parse(struct gate *gate, const char *text, struct err *err)
{
	struct gate parsed = {.text = text};
	const char *compare = strrchr(text, '>');
	if (!compare)
		return err_set(err, ERR_USAGE, "'%s' has no '>'; use total>3%%, func:NAME>2%% or self:NAME>2%%", text);
	const char *subject = text + strspn(text, " ");
	size_t length = (size_t)(compare - subject);
	while (length && subject[length - 1] == ' ')
		length--;
	if (length == 5 && starts_with(subject, "total")) {
		parsed.kind = GATE_TOTAL;
	} else if (length >= 5 && (starts_with(subject, "func:") || starts_with(subject, "self:"))) {
		parsed.kind = subject[0] == 'f' ? GATE_FUNCTION : GATE_SELF;
		parsed.name = subject + 5;
		parsed.name_length = length - 5;
		if (!parsed.name_length)
			return err_set(err, ERR_USAGE, "'%s' has no function name", text);
	} else {
		return err_set(err, ERR_USAGE, "'%s': use total, func:NAME or self:NAME before '>'", text);
	}
	int code = parse_limit(&parsed, compare + 1, err);
	if (code < 0)
		return code;
	*gate = parsed;
	return 0;
}

static const struct diff_change *change_of(const struct gate *gate, const struct diff_row *row)
{
	return gate->kind == GATE_SELF ? &row->self : &row->total;
}

static bool same(const struct gate *gate, const char *text, size_t length)
{
	return length == gate->name_length && memcmp(text, gate->name, length) == 0;
}

/*
 * 3: the label is the name; 2: the function is, and the label carries a mark or its module beside it; 1: the function's
 * name without parameters, or without template arguments too, is; 0: none of these.
 */
static int match(const struct gate *gate, const struct diff *diff, const struct diff_row *row)
{
	const struct tree_label *label = &diff->tree.labels[row->label];
	if (same(gate, label->text, label->length))
		return 3;
	if (row->frame == PROFILE_NONE)
		return 0;
	const struct profile *profile = &diff->profile;
	str_id name = profile->functions[profile->frames[row->frame].function].name;
	const char *text = profile_text(profile, name);
	size_t length = strpool_length(&profile->strings, name);
	if (same(gate, text, length))
		return 2;
	return match_written(gate->name, gate->name_length, text, length);
}

static const struct diff_row *find(const struct gate *gate, const struct diff *diff)
{
	bool any = gate->name_length == 1 && gate->name[0] == '*';
	const struct diff_row *best = NULL;
	int best_match = 0;
	for (size_t i = 0; i < diff->row_count; i++) {
		const struct diff_row *row = &diff->rows[i];
		int matched = any ? 1 : match(gate, diff, row);
		if (!matched || matched < best_match)
			continue;
		const struct diff_change *change = change_of(gate, row);
		/* Of several, a change that is sure comes before one that is not, then the largest. */
		if (best && matched == best_match) {
			const struct diff_change *other = change_of(gate, best);
			bool sure = change->significant && change->after > change->before;
			bool other_sure = other->significant && other->after > other->before;
			if (sure != other_sure ? other_sure :
						 change->after - change->before <= other->after - other->before)
				continue;
		}
		best = row;
		best_match = matched;
	}
	return best;
}

void gate_check(struct gate *gate, const struct diff *diff, bool noise_fails)
{
	bool any = gate->name_length == 1 && gate->name[0] == '*';
	gate->found = true;
	gate->growth = 0;
	if (gate->kind == GATE_TOTAL) {
		gate->change = diff->all;
		gate->growth = diff_growth(diff, &diff->all);
	} else {
		gate->row = find(gate, diff);
		gate->found = gate->row != NULL;
		gate->change = gate->row ? *change_of(gate, gate->row) : (struct diff_change){.p = 1};
		if (gate->row)
			gate->growth = diff_growth(diff, &gate->change);
	}
	/* A function chosen beforehand is one question; any function is as many as there are functions. */
	gate->sure = (any ? gate->change.confidence : 1 - gate->change.p) >= diff->options.confidence;
	gate->exceeded = gate->growth > gate->limit;
	gate->failed = gate->exceeded && (gate->sure || noise_fails);
}

const char *gate_suggest(const struct gate *gate, const struct diff *diff)
{
	const char *shortest = NULL;
	size_t shortest_length = 0;
	for (size_t i = 0; i < diff->row_count; i++) {
		const struct tree_label *label = &diff->tree.labels[diff->rows[i].label];
		if (!memmem(label->text, label->length, gate->name, gate->name_length))
			continue;
		if (!shortest || label->length < shortest_length) {
			shortest = label->text;
			shortest_length = label->length;
		}
	}
	return shortest;
}
