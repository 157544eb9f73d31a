/* Parses CIEs and FDEs, and sorts the functions that they describe. */
#include "unwind/cfi.h"

#include "base/hash.h"
#include "base/mem.h"
#include "unwind/dwarf_op.h"

void cfi_release(struct cfi *cfi)
{
	free(cfi->cies);
	free(cfi->functions);
	index_map_release(&cfi->cie_map);
}

/* --- pointers --- */

static uint64_t pointer_bits(struct cursor *cursor, uint8_t encoding, uint8_t address_size)
{
	switch (encoding & DW_EH_PE_format) {
	case DW_EH_PE_absptr:
		return cursor_number(cursor, address_size);
	case DW_EH_PE_uleb128:
		return cursor_uleb(cursor);
	case DW_EH_PE_udata2:
	case DW_EH_PE_udata4:
	case DW_EH_PE_udata8:
		return cursor_number(cursor, 1u << ((encoding & DW_EH_PE_format) - DW_EH_PE_udata2 + 1));
	case DW_EH_PE_sleb128:
		return (uint64_t)cursor_sleb(cursor);
	case DW_EH_PE_sdata2:
	case DW_EH_PE_sdata4:
	case DW_EH_PE_sdata8:
		return (uint64_t)cursor_int(cursor, 1u << ((encoding & DW_EH_PE_format) - DW_EH_PE_sdata2 + 1));
	default:
		cursor_fail(cursor);
		return 0;
	}
}

bool cfi_pointer(struct cursor *cursor, const struct cfi_section *section, uint8_t encoding, uint8_t address_size,
		 uint64_t function, uint64_t *ret_value)
{
	if (encoding == DW_EH_PE_omit)
		return false;
	uint64_t here = section->address + (uint64_t)(cursor->at - section->data);
	uint64_t from = 0;
	switch (encoding & DW_EH_PE_application) {
	case 0:
		break;
	case DW_EH_PE_pcrel:
		from = here;
		break;
	case DW_EH_PE_textrel:
		from = section->text;
		break;
	case DW_EH_PE_datarel:
		from = section->got;
		break;
	case DW_EH_PE_funcrel:
		from = function;
		break;
	case DW_EH_PE_aligned:
		cursor_skip(cursor, -here & (address_size - 1u));
		break;
	default:
		cursor_fail(cursor);
	}
	uint64_t value = pointer_bits(cursor, encoding, address_size);
	if (cursor->bad || (encoding & DW_EH_PE_indirect))
		return false;
	*ret_value = value + from;
	return true;
}

/* --- CIEs --- */

/* Characters behind 'z': what they bring is read; what follows an unknown one is skipped by the size of it all. */
static void read_augmentation(struct cfi_cie *cie, struct cursor *cursor, const char *augmentation)
{
	uint64_t length = cursor_uleb(cursor), ignored;
	struct cursor data = {.at = cursor->at, .end = cursor->at};
	if (length > cursor_left(cursor)) {
		cursor_fail(cursor);
		return;
	}
	data.end += length;
	cursor->at += length;
	for (const char *c = augmentation + 1; *c; c++) {
		if (*c == 'R')
			cie->encoding = cursor_u8(&data);
		else if (*c == 'L')
			cursor_u8(&data);
		else if (*c == 'P')
			cfi_pointer(&data, cie->section, cursor_u8(&data), cie->address_size, 0, &ignored);
		else if (*c == 'S')
			cie->interrupted = true;
		else if (*c != 'B' && *c != 'G')
			break;
	}
	if (data.bad)
		cursor_fail(cursor);
}

