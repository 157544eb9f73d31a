/*
 * The line table of a unit: its program (section 6.2.5) run once into rows sorted by address. Of several rows for one
 * address the last counts, and a row that repeats the file and line before it is skipped.
 */
#include "dwarf/private.h"

#include "base/bisect.h"
#include "base/buf.h"

struct machine {
	struct dwarf_lines *lines;
	const struct dwarf *dwarf;
	uint64_t address, low;
	uint32_t operation; /* within an instruction word of a VLIW machine */
	uint32_t file, line;
	size_t first_row; /* of the sequence */
	bool unsorted;
	/* What each special opcode adds. */
	uint32_t advance[256];
	int32_t line_advance[256];
};

static void reset(struct machine *machine)
{
	machine->address = 0;
	machine->operation = 0;
	machine->file = 1;
	machine->line = 1;
	machine->first_row = machine->lines->row_count;
	machine->unsorted = false;
}

static void start_machine(struct machine *machine, struct dwarf_lines *lines, const struct dwarf *dwarf)
{
	*machine = (struct machine){.lines = lines, .dwarf = dwarf};
	for (unsigned opcode = lines->opcode_base; opcode < 256; opcode++) {
		unsigned adjusted = opcode - lines->opcode_base;
		machine->advance[opcode] = adjusted / lines->line_range;
		machine->line_advance[opcode] = lines->line_base + (int32_t)(adjusted % lines->line_range);
	}
	reset(machine);
}

static inline void advance(struct machine *machine, uint64_t operations)
{
	const struct dwarf_lines *lines = machine->lines;
	if (lines->operations == 1) {
		machine->address += operations * lines->instruction_length;
		return;
	}
	operations += machine->operation;
	machine->address += operations / lines->operations * lines->instruction_length;
	machine->operation = (uint32_t)(operations % lines->operations);
}

static inline void add_row(struct machine *machine)
{
	struct dwarf_lines *lines = machine->lines;
	if (lines->row_count == machine->first_row)
		machine->low = machine->address;
	uint64_t offset = machine->address - machine->low;
	if (offset > UINT32_MAX)
		return;
	struct dwarf_line_row row = {(uint32_t)offset, machine->line, machine->file};
	if (lines->row_count > machine->first_row) {
		struct dwarf_line_row *last = &lines->rows[lines->row_count - 1];
		if (last->offset == row.offset) {
			*last = row;
			return;
		}
		if (last->line == row.line && last->file == row.file && last->offset < row.offset)
			return;
		machine->unsorted |= last->offset > row.offset;
	}
	MEM_ROOM(lines->rows, lines->row_count, lines->row_capacity);
	lines->rows[lines->row_count++] = row;
}

static int compare_rows(const void *a, const void *b)
{
	const struct dwarf_line_row *one = a, *two = b;
	return one->offset < two->offset ? -1 : one->offset > two->offset;
}

static void end_sequence(struct machine *machine)
{
	struct dwarf_lines *lines = machine->lines;
	size_t count = lines->row_count - machine->first_row;
	bool kept = count && machine->address > machine->low && dwarf_is_code(machine->dwarf, machine->low) &&
		    lines->row_count <= UINT32_MAX;
	if (kept) {
		if (machine->unsorted)
			qsort(lines->rows + machine->first_row, count, sizeof *lines->rows, compare_rows);
		MEM_ROOM(lines->sequences, lines->sequence_count, lines->sequence_capacity);
		lines->sequences[lines->sequence_count++] = (struct dwarf_sequence){
			.low = machine->low,
			.high = machine->address,
			.first = (uint32_t)machine->first_row,
			.count = (uint32_t)count,
		};
	} else {
		lines->row_count = machine->first_row;
	}
	reset(machine);
}

static void run_extended(struct machine *machine, struct cursor *program)
{
	uint64_t size = cursor_uleb(program);
	if (!size || size > cursor_left(program)) {
		if (size)
			cursor_fail(program);
		return;
	}
	struct cursor operand = {.at = program->at, .end = program->at + size};
	program->at += size;
	switch (cursor_u8(&operand)) {
	case DW_LNE_end_sequence:
		end_sequence(machine);
		break;
	case DW_LNE_set_address:
		/* The operand's own size: some tools disagree with the header. */
		if (size == 9 || size == 5)
			machine->address = cursor_number(&operand, (unsigned)size - 1);
		machine->operation = 0;
		break;
	case DW_LNE_define_file: {
		const char *name = cursor_string(&operand);
		struct dwarf_lines *lines = machine->lines;
		MEM_ROOM(lines->files, lines->file_count, lines->file_capacity);
		lines->files[lines->file_count++] =
			(struct dwarf_line_file){.name = name, .directory = (uint32_t)cursor_uleb(&operand)};
		break;
	}
	}
}

