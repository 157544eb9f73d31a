/*
 * A web shop, as something to profile. Workers answer requests (searches, products, orders); another thread scales
 * pictures. One search in three has a misspelled word, and that is where the time goes: correct_spelling() compares it
 * with every product of the catalogue, although they are only eight different things.
 *
 *	gcc -O2 -g -D_GNU_SOURCE -o shop examples/shop.c -pthread
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRODUCTS 12000
#define WORKERS 3
#define REQUESTS 3600 /* for each worker */
#define PICTURES 400
#define SIDE 640 /* of a picture, in pixels */

/* The compiler would share the end of both pages. */
#define SEPARATE __attribute__((noinline))

struct product {
	char name[24];
	const char *thing; /* the last word of the name */
	char price[16];
	unsigned cents, sold;
};

struct request {
	char path[16], word[24];
	uint32_t session[16];
};

/* What a page is made of. */
struct node {
	const char *tag, *text;
	struct node *child, *next;
};

struct page {
	char bytes[256 << 10];
	size_t size;
	struct node nodes[6000];
	size_t node_count;
};

static struct product catalogue[PRODUCTS];
static const char *const things[] = {"lamp", "chair", "table", "candle", "basket", "mirror", "carpet", "shelf"};
static const char *const colours[] = {"red", "green", "blue", "white", "black", "golden", "silver", "brown"};

static inline unsigned next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*state >> 33);
}

static void fill_catalogue(void)
{
	uint64_t state = 1;
	for (size_t i = 0; i < PRODUCTS; i++) {
		struct product *product = &catalogue[i];
		product->thing = things[next_random(&state) % 8];
		snprintf(product->name, sizeof product->name, "%s %s", colours[next_random(&state) % 8],
			 product->thing);
		product->cents = 100 + next_random(&state) % 100000;
		snprintf(product->price, sizeof product->price, "%u.%02u", product->cents / 100, product->cents % 100);
		product->sold = next_random(&state) % 5000;
	}
}

/* --- requests --- */

static inline int hex_digit(char digit)
{
	return digit <= '9' ? digit - '0' : (digit | ' ') - 'a' + 10;
}

static void decode_url(char *out, size_t room, const char *text)
{
	size_t size = 0;
	for (; *text && *text != '&' && size + 1 < room; text++) {
		if (*text == '%' && text[1] && text[2]) {
			out[size++] = (char)(hex_digit(text[1]) << 4 | hex_digit(text[2]));
			text += 2;
		} else {
			out[size++] = *text;
		}
	}
	out[size] = '\0';
}

static bool parse_request(const char *text, struct request *request)
{
	const char *word = strstr(text, "word="), *space = strchr(text, ' ');
	if (!word || !space)
		return false;
	decode_url(request->path, sizeof request->path, space + 1);
	decode_url(request->word, sizeof request->word, word + strlen("word="));
	return true;
}

static inline uint64_t rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static inline uint64_t mix(uint64_t hash, uint32_t word)
{
	return rotate(hash ^ word, 29) * 0x9e3779b97f4a7c15u;
}

static uint64_t sign_session(const uint32_t session[16])
{
	uint64_t hash = 1;
	for (unsigned round = 0; round < 700; round++)
		for (unsigned i = 0; i < 16; i++)
			hash = mix(hash, session[i] + round);
	return hash;
}

static bool check_session(const struct request *request)
{
	return sign_session(request->session) != 0;
}

/* --- the search --- */

static inline unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned smaller = a < b ? a : b;
	return smaller < c ? smaller : c;
}

