/* The document: what stands around the frames and the data. */
#include "render/svg/svg.h"

#include "base/text.h"
#include "render/number.h"
#include "render/svg/svg_picture.h"
#include "render/web.h"

#include <ctype.h>

#define DEFAULT_NODE_BUDGET 250000

struct svg_options svg_defaults(void)
{
	struct svg_options options = {
		.countname = "samples",
		.nametype = "Function:",
		.fonttype = "Verdana",
		.fontsize = 12,
		.fontwidth = 0.59,
		.width = 1200,
		.frame_height = 16,
		.minwidth = 0.1,
		.minwidth_static = 0.5,
		.factor = 1,
		.script = true,
		.search_colour = {230, 0, 230},
		.diff_names = {"before", "after"},
		.node_budget = DEFAULT_NODE_BUDGET,
	};
	palette_background(palette_background_default(options.palette), options.background);
	return options;
}

bool svg_font_ok(const char *fonttype)
{
	if (!*fonttype || strlen(fonttype) > 500)
		return false;
	/* Names, commas and pairs of quotes. Nothing else is part of a list of fonts. */
	char quote = '\0';
	for (const char *at = fonttype; *at; at++) {
		if (*at == '"' || *at == '\'') {
			if (quote && quote != *at)
				return false;
			quote = quote ? '\0' : *at;
		} else if (!isalnum((unsigned char)*at) && !strchr(" -_,.", *at) && (unsigned char)*at < 0x80) {
			return false;
		}
	}
	return !quote;
}

const char *svg_title(const struct svg_options *options)
{
	if (options->title && *options->title)
		return options->title;
	return options->flamechart ? "Flame Chart" : options->inverted ? "Icicle Graph" : "Flame Graph";
}

/* A comment must not hold "--", and nothing that XML does not allow. */
static void add_comment_text(struct buf *out, const char *text)
{
	size_t length = strlen(text);
	for (size_t at = 0; at < length;) {
		uint32_t code_point;
		size_t size = text_utf8(text + at, length - at, &code_point);
		bool allowed = code_point >= 0x20 || code_point == '\t' || code_point == '\n';
		if (!allowed || code_point == 0xfffd || code_point == 0xfffe || code_point == 0xffff)
			buf_str(out, "\xef\xbf\xbd");
		else
			buf_add(out, text + at, size);
		at += size;
		if (code_point == '-' && text[at] == '-')
			buf_char(out, ' ');
	}
}

static void add_number_attribute(struct buf *out, const char *name, double value)
{
	buf_printf(out, " %s=\"", name);
	number_plain(out, value);
	buf_char(out, '"');
}

static void add_head(struct buf *out, const struct svg_options *options, const struct svg_geometry *geometry)
{
	const char *title = svg_title(options);
	buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<svg version=\"1.1\" id=\"wick\"");
	add_number_attribute(out, "width", geometry->width);
	add_number_attribute(out, "height", geometry->height);
	buf_str(out, " viewBox=\"0 0 ");
	number_plain(out, geometry->width);
	buf_char(out, ' ');
	number_plain(out, geometry->height);
	buf_str(out, "\" xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"");
	buf_printf(out, " role=\"%s\" aria-label=\"", options->script ? "application" : "img");
	text_xml(out, title, strlen(title));
	buf_str(out, "\">\n<!-- Flame graph written by wick " WICK_VERSION " -->\n");
	if (options->notes && *options->notes) {
		buf_str(out, "<!-- NOTES: ");
		add_comment_text(out, options->notes);
		buf_str(out, " -->\n");
	}
}

static void add_colour_property(struct buf *out, const char *name, struct rgb colour)
{
	buf_printf(out, "--wick-%s:#%02x%02x%02x;", name, colour.r, colour.g, colour.b);
}

/* What the style sheet cannot know: what options change of the picture without script. */
static void add_late_rules(struct buf *out, const struct svg_options *options)
{
	if (options->fontsize != 12)
		buf_printf(out, "\n#wick > #title { font-size: %.15gpx; } #wick > #subtitle { font-size: %.15gpx; }",
			   options->fontsize + 5, options->fontsize);
	if (options->theme == SVG_THEME_AUTO)
		return;
	bool dark = options->theme == SVG_THEME_DARK;
	buf_printf(out, "\n#wick > #bg { fill: %s; } #wick > #title { fill: %s; }",
		   dark ? "#15171b" : "url(#background)", dark ? "#e7e9ec" : "#15171a");
	buf_printf(out, "\n#wick > #subtitle, #wick > #quality { fill: %s; }", dark ? "#a0a7b3" : "#5b6270");
}

