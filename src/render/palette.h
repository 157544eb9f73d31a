/*
 * The color of a function. Palettes, and the way a shade is picked inside one, are those of flamegraph.pl, so that the
 * same input gets the same colors; python and rust are inferno's; "safe" is wick's own for color-blind readers, and
 * "state" for what threads wait for.
 */
#ifndef WICK_RENDER_PALETTE_H
#define WICK_RENDER_PALETTE_H

#include "profile/types.h"

#include <stdint.h>

struct rgb {
	uint8_t r, g, b;
};

enum palette {
	PALETTE_HOT,
	PALETTE_MEM,
	PALETTE_IO,
	PALETTE_WAKEUP,
	PALETTE_CHAIN,
	PALETTE_JAVA,
	PALETTE_JS,
	PALETTE_PERL,
	PALETTE_PYTHON,
	PALETTE_RUST,
	PALETTE_RED,
	PALETTE_GREEN,
	PALETTE_BLUE,
	PALETTE_AQUA,
	PALETTE_YELLOW,
	PALETTE_PURPLE,
	PALETTE_ORANGE,
	PALETTE_SAFE,
	PALETTE_STATE,
	PALETTE_COUNT,
};

/* Names of the palettes by number, ended by NULL: the choices of --colors. */
extern const char *const palette_names[];

/* How the shade of a function is picked among those of its hue. */
enum shade_method {
	SHADE_BY_SUM, /* by the sum of its characters: flamegraph.pl's way */
	SHADE_BY_HASH, /* by its first three characters: --hash */
	SHADE_BY_FNV, /* by all bytes: inferno's --deterministic */
	SHADE_RANDOM, /* --random */
};

struct shade {
	double v1, v2, v3; /* 0 to 1 */
};
/* `random` is the generator's state, changed by SHADE_RANDOM only. */
struct shade shade_of(enum shade_method method, const char *name, size_t length, uint64_t *random);

/* What a function is, as far as names and frames show. The order is the one of "kindNames" in the picture's data. */
enum name_kind {
	KIND_NATIVE,
	KIND_KERNEL,
	KIND_INLINED,
	KIND_JIT,
	KIND_PYTHON,
	KIND_THREAD,
	KIND_UNKNOWN,
	KIND_WAKER,
	KIND_COUNT,
};
const char *name_kind_text(enum name_kind kind);

/* A group of functions with one color, as the legend lists it. Rows are constants: compare their addresses. */
struct colour_class {
	struct rgb (*shaded)(struct shade shade);
	const char *says; /* NULL: the palette has one group only and needs no legend */
};

/* The group of an annotated name ("do_sys_open_[k]"); names are NUL-terminated. */
const struct colour_class *palette_class(enum palette palette, const char *name, enum name_kind kind);

/*
 * The group of a function where frames say what is Python, for the palette "python": `file` is what a function of
 * Python is in.
 */
const struct colour_class *palette_python_class(const char *file, enum name_kind kind);

/*
 * Frames that say what all stacks above them have in common: "[sleeping]", "[lock]", "[minor]". The palette "state"
 * colors by them. An enum part_label: 0 is none of them.
 */
unsigned palette_state_of(const char *name);
/* The group of what lies above such a frame; state 0 is what lies above none. */
const struct colour_class *palette_state_class(unsigned state, bool safe);

/* The color that stands for a group in the legend: its middle shade. */
struct rgb colour_class_sample(const struct colour_class *class);

/* Frames of this name separate stacks: "-" and "--". True and the grey to use when it is one. */
bool palette_separator(const char *name, struct rgb *ret_colour);

/* Red where `part` of `whole` is gained, blue where it is lost, near white for no change; -whole ≤ part ≤ whole. */
struct rgb palette_change(double part, double whole);
extern const struct rgb palette_noise; /* a change that may be chance */
/* --colordiffusion: redder the wider; `share` from 0 to 1. */
struct rgb palette_diffusion(double share);

/* Background (top, bottom) by name: yellow, blue, green, grey, or "#rrggbb" for one color. False: unknown. */
bool palette_background(const char *name, struct rgb ret_gradient[2]);
/* The name of the background that goes with a palette. */
const char *palette_background_default(enum palette palette);

/* True when white letters can be read on it better than black ones. */
bool rgb_is_dark(struct rgb colour);

/* "#rrggbb", "#rgb" or "rgb(r,g,b)" in decimal. False when it is none of them. */
bool rgb_parse(const char *text, struct rgb *ret_colour);

#endif
