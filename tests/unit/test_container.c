/* The container that is meant. */
#include "container/container_socket.h"
#include "unit.h"

static struct container_label front[] = {{"tier", "front"}, {"zone", "a=b"}}, back[] = {{"tier", "back"}};
static struct container some[] = {
	{.id = "1111aaaa", .name = "web1", .image = "nginx:1.25", .pod = "", .labels = front, .label_count = 2},
	{.id = "1111bbbb",
	 .name = "web10",
	 .image = "registry/nginx@sha256:00",
	 .pod = "",
	 .labels = back,
	 .label_count = 1},
	{.id = "2222cccc", .name = "api", .image = "team/nginx-tools", .pod = "shop"},
	{.id = "3333dddd", .name = "api", .image = "", .pod = "bank"},
	{.id = "0123456789abcdef", .name = "", .image = "", .pod = ""},
};
static const struct containers containers = {.items = some, .count = sizeof some / sizeof *some};

static void chooses(const char *wish, const struct container *expected)
{
	struct err err = {0};
	const struct container *chosen = containers_choose(&containers, wish, &err);
	if (chosen != expected)
		print_error("%s: %s\n", wish, chosen ? chosen->id : err.text);
	assert_ptr_equal(chosen, expected);
}

static void refuses(const char *wish, int code, const char *text)
{
	struct err err = {0};
	assert_null(containers_choose(&containers, wish, &err));
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.text, text));
}

static void what_is_equal_comes_first(void **state)
{
	(void)state;
	chooses("web1", &some[0]);
	chooses("web10", &some[1]);
	chooses("1111aaaa", &some[0]);
	chooses("shop/api", &some[2]);
	chooses("tier=back", &some[1]);
	chooses("zone=a=b", &some[0]);
	chooses("nginx:1.25", &some[0]);
	chooses("nginx-tools", &some[2]);
	chooses("registry/nginx", &some[1]);
}

static void a_unique_beginning_is_enough(void **state)
{
	(void)state;
	chooses("1111b", &some[1]);
	chooses("2", &some[2]);
	chooses("bank/", &some[3]);
	chooses("0123456789ab", &some[4]);
}

static void several_are_listed(void **state)
{
	(void)state;
	refuses("web", ERR_USAGE, "'web' matches 2 containers: web1 (1111aaaa), web10 (1111bbbb)");
	refuses("api", ERR_USAGE, "shop/api (2222cccc), bank/api (3333dddd)");
	refuses("nginx", ERR_USAGE, "matches 2 containers");
	refuses("nginx:1", ERR_SYSTEM, "no running container matches 'nginx:1'");
	refuses("tier", ERR_SYSTEM, "no running container");
	refuses("", ERR_SYSTEM, "no running container");
}

static void answers_have_a_body(void **state)
{
	(void)state;
	static const char good[] = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n[]";
	const char *body;
	size_t size;
	assert_true(container_socket_body(good, sizeof good - 1, &body, &size));
	assert_int_equal(size, 2);
	assert_memory_equal(body, "[]", 2);
	for (size_t cut = 0; cut < sizeof good - 3; cut++)
		assert_false(container_socket_body(good, cut, &body, &size));
	assert_false(container_socket_body("HTTP/1.0 404 No\r\n\r\n[]", 21, &body, &size));
	assert_false(container_socket_body("\r\n\r\n", 4, &body, &size));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_equal_comes_first),
		cmocka_unit_test(a_unique_beginning_is_enough),
		cmocka_unit_test(several_are_listed),
		cmocka_unit_test(answers_have_a_body),
	};
	return cmocka_run_group_tests_name("container", tests, NULL, NULL);
}
