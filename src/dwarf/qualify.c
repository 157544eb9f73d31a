/*
 * Names of C++ functions that have no linkage name, made of the DIEs around them as c++filt would print it: static
 * functions, members of anonymous namespaces, and local classes and lambdas in them. Compilers write no linkage name
 * for what no other unit can call.
 */
#include "base/buf.h"
#include "dwarf/private.h"
#include "name/demangle.h"
#include "name/short_name.h"

#define DEPTH_MAX 16 /* of scopes and of types, each in the other: honest files have less */
#define TEXT_MAX 8192
#define HOPS_MAX 12
#define PARAMETERS_MAX 64

static void put_type(struct buf *out, struct dwarf_unit *unit, const struct dwarf_value *type, unsigned depth);
static void put_function(struct buf *out, const struct dwarf_die *die, bool with_return, unsigned depth);

static bool is_class(unsigned tag)
{
	return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/* A name of the file, which may be as long as that. */
static void put_text(struct buf *out, const char *text)
{
	buf_add(out, text, strnlen(text, TEXT_MAX));
}

/* --- parameters --- */

/* Whether the object that a member function is called for is const: the type of its artificial parameter. */
static bool points_to_const(struct dwarf_unit *unit, struct dwarf_value type)
{
	uint64_t offset;
	struct dwarf_die die;
	for (unsigned hops = 0; hops < 3; hops++) {
		if (!dwarf_follow(&unit, &offset, &type) || !dwarf_die_read(&die, unit, offset))
			return false;
		if (die.tag == DW_TAG_pointer_type) {
			type = die.type;
			return dwarf_follow(&unit, &offset, &type) && dwarf_die_read(&die, unit, offset) &&
			       die.tag == DW_TAG_const_type;
		}
		if (die.tag != DW_TAG_const_type)
			return false;
		type = die.type;
	}
	return false;
}

/* The type of a parameter; that it is const itself is no part of a signature. */
static void put_parameter_type(struct buf *out, struct dwarf_unit *unit, const struct dwarf_value *type, unsigned depth)
{
	struct dwarf_unit *target = unit;
	uint64_t offset;
	struct dwarf_die die;
	if (dwarf_follow(&target, &offset, type) && dwarf_die_read(&die, target, offset) &&
	    (die.tag == DW_TAG_const_type || die.tag == DW_TAG_volatile_type))
		put_type(out, target, &die.type, depth);
	else
		put_type(out, unit, type, depth);
}

/* "(int, char const*)" of a function or of its type. */
static void put_parameters(struct buf *out, const struct dwarf_die *die, bool *ret_const, unsigned depth)
{
	struct cursor cursor = die->next;
	struct dwarf_die child;
	unsigned count = 0;
	buf_char(out, '(');
	while (die->children && count < PARAMETERS_MAX && out->size < TEXT_MAX &&
	       dwarf_die_next(&child, die->unit, &cursor) && child.tag != DW_TAG_lexical_block) {
		dwarf_die_skip_children(&child, &cursor);
		if (child.tag == DW_TAG_unspecified_parameters) {
			buf_str(out, count++ ? ", ..." : "...");
		} else if (child.tag == DW_TAG_formal_parameter && child.artificial) {
			*ret_const |= points_to_const(die->unit, child.type);
		} else if (child.tag == DW_TAG_formal_parameter) {
			buf_str(out, count++ ? ", " : "");
			put_parameter_type(out, die->unit, &child.type, depth);
		}
	}
	buf_char(out, ')');
}

/* --- lambdas --- */

/* The operator() of a class without a name, which makes it a lambda. */
static bool find_call(const struct dwarf_die *class, struct dwarf_die *ret_call)
{
	struct cursor cursor = class->next;
	if (class->name || !class->children)
		return false;
	while (dwarf_die_next(ret_call, class->unit, &cursor)) {
		if (ret_call->tag == DW_TAG_subprogram && ret_call->name &&
		    !strncmp(ret_call->name, "operator()", strlen("operator()")))
			return true;
		dwarf_die_skip_children(ret_call, &cursor);
	}
	return false;
}

/* The function that a scope is in, or the outermost scope. */
static uint32_t function_around(const struct dwarf_scopes *scopes, uint32_t scope)
{
	while (scope != DWARF_NONE && scopes->items[scope].parent != DWARF_NONE &&
	       scopes->items[scope].tag != DW_TAG_subprogram)
		scope = scopes->items[scope].parent;
	return scope;
}

/* Lambdas of a function are numbered in the order of the source, as gcc does where no other unit can name them. */
static unsigned lambda_number(const struct dwarf_die *class)
{
	const struct dwarf_scopes *scopes = dwarf_unit_scopes(class->unit);
	uint32_t around = function_around(scopes, dwarf_scopes_find(scopes, class->unit, class->offset));
	unsigned number = 1;
	if (around == DWARF_NONE || scopes->items[around].tag != DW_TAG_subprogram)
		return 1;
	for (size_t i = around + 1; i < scopes->count && scopes->items[i].start < scopes->items[around].end; i++) {
		struct dwarf_die die, call;
		uint64_t offset = class->unit->offset + scopes->items[i].start;
		if (!is_class(scopes->items[i].tag) || offset == class->offset || !dwarf_die_may_read(class->unit) ||
		    function_around(scopes, scopes->items[i].parent) != around ||
		    !dwarf_die_read(&die, class->unit, offset) || !find_call(&die, &call))
			continue;
		number += die.line != class->line ? die.line < class->line : die.column < class->column;
	}
	return number;
}

static void put_unnamed_class(struct buf *out, const struct dwarf_die *class, unsigned depth)
{
	struct dwarf_die call;
	bool is_const = false;
	if (!find_call(class, &call)) {
		buf_str(out, "{unnamed type}");
		return;
	}
	buf_str(out, "{lambda");
	put_parameters(out, &call, &is_const, depth);
	buf_printf(out, "#%u}", lambda_number(class));
}

/* --- scopes --- */

static void put_scope_name(struct buf *out, const struct dwarf_die *die, unsigned depth)
{
	if (die->tag == DW_TAG_subprogram)
		put_function(out, die, false, depth);
	else if (is_class(die->tag) && !die->name)
		put_unnamed_class(out, die, depth);
	else
		put_text(out, die->name ? die->name : "(anonymous namespace)");
	buf_str(out, "::");
}

/* "ns::Class::" or "f(int)::" around the DIE at an offset. */
static void put_scope(struct buf *out, struct dwarf_unit *unit, uint64_t offset, unsigned depth)
{
	const struct dwarf_scopes *scopes = dwarf_unit_scopes(unit);
	uint32_t scope = dwarf_scopes_find(scopes, unit, offset);
	/* Blocks have no names. */
	while (scope != DWARF_NONE && scopes->items[scope].tag != DW_TAG_subprogram &&
	       scopes->items[scope].tag != DW_TAG_namespace && !is_class(scopes->items[scope].tag))
		scope = scopes->items[scope].parent;
	struct dwarf_die die;
	if (scope == DWARF_NONE || !depth || out->size > TEXT_MAX ||
	    !dwarf_die_read(&die, unit, unit->offset + scopes->items[scope].start))
		return;
	if (die.tag != DW_TAG_subprogram) /* a function's name says where it is */
		put_scope(out, unit, die.offset, depth - 1);
	put_scope_name(out, &die, depth - 1);
}

/* --- types --- */

/* Names of DWARF for those of the ABI. */
static const char *base_type_name(const char *name)
{
	static const char *const names[][2] = {
		{"long int", "long"},
		{"long unsigned int", "unsigned long"},
		{"short int", "short"},
		{"short unsigned int", "unsigned short"},
		{"long long int", "long long"},
		{"long long unsigned int", "unsigned long long"},
		{"__int128 unsigned", "unsigned __int128"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i][0]))
			return names[i][1];
	return name;
}

