/* The call tree as data for the script: one JSON object, described in docs/svg-format.md. */
#include "base/hash.h"
#include "base/json.h"
#include "render/number.h"
#include "render/svg/svg_picture.h"

#define FLUSH_SIZE ((size_t)64 * 1024)

struct writer {
	struct svg_picture *picture;
	struct outfile *file;
	struct buf out;
	struct json json; /* into `out` */
};

static void flush_some(struct writer *w)
{
	if (w->out.size > FLUSH_SIZE)
		outfile_move(w->file, &w->out);
}

/* No text is an empty one. */
static void add_string(struct json *json, const char *key, const char *text)
{
	json_string(json, key, text ? text : "");
}

static void add_number(struct json *json, const char *key, double value)
{
	number_plain(json_value(json, key), value);
}

static void add_options(struct writer *w)
{
	static const char *const themes[] = {"auto", "light", "dark"};
	static const char *const orders[] = {[ORDER_NAME] = "name", [ORDER_WIDTH] = "width", [ORDER_INPUT] = "none"};
	const struct svg_options *options = w->picture->options;
	struct json *json = &w->json;
	json_object(json, "options", &json_compact);
	add_number(json, "minwidth", options->minwidth);
	json_bool(json, "minwidthPercent", options->minwidth_percent);
	json_bool(json, "inverted", options->inverted);
	json_bool(json, "reverse", options->reverse);
	json_bool(json, "flamechart", options->flamechart);
	add_string(json, "sort", orders[options->order]);
	json_bool(json, "truncateRight", options->truncate_right);
	json_bool(json, "negate", options->negate);
	add_number(json, "fontwidth", options->fontwidth);
	json_int(json, "frameheight", options->frame_height);
	add_number(json, "fontsize", options->fontsize);
	json_bool(json, "colordiffusion", options->colordiffusion);
	add_string(json, "theme", themes[options->theme]);
	json_int(json, "width", options->fixed_width ? options->width : 0);
	json_end(json);
}

/*
 * Which nodes the data holds: those heavier than `weight`, and of those that weigh exactly that the ones not deeper
 * than `depth`. A caller weighs at least what its callees weigh and is less deep, so it is always kept with them.
 */
struct cut {
	int64_t weight;
	int64_t depth;
};

static bool is_kept(const struct svg_picture *picture, const struct cut *cut, uint32_t node)
{
	int64_t weight = picture->width[node];
	return weight > cut->weight || (weight == cut->weight && (int64_t)picture->tree->depth[node] <= cut->depth);
}

static struct cut cut_for_budget(const struct svg_picture *picture)
{
	const struct calltree *tree = picture->tree;
	uint32_t budget = picture->options->node_budget;
	size_t left;
	if (tree->count - 1 <= budget)
		return (struct cut){.weight = -1};
	struct cut cut = {
		.weight = weight_at_rank(picture->width + 1, tree->count - 1, budget, &left),
		.depth = -1,
	};
	CLEANUP_FREE uint32_t *by_depth = mem_zalloc((size_t)tree->max_depth + 1, sizeof *by_depth);
	for (uint32_t i = 1; i < tree->count; i++)
		if (picture->width[i] == cut.weight)
			by_depth[tree->depth[i]]++;
	for (uint32_t depth = 0; depth <= tree->max_depth && by_depth[depth] <= left; depth++) {
		left -= by_depth[depth];
		cut.depth = depth;
	}
	return cut;
}

/* The nodes as written: which ones, and their own weight with that of callees that are not. */
struct node_list {
	struct cut cut;
	const int64_t *self[2];
	int64_t *own_self[2];
	uint64_t folded_nodes;
	int64_t folded_weight;
};

static void fold_subtree(const struct svg_picture *picture, struct node_list *list, uint32_t node)
{
	const struct calltree *tree = picture->tree;
	uint32_t caller = tree->parent[node];
	for (int i = 0; i < 2 && list->own_self[i]; i++)
		list->own_self[i][caller] = weight_add(list->own_self[i][caller], tree->total[i][node]);
	list->folded_nodes += tree->end[node] - node;
	list->folded_weight = weight_add(list->folded_weight, picture->width[node]);
}

