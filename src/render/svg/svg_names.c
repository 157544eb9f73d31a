/* Labels of the tree as names of the picture: what is shown, its kind and its colors. */
#include "base/text.h"
#include "profile/tree_labels.h"
#include "render/svg/svg_picture.h"

/* Bytes of the mark at the end of a label: _[k] kernel, _[w] waker, _[i] inlined, _[j] just-in-time compiled. */
static size_t mark_length(const char *text, size_t length)
{
	bool marked = length >= 4 && !memcmp(text + length - 4, "_[", 2) && text[length - 1] == ']' &&
		      memchr("kwij", text[length - 2], 4);
	return marked ? 4 : 0;
}

static enum name_kind kind_of_frame(const struct svg_picture *picture, frame_id frame)
{
	switch ((enum frame_kind)picture->profile->frames[frame].kind) {
	case FRAME_KERNEL:
		return KIND_KERNEL;
	case FRAME_INLINED:
		return KIND_INLINED;
	case FRAME_JIT:
		return KIND_JIT;
	case FRAME_PYTHON:
		return KIND_PYTHON;
	case FRAME_UNKNOWN:
		return KIND_UNKNOWN;
	default:
		return KIND_NATIVE;
	}
}

static enum name_kind kind_of(const struct svg_picture *picture, const struct tree_label *label, bool waker)
{
	if (waker)
		return KIND_WAKER;
	if (mark_length(label->text, label->length)) {
		switch (label->text[label->length - 2]) {
		case 'k':
			return KIND_KERNEL;
		case 'i':
			return KIND_INLINED;
		case 'j':
			return KIND_JIT;
		default:
			return KIND_WAKER;
		}
	}
	if (label->frame == PROFILE_NONE)
		return KIND_THREAD;
	enum name_kind kind = kind_of_frame(picture, label->frame);
	/* Folded text knows no kinds; collapsing tools write [unknown] or [module] for a frame without a symbol. */
	bool bracketed = label->length > 2 && label->text[0] == '[' && label->text[label->length - 1] == ']';
	return kind == KIND_NATIVE && bracketed ? KIND_UNKNOWN : kind;
}

/* True when the mark is not part of the function's name as the source wrote it. */
static bool mark_was_added(const struct svg_picture *picture, const struct tree_label *label, size_t mark)
{
	if (!picture->options->marks_are_ours || !mark || label->frame == PROFILE_NONE)
		return false;
	const struct frame *frame = &picture->profile->frames[label->frame];
	str_id name = picture->profile->functions[frame->function].name;
	return !mark_length(profile_text(picture->profile, name), strpool_length(&picture->profile->strings, name));
}

/* Characters, and whether XML can hold the text as it is, which nearly all names are. */
static size_t count_characters(const char *text, size_t length, bool *ret_plain)
{
	size_t count = text_plain(text, length);
	bool plain = true;
	for (size_t at = count; at < length; count++) {
		unsigned char byte = (unsigned char)text[at];
		uint32_t code_point;
		plain &= byte >= 0x20 && byte < 0x7f && byte != '<' && byte != '>' && byte != '&' && byte != '"' &&
			 byte != '\'';
		at += byte < 0x80 ? 1 : text_utf8(text + at, length - at, &code_point);
	}
	*ret_plain = plain;
	return count;
}

static const char *file_of(const struct svg_picture *picture, const struct svg_name *name)
{
	const struct profile *profile = picture->profile;
	frame_id frame = picture->tree->labels[name->label].frame;
	return frame == PROFILE_NONE ?
		       "" :
		       profile_text(profile, profile->functions[profile->frames[frame].function].module);
}

/*
 * Gives the name its colors. key[0…key_length) is the name as flamegraph.pl would have it; a mark that was added here
 * stands behind it.
 */
