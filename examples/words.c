/*
 * Counts the words of a text and prints the ten most frequent. It is correct, and slower than it should be:
 * docs/tutorial.md finds out why. With -DBETTER_HASH it is what that guide ends with.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 65536
#define LONGEST 64

struct word {
	struct word *next;
	unsigned count;
	char text[];
};

static struct word *table[BUCKETS];

static unsigned hash(const char *text)
{
#ifdef BETTER_HASH
	unsigned value = 2166136261u; /* FNV-1a */
	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 16777619u;
	return value % BUCKETS;
#else
	unsigned value = 0;
	for (; *text; text++)
		value += (unsigned char)*text;
	return value % BUCKETS;
#endif
}

static struct word *find(struct word *word, const char *text)
{
	while (word && strcmp(word->text, text) != 0)
		word = word->next;
	return word;
}

static void count_word(const char *text)
{
	struct word **bucket = &table[hash(text)], *word = find(*bucket, text);
	if (!word) {
		word = calloc(1, sizeof *word + strlen(text) + 1);
		if (!word)
			exit(1);
		strcpy(word->text, text);
		word->next = *bucket;
		*bucket = word;
	}
	word->count++;
}

static void read_words(FILE *file)
{
	char text[LONGEST];
	size_t length = 0;
	int c;
	do {
		c = fgetc(file);
		if (c != EOF && isalpha(c)) {
			if (length + 1 < sizeof text)
				text[length++] = (char)tolower(c);
		} else if (length) {
			text[length] = '\0';
			count_word(text);
			length = 0;
		}
	} while (c != EOF);
}

static int more_frequent(const void *left, const void *right)
{
	const struct word *a = *(struct word *const *)left, *b = *(struct word *const *)right;
	return a->count != b->count ? (a->count > b->count ? -1 : 1) : strcmp(a->text, b->text);
}

static void print_most_frequent(void)
{
	size_t count = 0;
	struct word **words = NULL;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct word *word = table[i]; word; word = word->next) {
			if (count % 1024 == 0)
				words = realloc(words, (count + 1024) * sizeof *words);
			words[count++] = word;
		}
	}
	qsort(words, count, sizeof *words, more_frequent);
	for (size_t i = 0; i < count && i < 10; i++)
		printf("%8u %s\n", words[i]->count, words[i]->text);
}

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
	if (!file) {
		perror(argv[1]);
		return 1;
	}
	read_words(file);
	print_most_frequent();
	return 0;
}
