/* The rows of palettes and the functions that choose their shades. */
#include "render/palette.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const palette_names[] = {
	[PALETTE_HOT] = "hot",       [PALETTE_MEM] = "mem",   [PALETTE_IO] = "io",         [PALETTE_WAKEUP] = "wakeup",
	[PALETTE_CHAIN] = "chain",   [PALETTE_JAVA] = "java", [PALETTE_JS] = "js",         [PALETTE_PERL] = "perl",
	[PALETTE_PYTHON] = "python", [PALETTE_RUST] = "rust", [PALETTE_RED] = "red",       [PALETTE_GREEN] = "green",
	[PALETTE_BLUE] = "blue",     [PALETTE_AQUA] = "aqua", [PALETTE_YELLOW] = "yellow", [PALETTE_PURPLE] = "purple",
	[PALETTE_ORANGE] = "orange", [PALETTE_SAFE] = "safe", [PALETTE_STATE] = "state",   [PALETTE_COUNT] = NULL,
};

const char *name_kind_text(enum name_kind kind)
{
	static const char *const texts[KIND_COUNT] = {
		[KIND_NATIVE] = "native", [KIND_KERNEL] = "kernel", [KIND_INLINED] = "inlined", [KIND_JIT] = "jit",
		[KIND_PYTHON] = "python", [KIND_THREAD] = "thread", [KIND_UNKNOWN] = "unknown", [KIND_WAKER] = "waker",
	};
	return texts[kind];
}

/* Hues. Each is a base and a span that the shade moves in. */

static uint8_t channel(int base, int span, double at)
{
	return (uint8_t)(base + (int)(span * at));
}

static struct rgb hot(struct shade s)
{
	return (struct rgb){channel(205, 50, s.v3), channel(0, 230, s.v1), channel(0, 55, s.v2)};
}

static struct rgb mem(struct shade s)
{
	return (struct rgb){0, channel(190, 50, s.v2), channel(0, 210, s.v1)};
}

static struct rgb io(struct shade s)
{
	uint8_t x = channel(80, 60, s.v1);
	return (struct rgb){x, x, channel(190, 55, s.v2)};
}

static struct rgb red(struct shade s)
{
	uint8_t x = channel(50, 80, s.v1);
	return (struct rgb){channel(200, 55, s.v1), x, x};
}

static struct rgb green(struct shade s)
{
	uint8_t x = channel(50, 60, s.v1);
	return (struct rgb){x, channel(200, 55, s.v1), x};
}

static struct rgb blue(struct shade s)
{
	uint8_t x = channel(80, 60, s.v1);
	return (struct rgb){x, x, channel(205, 50, s.v1)};
}

static struct rgb yellow(struct shade s)
{
	uint8_t x = channel(175, 55, s.v1);
	return (struct rgb){x, x, channel(50, 20, s.v1)};
}

static struct rgb purple(struct shade s)
{
	uint8_t x = channel(190, 65, s.v1);
	return (struct rgb){x, channel(80, 60, s.v1), x};
}

static struct rgb aqua(struct shade s)
{
	uint8_t x = channel(165, 55, s.v1);
	return (struct rgb){channel(50, 60, s.v1), x, x};
}

static struct rgb orange(struct shade s)
{
	return (struct rgb){channel(190, 65, s.v1), channel(90, 65, s.v1), 0};
}

/* The colors of Okabe and Ito, for people with any common color blindness, lightened by the shade. */

static struct rgb lightened(struct rgb base, struct shade s)
{
	double white = 0.12 + 0.28 * s.v1;
	return (struct rgb){
		(uint8_t)(base.r + (255 - base.r) * white),
		(uint8_t)(base.g + (255 - base.g) * white),
		(uint8_t)(base.b + (255 - base.b) * white),
	};
}

static struct rgb safe_native(struct shade s)
{
	return lightened((struct rgb){230, 159, 0}, s);
}

static struct rgb safe_scoped(struct shade s)
{
	return lightened((struct rgb){86, 180, 233}, s);
}

static struct rgb safe_kernel(struct shade s)
{
	return lightened((struct rgb){213, 94, 0}, s);
}

static struct rgb safe_jit(struct shade s)
{
	return lightened((struct rgb){0, 158, 115}, s);
}

static struct rgb safe_inlined(struct shade s)
{
	return lightened((struct rgb){240, 228, 66}, s);
}

static struct rgb safe_python(struct shade s)
{
	return lightened((struct rgb){50, 140, 200}, s);
}

static struct rgb safe_waker(struct shade s)
{
	return lightened((struct rgb){204, 121, 167}, s);
}