static struct node_list choose_nodes(const struct svg_picture *picture)
{
	const struct calltree *tree = picture->tree;
	struct node_list list = {
		.cut = cut_for_budget(picture),
		.self = {tree->self[0], tree->self[1]},
	};
	if (list.cut.weight < 0)
		return list;
	for (int i = 0; i < 2 && tree->self[i]; i++) {
		list.own_self[i] = mem_alloc(tree->count * sizeof(int64_t));
		memcpy(list.own_self[i], tree->self[i], tree->count * sizeof(int64_t));
		list.self[i] = list.own_self[i];
	}
	for (uint32_t node = 1; node < tree->count;) {
		if (is_kept(picture, &list.cut, node)) {
			node++;
			continue;
		}
		fold_subtree(picture, &list, node);
		node = tree->end[node];
	}
	return list;
}

static void add_node(struct writer *w, const struct node_list *list, uint32_t node, uint32_t up, bool first)
{
	bool diff = list->self[1];
	uint32_t name = svg_name_of(w->picture, node);
	char *start = buf_reserve(&w->out, 4 * (NUMBER_ROOM + 1)), *to = start;
	if (!first)
		*to++ = ',';
	to = number_integer(to, name);
	*to++ = ',';
	to = number_integer(to, up);
	*to++ = ',';
	to = number_integer(to, list->self[0][node]);
	if (diff) {
		*to++ = ',';
		to = number_integer(to, list->self[1][node]);
	}
	w->out.size += (size_t)(to - start);
}

/* For flame charts, by node as listed: the caller's own weight before it. */
static void add_leads(struct writer *w, const struct node_list *list)
{
	const struct calltree *tree = w->picture->tree;
	json_array(&w->json, "leads", &json_compact);
	for (uint32_t node = 1; node < tree->count;) {
		if (list->cut.weight >= 0 && !is_kept(w->picture, &list->cut, node)) {
			node = tree->end[node];
			continue;
		}
		flush_some(w);
		json_int(&w->json, NULL, w->picture->lead[node]);
		node++;
	}
	json_end(&w->json);
}

static void add_nodes(struct writer *w, const struct node_list *list)
{
	const struct calltree *tree = w->picture->tree;
	struct json *json = &w->json;
	json_array(json, "nodes", &json_compact);
	uint32_t depth_before = 0;
	bool first = true;
	for (uint32_t node = 1; node < tree->count;) {
		if (list->cut.weight >= 0 && !is_kept(w->picture, &list->cut, node)) {
			node = tree->end[node];
			continue;
		}
		flush_some(w);
		add_node(w, list, node, depth_before + 1 - tree->depth[node], first);
		depth_before = tree->depth[node];
		first = false;
		node++;
	}
	json_end(json);
	json_object(json, "folded", &json_compact);
	json_uint(json, "nodes", tree->folded_nodes + list->folded_nodes);
	json_int(json, "weight", weight_add(tree->folded_weight, list->folded_weight));
	json_end(json);
}

static void add_colour(struct json *json, struct rgb colour)
{
	static const char digits[] = "0123456789abcdef";
	const char text[] = {'"',
			     '#',
			     digits[colour.r >> 4],
			     digits[colour.r & 15],
			     digits[colour.g >> 4],
			     digits[colour.g & 15],
			     digits[colour.b >> 4],
			     digits[colour.b & 15],
			     '"'};
	buf_add(json_value(json, NULL), text, sizeof text);
}

/* An array to which `add` adds one element for each name. */
static void add_column(struct writer *w, const char *key, void (*add)(struct writer *w, const struct svg_name *name))
{
	json_array(&w->json, key, &json_compact);
	for (size_t i = 0; i < w->picture->name_count; i++) {
		add(w, &w->picture->names[i]);
		flush_some(w);
	}
	json_end(&w->json);
}

static void add_name(struct writer *w, const struct svg_name *name)
{
	json_bytes(&w->json, NULL, name->text, name->length);
}

static void add_name_colour(struct writer *w, const struct svg_name *name)
{
	add_colour(&w->json, name->colour);
}

static void add_name_safe_colour(struct writer *w, const struct svg_name *name)
{
	add_colour(&w->json, name->safe_colour);
}

static void add_name_kind(struct writer *w, const struct svg_name *name)
{
	json_uint(&w->json, NULL, name->kind);
}

