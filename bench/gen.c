/*
 * gen: deterministic profiles of a large C++ server that never existed.
 *
 *	gen folded STACKS MEGABYTES SEED	folded stacks, sorted
 *	gen script STACKS SAMPLES SEED		perf script text
 *
 * Both walk the same model. Functions call a fixed handful of others, so that
 * a name has a few likely callers as in a real program. Stacks form a tree in
 * which a new stack leaves an older one a few frames above its end, because
 * real stacks share most of their frames with a neighbour: independent random
 * walks would give a tree ten times as bushy as any recording.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NFUNC 24000
#define NCALLEE 12
#define MAXDEPTH 120 /* perf keeps 127 frames by default */
#define ROOT 0
#define NONE UINT32_MAX

struct node {
	uint32_t parent;
	uint32_t func;
	uint32_t depth;
	uint32_t count; /* samples that end here; 0 for a mere prefix */
};

struct model {
	uint64_t rng;
	char **name;
	uint32_t *name_len;
	struct node *node;
	uint32_t nnode, cap;
	uint32_t *slot; /* open addressing over node: (parent, func) -> node */
	uint32_t nslot;
	uint32_t *leaf; /* nodes with a count, in order of creation */
	uint32_t nleaf;
	uint64_t bytes; /* of the leaves as folded text, with their counts */
};

static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("gen: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

static void *xrealloc(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n, size);
	if (!p)
		die("out of memory");
	return p;
}

/* splitmix64: the same sequence everywhere, unlike rand() */
static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint64_t rnd(struct model *m)
{
	m->rng += 0x9e3779b97f4a7c15;
	return mix(m->rng);
}

static uint32_t below(struct model *m, uint32_t n)
{
	return (uint32_t)(rnd(m) % n);
}

static double unit(struct model *m)
{
	return (double)(rnd(m) >> 11) / 9007199254740992.0;
}

static const char *const spaces[] = {
	"storage",
	"net",
	"rpc",
	"query",
	"exec",
	"detail",
	"internal",
	"util",
	"cache",
	"index",
	"wal",
	"raft",
	"proto",
	"json",
	"sched",
	"mem",
	"(anonymous namespace)",
	"expr",
	"plan",
	"vec",
};
static const char *const classes[] = {
	"BTreeIndex",         "PageCache",       "RowIterator",         "ConnectionPool",  "LogWriter",
	"HashJoinOperator",   "AggregateState",  "ColumnReader",        "MessageDecoder",  "TaskQueue",
	"EventLoop",          "SnapshotManager", "ExpressionEvaluator", "BlockCompressor", "SchemaRegistry",
	"TransactionContext", "Arena",           "BufferedInputStream", "Tokenizer",       "VectorizedFilter",
};
static const char *const methods[] = {
	"insert",     "find_or_create", "next",       "flush",  "process_batch", "decode",
	"operator()", "acquire",        "release",    "lookup", "evaluate",      "append",
	"compact",    "serialize_to",   "read_block", "visit",  "merge_with",    "on_readable",
	"dispatch",   "rebalance",      "resize",     "commit", "apply",
};
static const char *const types[] = {
	"int",
	"unsigned long",
	"storage::RowRef",
	"char const*",
	"std::shared_ptr<query::Node>",
	"std::string_view",
	"std::vector<unsigned char, std::allocator<unsigned char> >",
	("std::__cxx11::basic_string<char, std::char_traits<char>, "
	 "std::allocator<char> >"),
	"std::unique_ptr<net::Frame, std::default_delete<net::Frame> >",
};
static const char *const c_verbs[] = {
	"do",   "sys",  "vfs", "tcp",   "ip",    "ext4", "alloc", "free", "copy",
	"lock", "page", "skb", "futex", "sched", "mem",  "str",   "hash",
};
static const char *const c_nouns[] = {
	"read", "write", "sendmsg", "recvmsg", "wait",  "wake", "page",  "folio",
	"slab", "queue", "xmit",    "lookup",  "fault", "iter", "range", "entry",
};
static const char *const modules[] = {
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30",
	"/opt/server/bin/serverd",
	"/opt/server/lib/libquery.so.4",
	"/opt/server/lib/libstorage.so.4",
	"/usr/lib/x86_64-linux-gnu/libc.so.6",
	"[kernel.kallsyms]",
};

#define LEN(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))
#define PICK(m, a) ((a)[below(m, LEN(a))])

/*
 * Every draw is a statement of its own: C leaves the order of arguments open,
 * and the text must not depend on the compiler.
 */