/* `cursor` stands behind the id of the CIE. */
static bool read_cie(struct cfi *cfi, struct cfi_cie *cie, struct cursor cursor)
{
	uint8_t version = cursor_u8(&cursor);
	const char *augmentation = cursor_string(&cursor);
	if (!augmentation || (version != 1 && version != 3 && version != 4))
		return false;
	cie->address_size = cfi->arch->word;
	if (version == 4) {
		cie->address_size = cursor_u8(&cursor);
		if (cursor_u8(&cursor) != 0) /* segmented addresses */
			return false;
	}
	if (cie->address_size != 8 && cie->address_size != 4)
		return false;
	if (strcmp(augmentation, "eh") == 0) /* GCC 2: an address of no use */
		cursor_skip(&cursor, cie->address_size);
	cie->code_align = cursor_uleb(&cursor);
	cie->data_align = cursor_sleb(&cursor);
	uint64_t return_register = version == 1 ? cursor_u8(&cursor) : cursor_uleb(&cursor);
	if (return_register != cfi->arch->dwarf_ra)
		return false;
	if (augmentation[0] == 'z') {
		cie->has_length = true;
		read_augmentation(cie, &cursor, augmentation);
	} else if (augmentation[0] && strcmp(augmentation, "eh") != 0) {
		return false; /* nobody knows where its instructions begin */
	}
	return !cursor.bad && cfi_run_initial(cfi, cie, cursor);
}

/* --- entries --- */

/* One CIE or FDE; both start with their length, and a field that says which it is. */
struct entry {
	uint64_t offset; /* of the length */
	uint64_t id_offset; /* of the field behind the length */
	uint64_t id;
	bool is_cie;
	struct cursor body; /* behind the id */
};

/* Reads the head of the entry at `offset` and returns where the next one begins; 0 when the section ends here. */
static uint64_t read_entry(const struct cfi_section *section, uint64_t offset, struct entry *entry)
{
	struct cursor cursor = {.at = section->data + offset, .end = section->data + section->size};
	unsigned id_size = 4;
	uint64_t length = cursor_number(&cursor, 4);
	if (length == 0xffffffff) {
		id_size = 8;
		length = cursor_number(&cursor, 8);
	}
	if (cursor.bad || length > cursor_left(&cursor))
		return 0;
	cursor.end = cursor.at + length;
	entry->offset = offset;
	entry->id_offset = (uint64_t)(cursor.at - section->data);
	entry->is_cie = false;
	uint64_t next = entry->id_offset + length;
	if (length == 0 && section->ends_at_zero)
		return 0;
	if (length == 0) { /* end of one object file's part, others may follow */
		entry->body = (struct cursor){.at = cursor.at, .end = cursor.at};
		entry->body.bad = true;
		return next;
	}
	/* In .eh_frame the field has 4 bytes in both formats in practice; only .debug_frame widens it. */
	if (!section->is_debug_frame)
		id_size = 4;
	entry->id = cursor_number(&cursor, id_size);
	if (section->is_debug_frame)
		entry->is_cie = entry->id == (id_size == 8 ? UINT64_MAX : 0xffffffff);
	else
		entry->is_cie = entry->id == 0;
	entry->body = cursor;
	return next;
}

static uint32_t find_cie(struct cfi *cfi, const struct cfi_section *section, uint64_t offset)
{
	uint64_t hash = hash_u64(offset * 2 + section->is_debug_frame);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&cfi->cie_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&cfi->cie_map, &probe))
		if (cfi->cies[i].offset == offset && cfi->cies[i].section == section)
			return i;
	struct cfi_cie cie = {.section = section, .offset = offset};
	struct entry entry;
	if (offset < section->size && read_entry(section, offset, &entry) && entry.is_cie && !entry.body.bad)
		cie.usable = read_cie(cfi, &cie, entry.body);
	MEM_ROOM(cfi->cies, cfi->cie_count, cfi->cie_capacity);
	cfi->cies[cfi->cie_count] = cie;
	index_map_insert(&cfi->cie_map, hash, (uint32_t)cfi->cie_count);
	return (uint32_t)cfi->cie_count++;
}

static const struct cfi_range *range_of(const struct cfi *cfi, uint64_t address)
{
	for (size_t i = 0; i < cfi->range_count; i++)
		if (address >= cfi->executable[i].start && address < cfi->executable[i].end)
			return &cfi->executable[i];
	return NULL;
}

void cfi_add(struct cfi *cfi, struct cfi_function function, uint64_t size)
{
	const struct cfi_range *range = range_of(cfi, function.start);
	if (!range)
		return;
	if (size > range->end - function.start)
		size = range->end - function.start;
	if (size == 0)
		return;
	function.size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	MEM_ROOM(cfi->functions, cfi->function_count, cfi->function_capacity);
	cfi->functions[cfi->function_count++] = function;
}