static void colour_name(struct svg_picture *picture, struct svg_name *name, uint8_t variant, const char *key,
			size_t key_length)
{
	const struct svg_options *options = picture->options;
	struct shade shade = shade_of(options->shade, key, key_length, &picture->random);
	name->class = options->palette == PALETTE_PYTHON && picture->has_python ?
			      palette_python_class(file_of(picture, name), name->kind) :
			      palette_class(options->palette, key, name->kind);
	name->safe_class = palette_class(PALETTE_SAFE, key, name->kind);
	if (variant >= VARIANT_STATE) {
		name->class = palette_state_class(variant - VARIANT_STATE, false);
		name->safe_class = palette_state_class(variant - VARIANT_STATE, true);
	}
	name->safe_colour = name->safe_class->shaded(shade);
	if (palette_separator(name->text, &name->colour)) {
		name->safe_colour = name->colour;
		name->class = name->safe_class = NULL;
	} else if (!options->map) {
		name->colour = name->class->shaded(shade);
	} else if (!palette_map_get(options->map, key, key_length, &name->colour)) {
		name->colour = name->class->shaded(shade);
		palette_map_put(options->map, key, key_length, name->colour);
	}
}

static void shorten_name(struct svg_picture *picture, struct svg_name *name)
{
	const struct tree_label *label = &picture->tree->labels[name->label];
	bool plain;
	buf_clear(&picture->scratch);
	if (!picture->short_names.texts ||
	    !label_shorten(&picture->scratch, picture->profile, &picture->short_names, label, name->length))
		return;
	name->shorter = arena_copy(&picture->arena, picture->scratch.data, picture->scratch.size);
	name->shorter_length = picture->scratch.size;
	name->shorter_characters = count_characters(name->shorter, name->shorter_length, &plain);
}

/* By its whole name, with its mark or without, else by its short form. */
static const struct nameattr_entry *attributes_of(const struct nameattr *attributes, const struct svg_name *name,
						  const char *key, size_t key_length)
{
	const struct nameattr_entry *entry = nameattr_find(attributes, key, key_length);
	if (!entry)
		entry = nameattr_find(attributes, name->text, name->length);
	if (!entry && name->shorter)
		entry = nameattr_find(attributes, name->shorter, name->shorter_length);
	return entry;
}

uint32_t svg_name_make(struct svg_picture *picture, uint32_t label_id, uint8_t variant)
{
	bool waker = variant == VARIANT_WAKER;
	const struct tree_label *label = &picture->tree->labels[label_id];
	size_t mark = mark_length(label->text, label->length);
	struct svg_name name = {
		.label = label_id,
		.kind = kind_of(picture, label, waker),
		.text = label->text,
		.length = label->length - mark,
	};
	if (mark)
		name.text = arena_copy(&picture->arena, label->text, name.length);
	bool plain;
	name.characters = count_characters(name.text, name.length, &plain);
	if (plain) {
		name.escaped = name.text;
		name.escaped_length = name.length;
	}
	shorten_name(picture, &name);

	const char *key = label->text;
	size_t key_length = mark_was_added(picture, label, mark) ? name.length : label->length;
	if (waker) {
		buf_clear(&picture->scratch);
		buf_add(&picture->scratch, key, key_length);
		buf_str(&picture->scratch, "_[w]");
		key = picture->scratch.data;
		key_length = picture->scratch.size;
	}
	colour_name(picture, &name, variant, key, key_length);
	if (picture->options->attributes)
		name.attributes = attributes_of(picture->options->attributes, &name, key, key_length);

	MEM_ROOM(picture->names, picture->name_count, picture->name_capacity);
	uint32_t id = (uint32_t)picture->name_count++;
	picture->names[id] = name;
	picture->name_of_label[label_id + variant * picture->tree->label_count] = id;
	return id;
}

struct rgb svg_root_colour(struct svg_picture *picture)
{
	const struct svg_options *options = picture->options;
	struct rgb colour;
	if (options->map && palette_map_get(options->map, "", 0, &colour))
		return colour;
	struct shade shade = shade_of(options->shade, "", 0, &picture->random);
	colour = palette_class(options->palette, "", KIND_NATIVE)->shaded(shade);
	if (options->map)
		palette_map_put(options->map, "", 0, colour);
	return colour;
}
