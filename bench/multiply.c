/*
 * multiply: make a long recording out of short ones.
 *
 *	multiply MEGABYTES SEED FILE...
 *
 * Reads perf script text, and writes its samples over and over until the size
 * is reached. Each round deals the samples of all files in a new order, as a
 * busy machine would interleave them, gives every process a new pid and lets
 * the clock run on; stacks are copied to the byte. A program that remembers
 * the last stack, or the last process, so gains no more from this text than
 * from a real system-wide recording.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sample {
	const char *head; /* the command name */
	size_t head_len;
	unsigned long pid, tid;
	int has_tid; /* printed as pid/tid */
	const char *cpu; /* "[003] " or empty */
	size_t cpu_len;
	const char *rest; /* period, event and stack, to the blank line */
	size_t rest_len;
};

struct list {
	struct sample *v;
	size_t n, cap;
};

static void die(const char *what, const char *arg)
{
	fprintf(stderr, "multiply: %s%s\n", what, arg);
	exit(1);
}

static uint64_t rnd(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *buf = NULL;
	size_t n = 0, cap = 0, got;

	if (!f)
		die("cannot open ", path);
	do {
		if (cap - n < 1 << 20) {
			cap = cap * 2 + (1 << 21);
			buf = realloc(buf, cap);
			if (!buf)
				die("out of memory", "");
		}
		got = fread(buf + n, 1, cap - n - 1, f);
		n += got;
	} while (got);
	if (ferror(f))
		die("cannot read ", path);
	fclose(f);
	buf[n] = '\0';
	return buf;
}

/*
 * "perl  2804   408.168514:     200040 cpu-clock:ppp: ", with pid/tid or
 * [cpu] when they were recorded. The name may hold blanks and digits, so what
 * identifies the pid is that a time follows it.
 */
static int parse_head(const char *line, struct sample *s)
{
	for (const char *p = line; *p && *p != '\n'; p++) {
		const char *q = p + 1;
		char *end;

		if (*p != ' ' || !isdigit((unsigned char)*q))
			continue;
		s->pid = s->tid = strtoul(q, &end, 10);
		s->has_tid = *end == '/';
		if (s->has_tid)
			s->tid = strtoul(end + 1, &end, 10);
		if (*end != ' ')
			continue;
		q = end + strspn(end, " ");
		s->cpu = q;
		s->cpu_len = 0;
		if (*q == '[') {
			q += strcspn(q, " \n");
			q += strspn(q, " ");
			s->cpu_len = (size_t)(q - s->cpu);
		}
		end = (char *)q + strspn(q, "0123456789");
		if (end == q || *end != '.')
			continue;
		end += 1 + strspn(end + 1, "0123456789");
		if (*end != ':')
			continue;
		s->head = line;
		s->head_len = (size_t)(p - line);
		s->rest = end;
		return 1;
	}
	return 0;
}

static void parse(const char *text, struct list *l)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		struct sample s = {0};

		/* a sample without its blank line was cut off: leave it */
		if (!end)
			return;
		if (*text != '#' && parse_head(text, &s)) {
			s.rest_len = (size_t)(end + 2 - s.rest);
			if (l->n == l->cap) {
				l->cap = l->cap ? l->cap * 2 : 4096;
				l->v = realloc(l->v, l->cap * sizeof(*l->v));
				if (!l->v)
					die("out of memory", "");
			}
			l->v[l->n++] = s;
		}
		text = end + 2;
	}
}

static void shuffle(struct list *l, uint64_t *state)
{
	for (size_t i = l->n; i > 1; i--) {
		size_t k = rnd(state) % i;
		struct sample t = l->v[i - 1];

		l->v[i - 1] = l->v[k];
		l->v[k] = t;
	}
}

static size_t emit(const struct sample *s, unsigned long shift, uint64_t usec)
{
	/* the idle tasks and init keep their pids for ever */
	unsigned long pid = s->pid > 1 ? s->pid + shift : s->pid;
	unsigned long tid = s->pid > 1 ? s->tid + shift : s->tid;
	int n = printf("%.*s %lu", (int)s->head_len, s->head, pid);

	if (s->has_tid)
		n += printf("/%lu", tid);
	n += printf(" %.*s%6llu.%06llu", (int)s->cpu_len, s->cpu, (unsigned long long)(usec / 1000000),
		    (unsigned long long)(usec % 1000000));
	fwrite(s->rest, 1, s->rest_len, stdout);
	return (size_t)n + s->rest_len;
}

int main(int argc, char **argv)
{
	struct list l = {0};
	uint64_t state, usec = 1000000000;
	double want, done = 0;
	char **text;

	if (argc < 4)
		die("usage: multiply MEGABYTES SEED FILE...", "");
	want = strtod(argv[1], NULL) * 1e6;
	state = strtoull(argv[2], NULL, 10);
	text = calloc((size_t)argc, sizeof(*text));
	if (!text)
		die("out of memory", "");
	for (int i = 3; i < argc; i++) {
		text[i] = slurp(argv[i]);
		parse(text[i], &l);
	}
	if (l.n == 0)
		die("no samples in ", argv[3]);

	for (unsigned long round = 0; done < want; round++) {
		shuffle(&l, &state);
		for (size_t i = 0; i < l.n && done < want; i++) {
			usec += 20 + rnd(&state) % 400;
			done += (double)emit(&l.v[i], round * 137 % 4000000, usec);
		}
		if (ferror(stdout))
			break;
	}
	if (fflush(stdout) || ferror(stdout))
		die("write failed", "");
	for (int i = 3; i < argc; i++)
		free(text[i]);
	free(text);
	free(l.v);
	return 0;
}
