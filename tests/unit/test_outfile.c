/* Output files: complete or absent. */
#include "unit.h"

#include "base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static char path[128];

static int enter_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/wick-unit-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/out", folder);
	return 0;
}

static unsigned entries(void)
{
	unsigned count = 0;
	DIR *open = opendir(folder);
	assert_non_null(open);
	for (struct dirent *entry; (entry = readdir(open));)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(open);
	return count;
}

static int leave_folder(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command);
}

static char *content(const char *file)
{
	static char text[4096];
	FILE *in = fopen(file, "r");
	assert_non_null(in);
	size_t count = fread(text, 1, sizeof text - 1, in);
	fclose(in);
	text[count] = '\0';
	return text;
}

static void write_file(const char *file, const char *text)
{
	FILE *out = fopen(file, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void the_name_appears_at_commit(void **state)
{
	(void)state;
	struct outfile out;
	struct err err = {0};
	assert_int_equal(outfile_open(&out, path, &err), 0);
	outfile_str(&out, "one ");
	outfile_printf(&out, "%d", 2);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(entries(), 1);
	assert_int_equal(outfile_commit(&out, &err), 0);
	assert_string_equal(content(path), "one 2");
	assert_int_equal(entries(), 1);
}

static void an_abandoned_file_leaves_nothing(void **state)
{
	(void)state;
	struct outfile out;
	write_file(path, "old");
	assert_int_equal(outfile_open(&out, path, NULL), 0);
	outfile_str(&out, "new");
	outfile_abandon(&out);
	assert_string_equal(content(path), "old");
	assert_int_equal(entries(), 1);
}

static void large_and_small_pieces_keep_their_order(void **state)
{
	(void)state;
	struct outfile out;
	enum { LARGE = 700000 };
	char *large = mem_alloc(LARGE);
	memset(large, 'x', LARGE);
	assert_int_equal(outfile_open(&out, path, NULL), 0);
	outfile_str(&out, "a");
	outfile_add(&out, large, LARGE);
	outfile_str(&out, "b");
	for (int i = 0; i < 300000; i++)
		outfile_add(&out, "cd", 2);
	assert_int_equal(outfile_commit(&out, NULL), 0);
	free(large);
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 1 + LARGE + 1 + 600000);
	int fd = open(path, O_RDONLY);
	char bytes[3];
	assert_int_equal(pread(fd, bytes, 3, LARGE), 3);
	assert_memory_equal(bytes, "xbc", 3);
	close(fd);
}

static void earlier_bytes_can_be_rewritten(void **state)
{
	(void)state;
	struct outfile out;
	assert_int_equal(outfile_open(&out, path, NULL), 0);
	outfile_str(&out, "size ??? of");
	outfile_rewrite(&out, 5, "042", 3);
	outfile_str(&out, " text");
	assert_int_equal(outfile_commit(&out, NULL), 0);
	assert_string_equal(content(path), "size 042 of text");
}

static void a_pipe_cannot_be_rewritten(void **state)
{
	(void)state;
	struct outfile out;
	struct err err = {0};
	assert_int_equal(mkfifo(path, 0600), 0);
	int reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(outfile_open(&out, path, NULL), 0);
	outfile_str(&out, "text");
	outfile_rewrite(&out, 0, "T", 1);
	assert_int_equal(outfile_commit(&out, &err), ERR_IO);
	assert_non_null(strstr(err.text, path));
	close(reader);
}

static void what_is_replaced_keeps_its_mode_and_its_link(void **state)
{
	(void)state;
	struct outfile out;
	char link[160];
	snprintf(link, sizeof link, "%s/link", folder);
	write_file(path, "old");
	chmod(path, 0600);
	assert_int_equal(symlink("out", link), 0);
	assert_int_equal(outfile_open(&out, link, NULL), 0);
	outfile_str(&out, "new");
	assert_int_equal(outfile_commit(&out, NULL), 0);
	struct stat status;
	assert_int_equal(lstat(link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(lstat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_string_equal(content(path), "new");
}

/* Whatever has the name, and wherever the directory is by then. */
static void files_of_a_place_stay_in_it(void **state)
{
	(void)state;
	struct outfile out;
	struct stat status;
	char moved[200], inside[220];
	struct outfile_place place = outfile_usual_place();
	place.directory = open(folder, O_RDONLY | O_DIRECTORY);
	place.prefix = "place/";
	place.mode = 0600;
	place.replace = true;
	write_file(path, "old");
	chmod(path, 0644);
	assert_int_equal(symlinkat("out", place.directory, "link"), 0);
	assert_int_equal(outfile_open_at(&out, &place, "link", NULL), 0);
	assert_string_equal(out.shown, "place/link");
	snprintf(moved, sizeof moved, "%s-moved", folder);
	assert_int_equal(rename(folder, moved), 0);
	outfile_str(&out, "new");
	assert_int_equal(outfile_commit(&out, NULL), 0);
	assert_int_equal(outfile_open_at(&out, &place, "out", NULL), 0);
	assert_int_equal(outfile_commit(&out, NULL), 0);
	assert_int_equal(rename(moved, folder), 0);
	snprintf(inside, sizeof inside, "%s/link", folder);
	assert_int_equal(lstat(inside, &status), 0);
	assert_true(S_ISREG(status.st_mode));
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_string_equal(content(inside), "new");
	assert_int_equal(lstat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600); /* what the place does not allow goes */
	struct err err = {0};
	assert_int_equal(outfile_open_at(&out, &place, "no/such", &err), ERR_OPEN);
	assert_non_null(strstr(err.text, "place/no/such"));
	close(place.directory);
}

static void new_files_follow_the_umask(void **state)
{
	(void)state;
	struct outfile out;
	struct stat status;
	mode_t old = umask(027);
	assert_int_equal(outfile_open(&out, path, NULL), 0);
	assert_int_equal(outfile_commit(&out, NULL), 0);
	umask(old);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
}

static void places_that_cannot_be_written_are_named(void **state)
{
	(void)state;
	struct outfile out;
	struct err err = {0};
	char missing[160];
	assert_int_equal(outfile_open(&out, folder, &err), ERR_OPEN);
	assert_non_null(strstr(err.text, folder));
	assert_non_null(strstr(err.text, "directory"));
	snprintf(missing, sizeof missing, "%s/no/out", folder);
	assert_int_equal(outfile_open(&out, missing, &err), ERR_OPEN);
	assert_non_null(strstr(err.text, missing));
	snprintf(missing, sizeof missing, "%s/out/below", folder);
	write_file(path, "a file");
	assert_int_equal(outfile_open(&out, missing, &err), ERR_OPEN);
	assert_int_equal(outfile_open(&out, "", &err), ERR_OPEN);
	assert_int_equal(entries(), 1);
}

static void a_full_device_is_reported_by_commit(void **state)
{
	(void)state;
	struct outfile out;
	struct err err = {0};
	if (access("/dev/full", W_OK) != 0)
		skip();
	assert_int_equal(outfile_open(&out, "/dev/full", &err), 0);
	outfile_str(&out, "text");
	assert_int_equal(outfile_commit(&out, &err), ERR_IO);
	assert_non_null(strstr(err.text, "/dev/full"));
	assert_non_null(strstr(err.text, strerror(ENOSPC)));
}

static void a_failed_write_leaves_no_file(void **state)
{
	(void)state;
	struct outfile out;
	struct err err = {0};
	assert_int_equal(outfile_open(&out, path, &err), 0);
	/* Behind the back of the struct: every write now fails. */
	int null = open("/dev/null", O_RDONLY);
	assert_true(dup2(null, out.fd) >= 0);
	close(null);
	outfile_str(&out, "text");
	assert_int_equal(outfile_commit(&out, &err), ERR_IO);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(entries(), 0);
}

static void a_closed_reader_is_a_code_of_its_own(void **state)
{
	(void)state;
	struct outfile out;
	int ends[2], kept = dup(STDOUT_FILENO);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	int opened = outfile_open(&out, "-", NULL);
	outfile_str(&out, "text");
	int code = outfile_commit(&out, NULL);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	assert_int_equal(opened, 0);
	assert_int_equal(code, ERR_PIPE);
}

static void a_fifo_is_written_in_place(void **state)
{
	(void)state;
	struct outfile out;
	assert_int_equal(mkfifo(path, 0600), 0);
	int reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_int_equal(outfile_open(&out, path, NULL), 0);
	outfile_str(&out, "text");
	assert_int_equal(outfile_commit(&out, NULL), 0);
	char text[8] = "";
	assert_int_equal(read(reader, text, sizeof text), 4);
	assert_string_equal(text, "text");
	close(reader);
	assert_int_equal(entries(), 1);
}

static void remove_and_die(int number)
{
	(void)number;
	outfile_remove_temporaries();
	_exit(7);
}

static void *create_for_ever(void *number)
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (;;) {
		struct outfile out;
		char name[160];
		snprintf(name, sizeof name, "%s/out%d", folder, *(int *)number);
		if (outfile_open(&out, name, NULL) < 0)
			_exit(1);
		outfile_abandon(&out);
	}
	return NULL;
}

static void temporaries_of_other_threads_go_too(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		pid_t child = fork();
		if (!child) {
			static int numbers[] = {0, 1};
			pthread_t threads[2];
			for (int i = 0; i < 2; i++)
				pthread_create(&threads[i], NULL, create_for_ever, &numbers[i]);
			usleep(500 + (unsigned)round);
			remove_and_die(SIGTERM);
		}
		int status;
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(WEXITSTATUS(status), 7);
		assert_int_equal(entries(), 0);
	}
}

static void *create_and_abandon(void *number)
{
	for (int round = 0; round < 2000; round++) {
		struct outfile out;
		char name[160];
		snprintf(name, sizeof name, "%s/out%d", folder, *(int *)number);
		if (outfile_open(&out, name, NULL) < 0)
			return NULL;
		outfile_abandon(&out);
	}
	return number;
}

static void threads_create_files_at_once(void **state)
{
	(void)state;
	int numbers[] = {0, 1, 2, 3};
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, create_and_abandon, &numbers[i]), 0);
	for (int i = 0; i < 4; i++) {
		void *finished;
		pthread_join(threads[i], &finished);
		assert_ptr_equal(finished, &numbers[i]);
	}
	assert_int_equal(entries(), 0);
}

