/* The static part of the SVG. */
#include "unit.h"

#include "base/buf.h"
#include "render/nameattr.h"
#include "render/palette_map.h"
#include "render/svg/svg.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct profile profile;
static struct svg_options options;
static struct calltree_options tree_options;
static struct buf picture;

static int setup(void **state)
{
	(void)state;
	profile_init(&profile);
	options = svg_defaults();
	tree_options = (struct calltree_options){.values = {0, PROFILE_NONE}};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	profile_release(&profile);
	buf_release(&picture);
	return 0;
}

/* Adds "a;b;c" with a weight; all frames are native and of no module. */
static void add_stack(const char *folded, const char *value_name, int64_t weight)
{
	CLEANUP_FREE char *text = mem_strdup(folded);
	stack_id stack = STACK_ROOT;
	char *rest = text;
	for (char *name; (name = strsep(&rest, ";"));) {
		struct function function = {.name = profile_string(&profile, name, strlen(name))};
		struct frame frame = {.function = profile_function(&profile, function)};
		stack = profile_stack(&profile, stack, profile_frame(&profile, frame));
	}
	profile_add(&profile, THREAD_UNKNOWN, stack, profile_value(&profile, value_name, "samples"), weight);
}

static void add(const char *folded, int64_t weight)
{
	add_stack(folded, "samples", weight);
}

static void add_both(const char *folded, int64_t before, int64_t after)
{
	add_stack(folded, "before", before);
	add_stack(folded, "after", after);
	tree_options.values[1] = 1;
}

/* Draws into `picture`. */
static void draw(void)
{
	struct calltree tree;
	calltree_build(&tree, &profile, &tree_options);
	struct outfile out = {.fd = memfd_create("svg", 0), .shown = mem_strdup("svg")};
	int fd = out.fd;
	svg_render(&tree, &profile, &options, &out);
	assert_int_equal(outfile_commit(&out, NULL), 0);
	calltree_release(&tree);
	off_t size = lseek(fd, 0, SEEK_END);
	buf_clear(&picture);
	buf_reserve(&picture, (size_t)size);
	assert_int_equal(pread(fd, picture.data, (size_t)size, 0), size);
	picture.size = (size_t)size;
	picture.data[size] = '\0';
	close(fd);
}

static void expect(const char *part)
{
	if (!strstr(picture.data, part))
		fail_msg("not in the picture: %s", part);
}

static void expect_not(const char *part)
{
	if (strstr(picture.data, part))
		fail_msg("in the picture: %s", part);
}

static void frames_lie_where_flamegraph_pl_puts_them(void **state)
{
	(void)state;
	add("a;b", 10);
	add("a;b;c", 20);
	add("a;d_[k]", 70);
	draw();
	expect("height=\"134\" viewBox=\"0 0 1200 134\"");
	expect("<title>all (100 samples, 100%)</title><rect x=\"10.0\" y=\"85\" width=\"1180.0\" height=\"15\" "
	       "fill=\"rgb(213,39,9)\" rx=\"2\"/><text x=\"13.00\" y=\"95.5\" class=\"l\">all</text>");
	expect("<title>a (100 samples, 100.00%)</title><rect x=\"10.0\" y=\"69\" width=\"1180.0\"");
	expect("<title>b (30 samples, 30.00%)</title><rect x=\"10.0\" y=\"53\" width=\"354.0\"");
	expect("<title>c (20 samples, 20.00%)</title><rect x=\"128.0\" y=\"37\" width=\"236.0\"");
	expect("<title>d (70 samples, 70.00%)</title><rect x=\"364.0\" y=\"53\" width=\"826.0\"");
	expect("\"nodes\":[0,0,0,1,0,10,2,0,20,3,2,70]");
	expect("\"names\":[\"a\",\"b\",\"c\",\"d\"]");
	expect("\"kinds\":[0,0,0,1]");
	expect("\"total\":100,");
}