static char *make_name(struct model *m, uint32_t id)
{
	char buf[1024], outer[64] = "", args[256] = "";
	int n;

	if (below(m, 100) < 30) {
		const char *verb = PICK(m, c_verbs);
		const char *noun = PICK(m, c_nouns);

		n = snprintf(buf, sizeof(buf), "%s%s_%s_%u", below(m, 3) ? "" : "__", verb, noun, id);
	} else {
		const char *space = PICK(m, spaces);
		const char *class = PICK(m, classes);
		const char *method = PICK(m, methods);

		if (below(m, 2))
			snprintf(outer, sizeof(outer), "%s::", PICK(m, spaces));
		if (below(m, 3) == 0) {
			const char *first = PICK(m, types);

			snprintf(args, sizeof(args), "<%s, %s>", first, PICK(m, types));
		}
		n = snprintf(buf, sizeof(buf), "%s%s::%s%u%s::%s_%u", outer, space, class, id % 97, args, method, id);
	}
	m->name_len[id] = (uint32_t)n;
	return strdup(buf);
}

static uint32_t callee(struct model *m, uint32_t func)
{
	/* the smaller of two draws: some calls are much likelier than others */
	uint32_t a = below(m, NCALLEE);
	uint32_t b = below(m, NCALLEE);
	uint64_t k = a < b ? a : b;

	return (uint32_t)(mix(((uint64_t)func << 8) + k + 1) % (NFUNC - 1)) + 1;
}

static void rehash(struct model *m)
{
	m->nslot = m->nslot ? m->nslot * 2 : 1 << 16;
	m->slot = xrealloc(m->slot, m->nslot, sizeof(*m->slot));
	memset(m->slot, 0xff, (size_t)m->nslot * sizeof(*m->slot));
	for (uint32_t i = 0; i < m->nnode; i++) {
		uint64_t h = mix(((uint64_t)m->node[i].parent << 32) | m->node[i].func);

		while (m->slot[h & (m->nslot - 1)] != NONE)
			h++;
		m->slot[h & (m->nslot - 1)] = i;
	}
}

static uint32_t child(struct model *m, uint32_t parent, uint32_t func)
{
	uint64_t h = mix(((uint64_t)parent << 32) | func);
	uint32_t i;

	for (; (i = m->slot[h & (m->nslot - 1)]) != NONE; h++)
		if (m->node[i].parent == parent && m->node[i].func == func)
			return i;
	if (m->nnode == m->cap) {
		m->cap = m->cap ? m->cap * 2 : 4096;
		m->node = xrealloc(m->node, m->cap, sizeof(*m->node));
	}
	i = m->nnode++;
	m->node[i] = (struct node){
		.parent = parent,
		.func = func,
		.depth = parent == NONE ? 1 : m->node[parent].depth + 1,
	};
	m->slot[h & (m->nslot - 1)] = i;
	if (m->nnode > m->nslot / 2)
		rehash(m);
	return i;
}

/* Counts follow a long tail: most stacks are seen once, a few very often. */
static uint32_t make_count(struct model *m)
{
	double x = 1.0 / (1.0 - unit(m));

	return x > 50000 ? 50000 : (uint32_t)x;
}

static void add_leaf(struct model *m, uint32_t at)
{
	uint64_t len;
	char num[16];

	m->node[at].count = make_count(m);
	m->leaf[m->nleaf++] = at;
	len = (uint64_t)snprintf(num, sizeof(num), " %u", m->node[at].count);
	for (; at != NONE; at = m->node[at].parent)
		len += m->name_len[m->node[at].func] + 1;
	m->bytes += len;
}

/*
 * Where a new stack of @depth frames leaves an old one: a few frames above the
 * end of whichever of some old stacks is nearest to that depth. It gives about
 * eight new frames per stack; recordings of gcc and python show seven.
 */
static uint32_t branch_point(struct model *m, uint32_t depth)
{
	uint32_t at = m->leaf[below(m, m->nleaf)], up = 1;

	for (int i = 0; i < 4; i++) {
		uint32_t other = m->leaf[below(m, m->nleaf)];
		int64_t a = (int64_t)m->node[at].depth - depth;
		int64_t b = (int64_t)m->node[other].depth - depth;

		if (llabs(b) < llabs(a))
			at = other;
	}
	while (below(m, 4))
		up++;
	while (at != ROOT && (up-- > 0 || m->node[at].depth >= depth))
		at = m->node[at].parent;
	return at;
}

/*
 * Grow the tree to @stacks distinct stacks. With @bytes the depth is steered
 * so that their folded text comes out at about that size.
 */
