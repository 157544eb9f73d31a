/* ELF files compared with readelf, and damaged ones. */
#include "shell.h"

#include "object/cache.h"
#include "object/elf.h"
#include "symbol/elf_symbols.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <zlib.h>

static const char source[] = "static int inner(int x) { return x * 3; }\n"
			     "int outer(int x) { return inner(x) + 1; }\n"
			     "int main(void) { return outer(2) - 7; }\n";

static int set_up(void **state)
{
	if (shell_enter(state))
		return 1;
	FILE *file = fopen("program.c", "we");
	fputs(source, file);
	fclose(file);
	return system("gcc -g -O1 -Wl,--build-id=sha1 program.c -o program");
}

static struct elf_file *open_file(const char *path)
{
	struct elf_file *elf = NULL;
	struct err err = {0};
	if (elf_open(&elf, path, &err))
		print_error("%s\n", err_text(&err));
	assert_non_null(elf);
	return elf;
}

/* Opens a file after a comparison of its sections. */
static struct elf_file *compare_sections(const char *path)
{
	struct elf_file *elf = open_file(path);
	char command[256];
	snprintf(command, sizeof command,
		 "readelf -SW %s | sed -nE 's/^ *\\[ *([0-9]+)\\] (\\.[^ ]+) +[^ ]+ +([0-9a-f]+) "
		 "[0-9a-f]+ ([0-9a-f]+) .*/\\1 \\2 \\3 \\4/p'",
		 path);
	struct buf text = shell_output(command);
	size_t seen = 0;
	char *rest = text.data;
	for (char *line; (line = shell_line(&rest)); seen++) {
		unsigned index;
		char name[64];
		unsigned long address, size;
		assert_int_equal(sscanf(line, "%u %63s %lx %lx", &index, name, &address, &size), 4);
		struct elf_section section;
		assert_true(elf_section_at(elf, index, &section));
		assert_string_equal(section.name, name);
		assert_int_equal(section.size, size);
		assert_int_equal(section.address, address);
		assert_int_equal(elf_section_index(elf, name), index);
	}
	assert_int_equal(seen, elf_section_count(elf) - 1);
	buf_release(&text);
	return elf;
}

static void sections_are_those_of_readelf(void **state)
{
	(void)state;
	struct elf_file *elf = compare_sections("program");
	assert_int_equal(elf_section_index(elf, ".nothing"), 0);
	struct elf_section section;
	assert_false(elf_section(elf, ".nothing", &section));
	assert_false(elf_section_at(elf, 0, &section));
	assert_false(elf_section_at(elf, 99999, &section));
	assert_true(elf_section(elf, ".bss", &section));
	assert_null(section.data);
	elf_close(elf);
}

static void files_of_32_bits_are_read_alike(void **state)
{
	(void)state;
	assert_int_equal(system("printf '.globl _start\\n.type _start,@function\\n_start: nop\\n' | "
				"as --32 -o narrow.o - && ld -m elf_i386 -o narrow narrow.o"),
			 0);
	struct elf_file *elf = compare_sections("narrow");
	uint64_t address;
	size_t size;
	assert_true(elf_is_narrow(elf));
	assert_int_equal(elf_header(elf)->e_machine, EM_386);
	assert_true(elf_symbols_address(elf, "_start", &address));
	assert_int_equal(address, elf_header(elf)->e_entry);
	const uint8_t *code = elf_bytes_at(elf, address, &size);
	assert_non_null(code);
	assert_int_equal(code[0], 0x90);
	elf_close(elf);
}

static void build_ids_are_those_of_readelf(void **state)
{
	(void)state;
	struct elf_file *elf = open_file("program");
	struct build_id id = elf_build_id(elf), parsed;
	struct buf text =
		shell_output("readelf -nW program | sed -nE 's/.*Build ID: ([0-9a-f]+).*/\\1/p' | tr -d '\\n'");
	char shown[BUILD_ID_TEXT];
	assert_string_equal(build_id_text(&id, shown), text.data);
	assert_int_equal(id.size, 20);
	assert_true(build_id_parse(&parsed, text.data));
	assert_true(build_id_equal(&id, &parsed));
	elf_close(elf);
	/* In debug files the segments mean nothing: the section is used. */
	shell("objcopy --only-keep-debug program program.debug");
	elf = open_file("program.debug");
	struct build_id kept = elf_build_id(elf);
	assert_true(build_id_equal(&id, &kept));
	elf_close(elf);
	shell("gcc -Wl,--build-id=none program.c -o without");
	elf = open_file("without");
	assert_int_equal(elf_build_id(elf).size, 0);
	elf_close(elf);
	buf_release(&text);
}