/* How many letters must be changed, added or removed. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned row[32], length = (unsigned)strlen(b);
	for (unsigned i = 0; i <= length; i++)
		row[i] = i;
	for (unsigned i = 0; a[i]; i++) {
		unsigned corner = row[0];
		row[0] = i + 1;
		for (unsigned j = 0; j < length; j++) {
			unsigned above = row[j + 1];
			row[j + 1] = least(above + 1, row[j] + 1, corner + (a[i] != b[j]));
			corner = above;
		}
	}
	return row[length];
}

static const char *correct_spelling(const char *word)
{
	const char *best = word;
	unsigned distance = 100;
	for (size_t i = 0; i < PRODUCTS; i++) {
		unsigned changes = edit_distance(word, catalogue[i].thing);
		if (changes < distance) {
			distance = changes;
			best = catalogue[i].thing;
		}
	}
	return best;
}

static size_t find_products(const char *word, const struct product **found)
{
	size_t count = 0;
	for (size_t i = 0; i < PRODUCTS; i++)
		if (catalogue[i].thing[0] == word[0] && strcmp(catalogue[i].thing, word) == 0)
			found[count++] = &catalogue[i];
	return count;
}

static inline bool sells_better(const struct product *a, const struct product *b)
{
	return a->sold != b->sold ? a->sold > b->sold : a->cents < b->cents;
}

static void sort_by_sales(const struct product **list, size_t count)
{
	if (count < 2)
		return;
	const struct product *pivot = list[count / 2];
	size_t low = 0, high = count - 1;
	for (;; low++, high--) {
		while (sells_better(list[low], pivot))
			low++;
		while (sells_better(pivot, list[high]))
			high--;
		if (low >= high)
			break;
		const struct product *other = list[low];
		list[low] = list[high];
		list[high] = other;
	}
	sort_by_sales(list, low);
	sort_by_sales(list + high + 1, count - high - 1);
}

static size_t search_catalogue(const char *word, const struct product **found)
{
	size_t count = find_products(word, found);
	if (!count)
		count = find_products(correct_spelling(word), found);
	sort_by_sales(found, count);
	return count;
}

/* --- pages --- */

static struct node *add_node(struct page *page, struct node *parent, const char *tag, const char *text)
{
	struct node *node = &page->nodes[page->node_count++];
	*node = (struct node){.tag = tag, .text = text, .next = parent ? parent->child : NULL};
	if (parent)
		parent->child = node;
	return node;
}

static inline void put(struct page *page, char c)
{
	if (page->size < sizeof page->bytes)
		page->bytes[page->size++] = c;
}

static void put_text(struct page *page, const char *text)
{
	while (*text)
		put(page, *text++);
}

static void escape_html(struct page *page, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			put_text(page, "&lt;");
		else if (*text == '&')
			put_text(page, "&amp;");
		else
			put(page, *text);
	}
}

static void render_node(struct page *page, const struct node *node)
{
	put(page, '<');
	put_text(page, node->tag);
	put(page, '>');
	escape_html(page, node->text);
	for (const struct node *child = node->child; child; child = child->next)
		render_node(page, child);
	put_text(page, "</");
	put_text(page, node->tag);
	put(page, '>');
}

static void add_row(struct page *page, struct node *table, const struct product *product)
{
	struct node *row = add_node(page, table, "tr", "");
	add_node(page, row, "td", product->name);
	add_node(page, add_node(page, row, "td", ""), "b", product->price);
}

static struct node *build_page(struct page *page, const struct product **found, size_t count)
{
	page->node_count = page->size = 0;
	struct node *html = add_node(page, NULL, "html", ""), *table = NULL;
	struct node *list = add_node(page, add_node(page, html, "body", ""), "main", "");
	for (size_t i = 0; i < count && i < 1000; i++) {
		if (i % 20 == 0)
			table = add_node(page, add_node(page, list, "section", ""), "table", "");
		add_row(page, table, found[i]);
	}
	return html;
}

static size_t render_page(struct page *page, const struct product **found, size_t count)
{
	render_node(page, build_page(page, found, count));
	return page->size;
}

/* --- answers --- */

struct worker {
	pthread_t thread;
	uint64_t random;
	size_t sent; /* bytes */
	FILE *orders;
	struct page page;
	const struct product *found[PRODUCTS];
};

