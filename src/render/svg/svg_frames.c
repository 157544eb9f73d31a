/* The frames as drawn for viewers without script, in the places and words that flamegraph.pl gives them. */
#include "base/text.h"
#include "render/number.h"
#include "render/svg/svg_picture.h"
#include "render/unit.h"

#define FRAME_GAP 1 /* free pixel row between two levels */
#define TEXT_INDENT 3
#define FLUSH_SIZE ((size_t)64 * 1024)

struct drawing {
	struct svg_picture *picture;
	const struct svg_geometry *geometry;
	struct buf out;
	struct buf countname; /* escaped */
	struct buf scratch;
	double character; /* width of one, pixels */
};

static double counts(const struct svg_picture *picture, int64_t weight)
{
	return (double)weight / picture->scale;
}

static uint32_t deepest_drawn(const struct svg_picture *picture, double narrowest)
{
	const struct calltree *tree = picture->tree;
	uint32_t deepest = 0;
	for (uint32_t i = 1; i < tree->count;) {
		if (counts(picture, picture->width[i]) < narrowest) {
			i = tree->end[i];
			continue;
		}
		if (tree->depth[i] > deepest)
			deepest = tree->depth[i];
		i++;
	}
	return deepest;
}

struct svg_geometry svg_geometry_of(const struct svg_picture *picture)
{
	const struct svg_options *options = picture->options;
	struct svg_geometry geometry = {
		.width = options->width,
		.top = options->fontsize * 3,
		.bottom = options->fontsize * 2 + 10,
		.per_count = (options->width - 2 * SVG_SIDE) / picture->total,
	};
	if (options->subtitle && *options->subtitle)
		geometry.top += options->fontsize * 2;
	geometry.narrowest = options->minwidth_percent ? picture->total * options->minwidth / 100 :
							 options->minwidth / geometry.per_count;
	if (options->script && options->minwidth_static / geometry.per_count > geometry.narrowest)
		geometry.narrowest = options->minwidth_static / geometry.per_count;
	geometry.depth = deepest_drawn(picture, geometry.narrowest);
	geometry.height = (geometry.depth + 1.0) * options->frame_height + geometry.top + geometry.bottom;
	return geometry;
}

/* Writing to reserved room: a hundred thousand frames are two million of these. */
static inline char *put(char *to, const char *text, size_t length)
{
	memcpy(to, text, length);
	return to + length;
}
#define PUT(to, literal) put(to, literal, sizeof literal - 1)

static char *put_colour(char *to, struct rgb colour)
{
	to = number_integer(PUT(to, "rgb("), colour.r);
	*to++ = ',';
	to = number_integer(to, colour.g);
	*to++ = ',';
	to = number_integer(to, colour.b);
	*to++ = ')';
	return to;
}

static struct rgb frame_colour(const struct svg_picture *picture, uint32_t node, const struct svg_name *name)
{
	if (!name->class)
		return name->colour;
	if (picture->options->colordiffusion)
		return palette_diffusion(counts(picture, picture->width[node]) / picture->total);
	if (!svg_picture_is_diff(picture))
		return name->colour;
	if (picture->options->noise && picture->options->noise[name->label])
		return palette_noise;
	return palette_change((double)svg_change(picture, node), (double)picture->largest_change);
}

/* The place of one frame in tenths of a pixel, and in pixels as computed. */
struct place {
	double left, right;
	int64_t left_tenths, width_tenths;
	double top; /* pixels */
};

static struct place place_of(const struct drawing *drawing, uint32_t depth, double start, double end)
{
	const struct svg_geometry *geometry = drawing->geometry;
	double height = drawing->picture->options->frame_height;
	struct place place = {
		.left = SVG_SIDE + start * geometry->per_count,
		.right = SVG_SIDE + end * geometry->per_count,
		.top = drawing->picture->options->inverted ?
			       geometry->top + depth * height :
			       geometry->height - geometry->bottom - (depth + 1.0) * height + FRAME_GAP,
	};
	place.left_tenths = number_scaled(place.left, 1);
	place.width_tenths = number_scaled(place.right, 1) - place.left_tenths;
	return place;
}

static char *put_rectangle(const struct drawing *drawing, char *to, const struct place *place, struct rgb colour)
{
	to = number_fixed(PUT(to, "<rect x=\""), place->left_tenths, 1);
	to = number_short(PUT(to, "\" y=\""), place->top);
	to = number_fixed(PUT(to, "\" width=\""), place->width_tenths, 1);
	to = number_integer(PUT(to, "\" height=\""), drawing->picture->options->frame_height - FRAME_GAP);
	to = put_colour(PUT(to, "\" fill=\""), colour);
	return PUT(to, "\" rx=\"2\"/>");
}