static void temporaries_go_when_a_signal_comes(void **state)
{
	(void)state;
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (!child) {
		struct outfile out[3];
		signal(SIGTERM, remove_and_die);
		for (int i = 0; i < 3; i++) {
			char name[160];
			snprintf(name, sizeof name, "%s/out%d", folder, i);
			if (outfile_open(&out[i], name, NULL) < 0)
				_exit(1);
		}
		outfile_commit(&out[1], NULL);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	char byte;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(entries(), 3);
	kill(child, SIGTERM);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(entries(), 1);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(the_name_appears_at_commit),
		IN_FOLDER(an_abandoned_file_leaves_nothing),
		IN_FOLDER(large_and_small_pieces_keep_their_order),
		IN_FOLDER(earlier_bytes_can_be_rewritten),
		IN_FOLDER(a_pipe_cannot_be_rewritten),
		IN_FOLDER(what_is_replaced_keeps_its_mode_and_its_link),
		IN_FOLDER(files_of_a_place_stay_in_it),
		IN_FOLDER(new_files_follow_the_umask),
		IN_FOLDER(places_that_cannot_be_written_are_named),
		IN_FOLDER(a_full_device_is_reported_by_commit),
		IN_FOLDER(a_failed_write_leaves_no_file),
		IN_FOLDER(a_closed_reader_is_a_code_of_its_own),
		IN_FOLDER(a_fifo_is_written_in_place),
		IN_FOLDER(temporaries_go_when_a_signal_comes),
		IN_FOLDER(temporaries_of_other_threads_go_too),
		IN_FOLDER(threads_create_files_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
