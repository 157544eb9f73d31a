/* Call frame information of one file → its compact table. */
#include "unwind/go.h"
#include "unwind/undescribed.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "symbol/elf_symbols.h"

/* Padding between functions: the rule before it may as well continue, and a row is saved. */
enum { GAP_MIN = 16 };

/*
 * Rows of saved registers are made for files that need them: those with rules based on a register that callees save,
 * like the rbx of ld.so's lazy binding. They matter while such code has called others in the same file, so that large
 * files with a stray rule (a copy of OpenSSL in node) are not worth twice the table.
 */
enum { SAVES_ROWS_MAX = 65536 };

struct builder {
	const struct arch *arch;
	struct elf_file *elf;
	struct cfi_section eh_frame, debug_frame, separate_debug_frame;
	struct cfi cfi;
	struct go_program go;
	struct rules rules;
	struct derive derive;
	struct unwind_rows_maker rows, saves;
	struct unwind_rows_maker *out; /* the one that is being made */
	uint64_t covered; /* rows below are final */
	uint64_t end; /* of the function whose rows are being made */
};

static void builder_release(struct builder *builder)
{
	cfi_release(&builder->cfi);
	derive_release(&builder->derive);
	rules_release(&builder->rules);
	unwind_rows_maker_release(&builder->rows);
	unwind_rows_maker_release(&builder->saves);
}

/* --- sources --- */

static void find_executable(struct builder *builder)
{
	struct cfi *cfi = &builder->cfi;
	for (size_t i = 0; i < elf_segment_count(builder->elf) && cfi->range_count < CFI_RANGES_MAX; i++) {
		const Elf64_Phdr *segment = elf_segment(builder->elf, i);
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || segment->p_memsz == 0 ||
		    segment->p_memsz > UINT64_MAX - segment->p_vaddr)
			continue;
		cfi->executable[cfi->range_count++] =
			(struct cfi_range){segment->p_vaddr, segment->p_vaddr + segment->p_memsz};
	}
}

static void read_section(struct builder *builder, struct elf_file *elf, const char *name, bool is_debug_frame,
			 struct cfi_section *section)
{
	struct elf_section found, other;
	if (!elf_section(elf, name, &found) || !found.data)
		return;
	*section = (struct cfi_section){
		.data = found.data,
		.size = found.size,
		.address = found.address,
		.is_debug_frame = is_debug_frame,
	};
	if (elf_section(elf, ".text", &other))
		section->text = other.address;
	if (elf_section(elf, ".got", &other))
		section->got = other.address;
	cfi_read(&builder->cfi, section);
}

/* Without section headers: the segment of .eh_frame_hdr begins with a pointer to .eh_frame. */
static void read_eh_frame_by_segment(struct builder *builder)
{
	for (size_t i = 0; i < elf_segment_count(builder->elf); i++) {
		const Elf64_Phdr *segment = elf_segment(builder->elf, i);
		struct cfi_section header = {.address = segment->p_vaddr, .got = segment->p_vaddr}, *section;
		uint64_t address;
		if (segment->p_type != PT_GNU_EH_FRAME)
			continue;
		header.data = elf_bytes_at(builder->elf, segment->p_vaddr, &header.size);
		if (!header.data || header.size < 4 || header.data[0] != 1)
			return;
		struct cursor cursor = {.at = header.data + 4, .end = header.data + header.size};
		if (!cfi_pointer(&cursor, &header, header.data[1], 8, 0, &address))
			return;
		section = &builder->eh_frame;
		*section = (struct cfi_section){.address = address, .ends_at_zero = true};
		section->data = elf_bytes_at(builder->elf, address, &section->size);
		if (section->data)
			cfi_read(&builder->cfi, section);
		return;
	}
}

/* Linkage code without entries: static programs, and all that lld links. */
static void add_plt(struct builder *builder)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	struct arch_plt plt;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct elf_section section;
		if (!elf_section(builder->elf, names[i], &section) || !section.data ||
		    !(section.flags & SHF_EXECINSTR) || !builder->arch->is_plt(section.data, section.size, &plt))
			continue;
		struct cfi_function function = {
			.start = section.address,
			.cie = CFI_PLT,
			.program = plt.lazy ? (uint32_t)plt.first_push << 8 | plt.entry_push : 0,
			.program_size = plt.entry_size,
		};
		cfi_add(&builder->cfi, function, section.size);
	}
}

