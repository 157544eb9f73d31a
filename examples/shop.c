/*
 * A small shop, as something to profile: workers answer requests for pages of a catalogue. They parse, search, sort,
 * render, compress and log.
 *
 *	gcc -O2 -g -fno-omit-frame-pointer -D_GNU_SOURCE -o shop examples/shop.c -lz -pthread
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define ITEMS 20000
#define WORKERS 3
#define REQUESTS 400

struct item {
	char name[32];
	double price;
	unsigned stock;
};

struct request {
	char word[16];
	double cheapest, dearest;
	unsigned page;
};

static struct item catalogue[ITEMS];

static unsigned next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*state >> 33);
}

static void fill_catalogue(void)
{
	static const char *const words[] = {"lamp", "chair", "table", "rope", "candle", "wick", "glass", "oil"};
	uint64_t state = 1;
	for (size_t i = 0; i < ITEMS; i++) {
		snprintf(catalogue[i].name, sizeof catalogue[i].name, "%s %s %u", words[next_random(&state) % 8],
			 words[next_random(&state) % 8], next_random(&state) % 1000);
		catalogue[i].price = next_random(&state) % 100000 / 100.0;
		catalogue[i].stock = next_random(&state) % 50;
	}
}

static int parse_request(const char *text, struct request *request)
{
	return sscanf(text, "GET /search?word=%15[a-z]&from=%lf&to=%lf&page=%u", request->word, &request->cheapest,
		      &request->dearest, &request->page) == 4;
}

static int matches(const struct item *item, const struct request *request)
{
	return item->stock && item->price >= request->cheapest && item->price <= request->dearest &&
	       strstr(item->name, request->word);
}

static int by_price(const void *a, const void *b)
{
	const struct item *const *first = a, *const *second = b;
	return ((*first)->price > (*second)->price) - ((*first)->price < (*second)->price);
}

static size_t search_catalogue(const struct request *request, const struct item **found)
{
	size_t count = 0;
	for (size_t i = 0; i < ITEMS; i++)
		if (matches(&catalogue[i], request))
			found[count++] = &catalogue[i];
	qsort(found, count, sizeof *found, by_price);
	return count;
}

static char *render_page(const struct item **found, size_t count, size_t *ret_size)
{
	char *page = NULL;
	FILE *out = open_memstream(&page, ret_size);
	fprintf(out, "<table>\n");
	for (size_t i = 0; i < count && i < 1500; i++)
		fprintf(out, "<tr><td>%s</td><td>%.2f</td><td>%u</td></tr>\n", found[i]->name, found[i]->price,
			found[i]->stock);
	fprintf(out, "</table>\n");
	fclose(out);
	return page;
}

static size_t compress_page(const char *page, size_t size, unsigned char *out, uLongf room)
{
	compress2(out, &room, (const unsigned char *)page, size, 4);
	return room;
}

static void log_request(const struct request *request, size_t found, size_t sent)
{
	char path[64];
	snprintf(path, sizeof path, "/tmp/shop-%d.log", (int)getpid());
	FILE *log = fopen(path, "a");
	for (int i = 0; i < 120; i++) {
		fprintf(log, "%s page %u: %zu found, %zu bytes\n", request->word, request->page, found, sent);
		fflush(log);
	}
	fclose(log);
}

static void answer(const char *text, const struct item **found, unsigned char *packed, size_t room)
{
	struct request request;
	if (!parse_request(text, &request))
		return;
	size_t size, count = search_catalogue(&request, found);
	char *page = render_page(found, count, &size);
	size_t sent = compress_page(page, size, packed, room);
	log_request(&request, count, sent);
	free(page);
}

static void *work(void *argument)
{
	uint64_t state = (uintptr_t)argument;
	char name[16], text[128];
	static const char *const words[] = {"lamp", "rope", "wick", "oil"};
	snprintf(name, sizeof name, "worker-%u", (unsigned)state);
	pthread_setname_np(pthread_self(), name);
	const struct item **found = malloc(ITEMS * sizeof *found);
	unsigned char *packed = malloc(1 << 20);
	for (int i = 0; i < REQUESTS; i++) {
		snprintf(text, sizeof text, "GET /search?word=%s&from=%u&to=%u&page=1", words[next_random(&state) % 4],
			 next_random(&state) % 100, 200 + next_random(&state) % 800);
		answer(text, found, packed, 1 << 20);
	}
	free(found);
	free(packed);
	return NULL;
}

int main(void)
{
	pthread_t workers[WORKERS];
	fill_catalogue();
	for (uintptr_t i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, work, (void *)(i + 1));
	for (size_t i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	return 0;
}