static void grow(struct model *m, uint32_t stacks, uint64_t bytes)
{
	uint64_t names = 0;
	double per_frame, want = 28;

	for (uint32_t i = 0; i < NFUNC; i++)
		names += m->name_len[i] + 1;
	per_frame = (double)names / NFUNC;
	m->leaf = xrealloc(NULL, stacks, sizeof(*m->leaf));
	rehash(m);
	child(m, NONE, ROOT);
	while (m->nleaf < stacks) {
		uint32_t at = ROOT, depth;

		if (bytes) {
			want = (double)(bytes > m->bytes ? bytes - m->bytes : 0);
			want /= (double)(stacks - m->nleaf) * per_frame;
		}
		depth = (uint32_t)(want * (0.5 + unit(m)));
		depth = depth < 3 ? 3 : depth > MAXDEPTH ? MAXDEPTH : depth;
		/* a few start afresh: other threads, other entry points */
		if (m->nleaf && below(m, 1000) > 2)
			at = branch_point(m, depth);
		while (m->node[at].depth < depth)
			at = child(m, at, callee(m, m->node[at].func));
		if (m->node[at].count == 0)
			add_leaf(m, at);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static uint32_t path_of(struct model *m, uint32_t at, uint32_t *path)
{
	uint32_t n = 0;

	for (; at != NONE; at = m->node[at].parent)
		path[n++] = m->node[at].func;
	return n;
}

/* Sorted, since that is how every stackcollapse program leaves its output. */
static void write_folded(struct model *m)
{
	char *text = xrealloc(NULL, m->bytes + m->nleaf, 1), *p = text;
	char **line = xrealloc(NULL, m->nleaf, sizeof(*line));
	uint32_t path[MAXDEPTH];

	for (uint32_t i = 0; i < m->nleaf; i++) {
		uint32_t n = path_of(m, m->leaf[i], path);

		line[i] = p;
		while (n--) {
			p = stpcpy(p, m->name[path[n]]);
			*p++ = n ? ';' : ' ';
		}
		p += sprintf(p, "%u", m->node[m->leaf[i]].count) + 1;
	}
	qsort(line, m->nleaf, sizeof(*line), by_text);
	for (uint32_t i = 0; i < m->nleaf; i++)
		puts(line[i]);
	free(line);
	free(text);
}

static void write_script(struct model *m, uint32_t samples)
{
	static const char *const comms[] = {"serverd", "rpc-worker", "wal writer", "compactor", "kworker/1:2"};
	uint32_t path[MAXDEPTH];
	uint64_t usec = 1000000000;

	for (uint32_t i = 0; i < samples; i++) {
		uint32_t n = path_of(m, m->leaf[below(m, m->nleaf)], path);
		uint32_t c = below(m, LEN(comms));
		uint32_t tid = 4000 + c * 64 + below(m, 64);
		uint32_t cpu = below(m, 8);

		usec += 20 + below(m, 400);
		printf("%s %u/%u [%03u] %llu.%06llu:     200040 cpu-clock: \n", comms[c], 4000 + c, tid, cpu,
		       (unsigned long long)(usec / 1000000), (unsigned long long)(usec % 1000000));
		for (uint32_t k = 0; k < n; k++) {
			uint64_t h = mix(path[k] + 77);
			/* only the last two hold C */
			const char *mod = strstr(m->name[path[k]], "::") ? modules[h % 4] : modules[4 + h % 2];
			uint32_t off = below(m, 24) * 16 + 5;
			uint64_t base = *mod == '[' ? 0xffffffff81000000 : 0x7f0000000000;

			printf("\t%16llx %s+0x%x (%s)\n", (unsigned long long)(base + (h >> 32) / 256 * 16 + off),
			       m->name[path[k]], off, mod);
		}
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct model m = {0};
	uint32_t stacks;
	double size;

	if (argc != 5 || (strcmp(argv[1], "folded") != 0 && strcmp(argv[1], "script") != 0))
		die("usage: gen folded STACKS MEGABYTES SEED | "
		    "gen script STACKS SAMPLES SEED");
	stacks = (uint32_t)strtoul(argv[2], NULL, 10);
	size = strtod(argv[3], NULL);
	m.rng = strtoull(argv[4], NULL, 10);
	if (stacks == 0 || size <= 0)
		die("sizes must be above zero");

	m.name = xrealloc(NULL, NFUNC, sizeof(*m.name));
	m.name_len = xrealloc(NULL, NFUNC, sizeof(*m.name_len));
	for (uint32_t i = 0; i < NFUNC; i++) {
		m.name[i] = i == ROOT ? strdup("_start") : make_name(&m, i);
		if (!m.name[i])
			die("out of memory");
	}
	m.name_len[ROOT] = sizeof("_start") - 1;

	if (argv[1][0] == 'f') {
		grow(&m, stacks, (uint64_t)(size * 1e6));
		write_folded(&m);
	} else {
		grow(&m, stacks, 0);
		write_script(&m, (uint32_t)size);
	}
	if (fflush(stdout) || ferror(stdout))
		die("write failed");
	for (uint32_t i = 0; i < NFUNC; i++)
		free(m.name[i]);
	free(m.name);
	free(m.name_len);
	free(m.node);
	free(m.slot);
	free(m.leaf);
	return 0;
}