static const struct cfi_function *function_at(const struct cfi *cfi, uint64_t start)
{
	size_t at = BISECT(cfi->function_count, i, cfi->functions[i].start < start);
	return at < cfi->function_count && cfi->functions[at].start == start ? &cfi->functions[at] : NULL;
}

/*
 * The function of makecontext() returns to code of the C library that is described as if it had a caller. Its address
 * is the only one of a function in makecontext() itself. The functions are sorted.
 */
static void add_context_start(struct builder *builder)
{
	enum { MAKECONTEXT_MAX = 1024 };
	const struct cfi *cfi = &builder->cfi;
	uint64_t address;
	size_t size = 0;
	int64_t distance;
	/* Programs can have very many symbols. Only those of static ones are searched. */
	const char *symbols = elf_section_index(builder->elf, ".dynsym") ? ".dynsym" : ".symtab";
	if (builder->go.elf || !elf_symbols_address_in(builder->elf, symbols, "makecontext", &address))
		return;
	const struct cfi_function *own = function_at(cfi, address), *start = NULL;
	const uint8_t *code = own ? elf_bytes_at(builder->elf, address, &size) : NULL;
	if (!code || size < own->size || own->size > MAKECONTEXT_MAX)
		return;
	for (size_t i = 0; i < own->size && !start; i++)
		if (builder->arch->is_address(code + i, own->size - i, &distance))
			start = function_at(cfi, address + i + (uint64_t)distance);
	if (start)
		cfi_add(&builder->cfi, (struct cfi_function){.start = start->start - 1, .cie = CFI_BEGINNING},
			start->size + (uint64_t)1);
}

static bool is_first_choice(const struct builder *builder, const struct cfi_function *function)
{
	return function->cie == CFI_RESTORER || function->cie == CFI_GO || function->cie == CFI_BEGINNING ||
	       (function->cie < CFI_MADE && builder->cfi.cies[function->cie].section == &builder->eh_frame);
}

typedef size_t (*code_search)(const uint8_t *code, size_t size, size_t *ret_length);

/* Adds all places in text between two addresses where a search finds something. */
static void add_found(struct builder *builder, const struct elf_section *text, uint64_t start, uint64_t end,
		      code_search search, uint32_t kind)
{
	size_t from = start > text->address ? start - text->address : 0, to = text->size, length;
	if (end < text->address || start > text->address + text->size)
		return;
	if (end - text->address < to)
		to = end - text->address;
	while (from < to) {
		size_t found = search(text->data + from, to - from, &length);
		if (found == to - from)
			return;
		/* One byte more in front: it is looked up as what a call returns to. */
		uint64_t address = text->address + from + found - 1;
		cfi_add(&builder->cfi, (struct cfi_function){.start = address, .cie = kind}, length + 1);
		from += found + length;
	}
}

/* Looks for the code to which signal handlers return, and that to which fibers do. */
static void find_restorer(struct builder *builder, const struct elf_section *text, uint64_t start, uint64_t end)
{
	add_found(builder, text, start, end, builder->arch->find_restorer, CFI_RESTORER);
	add_found(builder, text, start, end, builder->arch->find_fiber_end, CFI_BEGINNING);
}

/*
 * musl and Go do not describe it, or not as what it is. It lies where .eh_frame is silent for longer than padding
 * lasts, or is short; searching nowhere else leaves the pages of the text on the disk. The functions are sorted.
 */
static void add_restorers(struct builder *builder)
{
	enum { SILENCE_MIN = 128, RESTORER_MAX = 32 };
	struct elf_section text;
	if (!elf_section(builder->elf, ".text", &text) || !text.data || text.address > UINT64_MAX - text.size)
		return;
	uint64_t covered = text.address;
	size_t count = builder->cfi.function_count;
	for (size_t i = 0; i < count; i++) {
		struct cfi_function function = builder->cfi.functions[i];
		uint64_t end = function.start + function.size;
		if (function.start > covered && function.start - covered >= SILENCE_MIN)
			find_restorer(builder, &text, covered, function.start);
		if (function.size <= RESTORER_MAX && (function.cie == CFI_GO || !is_first_choice(builder, &function)))
			find_restorer(builder, &text, function.start, end);
		covered = end > covered ? end : covered;
	}
	find_restorer(builder, &text, covered, text.address + text.size);
}

