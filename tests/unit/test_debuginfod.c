/* A server of our own stands in for debuginfod: one that answers, one that never does, one that sends without end. */
#include "shell.h"

#include "symbol/debuginfod.h"
#include "symbol/symbols.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum manner { ANSWERS, KEEPS_SILENT, SENDS_ENDLESSLY };

static char folder[4096];
static struct build_id program_id;
static pid_t server;

static int set_up(void **state)
{
	if (shell_enter(state) || !getcwd(folder, sizeof folder))
		return 1;
	signal(SIGPIPE, SIG_IGN);
	setenv("HOME", folder, 1);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("DEBUGINFOD_PROGRESS");
	if (system("echo 'static int __attribute__((noinline)) hidden(int x) { return x * 3; } "
		   "int main(int n, char **v) "
		   "{ (void)v; return hidden(n); }' >program.c && gcc -g -O1 -Wl,--build-id=sha1 program.c -o full && "
		   "strip full -o program"))
		return 1;
	struct elf_file *elf;
	if (elf_open(&elf, "full", NULL))
		return 1;
	program_id = elf_build_id(elf);
	elf_close(elf);
	return 0;
}

static void send_text(int connection, const char *text)
{
	(void)!write(connection, text, strlen(text));
}

static void send_file(int connection, const char *path)
{
	struct buf bytes = shell_file(path);
	char header[128];
	snprintf(header, sizeof header, "HTTP/1.0 200 OK\r\nContent-Length: %zu\r\n\r\n", bytes.size);
	send_text(connection, header);
	(void)!write(connection, bytes.data, bytes.size);
	buf_release(&bytes);
}

static void answer(int connection, enum manner manner)
{
	char request[4096] = "", wanted[128], id[BUILD_ID_TEXT];
	if (manner == KEEPS_SILENT) {
		pause();
		return;
	}
	(void)!read(connection, request, sizeof request - 1);
	snprintf(wanted, sizeof wanted, "/buildid/%s/", build_id_text(&program_id, id));
	const char *kind = strstr(request, wanted);
	if (manner == SENDS_ENDLESSLY) {
		static char block[65536];
		send_text(connection, "HTTP/1.0 200 OK\r\n\r\n");
		while (write(connection, block, sizeof block) > 0)
			usleep(10000);
	} else if (kind && !strncmp(kind + strlen(wanted), "debuginfo", 9)) {
		send_file(connection, "full");
	} else if (kind && !strncmp(kind + strlen(wanted), "executable", 10)) {
		send_file(connection, "program");
	} else {
		send_text(connection, "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n");
	}
	close(connection);
}

static void start_server(enum manner manner)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(listening, 8), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &size), 0);
	char url[64];
	snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	server = fork();
	if (!server) {
		for (;;) {
			int connection = accept(listening, NULL, NULL);
			if (connection >= 0)
				answer(connection, manner);
		}
	}
	close(listening);
}

static int stop_server(void **state)
{
	(void)state;
	if (server > 0) {
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
	}
	server = 0;
	unsetenv("DEBUGINFOD_URLS");
	return system("rm -rf .cache .debuginfod_client_cache");
}

static unsigned reports;

static void count_report(void *context, const char *what, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	assert_string_equal(context, "context");
	assert_string_equal(what, "/no/program");
	reports++;
}

static struct debuginfod *open_client(double seconds, uint64_t bytes)
{
	struct debuginfod_options options = {seconds, bytes, "context", count_report};
	struct debuginfod *client = NULL;
	struct err err = {0};
	int code = debuginfod_open(&client, &options, &err);
	if (code == ERR_UNSUPPORTED)
		skip();
	assert_int_equal(code, 0);
	reports = 0;
	return client;
}

static struct symbols *open_missing(void)
{
	struct symbol_options options = {.inlines = true, .lines = true};
	return symbols_open("/no/program", &program_id, &options);
}