/* Bytes of the first `characters` characters. */
static size_t prefix_length(const char *text, size_t length, size_t characters)
{
	size_t at = 0;
	for (; characters; characters--) {
		uint32_t code_point;
		at += text_utf8(text + at, length - at, &code_point);
	}
	return at;
}

/* The name as far as it fits, with two dots for the rest. */
static char *put_cut_name(struct drawing *drawing, char *to, const struct svg_name *name, size_t fitting)
{
	bool ascii = name->characters == name->length;
	size_t length = ascii ? fitting - 2 : prefix_length(name->text, name->length, fitting - 2);
	if (name->escaped_length == name->length) {
		to = put(to, name->escaped, length);
	} else {
		buf_clear(&drawing->scratch);
		text_xml(&drawing->scratch, name->text, length);
		to = put(to, drawing->scratch.data, drawing->scratch.size);
	}
	return PUT(to, "..");
}

/* The same of the short form. */
static char *put_shorter_name(struct drawing *drawing, char *to, const struct svg_name *name, size_t fitting)
{
	bool fits = name->shorter_characters <= fitting;
	size_t length = fits ? name->shorter_length : prefix_length(name->shorter, name->shorter_length, fitting - 2);
	buf_clear(&drawing->scratch);
	text_xml(&drawing->scratch, name->shorter, length);
	to = put(to, drawing->scratch.data, drawing->scratch.size);
	return fits ? to : PUT(to, "..");
}

static char *put_label(struct drawing *drawing, char *to, const struct place *place, const struct svg_name *name,
		       bool on_dark)
{
	size_t fitting = (size_t)((place->right - place->left) / drawing->character);
	if (fitting < 3 || !name->characters) /* room for one character and two dots */
		return to;
	double middle = place->top + (drawing->picture->options->frame_height - FRAME_GAP) / 2.0;
	to = number_fixed(PUT(to, "<text x=\""), number_scaled(place->left + TEXT_INDENT, 2), 2);
	to = number_short(PUT(to, "\" y=\""), middle + 3);
	to = on_dark ? PUT(to, "\" class=\"l\">") : PUT(to, "\">");
	if (name->characters <= fitting)
		to = put(to, name->escaped, name->escaped_length);
	else if (name->shorter)
		to = put_shorter_name(drawing, to, name, fitting);
	else
		to = put_cut_name(drawing, to, name, fitting);
	return PUT(to, "</text>");
}

/* " (1,234 samples, 12.34%)", and the change when two values are compared. */
static char *put_counts(struct drawing *drawing, char *to, uint32_t node)
{
	const struct svg_picture *picture = drawing->picture;
	double factor = picture->options->factor;
	bool diff = svg_picture_is_diff(picture);
	double shown = node ? counts(picture, diff ? picture->tree->total[1][node] : picture->width[node]) :
			      picture->base;
	shown *= factor;
	int64_t rounded = number_scaled(shown, 0);
	to = PUT(to, " (");
	buf_clear(&drawing->scratch);
	if (unit_amount(&drawing->scratch, picture->options->countname, shown)) {
		to = put(to, drawing->scratch.data, drawing->scratch.size);
	} else {
		to = number_grouped(to, rounded);
		*to++ = ' ';
		const char *countname = picture->options->countname, *noun = unit_noun(countname, (double)rounded);
		to = noun == countname ? put(to, drawing->countname.data, drawing->countname.size) :
					 put(to, noun, strlen(noun));
	}
	to = PUT(to, ", ");
	if (!node)
		return PUT(to, "100%)");
	to = number_fixed(to, number_scaled(100 * (double)rounded / (picture->base * factor), 2), 2);
	if (diff) {
		double change = counts(picture, svg_change(picture, node));
		to = change > 0 ? PUT(to, "%; +") : PUT(to, "%; ");
		to = number_fixed(to, number_scaled(100 * change / picture->base, 2), 2);
	}
	return PUT(to, "%)");
}

static void add_attribute(struct buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	buf_char(out, ' ');
	buf_str(out, name);
	buf_str(out, "=\"");
	text_xml(out, value, strlen(value));
	buf_char(out, '"');
}

