/* Parses a file of attributes, and drops what is not safe in an SVG. */
#include "render/nameattr.h"

#include "base/buf.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Where in which file the reader is, for messages. */
struct place {
	const char *path;
	unsigned long line;
};

void nameattr_init(struct nameattr *attributes)
{
	*attributes = (struct nameattr){0};
	strpool_init(&attributes->functions);
}

void nameattr_release(struct nameattr *attributes)
{
	strpool_release(&attributes->functions);
	free(attributes->entries);
	arena_release(&attributes->arena);
	*attributes = (struct nameattr){0};
}

const struct nameattr_entry *nameattr_find(const struct nameattr *attributes, const char *function, size_t length)
{
	str_id id = strpool_find(&attributes->functions, function, length);
	return id == INDEX_NONE || !id || id >= attributes->capacity ? NULL : &attributes->entries[id];
}

static void drop(struct nameattr *attributes, const struct place *place, const char *key, const char *why)
{
	if (!attributes->dropped++)
		snprintf(attributes->first_dropped, sizeof attributes->first_dropped, "%s:%lu: attribute %.40s %s",
			 place->path, place->line, key, why);
}

/* Bytes of a name in XML, strict enough to be safe: ASCII, and no prefix but the ones the picture declares. */
static size_t attribute_name(const char *text)
{
	size_t length = 0;
	while (isalnum((unsigned char)text[length]) || (length && strchr("-_.:", text[length]) && text[length]))
		length++;
	const char *colon = memchr(text, ':', length);
	if (!length || isdigit((unsigned char)*text))
		return 0;
	return colon && strncmp(text, "xlink:", 6) != 0 && strncmp(text, "xml:", 4) != 0 ? 0 : length;
}

/* An ampersand may begin a reference that XML knows without a DTD; any other one is text. */
static bool begins_reference(const char *text, size_t left)
{
	const char *end = memchr(text, ';', left < 10 ? left : 10);
	if (!end)
		return false;
	size_t length = (size_t)(end - text);
	static const char *const known[] = {"&amp", "&lt", "&gt", "&quot", "&apos"};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i]) == length && !memcmp(text, known[i], length))
			return true;
	return false;
}

static void add_value(struct buf *out, const char *value, size_t length)
{
	size_t plain = 0;
	for (size_t i = 0; i < length; i++) {
		if (value[i] != '&' || !begins_reference(value + i, length - i))
			continue;
		text_xml(out, value + plain, i - plain);
		size_t size = (size_t)((const char *)memchr(value + i, ';', length - i) - (value + i)) + 1;
		buf_add(out, value + i, size);
		i += size - 1;
		plain = i + 1;
	}
	text_xml(out, value + plain, length - plain);
}

static bool has_attribute(const struct buf *list, const char *name, size_t length)
{
	struct buf wanted CLEANUP_BUF = {0};
	buf_char(&wanted, ' ');
	buf_add(&wanted, name, length);
	buf_str(&wanted, "=\"");
	return list->size && strstr(list->data, wanted.data);
}

/* Takes `name="value" name='value' …` apart and writes it again, so that a slip cannot break the picture. */
static int parse_extra(struct nameattr *attributes, const struct place *place, const char *key, const char *text,
		       const char **ret, struct err *err)
{
	static const char *const taken[] = {"id", "class", "style", "href", "xlink:href", "target"};
	struct buf list CLEANUP_BUF = {0};
	for (;;) {
		text += strspn(text, " ");
		if (!*text)
			break;
		size_t name = attribute_name(text);
		char quote = name && text[name] == '=' ? text[name + 1] : '\0';
		const char *value = text + name + 2;
		const char *end = quote == '"' || quote == '\'' ? strchr(value, quote) : NULL;
		if (!end || memchr(value, '<', (size_t)(end - value)))
			return err_set(err, ERR_FORMAT, "%s:%lu: %s must be attributes such as data-x=\"1\", without <",
				       place->path, place->line, key);
		for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
			if (strlen(taken[i]) == name && !memcmp(text, taken[i], name))
				return err_set(err, ERR_FORMAT, "%s:%lu: use the key %s, not %s", place->path,
					       place->line, taken[i] + (taken[i][0] == 'x' ? 6 : 0), key);
		if (has_attribute(&list, text, name))
			return err_set(err, ERR_FORMAT, "%s:%lu: %.*s is repeated in %s", place->path, place->line,
				       (int)name, text, key);
		buf_char(&list, ' ');
		buf_add(&list, text, name);
		buf_str(&list, "=\"");
		add_value(&list, value, (size_t)(end - value));
		buf_char(&list, '"');
		text = end + 1;
	}
	if (list.size)
		*ret = arena_copy(&attributes->arena, list.data, list.size);
	return 0;
}

/* Browsers skip control characters and spaces in a scheme, so do we. */
static bool runs_script(const char *href)
{
	char scheme[16];
	size_t length = 0;
	for (; *href && *href != ':' && length < sizeof scheme - 1; href++)
		if ((unsigned char)*href > ' ')
			scheme[length++] = *href;
	scheme[length] = '\0';
	return *href == ':' &&
	       (!strcasecmp(scheme, "javascript") || !strcasecmp(scheme, "vbscript") || !strcasecmp(scheme, "data"));
}

