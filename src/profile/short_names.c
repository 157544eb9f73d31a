/* Chooses the shortest form of each name that is still distinct. */
#include "profile/short_names.h"

#include "base/buf.h"
#include "base/hash.h"
#include "name/short_name.h"

/* Forms of a name, from the shortest on. */
enum {
	FORM_SHORT,
	FORM_PARAMETERS,
	FORM_ARGUMENTS,
	FORM_BOTH,
	FORM_WHOLE,
	FORM_NUMBERED, /* whole, and where its middle is missing there is a number made of it */
	FORMS,
};

struct chooser {
	struct short_names *names;
	const struct profile *profile;
	uint8_t *form; /* by string */
	str_id *list; /* names that have more than one form, then the others */
	size_t count;
	struct index_map map; /* forms that were met in this round → string */
	struct buf scratch, whole;
};

static size_t whole_characters(const char *text, size_t length)
{
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	return length;
}

/* What is too long loses its middle: qualifiers at the front and the function at the end say most. */
static void elide(struct chooser *c, const struct buf *form, bool numbered)
{
	buf_clear(&c->scratch);
	if (form->size <= SHORT_NAMES_MAX) {
		buf_add(&c->scratch, form->data, form->size);
		return;
	}
	size_t head = whole_characters(form->data, SHORT_NAMES_MAX / 2);
	size_t tail = whole_characters(form->data, form->size - SHORT_NAMES_MAX / 2);
	buf_add(&c->scratch, form->data, head);
	buf_str(&c->scratch, "…");
	if (numbered)
		buf_printf(&c->scratch, "%016llx…", (unsigned long long)hash_bytes(form->data, form->size));
	buf_add(&c->scratch, form->data + tail, form->size - tail);
}

static void make_form(struct chooser *c, str_id name)
{
	static const unsigned keep[FORMS] = {
		[FORM_PARAMETERS] = SHORT_PARAMETERS,
		[FORM_ARGUMENTS] = SHORT_ARGUMENTS,
		[FORM_BOTH] = SHORT_PARAMETERS | SHORT_ARGUMENTS,
	};
	const char *text = profile_text(c->profile, name);
	size_t length = strpool_length(&c->profile->strings, name);
	struct short_text *to = &c->names->texts[name];
	buf_clear(&c->whole);
	if (c->form[name] < FORM_WHOLE)
		short_name(&c->whole, text, length, keep[c->form[name]]);
	else
		buf_add(&c->whole, text, length);
	elide(c, &c->whole, c->form[name] == FORM_NUMBERED);
	if (c->scratch.size == length && !memcmp(c->scratch.data, text, length)) {
		*to = (struct short_text){text, length};
		return;
	}
	*to = (struct short_text){arena_copy(&c->names->arena, c->scratch.data, c->scratch.size), c->scratch.size};
}

static bool has_forms(const struct profile *profile, str_id name)
{
	const char *text = profile_text(profile, name);
	size_t length = strpool_length(&profile->strings, name);
	return length > SHORT_NAMES_MAX || memchr(text, '(', length) || memchr(text, '<', length);
}

/* Lists the names of functions, each once. */
static void list_names(struct chooser *c)
{
	const struct profile *profile = c->profile;
	for (size_t i = 0; i < profile->function_count; i++) {
		str_id name = profile->functions[i].name;
		struct short_text *text = &c->names->texts[name];
		if (text->text)
			continue;
		*text = (struct short_text){profile_text(profile, name), strpool_length(&profile->strings, name)};
		c->form[name] = has_forms(profile, name) ? FORM_SHORT : FORM_NUMBERED;
		if (c->form[name] == FORM_SHORT)
			make_form(c, name);
		c->list[c->count++] = name;
	}
}

/* The string of this round that has the same form; INDEX_NONE: there is none, and now it is this one. */
static uint32_t meet(struct chooser *c, str_id name)
{
	const struct short_text *texts = c->names->texts, *text = &texts[name];
	uint64_t hash = hash_bytes(text->text, text->length);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&c->map, hash, &probe); i != INDEX_NONE; i = index_map_next(&c->map, &probe))
		if (texts[i].length == text->length && !memcmp(texts[i].text, text->text, text->length))
			return i;
	index_map_insert(&c->map, hash, name);
	return INDEX_NONE;
}

/* Gives all names whose forms are equal the next longer one. False: there are none. */
static bool lengthen(struct chooser *c, bool *equal)
{
	bool any = false;
	memset(equal, 0, c->names->count * sizeof *equal);
	index_map_clear(&c->map);
	for (size_t i = 0; i < c->count; i++) {
		uint32_t other = meet(c, c->list[i]);
		if (other != INDEX_NONE)
			equal[other] = equal[c->list[i]] = true;
	}
	for (size_t i = 0; i < c->count; i++) {
		str_id name = c->list[i];
		if (!equal[name] || c->form[name] == FORM_NUMBERED)
			continue;
		c->form[name]++;
		make_form(c, name);
		any = true;
	}
	return any;
}

void short_names_build(struct short_names *names, const struct profile *profile)
{
	*names = (struct short_names){.count = profile->strings.count};
	names->texts = mem_zalloc(names->count + 1, sizeof *names->texts);
	struct chooser c = {.names = names, .profile = profile};
	c.form = mem_zalloc(names->count + 1, sizeof *c.form);
	c.list = mem_alloc((names->count + 1) * sizeof *c.list);
	list_names(&c);
	bool *equal CLEANUP_FREE = mem_alloc((names->count + 1) * sizeof *equal);
	while (lengthen(&c, equal))
		;
	free(c.form);
	free(c.list);
	index_map_release(&c.map);
	buf_release(&c.scratch);
	buf_release(&c.whole);
}

void short_names_release(struct short_names *names)
{
	free(names->texts);
	arena_release(&names->arena);
	*names = (struct short_names){0};
}