static struct rgb safe_thread(struct shade s)
{
	return lightened((struct rgb){150, 150, 150}, s);
}

static struct rgb safe_unknown(struct shade s)
{
	return lightened((struct rgb){200, 196, 188}, s);
}

static struct rgb grey(struct shade s)
{
	uint8_t x = channel(190, 40, s.v1);
	return (struct rgb){x, x, x};
}

/* Groups */

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);
	return length >= end_length && !memcmp(name + length - end_length, end, end_length);
}

static bool starts_with(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

static bool starts_with_any(const char *name, const char *const *starts)
{
	for (; *starts; starts++)
		if (*name == **starts && starts_with(name, *starts))
			return true;
	return false;
}

/* Package paths as the JVM writes them, or perf-map-agent's class:::method. */
static bool looks_like_java(const char *name)
{
	static const char *const packages[] = {"java/", "javax/", "jdk/", "net/", "org/", "com/", "io/", "sun/", NULL};
	return starts_with_any(name, packages) || (*name == 'L' && starts_with_any(name + 1, packages)) ||
	       strstr(name, ":::");
}

static bool looks_like_javascript(const char *name)
{
	const char *slash = strchr(name, '/');
	return slash && strstr(slash, ".js");
}

static const struct colour_class *java_class(const char *name)
{
	static const struct colour_class java = {green, "Java"}, inlined = {aqua, "inlined"}, cpp = {yellow, "C++"},
					 kernel = {orange, "kernel"}, system = {red, "native"};
	if (ends_with(name, "_[j]"))
		return &java;
	if (ends_with(name, "_[i]"))
		return &inlined;
	if (looks_like_java(name))
		return &java;
	if (strstr(name, "::"))
		return &cpp;
	return ends_with(name, "_[k]") ? &kernel : &system;
}

static const struct colour_class *perl_class(const char *name)
{
	static const struct colour_class cpp = {yellow, "C++"}, perl = {green, "Perl"}, kernel = {orange, "kernel"},
					 system = {red, "native"};
	if (strstr(name, "::"))
		return &cpp;
	if (strstr(name, "Perl") || strstr(name, ".pl"))
		return &perl;
	return ends_with(name, "_[k]") ? &kernel : &system;
}

static const struct colour_class *js_class(const char *name)
{
	static const struct colour_class script = {green, "JavaScript"}, builtin = {aqua, "built-in"},
					 cpp = {yellow, "C++"}, kernel = {orange, "kernel"}, system = {red, "native"};
	if (ends_with(name, "_[j]"))
		return strchr(name, '/') ? &script : &builtin;
	if (strstr(name, "::"))
		return &cpp;
	if (looks_like_javascript(name))
		return &script;
	if (strchr(name, ':'))
		return &builtin;
	if (!strcmp(name, " ")) /* a symbol the engine did not give */
		return &script;
	return strstr(name, "_[k]") ? &kernel : &system;
}

/* True for python, python3 and Python3.11 as one part of a path. */
static bool is_python_folder(const char *part, size_t length)
{
	if (length < 6 || (memcmp(part, "python", 6) != 0 && memcmp(part, "Python", 6) != 0))
		return false;
	for (size_t i = 6; i < length; i++)
		if (!isdigit((unsigned char)part[i]) && part[i] != '.')
			return false;
	return true;
}

static const struct colour_class python_package = {aqua, "site-packages"},
				 python_library = {yellow, "standard library"}, python_other = {red, "other code"};

static const struct colour_class *python_class(const char *name)
{
	static const char *const builtin[] = {"<built-in", "<method", "<frozen", NULL};
	bool in_library = starts_with_any(name, builtin);
	for (const char *part = name;;) {
		size_t length = strcspn(part, "/\\");
		if (length == strlen("site-packages") && !memcmp(part, "site-packages", length))
			return &python_package;
		in_library |= is_python_folder(part, length);
		if (!part[length])
			break;
		part += length + 1;
	}
	return in_library ? &python_library : &python_other;
}

/* A program may be in a directory of any name, so the library is that in lib/python3.11. */
static const struct colour_class *python_file_class(const char *file)
{
	if (strstr(file, "/site-packages/") || strstr(file, "/dist-packages/"))
		return &python_package;
	return starts_with(file, "<frozen") || strstr(file, "/lib/python3") || strstr(file, "/lib64/python3") ?
		       &python_library :
		       &python_other;
}

const struct colour_class *palette_python_class(const char *file, enum name_kind kind)
{
	static const struct colour_class native = {green, "native"}, kernel = {orange, "kernel"},
					 thread = {grey, "thread"}, unknown = {grey, "unknown"};
	switch (kind) {
	case KIND_PYTHON:
		return python_file_class(file);
	case KIND_KERNEL:
		return &kernel;
	case KIND_THREAD:
		return &thread;
	case KIND_UNKNOWN:
		return &unknown;
	default:
		return &native;
	}
}

static const struct colour_class *rust_class(const char *name)
{
	static const struct colour_class library = {orange, "core, alloc, std"}, rust = {aqua, "other Rust"},
					 system = {yellow, "native"};
	static const char *const libraries[] = {"core::", "std::", "alloc::", "<std::", "<alloc::", NULL};
	const char *tick = strchr(name, '`');
	if (tick)
		name = tick + 1;
	/* The state machine of an async function is the user's code, though core names its type. */
	if (starts_with_any(name, libraries) ||
	    (starts_with(name, "<core::") && !starts_with(name, "<core::future::from_generator::GenFuture<T>")))
		return &library;
	return strstr(name, "::") ? &rust : &system;
}

static const struct colour_class *chain_class(const char *name)
{
	static const struct colour_class waker = {aqua, "waker"}, off_cpu = {blue, "off-CPU"};
	return strstr(name, "_[w]") ? &waker : &off_cpu;
}

static const struct state_row {
	const char *label;
	struct colour_class class, safe;
} state_rows[PART_LABELS] = {[PART_NONE] = {NULL, {grey, NULL}, {safe_thread, NULL}},
#define STATE_ROW(id, name, time, hue, safe_hue, legend) \
	[PART_##id] = {"[" name "]", {hue, legend}, {safe_##safe_hue, legend}},
			     PROFILE_PARTS(STATE_ROW)
#undef STATE_ROW
};

unsigned palette_state_of(const char *name)
{
	for (unsigned i = 1; i < PART_LABELS; i++)
		if (!strcmp(name, state_rows[i].label))
			return i;
	return 0;
}

const struct colour_class *palette_state_class(unsigned state, bool safe)
{
	return safe ? &state_rows[state].safe : &state_rows[state].class;
}

static const struct colour_class *safe_class(const char *name, enum name_kind kind)
{
	static const struct colour_class classes[KIND_COUNT] = {
		[KIND_NATIVE] = {safe_native, "native"},    [KIND_KERNEL] = {safe_kernel, "kernel"},
		[KIND_INLINED] = {safe_inlined, "inlined"}, [KIND_JIT] = {safe_jit, "Java, JavaScript, JIT"},
		[KIND_PYTHON] = {safe_python, "Python"},    [KIND_THREAD] = {safe_thread, "thread"},
		[KIND_UNKNOWN] = {safe_unknown, "unknown"}, [KIND_WAKER] = {safe_waker, "waker"},
	};
	static const struct colour_class scoped = {safe_scoped, "C++, Rust"};
	if (kind != KIND_NATIVE)
		return &classes[kind];
	/* Folded text has no kinds, but the names of some languages give them away. */
	if (looks_like_java(name) || looks_like_javascript(name))
		return &classes[KIND_JIT];
	const char *colon = strchr(name, ':');
	if (colon && strstr(name, ".py:"))
		return &classes[KIND_PYTHON];
	return colon && strstr(colon, "::") ? &scoped : &classes[KIND_NATIVE];
}

static const struct colour_class plain_classes[PALETTE_COUNT] = {
	[PALETTE_HOT] = {hot, NULL},       [PALETTE_MEM] = {mem, NULL},       [PALETTE_IO] = {io, NULL},
	[PALETTE_WAKEUP] = {aqua, NULL},   [PALETTE_RED] = {red, NULL},       [PALETTE_GREEN] = {green, NULL},
	[PALETTE_BLUE] = {blue, NULL},     [PALETTE_AQUA] = {aqua, NULL},     [PALETTE_YELLOW] = {yellow, NULL},
	[PALETTE_PURPLE] = {purple, NULL}, [PALETTE_ORANGE] = {orange, NULL},
};

const struct colour_class *palette_class(enum palette palette, const char *name, enum name_kind kind)
{
	switch (palette) {
	case PALETTE_JAVA:
		return java_class(name);
	case PALETTE_JS:
		return js_class(name);
	case PALETTE_PERL:
		return perl_class(name);
	case PALETTE_PYTHON:
		return python_class(name);
	case PALETTE_RUST:
		return rust_class(name);
	case PALETTE_CHAIN:
		return chain_class(name);
	case PALETTE_SAFE:
		return safe_class(name, kind);
	case PALETTE_STATE:
		return palette_state_class(0, false);
	default:
		return &plain_classes[palette];
	}
}

struct rgb colour_class_sample(const struct colour_class *class)
{
	return class->shaded((struct shade){0.5, 0.5, 0.5});
}

bool palette_separator(const char *name, struct rgb *ret_colour)
{
	if (name[0] != '-' || (name[1] && (name[1] != '-' || name[2])))
		return false;
	uint8_t grey = name[1] ? 160 : 200;
	*ret_colour = (struct rgb){grey, grey, grey};
	return true;
}

/* Changes */

const struct rgb palette_noise = {200, 200, 200};

struct rgb palette_change(double part, double whole)
{
	if (part == 0 || !(whole > 0))
		return (struct rgb){250, 250, 250};
	uint8_t x = (uint8_t)(210 * (1 - fmin(fabs(part) / whole, 1)));
	return part > 0 ? (struct rgb){255, x, x} : (struct rgb){x, x, 255};
}

struct rgb palette_diffusion(double share)
{
	/* The root makes it steeper at first: half of the width is already worth a look. */
	int value = (int)(sqrt(fmin(fmax(share, 0), 1)) * 2000);
	uint8_t x = (uint8_t)(100 + 150 * (2000 - value) / 2000);
	return value ? (struct rgb){255, x, x} : (struct rgb){250, 250, 250};
}

/* Backgrounds */

bool palette_background(const char *name, struct rgb ret_gradient[2])
{
	static const struct {
		const char *name;
		struct rgb top, bottom;
	} gradients[] = {
		{"yellow", {0xee, 0xee, 0xee}, {0xee, 0xee, 0xb0}},
		{"blue", {0xee, 0xee, 0xee}, {0xe0, 0xe0, 0xff}},
		{"green", {0xee, 0xf2, 0xee}, {0xe0, 0xff, 0xe0}},
		{"grey", {0xf8, 0xf8, 0xf8}, {0xe8, 0xe8, 0xe8}},
	};
	for (size_t i = 0; i < sizeof gradients / sizeof *gradients; i++) {
		if (!strcmp(gradients[i].name, name)) {
			ret_gradient[0] = gradients[i].top;
			ret_gradient[1] = gradients[i].bottom;
			return true;
		}
	}
	struct rgb flat;
	if (*name != '#' || !rgb_parse(name, &flat))
		return false;
	ret_gradient[0] = ret_gradient[1] = flat;
	return true;
}

const char *palette_background_default(enum palette palette)
{
	switch (palette) {
	case PALETTE_MEM:
		return "green";
	case PALETTE_IO:
	case PALETTE_WAKEUP:
	case PALETTE_CHAIN:
		return "blue";
	case PALETTE_RED:
	case PALETTE_GREEN:
	case PALETTE_BLUE:
	case PALETTE_AQUA:
	case PALETTE_YELLOW:
	case PALETTE_PURPLE:
	case PALETTE_ORANGE:
	case PALETTE_SAFE:
	case PALETTE_STATE:
		return "grey";
	default:
		return "yellow";
	}
}

bool rgb_is_dark(struct rgb colour)
{
	/* Relative luminance with a gamma of 2; 0.197 is where both contrasts are equal. */
	unsigned light = 2126u * colour.r * colour.r + 7152u * colour.g * colour.g + 722u * colour.b * colour.b;
	return light < 1970u * 255 * 255;
}

static bool parse_hex(const char *digits, struct rgb *ret_colour)
{
	size_t length = strlen(digits);
	if ((length != 3 && length != 6) || strspn(digits, "0123456789abcdefABCDEF") != length)
		return false;
	unsigned long value = strtoul(digits, NULL, 16);
	if (length == 3)
		value = (value >> 8) * 0x110000 | (value >> 4 & 15) * 0x1100 | (value & 15) * 0x11;
	*ret_colour = (struct rgb){(uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
	return true;
}

bool rgb_parse(const char *text, struct rgb *ret_colour)
{
	if (*text == '#')
		return parse_hex(text + 1, ret_colour);
	unsigned r, g, b;
	int end = 0;
	if (sscanf(text, "rgb(%3u ,%3u ,%3u )%n", &r, &g, &b, &end) != 3 || !end || text[end])
		return false;
	if (r > 255 || g > 255 || b > 255)
		return false;
	*ret_colour = (struct rgb){(uint8_t)r, (uint8_t)g, (uint8_t)b};
	return true;
}