static void add_name_noise(struct writer *w, const struct svg_name *name)
{
	json_uint(&w->json, NULL, w->picture->options->noise[name->label]);
}

static void add_kind_names(struct writer *w)
{
	json_array(&w->json, "kindNames", &json_compact);
	for (enum name_kind kind = 0; kind < KIND_COUNT; kind++)
		json_string(&w->json, NULL, name_kind_text(kind));
	json_end(&w->json);
}

/* The groups of colors that occur, each once, in the order of their first name. */
static void add_legend(struct writer *w, const char *key, bool safe)
{
	const struct colour_class *seen[16];
	size_t count = 0;
	struct json *json = &w->json;
	json_array(json, key, &json_compact);
	for (size_t i = 0; i < w->picture->name_count; i++) {
		const struct svg_name *name = &w->picture->names[i];
		const struct colour_class *class = safe ? name->safe_class : name->class;
		size_t at = 0;
		while (at < count && seen[at] != class)
			at++;
		if (!class || !class->says || at < count || count == sizeof seen / sizeof *seen)
			continue;
		seen[count++] = class;
		json_array(json, NULL, &json_compact);
		json_string(json, NULL, class->says);
		add_colour(json, colour_class_sample(class));
		json_end(json);
	}
	json_end(json);
}

/* A table of distinct texts and, by name, the index into it or -1. */
struct text_column {
	struct strpool texts;
	int64_t *index;
};

static void column_add(struct text_column *column, size_t name, const char *text, size_t length)
{
	/* The pool's text 0 is the empty one, which stands for "not known". */
	column->index[name] = (int64_t)strpool_add(&column->texts, text, length) - 1;
}

static void add_text_column(struct writer *w, const char *table_key, const char *index_key, struct text_column *column)
{
	struct json *json = &w->json;
	json_array(json, table_key, &json_compact);
	for (str_id id = 1; id < column->texts.count; id++) {
		json_bytes(json, NULL, strpool_text(&column->texts, id), strpool_length(&column->texts, id));
		flush_some(w);
	}
	json_end(json);
	json_array(json, index_key, &json_compact);
	for (size_t i = 0; i < w->picture->name_count; i++) {
		json_int(json, NULL, column->index[i]);
		flush_some(w);
	}
	json_end(json);
	strpool_release(&column->texts);
	free(column->index);
}

static void column_init(struct text_column *column, size_t names)
{
	strpool_init(&column->texts);
	column->index = mem_alloc((names + 1) * sizeof *column->index);
}

/* Module and source line of the heaviest frame behind each name. */
static void add_origins(struct writer *w)
{
	struct svg_picture *picture = w->picture;
	const struct profile *profile = picture->profile;
	struct text_column modules, files;
	column_init(&modules, picture->name_count);
	column_init(&files, picture->name_count);
	struct buf text CLEANUP_BUF = {0};
	for (size_t i = 0; i < picture->name_count; i++) {
		frame_id id = picture->tree->labels[picture->names[i].label].frame;
		modules.index[i] = files.index[i] = -1;
		if (id == PROFILE_NONE)
			continue;
		const struct frame *frame = &profile->frames[id];
		const struct function *function = &profile->functions[frame->function];
		column_add(&modules, i, profile_text(profile, function->module),
			   strpool_length(&profile->strings, function->module));
		if (!function->file)
			continue;
		buf_clear(&text);
		buf_str(&text, profile_text(profile, function->file));
		if (frame->line)
			buf_printf(&text, ":%u", frame->line);
		column_add(&files, i, text.data, text.size);
	}
	add_text_column(w, "modules", "module", &modules);
	add_text_column(w, "files", "file", &files);
}

/* The short forms, of names that have one. */
static void add_shorts(struct writer *w)
{
	const struct svg_picture *picture = w->picture;
	struct text_column shorts;
	column_init(&shorts, picture->name_count);
	for (size_t i = 0; i < picture->name_count; i++) {
		const struct svg_name *name = &picture->names[i];
		shorts.index[i] = -1;
		if (name->shorter)
			column_add(&shorts, i, name->shorter, name->shorter_length);
	}
	if (shorts.texts.count > 1) {
		add_text_column(w, "shorts", "short", &shorts);
		return;
	}
	strpool_release(&shorts.texts);
	free(shorts.index);
}

