/* Opens the sections of a file, and looks up an address in its units. */
#include "dwarf/dwarf.h"

#include "dwarf/private.h"

/* Units that claim one address: more than a few do so only in hostile files. */
#define CANDIDATES_MAX 16
/* Entries of range lists that any file may have read. */
#define RANGES_MIN 65536
/* Bytes of line tables that are read, by their section: units and split units may share one. */
#define LINES_FACTOR 4
/* DIEs that are read to make names: a second's worth. */
#define DIES_MAX ((int64_t)1 << 24)

static void read_code_segments(struct dwarf *dwarf, const struct elf_file *elf)
{
	size_t count = elf_segment_count(elf);
	dwarf->code = mem_zalloc(count, sizeof *dwarf->code);
	for (size_t i = 0; i < count; i++) {
		const Elf64_Phdr *segment = elf_segment(elf, i);
		uint64_t end;
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
		    __builtin_add_overflow(segment->p_vaddr, segment->p_memsz, &end))
			continue;
		dwarf->code[dwarf->code_count++] = (struct dwarf_code_segment){segment->p_vaddr, end};
	}
}

pthread_mutex_t *dwarf_build_lock(const struct dwarf_unit *unit)
{
	return &unit->file->dwarf
			->building[(unit->offset ^ unit->offset >> 4 ^ unit->offset >> 12) % DWARF_BUILD_LOCKS];
}

static struct span section_bytes(struct elf_file *elf, const char *name)
{
	struct elf_section section;
	if (!elf_section(elf, name, &section) || !section.data)
		return (struct span){0};
	return (struct span){section.data, section.size};
}

int dwarf_open(struct dwarf **ret_dwarf, const struct dwarf_files *files, struct err *err)
{
	struct dwarf *dwarf = mem_zalloc(1, sizeof *dwarf);
	dwarf->files = *files;
	pthread_mutex_init(&dwarf->lock, NULL);
	for (unsigned i = 0; i < DWARF_BUILD_LOCKS; i++)
		pthread_mutex_init(&dwarf->building[i], NULL);
	for (unsigned i = 0; i < DWARF_NAME_PARTS; i++)
		pthread_mutex_init(&dwarf->names[i].lock, NULL);
	dwarf->main.dwarf = dwarf->alternate.dwarf = dwarf;
	dwarf_sections_read(&dwarf->main.sections, files->elf, "");
	dwarf_file_list_units(&dwarf->main);
	if (files->alternate) {
		dwarf->main.alternate = &dwarf->alternate;
		dwarf_sections_read(&dwarf->alternate.sections, files->alternate, "");
		dwarf_file_list_units(&dwarf->alternate);
	}
	if (!dwarf->main.unit_count) {
		dwarf_close(dwarf);
		return err_set(err, ERR_EMPTY, "the file has no debug information");
	}
	atomic_store(&dwarf->dies_left, DIES_MAX);
	atomic_store(&dwarf->lines_left, LINES_FACTOR * (int64_t)dwarf->main.sections.line.size);
	atomic_store(&dwarf->ranges_left, dwarf_ranges_allowance(&dwarf->main.sections) + RANGES_MIN);
	read_code_segments(dwarf, files->elf);
	dwarf_index_build(dwarf, section_bytes(files->elf, ".debug_aranges"));
	*ret_dwarf = dwarf;
	return 0;
}

void dwarf_close(struct dwarf *dwarf)
{
	if (!dwarf)
		return;
	dwarf_file_release(&dwarf->main);
	dwarf_file_release(&dwarf->alternate);
	for (size_t i = 0; i < dwarf->split_count; i++) {
		dwarf_file_release(dwarf->splits[i]);
		free(dwarf->splits[i]);
	}
	free(dwarf->splits);
	free(dwarf->index.ranges);
	free(dwarf->code);
	for (unsigned i = 0; i < DWARF_NAME_PARTS; i++) {
		pthread_mutex_destroy(&dwarf->names[i].lock);
		free(dwarf->names[i].items);
		index_map_release(&dwarf->names[i].map);
		arena_release(&dwarf->names[i].arena);
	}
	arena_release(&dwarf->arena);
	pthread_mutex_destroy(&dwarf->lock);
	for (unsigned i = 0; i < DWARF_BUILD_LOCKS; i++)
		pthread_mutex_destroy(&dwarf->building[i]);
	free(dwarf);
}

/* Where a frame is: filled in for the next frame of an answer, then moved outwards by one call. */
struct place {
	uint32_t file, line;
};

