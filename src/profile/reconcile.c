/* Renames functions of one profile to the names that another one uses. */
#include "profile/reconcile.h"

#include "base/buf.h"
#include "name/short_name.h"
#include "profile/module.h"

/* Names of functions of a profile, each once. */
struct names {
	const struct profile *profile;
	size_t string_count; /* then: more may come while names are compared */
	bool *listed; /* by string */
	str_id *list;
	size_t count;
};

static void names_init(struct names *names, const struct profile *profile)
{
	*names = (struct names){.profile = profile, .string_count = profile->strings.count};
	names->listed = mem_zalloc(profile->strings.count + 1, sizeof *names->listed);
	names->list = mem_alloc((profile->strings.count + 1) * sizeof *names->list);
	for (size_t i = 0; i < profile->function_count; i++) {
		str_id name = profile->functions[i].name;
		if (!names->listed[name])
			names->list[names->count++] = name;
		names->listed[name] = true;
	}
}

static void names_release(struct names *names)
{
	free(names->listed);
	free(names->list);
}

/* The id that a text has as a name there, or INDEX_NONE. */
static str_id find_name(const struct names *names, const char *text, size_t length)
{
	str_id id = strpool_find(&names->profile->strings, text, length);
	return id < names->string_count && names->listed[id] ? id : INDEX_NONE;
}

static bool is_in(const struct names *names, const struct profile *profile, str_id name)
{
	return find_name(names, profile_text(profile, name), strpool_length(&profile->strings, name)) != INDEX_NONE;
}

#define SEVERAL (INDEX_NONE - 1)

/*
 * For each name of `cut` that `whole` does not have, the one name of `whole` that it is the form of; INDEX_NONE: none,
 * SEVERAL: it could be more than one. Names that both have are what they are. The caller frees.
 */
static str_id *find_whole(const struct names *cut, const struct names *whole, unsigned keep)
{
	str_id *found = mem_alloc((cut->profile->strings.count + 1) * sizeof *found);
	memset(found, 0xff, (cut->profile->strings.count + 1) * sizeof *found);
	struct buf form CLEANUP_BUF = {0};
	for (size_t i = 0; i < whole->count; i++) {
		const char *text = profile_text(whole->profile, whole->list[i]);
		size_t length = strpool_length(&whole->profile->strings, whole->list[i]);
		if (!memchr(text, '(', length) && !memchr(text, '<', length))
			continue;
		buf_clear(&form);
		short_name(&form, text, length, keep);
		str_id name = form.size < length ? find_name(cut, form.data, form.size) : INDEX_NONE;
		if (name == INDEX_NONE || is_in(whole, cut->profile, name))
			continue;
		/* One that both have counts too: the cut name may stand for it. */
		found[name] = found[name] == INDEX_NONE ? whole->list[i] : SEVERAL;
	}
	return found;
}

static void rename_functions(struct profile *run, const str_id *names)
{
	for (size_t i = 0; i < run->function_count; i++)
		run->functions[i].name = names[run->functions[i].name];
}

static void reconcile_form(const struct profile *known, struct profile *run, unsigned keep)
{
	struct names theirs, ours;
	names_init(&theirs, known);
	names_init(&ours, run);
	size_t strings = run->strings.count;
	str_id *names CLEANUP_FREE = mem_alloc((strings + 1) * sizeof *names);
	for (size_t i = 0; i < strings; i++)
		names[i] = (str_id)i;
	str_id *whole CLEANUP_FREE = find_whole(&theirs, &ours, keep); /* by string of `known`, one of `run` */
	for (size_t i = 0; i < theirs.count; i++) {
		str_id name = whole[theirs.list[i]];
		if (name < SEVERAL && !is_in(&theirs, run, name))
			names[name] = profile_string(run, profile_text(known, theirs.list[i]),
						     strpool_length(&known->strings, theirs.list[i]));
	}
	str_id *known_whole CLEANUP_FREE = find_whole(&ours, &theirs, keep); /* by string of `run`, one of `known` */
	for (size_t i = 0; i < ours.count; i++) {
		str_id name = known_whole[ours.list[i]];
		if (name < SEVERAL && !is_in(&ours, known, name))
			names[ours.list[i]] =
				profile_string(run, profile_text(known, name), strpool_length(&known->strings, name));
	}
	rename_functions(run, names);
	names_release(&theirs);
	names_release(&ours);
}

void reconcile_jit(struct profile *run)
{
	str_id jit = 0;
	for (size_t i = 0; i < run->function_count; i++) {
		struct function *function = &run->functions[i];
		const char *name = profile_text(run, function->name), *module = profile_text(run, function->module);
		size_t length = strpool_length(&run->strings, function->name);
		bool unresolved = length > 2 && name[0] == '[' && name[length - 1] == ']' &&
				  module_is_jit_file(name + 1, length - 2);
		bool generated = module_is_jit_file(module, strlen(module));
		if ((unresolved || generated) && !jit)
			jit = profile_string(run, MODULE_JIT_NAME, strlen(MODULE_JIT_NAME));
		function = &run->functions[i];
		function->name = unresolved ? jit : function->name;
		function->module = generated ? jit : function->module;
	}
}

void reconcile_names(const struct profile *known, struct profile *run)
{
	static const unsigned forms[] = {SHORT_ARGUMENTS, 0};
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		reconcile_form(known, run, forms[i]);
}
