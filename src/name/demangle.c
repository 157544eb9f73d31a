/* Selects a demangler by the form of a name, and runs it within bounds. */
#include "name/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>

/* libiberty itself refuses C++ names above this, since it recurses; longer ones get a thread with a large stack. */
#define DIRECT_MAX 1024
#define LONG_FORM_MAX 16384
#define LONG_STACK ((size_t)96 << 20)
/* Back references can double the text every few bytes. */
#define TEXT_MAX ((size_t)256 << 10)
#define SIGNATURE (DMGL_PARAMS | DMGL_ANSI)

struct text {
	struct buf *out;
	size_t start; /* size of `out` before */
	const char *name, *name_end;
	jmp_buf too_long;
};

static void take_text(const char *bytes, size_t count, void *context)
{
	struct text *text = context;
	size_t size = text->out->size - text->start;
	if (size + count <= TEXT_MAX) {
		buf_add(text->out, bytes, count);
		return;
	}
	/*
	 * There is no way to ask for an end, so it is left by a jump. The Rust demangler holds one allocation while it
	 * passes a decoded Unicode identifier: that moment is avoided while other text comes too.
	 */
	bool plain = bytes >= text->name && bytes < text->name_end;
	text->start -= count;
	if (plain || size > 4 * TEXT_MAX)
		longjmp(text->too_long, 1);
}

typedef int demangler(const char *name, int options, demangle_callbackref callback, void *context);

static bool run(struct buf *out, const char *name, demangler *function, int options)
{
	size_t before = out->size;
	struct text text = {.out = out, .start = before, .name = name, .name_end = name + strlen(name)};
	if (setjmp(text.too_long)) {
		out->size = before;
		return false;
	}
	bool fine = function(name, options, take_text, &text) && text.start == before && out->size > before;
	if (!fine)
		out->size = before;
	return fine;
}

struct long_name {
	struct buf *out;
	const char *name;
	int options;
	bool fine;
};

static void *run_long(void *context)
{
	struct long_name *job = context;
	job->fine = run(job->out, job->name, cplus_demangle_v3_callback, job->options | DMGL_NO_RECURSE_LIMIT);
	return NULL;
}

static bool run_on_large_stack(struct buf *out, const char *name, int options)
{
	struct long_name job = {.out = out, .name = name, .options = options};
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	bool started = !pthread_attr_setstacksize(&attributes, LONG_STACK) &&
		       !pthread_create(&thread, &attributes, run_long, &job);
	pthread_attr_destroy(&attributes);
	if (started)
		pthread_join(thread, NULL);
	return started && job.fine;
}

static bool demangle_cplus(struct buf *out, const char *name, size_t length, int options)
{
	if (length > LONG_FORM_MAX)
		return false;
	if (length < DIRECT_MAX)
		return run(out, name, cplus_demangle_v3_callback, options);
	return run_on_large_stack(out, name, options);
}

/* --- D --- */

/*
 * Whether the back references (Q and an offset in base 26, capitals before the last digit) of a D name can unfold to
 * much. A reference at i to j unfolds to no more than what the bytes from j to i do, and the rest of the name.
 */
static bool d_name_is_harmless(const char *name, size_t length)
{
	enum { LENGTH_MAX = 4096, COST_MAX = 16384 };
	if (length > LENGTH_MAX)
		return false;
	uint32_t cost[LENGTH_MAX + 1];
	cost[0] = 0;
	for (size_t i = 0; i < length; i++) {
		cost[i + 1] = cost[i] + 1;
		if (name[i] != 'Q')
			continue;
		size_t offset = 0, at = i + 1;
		while (at < length && isupper((unsigned char)name[at]) && offset <= length)
			offset = 26 * offset + (size_t)(name[at++] - 'A');
		if (at == length || !islower((unsigned char)name[at]))
			continue;
		offset = 26 * offset + (size_t)(name[at] - 'a');
		if (offset && offset <= i)
			cost[i + 1] += cost[i] - cost[i - offset] + (uint32_t)length;
		if (cost[i + 1] > COST_MAX)
			return false;
	}
	return true;
}