struct answer {
	struct dwarf_unit *unit;
	const struct dwarf_lines *lines;
	struct dwarf_frame *frames;
	size_t count, max;
};

static const struct dwarf_name *name_once(_Atomic(const struct dwarf_name *) *known, struct dwarf_file *file,
					  uint64_t origin)
{
	const struct dwarf_name *name = atomic_load_explicit(known, memory_order_acquire);
	if (!name) {
		name = dwarf_name_of(file, origin);
		atomic_store_explicit(known, name, memory_order_release);
	}
	return name;
}

static void add_frame(struct answer *answer, const struct dwarf_name *name, struct place place, bool inlined)
{
	if (answer->count == answer->max)
		return;
	answer->frames[answer->count++] = (struct dwarf_frame){
		.name = name ? name->text : NULL,
		.file = place.line && answer->lines ? dwarf_lines_path(answer->lines, answer->unit, place.file) : NULL,
		.line = answer->lines ? place.line : 0,
		.declared_line = name ? name->declared_line : 0,
		.inlined = inlined,
		.name_is_linkage = name && name->is_linkage,
	};
}

static void answer_function(struct answer *answer, const struct dwarf_code *code, struct dwarf_function *function,
			    uint64_t address, struct place place)
{
	const struct dwarf_body *body = dwarf_function_body(code, function);
	uint32_t piece = dwarf_segments_find(&body->segments, address);
	uint32_t index = piece == DWARF_NONE ? DWARF_NONE : body->segments.owners[piece];
	/* A parent always precedes what is inlined into it, so this ends. */
	while (index != DWARF_NONE && answer->count < answer->max) {
		struct dwarf_inlined *inlined = &body->inlines[index];
		add_frame(answer, name_once(&inlined->name, code->unit->file, inlined->origin), place, true);
		place = (struct place){inlined->call_file, inlined->call_line};
		index = inlined->parent;
	}
	uint64_t die = code->unit->offset + function->die;
	if (answer->count < answer->max)
		add_frame(answer, name_once(&function->name, code->unit->file, die), place, false);
}

/* The function at the address; NULL when it is between functions, and then *ret_hole is where that place begins. */
static struct dwarf_function *find_function(const struct dwarf_code *code, uint64_t address, uint64_t *ret_hole)
{
	uint32_t piece = dwarf_segments_find(&code->segments, address);
	*ret_hole = piece == DWARF_NONE ? 0 : code->segments.starts[piece];
	if (piece == DWARF_NONE || code->segments.owners[piece] == DWARF_NONE)
		return NULL;
	return &code->functions[code->segments.owners[piece]];
}

/* Fills the answer from one unit; true when it has a function there and not only a line. */
static bool ask_unit(struct answer *answer, uint64_t address)
{
	const struct dwarf_code *code = dwarf_unit_code(answer->unit);
	uint64_t start = 0, hole;
	struct dwarf_function *function = find_function(code, address, &hole);
	answer->lines = function && answer->unit->file->dwarf->files.without_lines ? NULL :
										     dwarf_unit_lines(answer->unit);
	const struct dwarf_line_row *row = answer->lines ? dwarf_lines_find(answer->lines, address, &start) : NULL;
	struct place place = row ? (struct place){row->file, row->line} : (struct place){0};
	/* Code between functions, and not the padding behind one: the function is where functions rarely are. */
	if (!function && row && start >= hole && !code->whole) {
		code = dwarf_unit_whole_code(answer->unit);
		function = find_function(code, address, &hole);
	}
	answer->count = 0;
	if (function)
		answer_function(answer, code, function, address, place);
	else if (row && place.line)
		add_frame(answer, NULL, place, false);
	return function;
}

size_t dwarf_find(struct dwarf *dwarf, uint64_t address, struct dwarf_frame *frames, size_t max)
{
	struct dwarf_unit *only_line = NULL, *asked = NULL;
	struct answer answer = {.frames = frames, .max = max};
	size_t at = SIZE_MAX;
	for (unsigned tries = 0; tries < CANDIDATES_MAX; tries++) {
		at = dwarf_index_find(&dwarf->index, address, at);
		if (at == SIZE_MAX)
			break;
		answer.unit = dwarf->index.ranges[at].unit;
		if (answer.unit != asked) {
			asked = answer.unit;
			if (ask_unit(&answer, address))
				return answer.count;
			if (answer.count && !only_line)
				only_line = answer.unit;
		}
		if (!at--)
			break;
	}
	if (!only_line)
		return 0;
	answer.unit = only_line;
	ask_unit(&answer, address);
	return answer.count;
}