static void icicles_hang_from_the_top(void **state)
{
	(void)state;
	add("a", 1234567);
	options.inverted = true;
	options.subtitle = "second line";
	draw();
	expect("id=\"title\" x=\"600.00\" y=\"24\" text-anchor=\"middle\">Icicle Graph<");
	expect("<title>all (1,234,567 samples, 100%)</title><rect x=\"10.0\" y=\"60\"");
	expect("<title>a (1,234,567 samples, 100.00%)</title><rect x=\"10.0\" y=\"76\"");
	expect("second line");
}

static void narrow_frames_are_not_drawn_but_kept_in_the_data(void **state)
{
	(void)state;
	add("wide", 9900);
	add("narrow;deep;deeper", 100);
	options.minwidth = 2;
	options.minwidth_percent = true;
	draw();
	expect("<title>wide (");
	expect_not("<title>narrow (");
	expect("viewBox=\"0 0 1200 102\"");
	expect("\"nodes\":[1,0,0,2,0,0,3,0,100,0,3,9900]");
}

static void long_names_are_cut(void **state)
{
	(void)state;
	add("ααααααααα", 31);
	add("a&b&c&d&e&f", 31);
	add("x", 938);
	draw();
	/* 36.6 pixels have room for five characters of 7.08 pixels. */
	expect(">ααα..</text>");
	expect(">a&amp;b..</text>");
}

static void totals_and_factors_scale(void **state)
{
	(void)state;
	add("a", 50);
	options.total = 200;
	options.factor = 0.5;
	draw();
	expect("<title>all (100 samples, 100%)</title>");
	expect("<title>a (25 samples, 25.00%)</title><rect x=\"10.0\" y=\"37\" width=\"295.0\"");
	expect("\"total\":200,");
	options.total = 20; /* less than there is */
	draw();
	expect("<title>a (25 samples, 100.00%)</title>");
	expect("\"total\":50,");
}

static void fractions_are_units(void **state)
{
	(void)state;
	add("a", 25);
	add("b", 75);
	profile_set_decimals(&profile, 0, 2);
	options.decimals = 2;
	draw();
	expect("<title>a (25 samples, 25.00%)</title>");
	expect("\"decimals\":2,\"total\":10000,");
	expect("\"nodes\":[0,0,2500,1,1,7500]");
}

/* Names come from foreign files. */
static void names_cannot_leave_their_place(void **state)
{
	(void)state;
	add("</title><script>alert(1)</script>", 50);
	add("]]></script><x y=\"&\">\x01\xff", 50);
	options.title = "<b>&\"]]>";
	options.subtitle = "</text><script>";
	options.countname = "<i>";
	options.nametype = "]]>";
	draw();
	expect("&lt;/title&gt;&lt;script&gt;alert(1)");
	expect_not("<script>alert");
	expect_not("</script><x");
	expect_not("</text><script>");
	expect_not("<i>");
	expect_not("<b>");
	/* Three sections end: the style, the data and the script. */
	int ends = 0;
	for (const char *at = picture.data; (at = strstr(at, "]]>")); at++)
		ends++;
	assert_int_equal(ends, 3);
	assert_null(memchr(picture.data, '\x01', picture.size));
	assert_null(memchr(picture.data, '\xff', picture.size));
}

static void notes_cannot_end_their_comment(void **state)
{
	(void)state;
	add("a", 1);
	options.notes = "one --- two";
	draw();
	expect("<!-- NOTES: one - - - two -->");
}