static void prepend(struct buf *text, const char *before)
{
	struct buf rest CLEANUP_BUF = {0};
	buf_add(&rest, text->data, text->size);
	buf_clear(text);
	buf_str(text, before);
	buf_add(text, rest.data, rest.size);
}

/* What a pointer, a reference or a qualifier adds; NULL: the DIE is a type of its own. */
static const char *declarator_of(unsigned tag)
{
	switch (tag) {
	case DW_TAG_pointer_type:
		return "*";
	case DW_TAG_reference_type:
		return "&";
	case DW_TAG_rvalue_reference_type:
		return "&&";
	case DW_TAG_const_type:
		return " const";
	case DW_TAG_volatile_type:
		return " volatile";
	case DW_TAG_typedef:
		return "";
	default:
		return NULL;
	}
}

static void put_named_type(struct buf *out, const struct dwarf_die *die, const char *declarators, unsigned depth)
{
	bool ignored = false;
	if (die->tag == DW_TAG_subroutine_type) {
		put_type(out, die->unit, &die->type, depth);
		buf_printf(out, *declarators ? " (%s)" : " ", declarators);
		put_parameters(out, die, &ignored, depth);
		return;
	}
	if (die->tag == DW_TAG_array_type) {
		put_type(out, die->unit, &die->type, depth);
		buf_printf(out, *declarators ? " (%s) []" : " []", declarators);
		return;
	}
	put_scope(out, die->unit, die->offset, depth);
	if (is_class(die->tag) && !die->name)
		put_unnamed_class(out, die, depth);
	else
		put_text(out, die->name ? base_type_name(die->name) : "{unnamed type}");
	buf_str(out, declarators);
}