static bool demangle_d(struct buf *out, const char *name, size_t length, int options)
{
	if (!d_name_is_harmless(name, length))
		return false;
	CLEANUP_FREE char *text = dlang_demangle(name, options);
	if (!text)
		return false;
	buf_str(out, text);
	return true;
}

/* --- OCaml --- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* camlModule__function_12: two underscores stand for a dot, $xx for a byte. */
static bool demangle_ocaml(struct buf *out, const char *name)
{
	for (const char *at = name + 4; *at; at++) {
		int high, low;
		if (at[0] == '_' && at[1] == '_') {
			buf_char(out, '.');
			at++;
		} else if (at[0] == '$' && (high = hex_digit(at[1])) >= 0 && (low = hex_digit(at[2])) >= 0 &&
			   (high || low)) {
			buf_char(out, (char)(high << 4 | low));
			at += 2;
		} else {
			buf_char(out, *at);
		}
	}
	return true;
}

/* --- all --- */

/* Rust's old names are C++ names with a hash at their end: "17h" and 16 digits; what may follow begins with a dot. */
static bool may_be_old_rust(const char *name, size_t length)
{
	const char *hash = length <= LONG_FORM_MAX ? memmem(name, length, "17h", 3) : NULL;
	return hash && length - (size_t)(hash - name) >= 20;
}

size_t demangle_rust_stem(const char *name)
{
	size_t length = strlen(name);
	if (strncmp(name, "_ZN", 3) != 0 || length > LONG_FORM_MAX)
		return 0;
	/* The last one: what a name is called may look like a hash too. */
	for (size_t at = length; at-- > 3;)
		if (name[at] == 'h' && name[at - 1] == '7' && name[at - 2] == '1' &&
		    strspn(name + at + 1, "0123456789abcdef") == 16 && name[at + 17] == 'E')
			return at - 2;
	return 0;
}

/* `rust` are the options for Rust's names: what DMGL_VERBOSE adds to those are hashes. */
static bool demangle_by_prefix(struct buf *out, const char *name, size_t length, int options, int rust)
{
	if (name[0] == '_') {
		switch (name[1]) {
		case 'Z':
			return (may_be_old_rust(name, length) && run(out, name, rust_demangle_callback, rust)) ||
			       demangle_cplus(out, name, length, options);
		case 'R':
			return length <= LONG_FORM_MAX && run(out, name, rust_demangle_callback, rust);
		case 'D':
			return demangle_d(out, name, length, options);
		case 'G':
			return demangle_cplus(out, name, length, options);
		default:
			return false;
		}
	}
	if (!strncmp(name, "caml", 4) && isupper((unsigned char)name[4]))
		return demangle_ocaml(out, name);
	return false;
}

/* With parameters the demangler takes whole names only: the version is no part of them. */
static bool demangle_signature(struct buf *out, const char *name, size_t length, int rust)
{
	const char *version = strchr(name, '@');
	CLEANUP_BUF struct buf base = {0};
	buf_add(&base, name, version ? (size_t)(version - name) : length);
	if (!base.size || !demangle_by_prefix(out, base.data, base.size, SIGNATURE | DMGL_VERBOSE, rust))
		return false;
	buf_str(out, version ? version : "");
	return true;
}

bool demangle(struct buf *out, const char *name, enum name_style style)
{
	size_t length = strlen(name);
	if (style == NAMES_FULL && demangle_signature(out, name, length, SIGNATURE))
		return true;
	if (style == NAMES_RAW || !*name || !demangle_by_prefix(out, name, length, DMGL_NO_OPTS, DMGL_NO_OPTS)) {
		buf_add(out, name, length);
		return false;
	}
	return true;
}

bool demangle_with_hash(struct buf *out, const char *name)
{
	return demangle_signature(out, name, strlen(name), SIGNATURE | DMGL_VERBOSE) || demangle(out, name, NAMES_FULL);
}
