/* The rules by which frames get names, one per kind of frame. */
#include "symbolize/rules.h"

#include "base/hash.h"
#include "base/text.h"
#include "name/java_name.h"
#include "profile/tidy.h"
#include "symbolize/lookup.h"
#include "symbolize/symbolizer.h"

#include <string.h>

static void add_text(struct symbolizer *n, const char *text, enum frame_kind kind)
{
	str_id name = profile_string(n->profile, text, strlen(text));
	symbolizer_add_frame(n, (struct function){.name = name}, 0, kind);
}

static void name_unresolved(struct symbolizer *n, const struct trace_frame *frame)
{
	str_id path = symbolizer_module_path(n, frame->module);
	const char *text = profile_text(n->profile, path);
	buf_clear(&n->scratch);
	tidy_unresolved(&n->scratch, text, frame->module == MODULE_NONE ? 0 : strlen(text));
	text_one_frame(n->scratch.data, n->scratch.size);
	if (n->options.addresses) {
		n->scratch.size--; /* the bracket */
		buf_printf(&n->scratch, " <%llx>]", (unsigned long long)frame->address);
	}
	str_id name = profile_string(n->profile, n->scratch.data, n->scratch.size);
	symbolizer_add_frame(n, (struct function){.name = name, .module = path}, 0, FRAME_UNKNOWN);
}

/* The whole name, as one frame of a folded line: no ';', which separates frames, and no line breaks. */
static void write_name(struct buf *out, const char *text, bool jit)
{
	if (!jit || !java_name(out, text))
		buf_str(out, text);
	text_one_frame(out->data, out->size);
}

static str_id name_of(struct symbolizer *n, const char *text, bool jit)
{
	uint64_t hash = hash_u64((uintptr_t)text);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&n->name_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&n->name_map, &probe))
		if (n->names[i].text == text)
			return n->names[i].name;
	buf_clear(&n->scratch);
	write_name(&n->scratch, text, jit);
	MEM_ROOM(n->names, n->name_count, n->name_capacity);
	struct known_name *known = &n->names[n->name_count];
	*known = (struct known_name){text, profile_string(n->profile, n->scratch.data, n->scratch.size)};
	index_map_insert(&n->name_map, hash, (uint32_t)n->name_count++);
	return known->name;
}

static void name_resolved(struct symbolizer *n, const struct trace_frame *frame, const struct answer *answer)
{
	str_id path = profile_string(n->profile, answer->shown_module, strlen(answer->shown_module));
	enum frame_kind shown = frame_rule(frame->kind)->shown;
	for (size_t i = answer->count; i-- > 0;) {
		const struct symbol_frame *found = &answer->frames[i];
		struct function function = {.name = name_of(n, found->name, frame->kind == TRACE_JIT), .module = path};
		if (found->file && n->options.keep_lines)
			function.file = profile_string(n->profile, found->file, strlen(found->file));
		symbolizer_add_frame(n, function, found->line, found->inlined ? FRAME_INLINED : shown);
	}
}

/* Code at an address: functions with what was inlined, or the module. */
static void name_code(struct symbolizer *n, const struct trace *trace, const struct trace_frame *frame,
		      const struct answer *answer, struct symbolizer_name *named)
{
	(void)trace;
	if (answer)
		name_resolved(n, frame, answer);
	else
		name_unresolved(n, frame);
	named->unresolved = !answer;
	named->derived = frame->kind != TRACE_KERNEL && frame->module != MODULE_NONE &&
			 module_code_is_derived(module_store_get(n->codes, frame->module),
						frame->address - !trace_frame_is_exact(frame));
}

/* A frame whose name is one of the strings of the trace. */
static void name_text(struct symbolizer *n, const struct trace *trace, const struct trace_frame *frame,
		      const struct answer *answer, struct symbolizer_name *named)
{
	(void)answer, (void)named;
	add_text(n, trace_text(trace, (str_id)frame->address), frame_rule(frame->kind)->shown);
}

/* A frame that stands for all of its kind. */
static void name_kind(struct symbolizer *n, const struct trace *trace, const struct trace_frame *frame,
		      const struct answer *answer, struct symbolizer_name *named)
{
	(void)trace, (void)answer, (void)named;
	add_text(n, frame_rule(frame->kind)->text, frame_rule(frame->kind)->shown);
}

/* A function of an interpreter, if it was still there when its name was read. `version` is the line. */
static void name_interpreted(struct symbolizer *n, const struct trace *trace, const struct trace_frame *frame,
			     const struct answer *answer, struct symbolizer_name *named)
{
	struct interpreted_function found;
	if (frame->address > UINT32_MAX || !interpreted_get(&n->codes->interpreted, (uint32_t)frame->address, &found)) {
		name_kind(n, trace, frame, answer, named);
		named->late = true;
		return;
	}
	buf_clear(&n->scratch);
	buf_str(&n->scratch, found.name);
	text_one_frame(n->scratch.data, n->scratch.size);
	struct function function = {.name = profile_string(n->profile, n->scratch.data, n->scratch.size)};
	function.module = function.file = profile_string(n->profile, found.file, strlen(found.file));
	if (!n->options.keep_lines)
		function.file = 0;
	symbolizer_add_frame(n, function, frame->version, frame_rule(frame->kind)->shown);
}

const struct frame_rule *frame_rule(enum trace_kind kind)
{
	static const struct frame_rule rules[TRACE_KINDS] = {
		[TRACE_NATIVE] = {name_code, FRAME_NATIVE, .in_module = true},
		[TRACE_KERNEL] = {name_code, FRAME_KERNEL, .in_module = true},
		[TRACE_JIT] = {name_code, FRAME_JIT, .in_module = true},
		[TRACE_PYTHON] = {name_interpreted, FRAME_PYTHON, .text = "[python frame]"},
		[TRACE_JAVA] = {name_interpreted, FRAME_UNKNOWN, .text = "[java frame]"},
		[TRACE_NODE] = {name_interpreted, FRAME_UNKNOWN, .text = "[node frame]"},
		[TRACE_TEXT] = {name_text, FRAME_UNKNOWN, .in_module = false},
		[TRACE_TRUNCATED] = {name_kind, FRAME_UNKNOWN, .text = "[truncated]"},
	};
	return &rules[kind];
}

module_id frame_rule_module(const struct trace_frame *frame)
{
	return frame_rule(frame->kind)->in_module ? frame->module : MODULE_NONE;
}

bool frame_rule_is_unmapped(const struct trace_frame *frame)
{
	return frame_rule(frame->kind)->in_module && frame->module == MODULE_NONE;
}

bool frame_rule_truncates(const struct trace_frame *frame)
{
	return frame->kind == TRACE_TRUNCATED || (frame->kind != TRACE_KERNEL && frame_rule_is_unmapped(frame));
}