static void nothing_is_asked_for_without_servers(void **state)
{
	(void)state;
	struct debuginfod_options options = {10, 1000, NULL, NULL};
	struct debuginfod *client = NULL;
	struct err err;
	assert_int_equal(debuginfod_open(&client, &options, &err), ERR_EMPTY);
	setenv("DEBUGINFOD_URLS", " ", 1);
	assert_int_equal(debuginfod_open(&client, &options, &err), ERR_EMPTY);
	unsetenv("DEBUGINFOD_URLS");
	assert_null(client);
	debuginfod_close(NULL);
}

static void missing_files_are_fetched(void **state)
{
	(void)state;
	start_server(ANSWERS);
	struct debuginfod *client = open_client(60, 100000000);
	struct symbols *symbols = open_missing();
	assert_int_equal(symbols_state(symbols), SYMBOLS_MISSING);
	assert_true(symbols_fetch(symbols, client, NULL));
	assert_int_equal(symbols_state(symbols), SYMBOLS_DEBUG);
	assert_non_null(symbols_elf(symbols));
	assert_non_null(symbols_debug_elf(symbols));
	struct buf text = shell_output("nm full | awk '$3 == \"hidden\" { print $1 }'");
	struct symbol_frame frame;
	assert_int_equal(symbols_find(symbols, strtoull(text.data, NULL, 16), &frame, 1), 1);
	assert_string_equal(frame.name, "hidden");
	assert_int_equal(frame.line, 1);
	symbols_close(symbols);
	debuginfod_close(client);
	buf_release(&text);
	/* What the client keeps is found without asking again. */
	unsetenv("DEBUGINFOD_URLS");
	symbols = open_missing();
	assert_int_equal(symbols_state(symbols), SYMBOLS_DEBUG);
	symbols_close(symbols);
}

static void what_no_server_has_stays_missing(void **state)
{
	(void)state;
	start_server(ANSWERS);
	struct debuginfod *client = open_client(60, 100000000);
	struct build_id other;
	struct err err;
	char *path = NULL;
	assert_true(build_id_parse(&other, "0102030405060708090a"));
	assert_int_equal(debuginfod_fetch(client, &other, DEBUGINFOD_DEBUG, "/no/program", &path, &err), ERR_EMPTY);
	other.size = 0;
	assert_int_equal(debuginfod_fetch(client, &other, DEBUGINFOD_DEBUG, "/no/program", &path, &err), ERR_EMPTY);
	assert_null(path);
	debuginfod_close(client);
}

static void silent_servers_cost_the_time_that_was_set(void **state)
{
	(void)state;
	start_server(KEEPS_SILENT);
	struct debuginfod *client = open_client(0.5, 100000000);
	char *path = NULL;
	struct err err;
	assert_int_equal(debuginfod_fetch(client, &program_id, DEBUGINFOD_DEBUG, "/no/program", &path, &err),
			 ERR_LIMIT);
	/* The budget is one for all. */
	unsigned before = reports;
	assert_int_equal(debuginfod_fetch(client, &program_id, DEBUGINFOD_EXECUTABLE, "/no/program", &path, &err),
			 ERR_LIMIT);
	assert_int_equal(reports, before);
	assert_null(path);
	debuginfod_close(client);
}

static void endless_files_cost_the_bytes_that_were_set(void **state)
{
	(void)state;
	start_server(SENDS_ENDLESSLY);
	struct debuginfod *client = open_client(600, 1000000);
	char *path = NULL;
	struct err err;
	assert_int_equal(debuginfod_fetch(client, &program_id, DEBUGINFOD_DEBUG, "/no/program", &path, &err),
			 ERR_LIMIT);
	assert_null(path);
	debuginfod_close(client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_asked_for_without_servers),
		cmocka_unit_test_teardown(missing_files_are_fetched, stop_server),
		cmocka_unit_test_teardown(what_no_server_has_stays_missing, stop_server),
		cmocka_unit_test_teardown(silent_servers_cost_the_time_that_was_set, stop_server),
		cmocka_unit_test_teardown(endless_files_cost_the_bytes_that_were_set, stop_server),
	};
	return cmocka_run_group_tests(tests, set_up, shell_leave);
}