static void read_fde(struct cfi *cfi, const struct cfi_section *section, uint32_t cie_index, struct cursor body)
{
	const struct cfi_cie *cie = &cfi->cies[cie_index];
	uint64_t start, size;
	if (!cfi_pointer(&body, section, cie->encoding, cie->address_size, 0, &start))
		return;
	size = pointer_bits(&body, cie->encoding, cie->address_size);
	if (cie->has_length)
		cursor_skip(&body, cursor_uleb(&body));
	/* Linkers leave the entries of functions they dropped in .debug_frame, at address 0. */
	if (body.bad || (section->is_debug_frame && start == 0))
		return;
	struct cfi_function function = {
		.start = start,
		.cie = cie_index,
		.program = (uint32_t)(body.at - section->data),
		.program_size = (uint32_t)cursor_left(&body),
	};
	cfi_add(cfi, function, size);
}

void cfi_read(struct cfi *cfi, const struct cfi_section *section)
{
	/* Offsets are kept in 32 bits. No compiler's output comes near. */
	if (section->size > UINT32_MAX)
		return;
	struct entry entry;
	uint64_t last_offset = 0;
	uint32_t last_cie = INDEX_NONE;
	for (uint64_t offset = 0, next; offset < section->size; offset = next) {
		next = read_entry(section, offset, &entry);
		if (!next)
			return;
		if (entry.body.bad || entry.is_cie)
			continue;
		uint64_t cie_offset = section->is_debug_frame ? entry.id : entry.id_offset - entry.id;
		if (last_cie == INDEX_NONE || cie_offset != last_offset) {
			last_cie = find_cie(cfi, section, cie_offset);
			last_offset = cie_offset;
		}
		if (cfi->cies[last_cie].usable)
			read_fde(cfi, section, last_cie, entry.body);
	}
}

/* --- order --- */

/* By 11 bits a pass, lowest first: three passes for any real file, where comparing would take 17. */
static void radix_sort(struct cfi_function *functions, size_t count, uint64_t min, uint64_t span)
{
	enum { BITS = 11, BUCKETS = 1 << BITS };
	CLEANUP_FREE struct cfi_function *spare = mem_alloc(count * sizeof *spare);
	struct cfi_function *from = functions, *to = spare;
	for (unsigned shift = 0; shift < 64 && span >> shift; shift += BITS) {
		size_t at[BUCKETS] = {0}, sum = 0;
		for (size_t i = 0; i < count; i++)
			at[(from[i].start - min) >> shift & (BUCKETS - 1)]++;
		for (size_t i = 0; i < BUCKETS; i++) {
			size_t here = at[i];
			at[i] = sum;
			sum += here;
		}
		for (size_t i = 0; i < count; i++)
			to[at[(from[i].start - min) >> shift & (BUCKETS - 1)]++] = from[i];
		struct cfi_function *swap = from;
		from = to;
		to = swap;
	}
	if (from != functions)
		memcpy(functions, from, count * sizeof *functions);
}

void cfi_sort(struct cfi *cfi)
{
	uint64_t min = UINT64_MAX, max = 0;
	bool sorted = true;
	for (size_t i = 0; i < cfi->function_count; i++) {
		uint64_t start = cfi->functions[i].start;
		sorted = sorted && start >= max;
		min = start < min ? start : min;
		max = start > max ? start : max;
	}
	if (!sorted)
		radix_sort(cfi->functions, cfi->function_count, min, max - min);
}

void cfi_merge(struct cfi *cfi, size_t sorted)
{
	struct cfi_function *functions = cfi->functions;
	size_t left = sorted, right = cfi->function_count - sorted;
	if (!right)
		return;
	struct cfi_function *added CLEANUP_FREE = mem_alloc(right * sizeof *added);
	memcpy(added, functions + sorted, right * sizeof *added);
	while (right) {
		bool from_left = left && functions[left - 1].start > added[right - 1].start;
		functions[left + right - 1] = from_left ? functions[left - 1] : added[right - 1];
		*(from_left ? &left : &right) -= 1;
	}
}