/* Rules for what nothing describes. */
static void add_derived(struct builder *builder, struct elf_file *debug)
{
	struct derive *derive = &builder->derive;
	size_t described = builder->cfi.function_count;
	undescribed_derive(derive, &builder->cfi, builder->elf, debug);
	for (size_t i = 0; i < derive->range_count; i++) {
		struct cfi_function function = {
			.start = derive->ranges[i].address,
			.cie = CFI_DERIVED,
			.program = (uint32_t)i,
		};
		cfi_add(&builder->cfi, function, derive->ranges[i].size);
	}
	cfi_merge(&builder->cfi, described);
}

static void read_sources(struct builder *builder, struct elf_file *debug)
{
	find_executable(builder);
	read_section(builder, builder->elf, ".eh_frame", false, &builder->eh_frame);
	if (!builder->eh_frame.data)
		read_eh_frame_by_segment(builder);
	if (go_open(&builder->go, builder->elf))
		go_add_functions(&builder->go, &builder->cfi);
	else
		read_section(builder, builder->elf, ".debug_frame", true, &builder->debug_frame);
	if (debug)
		read_section(builder, debug, ".debug_frame", true, &builder->separate_debug_frame);
	size_t described = builder->cfi.function_count;
	add_plt(builder);
	cfi_sort(&builder->cfi);
	size_t count = builder->cfi.function_count;
	add_context_start(builder);
	add_restorers(builder);
	cfi_merge(&builder->cfi, count);
	described += builder->cfi.function_count - count;
	add_derived(builder, debug);
	if (!described && !builder->derive.function_count) /* linkage code alone is not worth a table */
		builder->cfi.function_count = 0;
}

/* Where .eh_frame speaks the others are silent. */
static void cut_second_choices(struct builder *builder)
{
	uint64_t next = UINT64_MAX;
	for (size_t i = builder->cfi.function_count; i-- > 0;) {
		struct cfi_function *function = &builder->cfi.functions[i];
		if (is_first_choice(builder, function))
			next = function->start;
		else if (function->size > next - function->start)
			function->size = (uint32_t)(next - function->start);
	}
}

/* --- rows --- */

static void add_row(struct builder *builder, uint64_t address, uint32_t rule)
{
	if (address < builder->end)
		unwind_rows_maker_add(builder->out, address < builder->covered ? builder->covered : address, rule);
}

static void take_state(void *context, uint64_t address, const struct cfi_cie *cie, const struct cfi_state *state)
{
	struct builder *builder = context;
	add_row(builder, address, rules_of_state(&builder->rules, cie, state));
}

static void take_rule(void *context, uint64_t address, struct unwind_rule rule)
{
	struct builder *builder = context;
	add_row(builder, address, rules_number(&builder->rules, rule));
}

static void take_saves(void *context, uint64_t address, const struct cfi_cie *cie, const struct cfi_state *state)
{
	struct builder *builder = context;
	(void)cie;
	add_row(builder, address, rules_of_saves(&builder->rules, state));
}

/* Where calls leave the return address in a register: entry 0 saves it first, the others only jump. */
static void add_linked_plt_rows(struct builder *builder, const struct cfi_function *function)
{
	struct unwind_rule linked = {.cfa = UNWIND_CFA_SP, .fp = UNWIND_FP_LINK};
	struct unwind_rule saved = {
		.cfa = UNWIND_CFA_SP,
		.cfa_offset = 16,
		.fp = UNWIND_FP_LINK_AT_CFA,
		.fp_offset = -8,
	};
	add_row(builder, function->start, rules_number(&builder->rules, linked));
	if (!function->program)
		return;
	add_row(builder, function->start + (function->program >> 8), rules_number(&builder->rules, saved));
	add_row(builder, function->start + function->program_size, rules_number(&builder->rules, linked));
}

/* Entry 0 is reached with one word pushed, and pushes another. */
static void add_plt_rows(struct builder *builder, const struct cfi_function *function)
{
	struct unwind_rule rule = {.cfa = UNWIND_CFA_SP, .cfa_offset = 8};
	if (!function->program) {
		add_row(builder, function->start, rules_number(&builder->rules, rule));
		return;
	}
	rule.cfa_offset = 16;
	add_row(builder, function->start, rules_number(&builder->rules, rule));
	rule.cfa_offset = 24;
	add_row(builder, function->start + (function->program >> 8), rules_number(&builder->rules, rule));
	rule = (struct unwind_rule){.cfa = UNWIND_CFA_PLT, .cfa_offset = function->program & 0xff};
	add_row(builder, function->start + function->program_size, rules_number(&builder->rules, rule));
}

