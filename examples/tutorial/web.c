/*
 * A web server with one fault: it finds a product by comparing its name with all others. `web PORT --fixed` uses a table.
 * GET /product/NAME returns a page, GET /quit ends the server.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define PRODUCTS 100000
#define BUCKETS 131072

static char names[PRODUCTS][24];
static int first_in[BUCKETS], next_of[PRODUCTS];
static bool fixed_version;

static unsigned hash(const char *name)
{
	unsigned sum = 5381;
	while (*name)
		sum = sum * 33 + (unsigned char)*name++;
	return sum % BUCKETS;
}

static void fill(void)
{
	memset(first_in, -1, sizeof first_in);
	for (int i = 0; i < PRODUCTS; i++) {
		snprintf(names[i], sizeof names[i], "product-%d", i);
		unsigned at = hash(names[i]);
		next_of[i] = first_in[at];
		first_in[at] = i;
	}
}

__attribute__((noinline)) static int find_product(const char *name)
{
	if (fixed_version) {
		int i = first_in[hash(name)];
		while (i >= 0 && strcmp(names[i], name) != 0)
			i = next_of[i];
		return i;
	}
	for (int i = 0; i < PRODUCTS; i++)
		if (!strcasecmp(names[i], name))
			return i;
	return -1;
}

__attribute__((noinline)) static int render_page(int product, char *page, size_t room)
{
	int size = snprintf(page, room, "<html><body><h1>%s</h1><table>", names[product]);
	for (int i = 0; i < 40 && (size_t)size < room; i++)
		size += snprintf(page + size, room - (size_t)size, "<tr><td>%s</td><td>%d.%02d</td></tr>",
				 names[(product + i * 37) % PRODUCTS], (product + i) % 90, i);
	if ((size_t)size < room)
		size += snprintf(page + size, room - (size_t)size, "</table></body></html>");
	return (size_t)size < room ? size : (int)room - 1;
}

/* False: the server ends. */
static bool answer(int client)
{
	char request[1024], page[8192], head[128], name[24] = "";
	ssize_t got = read(client, request, sizeof request - 1);
	if (got <= 0)
		return true;
	request[got] = '\0';
	if (!strncmp(request, "GET /quit", 9))
		return false;
	int product = sscanf(request, "GET /product/%23[a-z0-9-]", name) == 1 ? find_product(name) : -1;
	int size = product >= 0 ? render_page(product, page, sizeof page) : snprintf(page, sizeof page, "not found\n");
	int length = snprintf(head, sizeof head, "HTTP/1.0 %s\r\nContent-Length: %d\r\n\r\n",
			      product >= 0 ? "200 OK" : "404 Not Found", size);
	if (write(client, head, (size_t)length) != length || write(client, page, (size_t)size) != size)
		perror("web: write");
	return true;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int server = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	address.sin_port = htons((unsigned short)(argc > 1 ? atoi(argv[1]) : 8080));
	fixed_version = argc > 2 && !strcmp(argv[2], "--fixed");
	setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 64)) {
		perror("web");
		return 1;
	}
	fill();
	for (bool going = true; going;) {
		int client = accept(server, NULL, NULL);
		if (client < 0)
			continue;
		going = answer(client);
		close(client);
	}
	return 0;
}
