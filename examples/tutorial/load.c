/* usage: load PORT SECONDS: requests products of the web server, one after the other, and prints how many per second. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int request(const struct sockaddr_in *address, const char *path)
{
	char text[128], page[16384];
	int size = snprintf(text, sizeof text, "GET %s HTTP/1.0\r\n\r\n", path);
	int client = socket(AF_INET, SOCK_STREAM, 0);
	int failed = connect(client, (const struct sockaddr *)address, sizeof *address) ||
		     write(client, text, (size_t)size) != size;
	while (!failed && read(client, page, sizeof page) > 0)
		;
	close(client);
	return failed;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	double seconds = argc > 2 ? atof(argv[2]) : 5, end = now() + 10;
	char path[64];
	long done = 0;
	address.sin_port = htons((unsigned short)(argc > 1 ? atoi(argv[1]) : 8080));
	while (request(&address, "/") && now() < end) /* until the server is up */
		usleep(10000);
	for (end = now() + seconds; now() < end; done++) {
		snprintf(path, sizeof path, "/product/product-%ld", done * 7919 % 100000);
		if (request(&address, path)) {
			fprintf(stderr, "load: the server does not respond\n");
			return 1;
		}
	}
	printf("%.0f requests per second\n", (double)done / seconds);
	request(&address, "/quit");
	return 0;
}