static void build_ids_compare_without_padding(void **state)
{
	(void)state;
	struct build_id a, b, none = {0};
	assert_true(build_id_parse(&a, "00aa11ff"));
	assert_true(build_id_parse(&b, "00AA11FF00000000000000000000000000000000"));
	assert_true(build_id_equal(&a, &b));
	b.bytes[19] = 1;
	assert_false(build_id_equal(&a, &b));
	assert_false(build_id_equal(&none, &none));
	assert_false(build_id_equal(&a, &none));
	assert_false(build_id_parse(&a, ""));
	assert_false(build_id_parse(&a, "abc"));
	assert_false(build_id_parse(&a, "0g"));
	assert_false(build_id_parse(&a, "000000000000000000000000000000000000000000"));
}

static void notes_are_walked_within_their_bounds(void **state)
{
	(void)state;
	struct {
		Elf64_Nhdr note;
		char name[4];
		uint8_t bytes[8];
	} notes[2] = {
		{{4, 8, 5}, "GNU", {9}},
		{{4, 8, NT_GNU_BUILD_ID}, "GNU", {1, 2, 3, 4, 5, 6, 7, 8}},
	};
	struct build_id id = build_id_from_notes(notes, sizeof notes, 4);
	assert_int_equal(id.size, 8);
	assert_int_equal(id.bytes[7], 8);
	for (size_t size = 0; size < sizeof notes; size++)
		assert_int_equal(build_id_from_notes(notes, size, 4).size, 0);
	notes[0].note.n_descsz = UINT32_MAX;
	assert_int_equal(build_id_from_notes(notes, sizeof notes, 4).size, 0);
	notes[0].note.n_descsz = 8;
	notes[0].note.n_namesz = UINT32_MAX;
	assert_int_equal(build_id_from_notes(notes, sizeof notes, 8).size, 0);
}

static void check_compressed(const char *how)
{
	static const char *const names[] = {".debug_info", ".debug_str", ".debug_line", ".debug_abbrev"};
	char command[128];
	snprintf(command, sizeof command, "objcopy --compress-debug-sections=%s program packed 2>/dev/null", how);
	if (system(command)) {
		print_message("# objcopy cannot compress with %s\n", how);
		return;
	}
	struct elf_file *plain = open_file("program"), *packed = open_file("packed");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct elf_section a, b;
		assert_true(elf_section(plain, names[i], &a));
		assert_true(elf_section(packed, names[i], &b));
		assert_int_equal(a.size, b.size);
		assert_memory_equal(a.data, b.data, a.size);
		struct elf_section again;
		assert_true(elf_section(packed, names[i], &again));
		assert_ptr_equal(again.data, b.data);
	}
	elf_close(plain);
	elf_close(packed);
}

static void compressed_sections_are_unpacked(void **state)
{
	(void)state;
	check_compressed("none");
	check_compressed("zlib");
	check_compressed("zlib-gnu");
	check_compressed("zstd");
}

/* Whether a file of the cache is mapped. */
static bool maps_kept_section(void)
{
	struct buf maps = shell_file("/proc/self/maps");
	bool found = memmem(maps.data, maps.size, ".section-", 9);
	buf_release(&maps);
	return found;
}

static void large_sections_are_kept_unpacked(void **state)
{
	(void)state;
	shell("seq 200000 > numbers");
	shell("objcopy --add-section .debug_big=numbers program plain_big");
	shell("objcopy --compress-debug-sections=zlib plain_big packed");
	struct cache *cache = cache_open("sections", CACHE_USUAL);
	struct buf wanted = shell_file("numbers");
	for (int round = 0; round < 2; round++) {
		struct elf_file *elf = open_file("packed");
		struct elf_section small, large;
		elf_set_cache(elf, cache);
		assert_true(elf_section(elf, ".debug_info", &small));
		assert_false(maps_kept_section());
		assert_true(elf_section(elf, ".debug_big", &large));
		assert_int_equal(maps_kept_section(), round);
		assert_int_equal(large.size, wanted.size);
		assert_memory_equal(large.data, wanted.data, wanted.size);
		elf_close(elf);
		assert_false(maps_kept_section());
	}
	buf_release(&wanted);
	cache_close(cache);
}

static struct elf_section asked[8];

static void *ask(void *elf)
{
	static int number;
	int mine = __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED);
	elf_section(elf, mine % 2 ? ".debug_info" : ".debug_str", &asked[mine]);
	return NULL;
}