static void two_values_are_compared_with_callees(void **state)
{
	(void)state;
	add_both("a;b", 10, 20);
	add_both("a;gone", 20, 0);
	add_both("a;same", 5, 5);
	draw();
	expect("\"diff\":true,\"diffNames\":[\"before\",\"after\"]");
	expect("\"nodes\":[0,0,0,0,1,0,10,20,2,1,20,0,3,1,5,5]");
	expect("\"total\":45,");
	/* The largest change is that of gone, -20: a has -10, half of it. */
	expect("<title>a (25 samples, 100.00%; -40.00%)</title><rect x=\"10.0\" y=\"53\" width=\"1180.0\" "
	       "height=\"15\" fill=\"rgb(105,105,255)\"");
	expect("<title>gone (0 samples, 0.00%; -80.00%)</title><rect x=\"534.4\" y=\"37\" width=\"524.5\" "
	       "height=\"15\" fill=\"rgb(0,0,255)\"");
	expect("<title>same (5 samples, 20.00%; 0.00%)</title>");
	options.negate = true;
	draw();
	expect("<title>b (20 samples, 80.00%; -40.00%)</title><rect x=\"10.0\" y=\"37\" width=\"524.4\" height=\"15\" "
	       "fill=\"rgb(105,105,255)\"");
}

static void noise_is_grey(void **state)
{
	(void)state;
	add_both("a", 10, 20);
	add_both("b", 10, 11);
	bool noise[] = {false, false, true};
	options.noise = noise;
	draw();
	expect("fill=\"rgb(255,0,0)\"");
	expect("fill=\"rgb(200,200,200)\"");
	expect("\"diffNoise\":[0,1]");
}

static void light_nodes_are_folded_into_their_callers(void **state)
{
	(void)state;
	add("a;b;c", 100);
	add("a;b;d", 3);
	add("a;e;f;g", 2);
	add("a;h", 50);
	add("i", 1);
	options.node_budget = 5;
	draw();
	/* Kept: a, b, c, h and d; e (2), f, g and i (1) are not. */
	expect("\"nodes\":[0,0,2,1,0,0,2,0,100,3,1,3,7,2,50],\"folded\":{\"nodes\":4,\"weight\":3}");
	expect("\"total\":156,");
}

static void equal_light_nodes_are_folded_from_the_deepest(void **state)
{
	(void)state;
	add("a;b;c;d", 1);
	add("e;f;g;h", 1);
	options.node_budget = 5;
	draw();
	expect("\"nodes\":[0,0,0,1,0,1,4,2,0,5,0,1],\"folded\":{\"nodes\":4,\"weight\":2}");
}

static void wakers_are_names_of_their_own(void **state)
{
	(void)state;
	add("read;--;read;--;write", 60);
	add("--;read", 40);
	options.palette = PALETTE_CHAIN;
	draw();
	expect("\"names\":[\"--\",\"read\",\"read\",\"write\"]");
	expect("\"kinds\":[0,0,7,7]");
	expect("\"legend\":[[\"off-CPU\",");
	expect("[\"waker\",");
}

static void charts_keep_the_caller_where_it_ran(void **state)
{
	(void)state;
	profile.ordered = true;
	add("a;b", 50);
	add("a", 20);
	add("a;b", 30);
	tree_options.order = ORDER_INPUT;
	options.order = ORDER_INPUT;
	options.flamechart = true;
	draw();
	expect(">Flame Chart<");
	expect("<title>a (100 samples, 100.00%)</title><rect x=\"10.0\" y=\"53\" width=\"1180.0\"");
	expect("<title>b (50 samples, 50.00%)</title><rect x=\"10.0\" y=\"37\" width=\"590.0\"");
	expect("<title>b (30 samples, 30.00%)</title><rect x=\"836.0\" y=\"37\" width=\"354.0\"");
	expect("\"nodes\":[0,0,20,1,0,50,1,1,30]");
	expect("\"leads\":[0,0,20]");
}

static void marks_added_by_wick_do_not_change_the_shade(void **state)
{
	(void)state;
	struct function function = {.name = profile_string(&profile, "main", 4),
				    .module = profile_string(&profile, "[kernel.kallsyms]", 17)};
	struct frame frame = {.function = profile_function(&profile, function), .kind = FRAME_KERNEL};
	stack_id stack = profile_stack(&profile, STACK_ROOT, profile_frame(&profile, frame));
	profile_add(&profile, THREAD_UNKNOWN, stack, profile_value(&profile, "samples", "samples"), 1);
	tree_options.annotate_kernel = true;
	options.marks_are_ours = true;
	draw();
	expect("<title>main (1 sample, 100.00%)");
	expect("fill=\"rgb(243,179,42)\"");
	expect("\"kinds\":[1]");
	expect("\"modules\":[\"[kernel.kallsyms]\"],\"module\":[0]");
	options.marks_are_ours = false;
	draw();
	expect_not("fill=\"rgb(243,179,42)\"");
}

