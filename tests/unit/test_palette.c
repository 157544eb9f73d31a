/* Colors compared with those of flamegraph.pl. */
#include "unit.h"

#include "render/palette.h"
#include "render/palette_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *colour_text(struct rgb colour)
{
	static char text[32];
	snprintf(text, sizeof text, "rgb(%u,%u,%u)", colour.r, colour.g, colour.b);
	return text;
}

static struct rgb colour_of(enum palette palette, enum shade_method method, const char *name)
{
	uint64_t random = 0;
	struct shade shade = shade_of(method, name, strlen(name), &random);
	return palette_class(palette, name, KIND_NATIVE)->shaded(shade);
}

/* What flamegraph.pl (and inferno for its own ways) drew for these names. */
static void colours_are_those_of_flamegraph_pl(void **state)
{
	(void)state;
	static const struct {
		enum palette palette;
		enum shade_method method;
		const char *name, *colour;
	} rows[] = {
		{PALETTE_HOT, SHADE_BY_SUM, "", "rgb(213,39,9)"},
		{PALETTE_HOT, SHADE_BY_SUM, "main", "rgb(243,179,42)"},
		{PALETTE_HOT, SHADE_BY_SUM, "föö", "rgb(226,98,23)"},
		{PALETTE_HOT, SHADE_BY_SUM, "vfs_read_[k]", "rgb(230,118,28)"},
		{PALETTE_HOT, SHADE_BY_SUM, "std::vector<int>::push_back", "rgb(245,184,44)"},
		{PALETTE_HOT, SHADE_BY_HASH, "", "rgb(255,230,55)"},
		{PALETTE_HOT, SHADE_BY_HASH, "main", "rgb(247,83,46)"},
		{PALETTE_HOT, SHADE_BY_HASH, "föö", "rgb(235,174,34)"},
		{PALETTE_HOT, SHADE_BY_HASH, "x", "rgb(255,230,55)"},
		{PALETTE_HOT, SHADE_BY_HASH, "lib`func", "rgb(234,172,32)"},
		{PALETTE_HOT, SHADE_BY_HASH, "`tick", "rgb(255,122,55)"},
		{PALETTE_HOT, SHADE_BY_FNV, "main", "rgb(238,28,47)"},
		{PALETTE_HOT, SHADE_BY_FNV, "föö", "rgb(207,140,40)"},
		{PALETTE_MEM, SHADE_BY_HASH, "main", "rgb(0,232,76)"},
		{PALETTE_IO, SHADE_BY_SUM, "main", "rgb(126,126,232)"},
		{PALETTE_WAKEUP, SHADE_BY_SUM, "main", "rgb(96,207,207)"},
		{PALETTE_RED, SHADE_BY_SUM, "main", "rgb(242,112,112)"},
		{PALETTE_GREEN, SHADE_BY_SUM, "main", "rgb(96,242,96)"},
		{PALETTE_BLUE, SHADE_BY_SUM, "main", "rgb(126,126,243)"},
		{PALETTE_YELLOW, SHADE_BY_SUM, "main", "rgb(217,217,65)"},
		{PALETTE_PURPLE, SHADE_BY_SUM, "main", "rgb(240,126,240)"},
		{PALETTE_AQUA, SHADE_BY_SUM, "main", "rgb(96,207,207)"},
		{PALETTE_ORANGE, SHADE_BY_SUM, "main", "rgb(240,140,0)"},
		{PALETTE_JAVA, SHADE_BY_SUM, "Interp_[j]", "rgb(83,230,83)"},
		{PALETTE_JAVA, SHADE_BY_SUM, "inl_[i]", "rgb(99,210,210)"},
		{PALETTE_JAVA, SHADE_BY_SUM, "Lorg/x/Y:::go", "rgb(91,238,91)"},
		{PALETTE_JAVA, SHADE_BY_SUM, "java/lang/String:.hash", "rgb(97,243,97)"},
		{PALETTE_JAVA, SHADE_BY_SUM, "std::vector<int>::push_back", "rgb(219,219,66)"},
		{PALETTE_JAVA, SHADE_BY_SUM, "vfs_read_[k]", "rgb(223,123,0)"},
		{PALETTE_JAVA, SHADE_BY_SUM, "Perl_run", "rgb(242,111,111)"},
		{PALETTE_JS, SHADE_BY_SUM, "Interp_[j]", "rgb(83,195,195)"},
		{PALETTE_JS, SHADE_BY_SUM, "LazyCompile:~/a/b.js:1_[j]", "rgb(58,207,58)"},
		{PALETTE_JS, SHADE_BY_SUM, "node:internal", "rgb(105,215,215)"},
		{PALETTE_JS, SHADE_BY_SUM, "Lorg/x/Y:::go", "rgb(213,213,63)"},
		{PALETTE_JS, SHADE_BY_SUM, "vfs_read_[k]", "rgb(223,123,0)"},
		{PALETTE_PERL, SHADE_BY_SUM, "Perl_run", "rgb(96,242,96)"},
		{PALETTE_PERL, SHADE_BY_SUM, "vfs_read_[k]", "rgb(223,123,0)"},
		{PALETTE_PERL, SHADE_BY_SUM, "Interp_[j]", "rgb(230,94,94)"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *actual = colour_text(colour_of(rows[i].palette, rows[i].method, rows[i].name));
		if (strcmp(actual, rows[i].colour) != 0)
			fail_msg("%s in %s: %s instead of %s", rows[i].name, palette_names[rows[i].palette], actual,
				 rows[i].colour);
	}
}

static void kinds_of_code_are_distinguished(void **state)
{
	(void)state;
	static const struct {
		enum palette palette;
		const char *name, *says;
	} rows[] = {
		{PALETTE_JS, " ", "JavaScript"},
		{PALETTE_JS, "~/x/app.js", "JavaScript"},
		{PALETTE_JS, "node::Start", "C++"},
		{PALETTE_PYTHON, "run (/usr/lib/python3.11/site-packages/x.py:3)", "site-packages"},
		{PALETTE_PYTHON, "run (/usr/lib/python3.11/json.py:3)", "standard library"},
		{PALETTE_PYTHON, "<built-in method len>", "standard library"},
		{PALETTE_PYTHON, "run (/home/me/pythonic/a.py:3)", "other code"},
		{PALETTE_RUST, "app`core::fmt::write", "core, alloc, std"},
		{PALETTE_RUST, "<core::future::from_generator::GenFuture<T> as X>::poll", "other Rust"},
		{PALETTE_RUST, "<core::iter::Map<I,F> as X>::next", "core, alloc, std"},
		{PALETTE_RUST, "serde::de::parse", "other Rust"},
		{PALETTE_RUST, "memcpy", "native"},
		{PALETTE_CHAIN, "futex_wake_[w]", "waker"},
		{PALETTE_CHAIN, "futex_wait", "off-CPU"},
		{PALETTE_SAFE, "a::b", "C++, Rust"},
		{PALETTE_SAFE, "ab", "native"},
		{PALETTE_SAFE, "org/x/Y:.go", "Java, JavaScript, JIT"},
		{PALETTE_SAFE, "~/x/app.js:3", "Java, JavaScript, JIT"},
		{PALETTE_SAFE, "run (a.py:3)", "Python"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(palette_class(rows[i].palette, rows[i].name, KIND_NATIVE)->says, rows[i].says);
	assert_string_equal(palette_class(PALETTE_SAFE, "a::b", KIND_KERNEL)->says, "kernel");
	static const struct {
		const char *file, *says;
		enum name_kind kind;
	} files[] = {
		{"/srv/python/app.py", "other code", KIND_PYTHON},
		{"/usr/lib/python3.11/json/decoder.py", "standard library", KIND_PYTHON},
		{"<frozen importlib._bootstrap>", "standard library", KIND_PYTHON},
		{"/usr/lib/python3/dist-packages/yaml/__init__.py", "site-packages", KIND_PYTHON},
		{"/venv/lib/python3.12/site-packages/x.py", "site-packages", KIND_PYTHON},
		{"/usr/lib/python3.11/lib-dynload/_json.so", "native", KIND_NATIVE},
		{"", "kernel", KIND_KERNEL},
		{"", "thread", KIND_THREAD},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		assert_string_equal(palette_python_class(files[i].file, files[i].kind)->says, files[i].says);
	assert_null(palette_class(PALETTE_HOT, "a", KIND_NATIVE)->says);
}

static void random_shades_differ_and_stay_in_range(void **state)
{
	(void)state;
	uint64_t random = 42;
	struct shade first = shade_of(SHADE_RANDOM, "a", 1, &random), second = shade_of(SHADE_RANDOM, "a", 1, &random);
	assert_true(first.v1 != second.v1);
	for (int i = 0; i < 1000; i++) {
		struct shade shade = shade_of(SHADE_RANDOM, "a", 1, &random);
		assert_true(shade.v1 >= 0 && shade.v1 < 1 && shade.v2 >= 0 && shade.v2 < 1 && shade.v3 >= 0 &&
			    shade.v3 < 1);
	}
}

static void only_dashes_separate(void **state)
{
	(void)state;
	struct rgb colour;
	assert_true(palette_separator("-", &colour));
	assert_int_equal(colour.r, 200);
	assert_true(palette_separator("--", &colour));
	assert_int_equal(colour.r, 160);
	assert_false(palette_separator("---", &colour));
	assert_false(palette_separator("", &colour));
	assert_false(palette_separator("-x", &colour));
}

static void changes_are_red_and_blue(void **state)
{
	(void)state;
	assert_string_equal(colour_text(palette_change(10, 10)), "rgb(255,0,0)");
	assert_string_equal(colour_text(palette_change(-10, 10)), "rgb(0,0,255)");
	assert_string_equal(colour_text(palette_change(5, 10)), "rgb(255,105,105)");
	assert_string_equal(colour_text(palette_change(0, 10)), "rgb(250,250,250)");
	assert_string_equal(colour_text(palette_change(0, 0)), "rgb(250,250,250)");
	assert_string_equal(colour_text(palette_diffusion(1)), "rgb(255,100,100)");
	assert_string_equal(colour_text(palette_diffusion(0.25)), "rgb(255,175,175)");
}

static void colours_are_parsed_strictly(void **state)
{
	(void)state;
	struct rgb colour;
	static const char *const good[] = {"#1f77B4", "#abc", "rgb(1,2,3)", "rgb(255, 0, 0)"};
	static const char *const bad[] = {"",
					  "#",
					  "#12345",
					  "#1234567",
					  "#ggg",
					  "red",
					  "rgb(1,2)",
					  "rgb(256,0,0)",
					  "rgb(1,2,3)x",
					  "rgb(1,2,3",
					  "#fff\"/><script>",
					  "rgb(-1,0,0)"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(rgb_parse(good[i], &colour));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (rgb_parse(bad[i], &colour))
			fail_msg("'%s' was taken for a colour", bad[i]);
	assert_true(rgb_parse("#abc", &colour));
	assert_string_equal(colour_text(colour), "rgb(170,187,204)");
	assert_true(rgb_is_dark((struct rgb){205, 0, 0}));
	assert_false(rgb_is_dark((struct rgb){243, 179, 42}));
}

static void backgrounds_have_names(void **state)
{
	(void)state;
	struct rgb gradient[2];
	for (enum palette i = 0; i < PALETTE_COUNT; i++)
		assert_true(palette_background(palette_background_default(i), gradient));
	assert_true(palette_background("#102030", gradient));
	assert_int_equal(gradient[1].b, 0x30);
	assert_false(palette_background("pink", gradient));
	assert_false(palette_background("rgb(1,2,3)", gradient));
	assert_string_equal(palette_background_default(PALETTE_MEM), "green");
	assert_string_equal(palette_background_default(PALETTE_CHAIN), "blue");
	assert_string_equal(palette_background_default(PALETTE_JAVA), "yellow");
	assert_string_equal(palette_background_default(PALETTE_RED), "grey");
}

static void palette_maps_are_read_and_written(void **state)
{
	(void)state;
	char path[] = "/tmp/wick-test-map-XXXXXX";
	int fd = mkstemp(path);
	static const char text[] = "main->rgb(1,2,3)\noperator->->rgb(4,5,6)\nno colour\n->rgb(7,8,9)\n";
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	struct palette_map map;
	struct err err = {0};
	struct rgb colour;
	palette_map_init(&map);
	assert_int_equal(palette_map_read(&map, path, &err), 0);
	assert_int_equal(map.bad_lines, 1);
	assert_true(palette_map_get(&map, "operator->", 10, &colour));
	assert_string_equal(colour_text(colour), "rgb(4,5,6)");
	assert_false(palette_map_get(&map, "no colour", 9, &colour));
	palette_map_put(&map, "abc", 3, (struct rgb){10, 11, 12});
	assert_int_equal(palette_map_write(&map, path, &err), 0);
	palette_map_release(&map);

	char written[256] = "";
	FILE *file = fopen(path, "r");
	size_t size = fread(written, 1, sizeof written - 1, file);
	written[size] = '\0';
	fclose(file);
	unlink(path);
	assert_string_equal(written, "->rgb(7,8,9)\nabc->rgb(10,11,12)\nmain->rgb(1,2,3)\noperator->->rgb(4,5,6)\n");
}

static void a_missing_palette_map_is_empty(void **state)
{
	(void)state;
	struct palette_map map;
	struct err err = {0};
	struct rgb colour;
	palette_map_init(&map);
	assert_int_equal(palette_map_read(&map, "/nonexistent/palette.map", &err), 0);
	assert_false(palette_map_get(&map, "", 0, &colour));
	assert_int_equal(palette_map_write(&map, "/nonexistent/palette.map", &err), ERR_OPEN);
	palette_map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(colours_are_those_of_flamegraph_pl),
		cmocka_unit_test(kinds_of_code_are_distinguished),
		cmocka_unit_test(random_shades_differ_and_stay_in_range),
		cmocka_unit_test(only_dashes_separate),
		cmocka_unit_test(changes_are_red_and_blue),
		cmocka_unit_test(colours_are_parsed_strictly),
		cmocka_unit_test(backgrounds_have_names),
		cmocka_unit_test(palette_maps_are_read_and_written),
		cmocka_unit_test(a_missing_palette_map_is_empty),
	};
	return cmocka_run_group_tests_name("palette", tests, NULL, NULL);
}