/* Opens the frame's group, which is a link when the function has one, and its title. */
static void add_start(struct buf *out, const struct nameattr_entry *attributes)
{
	if (!attributes) {
		buf_add(out, "<g><title>", 10);
		return;
	}
	bool link = attributes->href;
	buf_str(out, link ? "<a" : "<g");
	if (link) {
		add_attribute(out, "xlink:href", attributes->href);
		add_attribute(out, "target", attributes->target ? attributes->target : "_top");
		if (attributes->a_extra)
			buf_str(out, attributes->a_extra);
	}
	add_attribute(out, "id", attributes->id);
	add_attribute(out, "class", attributes->class);
	add_attribute(out, "style", attributes->style);
	if (attributes->g_extra)
		buf_str(out, attributes->g_extra);
	buf_str(out, "><title>");
}

static void escape_name(struct svg_picture *picture, struct svg_name *name)
{
	if (name->escaped)
		return;
	buf_clear(&picture->scratch);
	text_xml(&picture->scratch, name->text, name->length);
	name->escaped =
		arena_copy(&picture->arena, picture->scratch.data ? picture->scratch.data : "", picture->scratch.size);
	name->escaped_length = picture->scratch.size;
}

static void add_frame(struct drawing *drawing, uint32_t node, struct svg_name *name, struct rgb colour, int64_t start)
{
	struct svg_picture *picture = drawing->picture;
	struct buf *out = &drawing->out;
	double left = counts(picture, start);
	double right = node ? counts(picture, weight_add(start, picture->width[node])) : picture->total;
	struct place place = place_of(drawing, picture->tree->depth[node], left, right);
	const struct nameattr_entry *attributes = name->attributes;
	escape_name(picture, name);
	add_start(out, attributes);
	if (attributes && attributes->title)
		text_xml(out, attributes->title, strlen(attributes->title));
	/* The name comes twice, and a dozen numbers and as many short words around them. */
	size_t room = 2 * name->escaped_length + drawing->countname.size + 16 * NUMBER_ROOM + 256;
	room += 8 * name->shorter_length; /* and the short form once, escaped */
	char *begin = buf_reserve(out, room), *to = begin;
	if (!attributes || !attributes->title)
		to = put_counts(drawing, put(to, name->escaped, name->escaped_length), node);
	to = put_rectangle(drawing, PUT(to, "</title>"), &place, colour);
	to = put_label(drawing, to, &place, name, rgb_is_dark(colour));
	to = attributes && attributes->href ? PUT(to, "</a>\n") : PUT(to, "</g>\n");
	out->size += (size_t)(to - begin);
}

/*
 * Depth first. A node begins behind its caller's own weight (all of it, or in time order the part that came before) and
 * the siblings before it.
 */
static void add_frames(struct drawing *drawing, struct outfile *out)
{
	struct svg_picture *picture = drawing->picture;
	const struct calltree *tree = picture->tree;
	/* By depth: where the node before ends, without its caller's own weight. */
	CLEANUP_FREE int64_t *next = mem_zalloc((size_t)tree->max_depth + 2, sizeof *next);
	for (uint32_t node = 1; node < tree->count;) {
		uint32_t depth = tree->depth[node];
		int64_t lead = picture->lead ? picture->lead[node] : picture->self[tree->parent[node]];
		int64_t start = weight_add(next[depth], lead);
		next[depth] = weight_add(next[depth], picture->width[node]);
		next[depth + 1] = start;
		if (counts(picture, picture->width[node]) < drawing->geometry->narrowest) {
			node = tree->end[node];
			continue;
		}
		uint32_t id = svg_name_of(picture, node); /* may move the names */
		struct svg_name *name = &picture->names[id];
		add_frame(drawing, node, name, frame_colour(picture, node, name), start);
		if (drawing->out.size > FLUSH_SIZE)
			outfile_move(out, &drawing->out);
		node++;
	}
}

void svg_write_frames(struct svg_picture *picture, const struct svg_geometry *geometry, struct outfile *out)
{
	const struct svg_options *options = picture->options;
	struct drawing drawing = {
		.picture = picture,
		.geometry = geometry,
		.character = options->fontsize * options->fontwidth,
	};
	text_xml(&drawing.countname, options->countname, strlen(options->countname));
	outfile_str(out, "<g id=\"frames\">\n");
	struct svg_name root = {.text = "all", .length = 3, .characters = 3};
	struct rgb root_colour = options->colordiffusion      ? palette_diffusion(1) :
				 svg_picture_is_diff(picture) ? palette_change(0, 1) :
								svg_root_colour(picture);
	add_frame(&drawing, 0, &root, root_colour, 0);
	add_frames(&drawing, out);
	outfile_add(out, drawing.out.data, drawing.out.size);
	outfile_str(out, "</g>\n");
	buf_release(&drawing.out);
	buf_release(&drawing.countname);
	buf_release(&drawing.scratch);
}