static void attributes_are_drawn_and_reported(void **state)
{
	(void)state;
	add("f", 60);
	add("g_[k]", 40);
	struct nameattr attributes;
	nameattr_init(&attributes);
	char path[] = "/tmp/wick-test-svg-XXXXXX";
	int fd = mkstemp(path);
	static const char text[] = "f\thref=x?a=1&b=\"2\"\ttitle=<hello>\ng\tclass=hot\tg_extra=data-n=\"1\"\n";
	assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
	close(fd);
	assert_int_equal(nameattr_read(&attributes, path, NULL), 0);
	unlink(path);
	options.attributes = &attributes;
	draw();
	nameattr_release(&attributes);
	expect("<a xlink:href=\"x?a=1&amp;b=&quot;2&quot;\" target=\"_top\"><title>&lt;hello&gt;</title><rect");
	expect("f</text></a>");
	expect("<g class=\"hot\" data-n=\"1\"><title>g (40");
	expect("\"attrs\":{\"0\":{\"href\":");
	expect("\"1\":{\"class\":\"hot\"}}");
}

static void a_palette_map_wins_and_learns(void **state)
{
	(void)state;
	add("f;g_[k];--", 60);
	struct palette_map map;
	struct rgb colour;
	palette_map_init(&map);
	palette_map_put(&map, "f", 1, (struct rgb){1, 2, 3});
	options.map = &map;
	draw();
	expect("fill=\"rgb(1,2,3)\"");
	expect("\"#010203\"");
	assert_true(palette_map_get(&map, "g_[k]", 5, &colour));
	assert_true(palette_map_get(&map, "", 0, &colour));
	assert_int_equal(colour.r, 213);
	assert_false(palette_map_get(&map, "--", 2, &colour));
	palette_map_release(&map);
}

static void without_script_there_is_no_data(void **state)
{
	(void)state;
	add("a", 1);
	options.script = false;
	draw();
	expect_not("<script");
	expect("role=\"img\"");
	expect("</svg>\n");
}

static void fonts_are_names(void **state)
{
	(void)state;
	static const char *const good[] = {"Verdana", "DejaVu Sans Mono, monospace", "\"Segoe UI\",'Ünïcode'"};
	static const char *const bad[] = {"",     "x;}",    "a{b", "url(x)", "</style>",
					  "a\\b", "\"open", "]]>", "a/*",    "'x\""};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(svg_font_ok(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (svg_font_ok(bad[i]))
			fail_msg("'%s' was taken for a font", bad[i]);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frames_lie_where_flamegraph_pl_puts_them),
		TEST(icicles_hang_from_the_top),
		TEST(narrow_frames_are_not_drawn_but_kept_in_the_data),
		TEST(long_names_are_cut),
		TEST(totals_and_factors_scale),
		TEST(fractions_are_units),
		TEST(names_cannot_leave_their_place),
		TEST(notes_cannot_end_their_comment),
		TEST(two_values_are_compared_with_callees),
		TEST(noise_is_grey),
		TEST(light_nodes_are_folded_into_their_callers),
		TEST(equal_light_nodes_are_folded_from_the_deepest),
		TEST(wakers_are_names_of_their_own),
		TEST(charts_keep_the_caller_where_it_ran),
		TEST(marks_added_by_wick_do_not_change_the_shade),
		TEST(attributes_are_drawn_and_reported),
		TEST(a_palette_map_wins_and_learns),
		TEST(without_script_there_is_no_data),
		TEST(fonts_are_names),
	};
	return cmocka_run_group_tests_name("svg", tests, NULL, NULL);
}