static void add_style(struct buf *out, const struct svg_options *options)
{
	buf_str(out, "<style><![CDATA[\n:root{--wick-font:");
	buf_str(out, options->fonttype);
	buf_printf(out, ",\"DejaVu Sans\",sans-serif;--wick-fontsize:%.15gpx;--wick-frame-height:%upx;",
		   options->fontsize, options->frame_height);
	add_colour_property(out, "bg1", options->background[0]);
	add_colour_property(out, "bg2", options->background[1]);
	add_colour_property(out, "search", options->search_colour);
	if (options->has_stroke_colour)
		add_colour_property(out, "stroke", options->stroke_colour);
	else
		buf_str(out, "--wick-stroke:none;");
	if (options->has_ui_colour)
		add_colour_property(out, "ui", options->ui_colour);
	buf_str(out, "}\n");
	buf_add(out, web_flame_css, web_flame_css_size);
	add_late_rules(out, options);
	buf_str(out, "\n]]></style>\n");
}

static void add_background(struct buf *out, const struct svg_options *options, const struct svg_geometry *geometry)
{
	static const char *const offsets[2] = {"5%", "95%"};
	buf_str(out, "<defs><linearGradient id=\"background\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">");
	for (int i = 0; i < 2; i++) {
		struct rgb colour = options->background[i];
		buf_printf(out, "<stop stop-color=\"#%02x%02x%02x\" offset=\"%s\"/>", colour.r, colour.g, colour.b,
			   offsets[i]);
	}
	buf_str(out, "</linearGradient></defs>\n<rect id=\"bg\" x=\"0\" y=\"0\"");
	add_number_attribute(out, "width", geometry->width);
	add_number_attribute(out, "height", geometry->height);
	buf_str(out, " fill=\"url(#background)\"/>\n");
}

static void add_text(struct buf *out, const char *id, const char *anchor, double x, double y, const char *text)
{
	if (!text || !*text)
		return;
	buf_printf(out, "<text id=\"%s\" x=\"%.2f\"", id, x);
	add_number_attribute(out, "y", y);
	buf_printf(out, " text-anchor=\"%s\">", anchor);
	text_xml(out, text, strlen(text));
	buf_str(out, "</text>\n");
}

static void write_start(const struct svg_picture *picture, const struct svg_geometry *geometry, struct outfile *file)
{
	const struct svg_options *options = picture->options;
	struct buf out CLEANUP_BUF = {0};
	double middle = (double)(options->width / 2);
	add_head(&out, options, geometry);
	add_style(&out, options);
	add_background(&out, options, geometry);
	add_text(&out, "title", "middle", middle, options->fontsize * 2, svg_title(options));
	add_text(&out, "subtitle", "middle", middle, options->fontsize * 4, options->subtitle);
	outfile_add(file, out.data, out.size);
}

static void write_foot(const struct svg_picture *picture, const struct svg_geometry *geometry, struct outfile *file)
{
	struct buf out CLEANUP_BUF = {0};
	struct buf line CLEANUP_BUF = {0};
	svg_foot(picture->profile, &line);
	add_text(&out, "quality", "start", SVG_SIDE, geometry->height - geometry->bottom / 2, line.data);
	outfile_add(file, out.data, out.size);
}

void svg_render(const struct calltree *tree, const struct profile *profile, const struct svg_options *options,
		struct outfile *out)
{
	struct svg_picture picture;
	svg_picture_init(&picture, tree, profile, options);
	struct svg_geometry geometry = svg_geometry_of(&picture);
	write_start(&picture, &geometry, out);
	svg_write_frames(&picture, &geometry, out);
	write_foot(&picture, &geometry, out);
	if (options->script) {
		outfile_str(out, "<script type=\"application/json\" id=\"wick-data\"><![CDATA[\n");
		svg_write_data(&picture, out);
		outfile_str(out, "\n]]></script>\n<script type=\"text/ecmascript\"><![CDATA[\n");
		outfile_add(out, web_flame_js, web_flame_js_size);
		outfile_str(out, "\n]]></script>\n");
	}
	outfile_str(out, "</svg>\n");
	svg_picture_release(&picture);
}
