/* Attributes of functions in SVGs. */
#include "unit.h"

#include "render/nameattr.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct nameattr attributes;
static struct err err;

static int setup(void **state)
{
	(void)state;
	nameattr_init(&attributes);
	err = (struct err){0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	nameattr_release(&attributes);
	return 0;
}

static int read_bytes(const char *text, size_t length)
{
	char path[] = "/tmp/wick-test-attr-XXXXXX";
	int fd = mkstemp(path);
	assert_int_equal(write(fd, text, length), length);
	close(fd);
	int code = nameattr_read(&attributes, path, &err);
	unlink(path);
	return code;
}

static int read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static const struct nameattr_entry *find(const char *function)
{
	return nameattr_find(&attributes, function, strlen(function));
}

static void attributes_are_read(void **state)
{
	(void)state;
	assert_int_equal(read_text("main\thref=http://x/?a=1&b=2\ttarget=_blank\ttitle=\"the main\"\n\n"
				   "f g\tclass=hot cold\tid=f1\tstyle=opacity:0.5\r\n"),
			 0);
	const struct nameattr_entry *entry = find("main");
	assert_string_equal(entry->href, "http://x/?a=1&b=2");
	assert_string_equal(entry->target, "_blank");
	assert_string_equal(entry->title, "the main");
	assert_null(entry->class);
	entry = find("f g");
	assert_string_equal(entry->class, "hot cold");
	assert_string_equal(entry->id, "f1");
	assert_string_equal(entry->style, "opacity:0.5");
	assert_null(find("other"));
	assert_null(find(""));
	assert_int_equal(attributes.dropped, 0);
}

static void a_later_line_replaces_an_earlier_one(void **state)
{
	(void)state;
	assert_int_equal(read_text("f\ttitle=one\tclass=c\nf\ttitle=two\n"), 0);
	assert_string_equal(find("f")->title, "two");
	assert_null(find("f")->class);
}

static void extra_attributes_are_written_safely(void **state)
{
	(void)state;
	assert_int_equal(read_text("f\tg_extra=data-a=\"1 & 2 &lt; 3\" onclick='go(\"x\")'\ta_extra=rel=\"help\"\n"),
			 0);
	assert_string_equal(find("f")->g_extra, " data-a=\"1 &amp; 2 &lt; 3\" onclick=\"go(&quot;x&quot;)\"");
	assert_string_equal(find("f")->a_extra, " rel=\"help\"");
}

static void what_would_run_script_is_dropped(void **state)
{
	(void)state;
	assert_int_equal(read_text("f\tonclick=alert(1)\thref= java\x01script:alert(1)\tcolour=red\n"), 0);
	assert_null(find("f")->href);
	assert_int_equal(attributes.dropped, 3);
	assert_non_null(strstr(attributes.first_dropped, ":1: attribute onclick would run a script"));
}

static void bad_lines_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} rows[] = {
		{"ok\ttitle=x\nno tab here\n", ":2: expected a function, a tab and key=value"},
		{"\ttitle=x\n", ":1: expected a function"},
		{"f\ttitle\n", ":1: expected key=value, found \"title\""},
		{"f\t=x\n", ":1: expected key=value"},
		{"f\tg_extra=onclick\n", ":1: g_extra must be attributes"},
		{"f\tg_extra=a=\"<b>\"\n", "without <"},
		{"f\tg_extra=a=\"1\"><script>\n", ":1: g_extra must be attributes"},
		{"f\tg_extra=x:y=\"1\"\n", ":1: g_extra must be attributes"},
		{"f\tg_extra=a=\"1\" a=\"2\"\n", ":1: a is repeated in g_extra"},
		{"f\tg_extra=class=\"x\"\n", ":1: use the key class"},
		{"f\thref=x\tg_extra=a=\"1\"\ta_extra=a=\"2\"\n", ":1: a is both in g_extra and in a_extra"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(read_text(rows[i].text), ERR_FORMAT);
		if (!strstr(err.text, rows[i].message))
			fail_msg("'%s' does not say '%s'", err.text, rows[i].message);
	}
	assert_int_equal(read_bytes("f\ttitle=a\0b\n", 12), ERR_FORMAT);
}

static void a_missing_file_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(nameattr_read(&attributes, "/nonexistent/attributes", &err), ERR_OPEN);
	assert_non_null(strstr(err.text, "/nonexistent/attributes"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(attributes_are_read),
		TEST(a_later_line_replaces_an_earlier_one),
		TEST(extra_attributes_are_written_safely),
		TEST(what_would_run_script_is_dropped),
		TEST(bad_lines_are_named),
		TEST(a_missing_file_is_an_error),
	};
	return cmocka_run_group_tests_name("nameattr", tests, NULL, NULL);
}