static void threads_may_ask_for_compressed_sections_at_once(void **state)
{
	(void)state;
	shell("objcopy --compress-debug-sections=zlib program packed");
	struct elf_file *elf = open_file("packed");
	pthread_t threads[8];
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, elf), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	for (int i = 2; i < 8; i++) {
		assert_non_null(asked[i].data);
		assert_ptr_equal(asked[i].data, asked[i - 2].data);
	}
	elf_close(elf);
}

/* A file of one compressed section, named `count` times, whose header claims `claimed` bytes. */
static struct buf bomb(uint64_t claimed, size_t real, unsigned count)
{
	struct buf file = {0};
	CLEANUP_FREE uint8_t *zeros = mem_zalloc(real, 1), *packed = mem_alloc(compressBound(real));
	uLongf packed_size = compressBound(real);
	assert_int_equal(compress(packed, &packed_size, zeros, real), Z_OK);
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = claimed, .ch_addralign = 1};
	Elf64_Ehdr elf = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_shoff = sizeof elf + sizeof header + packed_size,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)(count + 1),
	};
	Elf64_Shdr section = {
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_COMPRESSED,
		.sh_offset = sizeof elf,
		.sh_size = sizeof header + packed_size,
	};
	buf_add(&file, &elf, sizeof elf);
	buf_add(&file, &header, sizeof header);
	buf_add(&file, packed, packed_size);
	buf_add(&file, &(Elf64_Shdr){0}, sizeof section);
	for (unsigned i = 0; i < count; i++)
		buf_add(&file, &section, sizeof section);
	return file;
}

static unsigned sections_unpacked(const struct buf *file, unsigned count)
{
	struct elf_file *elf;
	assert_int_equal(elf_open_bytes(&elf, file->data, file->size, NULL), 0);
	unsigned fine = 0;
	for (unsigned i = 1; i <= count; i++) {
		struct elf_section section;
		fine += elf_section_at(elf, i, &section);
	}
	elf_close(elf);
	return fine;
}

static void bombs_are_not_unpacked(void **state)
{
	(void)state;
	struct buf file = bomb(1000000, 1000000, 1);
	assert_int_equal(sections_unpacked(&file, 1), 1);
	buf_release(&file);
	/* Sizes that are not true. */
	file = bomb(1000001, 1000000, 1);
	assert_int_equal(sections_unpacked(&file, 1), 0);
	buf_release(&file);
	file = bomb(999999, 1000000, 1);
	assert_int_equal(sections_unpacked(&file, 1), 0);
	buf_release(&file);
	file = bomb(UINT64_MAX, 1000000, 1);
	assert_int_equal(sections_unpacked(&file, 1), 0);
	buf_release(&file);
	/* The same bytes a thousand times: 20 GB of them. */
	file = bomb(20000000, 20000000, 1000);
	unsigned unpacked = sections_unpacked(&file, 1000);
	assert_true(unpacked >= 1 && unpacked < 20);
	buf_release(&file);
}

static void counts_beyond_16_bits_are_in_the_first_section(void **state)
{
	(void)state;
	struct buf bytes = shell_file("program");
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes.data;
	Elf64_Shdr *first = (Elf64_Shdr *)(bytes.data + header->e_shoff);
	unsigned sections = header->e_shnum, segments = header->e_phnum;
	first->sh_size = sections;
	first->sh_link = header->e_shstrndx;
	first->sh_info = segments;
	header->e_shnum = 0;
	header->e_shstrndx = SHN_XINDEX;
	header->e_phnum = PN_XNUM;
	struct elf_file *elf;
	assert_int_equal(elf_open_bytes(&elf, bytes.data, bytes.size, NULL), 0);
	assert_int_equal(elf_section_count(elf), sections);
	assert_int_equal(elf_segment_count(elf), segments);
	assert_true(elf_section_index(elf, ".debug_info"));
	elf_close(elf);
	first->sh_size = UINT64_MAX;
	assert_int_equal(elf_open_bytes(&elf, bytes.data, bytes.size, NULL), 0);
	assert_int_equal(elf_section_count(elf), 0);
	elf_close(elf);
	buf_release(&bytes);
}

static void offsets_become_addresses(void **state)
{
	(void)state;
	struct elf_file *elf = open_file("program");
	bool code = false;
	for (size_t i = 0; i < elf_segment_count(elf); i++) {
		const Elf64_Phdr *segment = elf_segment(elf, i);
		uint64_t address;
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		code = true;
		assert_true(elf_address_of_offset(elf, segment->p_offset + 5, &address));
		assert_int_equal(address, segment->p_vaddr + 5);
	}
	assert_true(code);
	uint64_t address = 77;
	assert_false(elf_address_of_offset(elf, UINT64_MAX, &address));
	assert_int_equal(address, 77);
	assert_null(elf_segment(elf, 1000));
	elf_close(elf);
}