static SEPARATE void search_page(struct worker *worker, const struct request *request)
{
	size_t count = search_catalogue(request->word, worker->found);
	worker->sent += render_page(&worker->page, worker->found, count);
}

static inline unsigned difference(const struct product *a, const struct product *b)
{
	return (unsigned)abs((int)a->cents - (int)b->cents) + 10 * (unsigned)abs((int)a->sold - (int)b->sold);
}

static size_t recommend_products(const struct product *like, const struct product **found)
{
	size_t count = 0;
	for (size_t i = 0; i < PRODUCTS && count < 40; i++)
		if (difference(like, &catalogue[i]) < 500)
			found[count++] = &catalogue[i];
	return count;
}

static SEPARATE void product_page(struct worker *worker)
{
	const struct product *product = &catalogue[next_random(&worker->random) % PRODUCTS];
	size_t count = recommend_products(product, worker->found);
	worker->sent += render_page(&worker->page, worker->found, count);
}

static void place_order(struct worker *worker, const struct request *request)
{
	for (unsigned i = 0; i < 70; i++) {
		fprintf(worker->orders, "%s %u %s\n", request->path, i, request->word);
		fflush(worker->orders); /* an order must not be lost */
	}
}

static void answer_request(struct worker *worker, const char *text)
{
	struct request request = {.session = {1, 2, 3}};
	if (!parse_request(text, &request) || !check_session(&request))
		return;
	if (!strcmp(request.path, "/search"))
		search_page(worker, &request);
	else if (!strcmp(request.path, "/product"))
		product_page(worker);
	else
		place_order(worker, &request);
}

/* --- threads --- */

static void *serve_customers(void *argument)
{
	static const char *const paths[] = {"/search", "/product", "/search", "/order", "/search", "/product"};
	struct worker *worker = argument;
	char text[96];
	for (unsigned i = 0; i < REQUESTS; i++) {
		snprintf(text, sizeof text, "GET %s&word=%s%s&page=1", paths[i % 6], i % 6 ? "" : "o",
			 things[next_random(&worker->random) % 8]);
		answer_request(worker, text);
	}
	return NULL;
}

static inline unsigned average(const unsigned char *at)
{
	return (at[0] + at[1] + at[SIDE] + at[SIDE + 1]) / 4u;
}

static void halve_picture(unsigned char *pixels, unsigned side)
{
	for (unsigned y = 0; y < side; y++)
		for (unsigned x = 0; x < side; x++)
			pixels[y * SIDE + x] = (unsigned char)average(&pixels[2 * y * SIDE + 2 * x]);
}

static void load_picture(unsigned char *pixels, uint64_t *random)
{
	for (size_t i = 0; i < SIDE * SIDE; i++)
		pixels[i] = (unsigned char)next_random(random);
}

static void *scale_pictures(void *argument)
{
	static unsigned char pixels[SIDE * SIDE];
	uint64_t random = 7;
	unsigned *brightness = argument;
	for (unsigned i = 0; i < PICTURES; i++) {
		load_picture(pixels, &random);
		for (unsigned side = SIDE / 2; side; side /= 2)
			halve_picture(pixels, side);
		*brightness += pixels[0];
	}
	return NULL;
}

int main(void)
{
	static struct worker workers[WORKERS];
	pthread_t pictures;
	unsigned brightness = 0;
	FILE *orders = tmpfile();
	if (!orders)
		return 1;
	fill_catalogue();
	pthread_create(&pictures, NULL, scale_pictures, &brightness);
	pthread_setname_np(pictures, "pictures");
	for (unsigned i = 0; i < WORKERS; i++) {
		char name[16];
		snprintf(name, sizeof name, "worker-%u", i + 1);
		workers[i].random = i + 1;
		workers[i].orders = orders;
		pthread_create(&workers[i].thread, NULL, serve_customers, &workers[i]);
		pthread_setname_np(workers[i].thread, name);
	}
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_join(pictures, NULL);
	return fclose(orders);
}