static void take_derived(void *context, uint64_t address, uint32_t rule)
{
	add_row(context, address, rule);
}

/* Linkage code saves nothing; behind a signal frame the registers are others. */
static uint32_t made_saves(struct builder *builder, const struct cfi_function *function)
{
	const struct cfi_state untouched = {0};
	return rules_of_saves(&builder->rules, function->cie == CFI_PLT ? &untouched : NULL);
}

static void add_function(struct builder *builder, const struct cfi_function *function, cfi_sink sink)
{
	if (function->cie < CFI_MADE)
		cfi_run(&builder->cfi, function, sink, builder);
	else if (sink == take_saves)
		add_row(builder, function->start, made_saves(builder, function));
	else if (function->cie == CFI_GO)
		go_run(&builder->go, function, take_rule, builder);
	else if (function->cie == CFI_BEGINNING)
		add_row(builder, function->start, UNWIND_RULE_STOP);
	else if (function->cie == CFI_RESTORER)
		add_row(builder, function->start,
			rules_number(&builder->rules, (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL}));
	else if (function->cie == CFI_DERIVED)
		derive_rows(&builder->derive, function->program, take_derived, builder);
	else if (builder->arch->links)
		add_linked_plt_rows(builder, function);
	else
		add_plt_rows(builder, function);
}

/* All functions in order of their addresses. Of two that overlap the first one counts. */
static void make_rows(struct builder *builder, struct unwind_rows_maker *out, cfi_sink sink)
{
	const struct cfi *cfi = &builder->cfi;
	const struct cfi_function *last = &cfi->functions[cfi->function_count - 1];
	unwind_rows_maker_init(out, cfi->functions[0].start, last->start + last->size, cfi->function_count);
	builder->out = out;
	builder->covered = cfi->functions[0].start;
	for (size_t i = 0; i < cfi->function_count; i++) {
		const struct cfi_function *function = &cfi->functions[i];
		builder->end = function->start + function->size;
		if (builder->end <= builder->covered)
			continue;
		if (function->start > builder->covered && function->start - builder->covered >= GAP_MIN)
			unwind_rows_maker_add(out, builder->covered, UNWIND_RULE_INVALID);
		add_function(builder, function, sink);
		builder->covered = builder->end;
	}
	unwind_rows_maker_add(out, builder->covered, UNWIND_RULE_INVALID);
	unwind_rows_maker_finish(out);
}

static struct unwind_table *make_table(struct builder *builder)
{
	const struct rules *rules = &builder->rules;
	cut_second_choices(builder);
	make_rows(builder, &builder->rows, take_state);
	bool with_saves = (rules->uses & builder->arch->saved_mask) && builder->rows.count <= SAVES_ROWS_MAX;
	if (with_saves)
		make_rows(builder, &builder->saves, take_saves);
	struct unwind_table_parts parts = {
		.arch = builder->arch,
		.rows = &builder->rows,
		.saves = with_saves ? &builder->saves : NULL,
		.rules = rules->rules,
		.save_rules = rules->saves,
		.long_rules = rules->long_rules,
		.expressions = (const uint8_t *)rules->expressions.data,
		.rule_count = (uint32_t)rules->count,
		.save_rule_count = (uint32_t)rules->save_count,
		.long_rule_count = (uint32_t)rules->long_count,
		.expression_bytes = (uint32_t)rules->expressions.size,
	};
	return unwind_table_new(&parts);
}

int unwind_table_build(struct unwind_table **ret_table, struct elf_file *elf, struct elf_file *debug, struct err *err)
{
	const struct arch *arch = arch_of_machine(elf_header(elf)->e_machine);
	if (!arch)
		return err_set(err, ERR_UNSUPPORTED, "unwinding is not supported for machine type %u",
			       elf_header(elf)->e_machine);
	struct builder builder = {.arch = arch, .elf = elf, .cfi = {.arch = arch}};
	rules_init(&builder.rules, arch);
	derive_init(&builder.derive, arch, &builder.rules);
	read_sources(&builder, debug);
	int result = 0;
	if (builder.cfi.function_count)
		*ret_table = make_table(&builder);
	else
		result = err_set(err, ERR_EMPTY, "no unwind information");
	builder_release(&builder);
	return result;
}