/* `type`: of a DIE of the unit; none is void. */
static void put_type(struct buf *out, struct dwarf_unit *unit, const struct dwarf_value *type, unsigned depth)
{
	struct buf declarators CLEANUP_BUF = {0};
	struct dwarf_value next = *type;
	buf_str(&declarators, "");
	for (unsigned hops = 0; hops < HOPS_MAX; hops++) {
		uint64_t offset;
		struct dwarf_die die;
		if (next.kind == VALUE_NONE || !dwarf_follow(&unit, &offset, &next) ||
		    !dwarf_die_read(&die, unit, offset))
			break;
		const char *declarator = declarator_of(die.tag);
		if (!declarator) {
			if (depth && out->size < TEXT_MAX)
				put_named_type(out, &die, declarators.data, depth - 1);
			return;
		}
		prepend(&declarators, declarator);
		next = die.type;
	}
	buf_str(out, "void");
	buf_str(out, declarators.data);
}

/* --- functions --- */

/* Numbers as arguments: "3ul", "true", "(Kind)1". */
static void put_value(struct buf *out, const struct dwarf_die *argument, unsigned depth)
{
	static const char *const suffixes[][2] = {
		{"int", ""},         {"unsigned int", "u"},         {"long", "l"}, {"unsigned long", "ul"},
		{"long long", "ll"}, {"unsigned long long", "ull"},
	};
	struct buf type CLEANUP_BUF = {0};
	buf_str(&type, ""); /* too deep a type adds nothing */
	put_type(&type, argument->unit, &argument->type, depth);
	if (!strcmp(type.data, "bool")) {
		buf_str(out, argument->value ? "true" : "false");
		return;
	}
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		if (strcmp(type.data, suffixes[i][0]) != 0)
			continue;
		buf_int(out, (int64_t)argument->value);
		buf_str(out, suffixes[i][1]);
		return;
	}
	buf_printf(out, "(%s)", type.data);
	buf_int(out, (int64_t)argument->value);
}

/*
 * Whether a function is an instance of a template, and all its arguments can be written again. The arguments in its
 * name leave out defaults, and do not say which lambda of a function is meant.
 */
static bool is_instance(const struct dwarf_die *die, bool *ret_plain)
{
	struct cursor cursor = die->next;
	struct dwarf_die child;
	bool found = false;
	*ret_plain = true;
	while (die->children && dwarf_die_next(&child, die->unit, &cursor) && child.tag != DW_TAG_formal_parameter &&
	       child.tag != DW_TAG_lexical_block) {
		bool plain = child.tag == DW_TAG_template_type_parameter ||
			     (child.tag == DW_TAG_template_value_parameter && child.has_value);
		bool other = child.tag == DW_TAG_template_value_parameter ||
			     child.tag == DW_TAG_GNU_template_parameter_pack ||
			     child.tag == DW_TAG_GNU_template_template_param;
		found |= plain || other;
		*ret_plain &= plain || !other;
		dwarf_die_skip_children(&child, &cursor);
	}
	*ret_plain &= found;
	return found;
}

