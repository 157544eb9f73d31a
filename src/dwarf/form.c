/* Values of attributes: how each form is stored and what it refers to (DWARF 5, section 7.5.6). */
#include "dwarf/private.h"

struct rule {
	uint8_t kind, size;
};

static const struct rule rules[] = {
	[0] = {VALUE_NONE, SIZE_UNKNOWN},
	[2] = {VALUE_NONE, SIZE_UNKNOWN},
	[DW_FORM_addr] = {VALUE_ADDRESS, SIZE_ADDRESS},
	[DW_FORM_block2] = {VALUE_NONE, SIZE_BLOCK2},
	[DW_FORM_block4] = {VALUE_NONE, SIZE_BLOCK4},
	[DW_FORM_data2] = {VALUE_NUMBER, 2},
	[DW_FORM_data4] = {VALUE_NUMBER, 4},
	[DW_FORM_data8] = {VALUE_NUMBER, 8},
	[DW_FORM_string] = {VALUE_STRING, SIZE_STRING},
	[DW_FORM_block] = {VALUE_NONE, SIZE_BLOCK},
	[DW_FORM_block1] = {VALUE_NONE, SIZE_BLOCK1},
	[DW_FORM_data1] = {VALUE_NUMBER, 1},
	[DW_FORM_flag] = {VALUE_NUMBER, 1},
	[DW_FORM_sdata] = {VALUE_NUMBER, SIZE_SLEB},
	[DW_FORM_strp] = {VALUE_STR, SIZE_OFFSET},
	[DW_FORM_udata] = {VALUE_NUMBER, SIZE_ULEB},
	[DW_FORM_ref_addr] = {VALUE_REF_INFO, SIZE_REF_ADDR},
	[DW_FORM_ref1] = {VALUE_REF_UNIT, 1},
	[DW_FORM_ref2] = {VALUE_REF_UNIT, 2},
	[DW_FORM_ref4] = {VALUE_REF_UNIT, 4},
	[DW_FORM_ref8] = {VALUE_REF_UNIT, 8},
	[DW_FORM_ref_udata] = {VALUE_REF_UNIT, SIZE_ULEB},
	[DW_FORM_indirect] = {VALUE_NONE, SIZE_INDIRECT},
	[DW_FORM_sec_offset] = {VALUE_OFFSET, SIZE_OFFSET},
	[DW_FORM_exprloc] = {VALUE_NONE, SIZE_BLOCK},
	[DW_FORM_flag_present] = {VALUE_NONE, 0},
	[DW_FORM_strx] = {VALUE_STR_INDEX, SIZE_ULEB},
	[DW_FORM_addrx] = {VALUE_ADDRESS_INDEX, SIZE_ULEB},
	[DW_FORM_ref_sup4] = {VALUE_REF_ALTERNATE, 4},
	[DW_FORM_strp_sup] = {VALUE_STR_ALTERNATE, SIZE_OFFSET},
	[DW_FORM_data16] = {VALUE_NONE, 16},
	[DW_FORM_line_strp] = {VALUE_LINE_STR, SIZE_OFFSET},
	[DW_FORM_ref_sig8] = {VALUE_NONE, 8},
	[DW_FORM_implicit_const] = {VALUE_NUMBER, SIZE_IMPLICIT},
	[DW_FORM_loclistx] = {VALUE_LIST_INDEX, SIZE_ULEB},
	[DW_FORM_rnglistx] = {VALUE_LIST_INDEX, SIZE_ULEB},
	[DW_FORM_ref_sup8] = {VALUE_REF_ALTERNATE, 8},
	[DW_FORM_strx1] = {VALUE_STR_INDEX, 1},
	[DW_FORM_strx2] = {VALUE_STR_INDEX, 2},
	[DW_FORM_strx3] = {VALUE_STR_INDEX, 3},
	[DW_FORM_strx4] = {VALUE_STR_INDEX, 4},
	[DW_FORM_addrx1] = {VALUE_ADDRESS_INDEX, 1},
	[DW_FORM_addrx2] = {VALUE_ADDRESS_INDEX, 2},
	[DW_FORM_addrx3] = {VALUE_ADDRESS_INDEX, 3},
	[DW_FORM_addrx4] = {VALUE_ADDRESS_INDEX, 4},
};

static struct rule rule_of(uint64_t form)
{
	switch (form) {
	case DW_FORM_GNU_addr_index:
		return (struct rule){VALUE_ADDRESS_INDEX, SIZE_ULEB};
	case DW_FORM_GNU_str_index:
		return (struct rule){VALUE_STR_INDEX, SIZE_ULEB};
	case DW_FORM_GNU_ref_alt:
		return (struct rule){VALUE_REF_ALTERNATE, SIZE_OFFSET};
	case DW_FORM_GNU_strp_alt:
		return (struct rule){VALUE_STR_ALTERNATE, SIZE_OFFSET};
	default:
		return form < sizeof rules / sizeof *rules ? rules[form] : rules[0];
	}
}