static void add_attributes(struct writer *w)
{
	struct json *json = &w->json;
	bool any = false;
	for (size_t i = 0; i < w->picture->name_count; i++) {
		const struct nameattr_entry *entry = w->picture->names[i].attributes;
		if (!entry)
			continue;
		if (!any)
			json_object(json, "attrs", &json_compact);
		any = true;
		char key[NUMBER_ROOM + 1];
		*number_integer(key, (int64_t)i) = '\0';
		json_object(json, key, &json_compact);
		const struct {
			const char *key, *value;
		} pairs[] = {{"href", entry->href},   {"target", entry->target}, {"title", entry->title},
			     {"class", entry->class}, {"style", entry->style},   {"id", entry->id}};
		for (size_t at = 0; at < sizeof pairs / sizeof *pairs; at++)
			if (pairs[at].value)
				json_string(json, pairs[at].key, pairs[at].value);
		json_end(json);
		flush_some(w);
	}
	if (any)
		json_end(json);
}

static void add_quality(struct writer *w)
{
	const struct quality *quality = &w->picture->profile->quality;
	struct buf line CLEANUP_BUF = {0};
	svg_foot(w->picture->profile, &line);
	struct json *json = &w->json;
	json_object(json, "quality", &json_compact);
	json_uint(json, "samples", quality->samples);
	json_uint(json, "lost", quality->lost);
	json_uint(json, "lostRecords", quality->lost_records);
	json_uint(json, "truncated", quality->truncated);
	json_uint(json, "unresolved", quality->unresolved);
	json_uint(json, "badLines", quality->bad_lines);
	add_string(json, "text", line.data);
	buf_clear(&line);
	quality_advice(quality, &w->picture->profile->strings, QUALITY_ADVICE_MAX, &line);
	if (line.size) {
		line.data[--line.size] = '\0'; /* the last newline */
		add_string(json, "advice", line.data);
	}
	json_end(json);
}

/* The root's width in weight units: the exact sum, unless --total is more. */
static void add_total(struct writer *w)
{
	const struct svg_picture *picture = w->picture;
	if (picture->options->total > (double)picture->sum / picture->scale)
		add_number(&w->json, "total", picture->options->total * picture->scale);
	else
		json_int(&w->json, "total", picture->sum);
}

static void add_head(struct writer *w)
{
	const struct svg_options *options = w->picture->options;
	struct json *json = &w->json;
	json_int(json, "version", 1);
	add_string(json, "title", svg_title(options));
	add_string(json, "subtitle", options->subtitle);
	add_string(json, "notes", options->notes);
	add_string(json, "countname", options->countname);
	add_string(json, "nametype", options->nametype);
	add_number(json, "factor", options->factor);
	json_int(json, "decimals", options->decimals);
	add_total(w);
	add_options(w);
	bool diff = svg_picture_is_diff(w->picture);
	json_bool(json, "diff", diff);
	if (diff) {
		json_array(json, "diffNames", &json_compact);
		for (int i = 0; i < 2; i++)
			json_string(json, NULL, options->diff_names[i]);
		json_end(json);
	}
}

void svg_write_data(struct svg_picture *picture, struct outfile *out)
{
	struct writer writer = {.picture = picture, .file = out, .json.out = &writer.out};
	json_object(&writer.json, NULL, &json_compact);
	add_head(&writer);
	/* Names are made when a node needs them, so the nodes come first. */
	struct node_list list = choose_nodes(picture);
	add_nodes(&writer, &list);
	if (picture->lead)
		add_leads(&writer, &list);
	add_column(&writer, "names", add_name);
	add_shorts(&writer);
	add_column(&writer, "colors", add_name_colour);
	add_column(&writer, "cbcolors", add_name_safe_colour);
	add_column(&writer, "kinds", add_name_kind);
	add_kind_names(&writer);
	if (svg_picture_is_diff(picture) && picture->options->noise)
		add_column(&writer, "diffNoise", add_name_noise);
	add_origins(&writer);
	add_attributes(&writer);
	add_legend(&writer, "legend", false);
	add_legend(&writer, "cblegend", true);
	add_quality(&writer);
	json_end(&writer.json);
	outfile_move(out, &writer.out);
	buf_release(&writer.out);
	free(list.own_self[0]);
	free(list.own_self[1]);
}