/* Two segments that share a page of the file, as lld and mold lay them out: the second is mapped one page further. */
static void mappings_belong_to_their_executable_segment(void **state)
{
	(void)state;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[3];
		char rest[0x3000];
	} file = {
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 3},
		.segments = {{.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0xf60, .p_memsz = 0xf60},
			     {.p_type = PT_LOAD,
			      .p_flags = PF_R | PF_X,
			      .p_offset = 0xf60,
			      .p_vaddr = 0x1f60,
			      .p_filesz = 0x1100,
			      .p_memsz = 0x1100},
			     {.p_type = PT_LOAD,
			      .p_flags = PF_R | PF_X,
			      .p_offset = 0x2060,
			      .p_vaddr = 0x5060,
			      .p_filesz = 0x800,
			      .p_memsz = 0x800}},
	};
	struct elf_file *elf;
	uint64_t shift = 77;
	assert_int_equal(elf_open_bytes(&elf, &file, sizeof file, NULL), 0);
	assert_true(elf_mapping_shift(elf, 0, 0x3000, &shift));
	assert_int_equal(shift, 0x1000);
	assert_true(elf_mapping_shift(elf, 0, 0x1000, &shift)); /* few of its bytes are executable */
	assert_int_equal(shift, 0x1000);
	assert_true(elf_mapping_shift(elf, 0x2000, 0x1000, &shift)); /* the second one has more of them here */
	assert_int_equal(shift, 0x3000);
	shift = 77;
	assert_false(elf_mapping_shift(elf, 0x100000, UINT64_MAX, &shift));
	assert_int_equal(shift, 77);
	elf_close(elf);
}

static void cut_files_cost_what_is_cut(void **state)
{
	(void)state;
	struct buf bytes = shell_file("program");
	for (size_t size = 0; size < bytes.size; size += size < 1000 ? 1 : 61) {
		/* Exactly as long as it claims, so that a sanitizer sees one byte too far. */
		CLEANUP_FREE uint8_t *cut = mem_alloc(size ? size : 1);
		memcpy(cut, bytes.data, size);
		struct elf_file *elf = NULL;
		if (elf_open_bytes(&elf, cut, size, NULL)) {
			assert_true(size < sizeof(Elf64_Ehdr));
			continue;
		}
		elf_build_id(elf);
		assert_int_equal(elf_section_count(elf), 0); /* their table is at the end */
		elf_close(elf);
	}
	buf_release(&bytes);
}

static void what_is_no_elf_file_is_refused(void **state)
{
	(void)state;
	struct elf_file *elf = NULL;
	struct err err;
	assert_int_equal(elf_open(&elf, "missing", &err), ERR_OPEN);
	assert_int_equal(elf_open(&elf, "program.c", &err), ERR_FORMAT);
	assert_int_equal(elf_open(&elf, ".", &err), ERR_FORMAT);
	assert_int_equal(elf_open(&elf, "/dev/zero", &err), ERR_FORMAT);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(elf_open(&elf, "fifo", &err), ERR_FORMAT);
	fclose(fopen("empty", "we"));
	assert_int_equal(elf_open(&elf, "empty", &err), ERR_FORMAT);
	struct buf bytes = shell_file("program");
	bytes.data[EI_CLASS] = ELFCLASSNUM;
	assert_int_equal(elf_open_bytes(&elf, bytes.data, bytes.size, &err), ERR_UNSUPPORTED);
	bytes.data[EI_CLASS] = ELFCLASS64;
	bytes.data[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(elf_open_bytes(&elf, bytes.data, bytes.size, &err), ERR_UNSUPPORTED);
	assert_null(elf);
	buf_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_are_those_of_readelf),
		cmocka_unit_test(files_of_32_bits_are_read_alike),
		cmocka_unit_test(build_ids_are_those_of_readelf),
		cmocka_unit_test(build_ids_compare_without_padding),
		cmocka_unit_test(notes_are_walked_within_their_bounds),
		cmocka_unit_test(compressed_sections_are_unpacked),
		cmocka_unit_test(large_sections_are_kept_unpacked),
		cmocka_unit_test(threads_may_ask_for_compressed_sections_at_once),
		cmocka_unit_test(bombs_are_not_unpacked),
		cmocka_unit_test(counts_beyond_16_bits_are_in_the_first_section),
		cmocka_unit_test(offsets_become_addresses),
		cmocka_unit_test(mappings_belong_to_their_executable_segment),
		cmocka_unit_test(cut_files_cost_what_is_cut),
		cmocka_unit_test(what_is_no_elf_file_is_refused),
	};
	return cmocka_run_group_tests(tests, set_up, shell_leave);
}
