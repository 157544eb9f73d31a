/* usage: host SECONDS [wait]: computes in C++ for a moment, then loads libservice.so, which embeds Python. With wait, a
 * line on standard input comes before that. Built by tests/e2e/python. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>

namespace service
{
volatile unsigned sum;

[[gnu::noinline]] void warm_up()
{
	clock_t end = clock() + CLOCKS_PER_SEC / 5;
	while (clock() < end)
		for (unsigned i = 0; i < 100000; i++)
			sum = sum + i;
}

[[gnu::noinline]] int load(const char *seconds)
{
	void *library = dlopen("./libservice.so", RTLD_NOW | RTLD_GLOBAL);
	if (library == nullptr) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	auto run = reinterpret_cast<int (*)(const char *)>(dlsym(library, "service_run"));
	int status = run(seconds);
	sum = sum + 1; /* no tail call */
	return status;
}
} // namespace service

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[2], "wait") == 0) {
		puts("ready");
		fflush(stdout);
		if (getchar() == EOF)
			return 1;
	}
	service::warm_up();
	int status = service::load(argc > 1 ? argv[1] : "1");
	service::sum = service::sum + 1;
	return status;
}