struct dwarf_attribute dwarf_attribute_of(const struct dwarf_unit *unit, uint64_t name, uint64_t form, int64_t implicit)
{
	struct rule rule = rule_of(form);
	if (rule.size == SIZE_REF_ADDR)
		rule.size = unit->version < 3 ? SIZE_ADDRESS : SIZE_OFFSET;
	if (rule.size == SIZE_ADDRESS)
		rule.size = unit->address_size;
	else if (rule.size == SIZE_OFFSET)
		rule.size = unit->offset_size;
	return (struct dwarf_attribute){
		.name = (uint16_t)(name > UINT16_MAX ? 0 : name),
		.kind = rule.kind,
		.size = rule.size,
		.implicit = (int32_t)(implicit < INT32_MIN || implicit > INT32_MAX ? 0 : implicit),
	};
}

/* The form stands in the data; an implicit constant cannot, and one indirection is enough. */
static struct dwarf_attribute indirect(struct cursor *cursor, const struct dwarf_unit *unit)
{
	struct dwarf_attribute attribute = dwarf_attribute_of(unit, 0, cursor_uleb(cursor), 0);
	if (attribute.size == SIZE_INDIRECT || attribute.size == SIZE_IMPLICIT)
		cursor_fail(cursor);
	return attribute;
}

void dwarf_attribute_skip(struct cursor *cursor, const struct dwarf_unit *unit, struct dwarf_attribute attribute)
{
	if (attribute.size == SIZE_INDIRECT)
		attribute = indirect(cursor, unit);
	switch (attribute.size) {
	case SIZE_IMPLICIT:
		break;
	case SIZE_ULEB:
	case SIZE_SLEB:
		cursor_skip_leb(cursor);
		break;
	case SIZE_STRING:
		cursor_string(cursor);
		break;
	case SIZE_BLOCK:
		cursor_skip(cursor, cursor_uleb(cursor));
		break;
	case SIZE_BLOCK1:
		cursor_skip(cursor, cursor_u8(cursor));
		break;
	case SIZE_BLOCK2:
		cursor_skip(cursor, cursor_u16(cursor));
		break;
	case SIZE_BLOCK4:
		cursor_skip(cursor, cursor_u32(cursor));
		break;
	default:
		if (attribute.size <= 16)
			cursor_skip(cursor, attribute.size);
		else
			cursor_fail(cursor);
	}
}

void dwarf_attribute_read(struct cursor *cursor, const struct dwarf_unit *unit, struct dwarf_attribute attribute,
			  struct dwarf_value *ret_value)
{
	if (attribute.size == SIZE_INDIRECT)
		attribute = indirect(cursor, unit);
	struct dwarf_value value = {.kind = attribute.kind};
	if (attribute.size <= 8)
		value.number = cursor_number(cursor, attribute.size);
	else if (attribute.size == SIZE_ULEB)
		value.number = cursor_uleb(cursor);
	else if (attribute.size == SIZE_IMPLICIT)
		value.number = (uint64_t)(int64_t)attribute.implicit;
	else if (attribute.size == SIZE_SLEB)
		value.number = (uint64_t)cursor_sleb(cursor);
	else if (attribute.size == SIZE_STRING)
		value.text = cursor_string(cursor);
	else
		dwarf_attribute_skip(cursor, unit, attribute);
	if (!cursor->bad)
		*ret_value = value;
}

static const char *string_at(struct span section, uint64_t offset)
{
	struct cursor cursor = cursor_at(section, offset);
	return cursor_string(&cursor);
}

static const char *indexed_string(const struct dwarf_unit *unit, uint64_t index)
{
	const struct dwarf_root *root = atomic_load(&unit->root);
	uint64_t offset;
	if (!root || __builtin_mul_overflow(index, unit->offset_size, &offset) ||
	    __builtin_add_overflow(offset, root->str_offsets_base, &offset))
		return NULL;
	struct cursor cursor = cursor_at(unit->file->sections.str_offsets, offset);
	offset = cursor_number(&cursor, unit->offset_size);
	return cursor.bad ? NULL : string_at(unit->file->sections.str, offset);
}

const char *dwarf_value_string(const struct dwarf_unit *unit, const struct dwarf_value *value)
{
	const struct dwarf_file *file = unit->file;
	switch (value->kind) {
	case VALUE_STRING:
		return value->text;
	case VALUE_STR:
		return string_at(file->sections.str, value->number);
	case VALUE_LINE_STR:
		return string_at(file->sections.line_str, value->number);
	case VALUE_STR_ALTERNATE:
		return file->alternate ? string_at(file->alternate->sections.str, value->number) : NULL;
	case VALUE_STR_INDEX:
		return indexed_string(unit, value->number);
	default:
		return NULL;
	}
}

bool dwarf_indexed_address(const struct dwarf_unit *unit, uint64_t index, uint64_t *ret_address)
{
	const struct dwarf_root *root = atomic_load(&unit->root);
	uint64_t offset;
	if (!root || __builtin_mul_overflow(index, unit->address_size, &offset) ||
	    __builtin_add_overflow(offset, root->address_base, &offset))
		return false;
	struct cursor cursor = cursor_at(unit->file->sections.addr, offset);
	uint64_t address = cursor_number(&cursor, unit->address_size);
	if (!cursor.bad)
		*ret_address = address;
	return !cursor.bad;
}

bool dwarf_value_address(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *ret_address)
{
	if (value->kind == VALUE_ADDRESS_INDEX)
		return dwarf_indexed_address(unit, value->number, ret_address);
	if (value->kind != VALUE_ADDRESS)
		return false;
	*ret_address = value->number;
	return true;
}