static void run_standard(struct machine *machine, struct cursor *program, unsigned opcode)
{
	switch (opcode) {
	case DW_LNS_copy:
		add_row(machine);
		break;
	case DW_LNS_advance_pc:
		advance(machine, cursor_uleb(program));
		break;
	case DW_LNS_advance_line:
		machine->line += (uint32_t)cursor_sleb(program);
		break;
	case DW_LNS_set_file:
		machine->file = (uint32_t)cursor_uleb(program);
		break;
	case DW_LNS_const_add_pc:
		advance(machine, machine->advance[255]);
		break;
	case DW_LNS_fixed_advance_pc:
		machine->address += cursor_u16(program);
		machine->operation = 0;
		break;
	default:
		for (unsigned i = machine->lines->opcode_lengths[opcode - 1]; i; i--)
			cursor_skip_leb(program);
	}
}

static void run_program(struct dwarf_lines *lines, const struct dwarf *dwarf)
{
	struct machine machine;
	start_machine(&machine, lines, dwarf);
	struct cursor program = lines->program;
	while (!program.bad && program.at < program.end) {
		unsigned opcode = *program.at++;
		if (opcode >= lines->opcode_base) {
			advance(&machine, machine.advance[opcode]);
			machine.line += (uint32_t)machine.line_advance[opcode];
			add_row(&machine);
		} else if (!opcode) {
			run_extended(&machine, &program);
		} else {
			run_standard(&machine, &program, opcode);
		}
	}
	lines->row_count = machine.first_row; /* a sequence without an end covers nothing */
}

static int compare_sequences(const void *a, const void *b)
{
	const struct dwarf_sequence *one = a, *two = b;
	return one->low < two->low ? -1 : one->low > two->low;
}

static struct dwarf_lines *build_lines(struct dwarf_unit *unit)
{
	struct dwarf_lines *lines = mem_zalloc(1, sizeof *lines);
	struct dwarf *dwarf = unit->file->dwarf;
	if (!dwarf_line_header(lines, unit))
		return lines;
	run_program(lines, dwarf);
	if (lines->sequence_count)
		qsort(lines->sequences, lines->sequence_count, sizeof *lines->sequences, compare_sequences);
	lines->rows = mem_realloc(lines->rows, lines->row_count, sizeof *lines->rows);
	return lines;
}

const struct dwarf_lines *dwarf_unit_lines(struct dwarf_unit *unit)
{
	struct dwarf_lines *lines = atomic_load_explicit(&unit->lines, memory_order_acquire);
	if (lines)
		return lines;
	pthread_mutex_t *lock = dwarf_build_lock(unit);
	pthread_mutex_lock(lock);
	lines = atomic_load(&unit->lines);
	if (!lines) {
		lines = build_lines(unit);
		atomic_store_explicit(&unit->lines, lines, memory_order_release);
	}
	pthread_mutex_unlock(lock);
	return lines;
}

void dwarf_lines_free(struct dwarf_lines *lines)
{
	free(lines->directories);
	free(lines->files);
	free(lines->rows);
	free(lines->sequences);
	free(lines);
}

static const struct dwarf_line_row *find_row(const struct dwarf_lines *lines, const struct dwarf_sequence *sequence,
					     uint64_t address)
{
	const struct dwarf_line_row *rows = lines->rows + sequence->first;
	size_t next = BISECT(sequence->count, i, sequence->low + rows[i].offset <= address);
	return next ? &rows[next - 1] : NULL;
}

const struct dwarf_line_row *dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address, uint64_t *ret_start)
{
	size_t next = BISECT(lines->sequence_count, i, lines->sequences[i].low <= address);
	if (!next || lines->sequences[next - 1].high <= address)
		return NULL;
	const struct dwarf_sequence *sequence = &lines->sequences[next - 1];
	const struct dwarf_line_row *row = find_row(lines, sequence, address);
	if (row)
		*ret_start = sequence->low + row->offset;
	return row;
}

static void join(struct buf *path, const char *part)
{
	if (!part || !*part)
		return;
	if (*part == '/')
		buf_clear(path);
	else if (path->size && path->data[path->size - 1] != '/')
		buf_char(path, '/');
	buf_str(path, part);
}

const char *dwarf_lines_path(const struct dwarf_lines *lines, struct dwarf_unit *unit, uint32_t number)
{
	if (number >= lines->file_count || !lines->files[number].name)
		return NULL;
	struct dwarf_line_file *file = &lines->files[number];
	const char *path = atomic_load_explicit(&file->path, memory_order_acquire);
	if (path)
		return path;
	CLEANUP_BUF struct buf full = {0};
	join(&full, dwarf_value_string(unit, &dwarf_unit_root(unit)->directory));
	if (file->directory < lines->directory_count)
		join(&full, lines->directories[file->directory]);
	join(&full, file->name);
	if (!full.size)
		return NULL;
	struct dwarf *dwarf = unit->file->dwarf;
	pthread_mutex_lock(&dwarf->lock);
	path = atomic_load(&file->path);
	if (!path) {
		path = arena_copy(&dwarf->arena, full.data, full.size);
		atomic_store_explicit(&file->path, path, memory_order_release);
	}
	pthread_mutex_unlock(&dwarf->lock);
	return path;
}
