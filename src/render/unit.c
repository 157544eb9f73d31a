/* Scales amounts to the unit that suits them. */
#include "render/unit.h"

#include "profile/types.h"

#include <math.h>

/* Ended by a NULL name, from small to large. */
struct unit_step {
	const char *name;
	double size;
};

static const struct unit_step time_steps[] = {{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit_step byte_steps[] = {
	{"bytes", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {NULL, 0},
};

static const struct unit_step *steps_of(const char *unit)
{
	return !strcmp(unit, "ns") ? time_steps : !strcmp(unit, "bytes") ? byte_steps : NULL;
}

/* The largest step of which `value` is at least `min` times the size. */
static const struct unit_step *step_for(const struct unit_step *steps, double value, double min)
{
	const struct unit_step *step = steps;
	while (step[1].name && fabs(value) >= min * step[1].size)
		step++;
	return step;
}

struct unit_scale unit_scale(const char *unit, double largest)
{
	const struct unit_step *steps = steps_of(unit);
	if (!steps)
		return (struct unit_scale){0};
	const struct unit_step *step = step_for(steps, largest, 10);
	return (struct unit_scale){.name = step->name, .divisor = step->size, .digits = step == steps ? 0 : 2};
}

bool unit_amount(struct buf *out, const char *unit, double value)
{
	const struct unit_step *steps = steps_of(unit);
	const struct unit_step *step = steps ? step_for(steps, value, 1) : NULL;
	if (!step || step == steps)
		return false;
	buf_printf(out, "%.2f %s", value / step->size, step->name);
	return true;
}

const char *unit_noun(const char *unit, double amount)
{
	if (amount != 1)
		return unit;
	if (!strcmp(unit, "samples"))
		return "sample";
	for (const struct profile_view *view = NULL; (view = profile_view_next(view));)
		if (view->one && !strcmp(unit, view->unit))
			return view->one;
	return unit;
}