/* Bytes of a name before its template arguments. */
static size_t template_name_length(const char *name)
{
	size_t sign = !strncmp(name, "operator", 8) ? 8 + strspn(name + 8, "<=>-") : 0;
	return sign + strcspn(name + sign, "<");
}

static void put_instance_name(struct buf *out, const struct dwarf_die *die, unsigned depth)
{
	struct cursor cursor = die->next;
	struct dwarf_die child;
	unsigned count = 0;
	size_t length = template_name_length(die->name);
	buf_add(out, die->name, length < TEXT_MAX ? length : TEXT_MAX);
	buf_char(out, '<');
	while (count < PARAMETERS_MAX && out->size < TEXT_MAX && dwarf_die_next(&child, die->unit, &cursor) &&
	       child.tag != DW_TAG_formal_parameter && child.tag != DW_TAG_lexical_block) {
		dwarf_die_skip_children(&child, &cursor);
		if (child.tag != DW_TAG_template_type_parameter && child.tag != DW_TAG_template_value_parameter)
			continue;
		buf_str(out, count++ ? ", " : "");
		if (child.tag == DW_TAG_template_type_parameter)
			put_type(out, die->unit, &child.type, depth);
		else
			put_value(out, &child, depth);
	}
	buf_str(out, out->data[out->size - 1] == '>' ? " >" : ">");
}

/* Follows what a DIE is an instance or a definition of to the declaration; fills *die with it. */
static void find_declaration(struct dwarf_die *die)
{
	for (unsigned hops = 0; hops < HOPS_MAX && !die->linkage; hops++) {
		struct dwarf_unit *unit = die->unit;
		uint64_t offset;
		struct dwarf_die next;
		if (!dwarf_follow(&unit, &offset, die->origin.kind ? &die->origin : &die->specification) ||
		    !dwarf_die_read(&next, unit, offset))
			return;
		*die = next;
	}
}

static void put_linkage_name(struct buf *out, const char *linkage)
{
	struct buf full CLEANUP_BUF = {0};
	demangle(&full, linkage, NAMES_FULL);
	/* Without the return type: it stands before another name. */
	short_name(out, full.data, full.size, SHORT_PARAMETERS | SHORT_ARGUMENTS);
}

static void put_function(struct buf *out, const struct dwarf_die *die, bool with_return, unsigned depth)
{
	struct dwarf_die function = *die;
	bool is_const = false, plain = false;
	find_declaration(&function);
	if (function.linkage) {
		put_linkage_name(out, function.linkage);
		return;
	}
	if (is_instance(&function, &plain) && with_return && depth) {
		put_type(out, function.unit, &function.type, depth - 1);
		buf_char(out, ' ');
	}
	put_scope(out, function.unit, function.offset, depth);
	if (function.name && depth && plain)
		put_instance_name(out, &function, depth - 1);
	else
		put_text(out, function.name ? function.name : "{unnamed}");
	if (depth && !function.external) {
		put_parameters(out, &function, &is_const, depth - 1);
		buf_str(out, is_const ? " const" : "");
	}
}

static bool is_cplusplus(struct dwarf_unit *unit)
{
	struct dwarf_die root;
	if (!dwarf_die_read(&root, unit, unit->offset + unit->header_size))
		return false;
	switch (root.language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_C_plus_plus_17:
	case DW_LANG_C_plus_plus_20:
	case DW_LANG_C_plus_plus_23:
		return true;
	default:
		return false;
	}
}

bool dwarf_qualify(struct buf *out, struct dwarf_unit *unit, uint64_t offset)
{
	struct dwarf_die die;
	if (!is_cplusplus(unit) || !dwarf_die_read(&die, unit, offset) || !die.name || die.external ||
	    die.tag != DW_TAG_subprogram)
		return false;
	put_function(out, &die, true, DEPTH_MAX);
	return true;
}