static int set_attribute(struct nameattr *attributes, struct nameattr_entry *entry, const struct place *place,
			 const char *key, const char *value, struct err *err)
{
	if (!strcmp(key, "g_extra"))
		return parse_extra(attributes, place, key, value, &entry->g_extra, err);
	if (!strcmp(key, "a_extra"))
		return parse_extra(attributes, place, key, value, &entry->a_extra, err);
	const struct {
		const char *key;
		const char **to;
	} fields[] = {
		{"href", &entry->href},   {"target", &entry->target}, {"title", &entry->title},
		{"class", &entry->class}, {"id", &entry->id},         {"style", &entry->style},
	};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		if (strcmp(key, fields[i].key) != 0)
			continue;
		if (fields[i].to == &entry->href && runs_script(value)) {
			drop(attributes, place, key, "would run a script: skipped");
			return 0;
		}
		*fields[i].to = *value ? arena_copy(&attributes->arena, value, strlen(value)) : NULL;
		return 0;
	}
	drop(attributes, place, key, strncasecmp(key, "on", 2) ? "is unknown: skipped" : "would run a script: skipped");
	return 0;
}

/* The value without the quotes that some files put around it. */
static char *unquoted(char *value)
{
	size_t length = strlen(value);
	if (length < 2 || *value != '"' || value[length - 1] != '"' || memchr(value + 1, '"', length - 2))
		return value;
	value[length - 1] = '\0';
	return value + 1;
}

static struct nameattr_entry *entry_of(struct nameattr *attributes, const char *function, size_t length)
{
	str_id id = strpool_add(&attributes->functions, function, length);
	if (id >= attributes->capacity) {
		size_t before = attributes->capacity;
		attributes->entries = mem_grow(attributes->entries, &attributes->capacity, (size_t)id + 1,
					       sizeof *attributes->entries);
		memset(attributes->entries + before, 0, (attributes->capacity - before) * sizeof *attributes->entries);
	}
	attributes->entries[id] = (struct nameattr_entry){0}; /* a later line replaces an earlier one */
	return &attributes->entries[id];
}

/* In a link both lists stand in one tag, where XML allows a name only once. */
static int check_extras(const struct nameattr_entry *entry, const struct place *place, struct err *err)
{
	if (!entry->g_extra || !entry->a_extra)
		return 0;
	struct buf list CLEANUP_BUF = {0};
	buf_str(&list, entry->g_extra);
	for (const char *at = entry->a_extra; *at;) {
		size_t name = strcspn(at + 1, "=");
		if (has_attribute(&list, at + 1, name))
			return err_set(err, ERR_FORMAT, "%s:%lu: %.*s is both in g_extra and in a_extra", place->path,
				       place->line, (int)name, at + 1);
		at = strchr(at + 1 + name + 2, '"') + 1; /* values hold no bare quote */
	}
	return 0;
}

static int read_line(struct nameattr *attributes, const struct place *place, char *line, struct err *err)
{
	char *tab = strchr(line, '\t');
	if (!tab || tab == line)
		return err_set(err, ERR_FORMAT, "%s:%lu: expected a function, a tab and key=value", place->path,
			       place->line);
	struct nameattr_entry *entry = entry_of(attributes, line, (size_t)(tab - line));
	for (char *rest = tab + 1, *pair; (pair = strsep(&rest, "\t"));) {
		if (!*pair)
			continue;
		char *equals = strchr(pair, '=');
		if (!equals || equals == pair)
			return err_set(err, ERR_FORMAT, "%s:%lu: expected key=value, found \"%.60s\"", place->path,
				       place->line, pair);
		*equals = '\0';
		bool raw = !strcmp(pair, "g_extra") || !strcmp(pair, "a_extra");
		char *value = raw ? equals + 1 : unquoted(equals + 1);
		int code = set_attribute(attributes, entry, place, pair, value, err);
		if (code)
			return code;
	}
	return check_extras(entry, place, err);
}

int nameattr_read(struct nameattr *attributes, const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return err_set(err, ERR_OPEN, "cannot open %s: %s", path, strerror(errno));
	CLEANUP_FREE char *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	struct place place = {.path = path};
	int code = 0;
	while (!code && (length = getline(&line, &capacity, file)) >= 0) {
		place.line++;
		while (length && (line[length - 1] == '\n' || line[length - 1] == '\r'))
			line[--length] = '\0';
		if (memchr(line, '\0', (size_t)length))
			code = err_set(err, ERR_FORMAT, "%s:%lu: the line contains a NUL byte", path, place.line);
		else if (length)
			code = read_line(attributes, &place, line, err);
	}
	if (!code && ferror(file))
		code = err_set(err, ERR_IO, "cannot read %s: %s", path, strerror(errno));
	fclose(file);
	return code;
}
