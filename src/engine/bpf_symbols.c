/* Reads the names of loaded BPF programs from the kernel. */
#include "engine/bpf_symbols.h"

#include "base/mem.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#define FUNCTIONS_MAX 64 /* of one program */

struct functions {
	uint64_t addresses[FUNCTIONS_MAX];
	uint32_t lengths[FUNCTIONS_MAX];
	uint8_t tags[FUNCTIONS_MAX][BPF_TAG_SIZE];
	struct bpf_func_info types[FUNCTIONS_MAX];
};

/* How many functions there are; 0 if the kernel does not report it, or reports more of one thing than of another. */
static uint32_t ask(int program, struct functions *functions)
{
	struct bpf_prog_info info = {
		.nr_jited_ksyms = FUNCTIONS_MAX,
		.jited_ksyms = (uintptr_t)functions->addresses,
		.nr_jited_func_lens = FUNCTIONS_MAX,
		.jited_func_lens = (uintptr_t)functions->lengths,
		.nr_prog_tags = FUNCTIONS_MAX,
		.prog_tags = (uintptr_t)functions->tags,
		.nr_func_info = FUNCTIONS_MAX,
		.func_info_rec_size = sizeof *functions->types,
		.func_info = (uintptr_t)functions->types,
	};
	uint32_t size = sizeof info, count;
	if (program < 0 || bpf_obj_get_info_by_fd(program, &info, &size))
		return 0;
	count = info.nr_jited_ksyms;
	memcpy(functions->tags[0], info.tag, sizeof info.tag); /* that of all, by which the first is called */
	bool complete = count <= FUNCTIONS_MAX && info.nr_jited_func_lens == count && info.nr_prog_tags == count &&
			info.nr_func_info == count && info.func_info_rec_size == sizeof *functions->types;
	return complete ? count : 0;
}

static void emit_function(const struct functions *functions, uint32_t i, const struct btf *btf,
			  struct module_store *codes)
{
	const struct btf_type *type = btf ? btf__type_by_id(btf, functions->types[i].type_id) : NULL;
	const char *own = type ? btf__name_by_offset(btf, type->name_off) : NULL;
	char name[256] = "bpf_prog_";
	size_t at = strlen(name);
	if (!own || !functions->addresses[i])
		return;
	for (size_t byte = 0; byte < BPF_TAG_SIZE; byte++)
		at += (size_t)snprintf(name + at, sizeof name - at, "%02x", functions->tags[i][byte]);
	snprintf(name + at, sizeof name - at, "_%s", own);
	module_store_kernel_symbol(codes, functions->addresses[i], functions->lengths[i], name);
}

void bpf_symbols_emit(const struct bpf_object *object, struct module_store *codes)
{
	CLEANUP_FREE struct functions *functions = mem_zalloc(1, sizeof *functions);
	struct bpf_program *program;
	bpf_object__for_each_program(program, object)
	{
		uint32_t count = ask(bpf_program__fd(program), functions);
		for (uint32_t i = 0; i < count; i++)
			emit_function(functions, i, bpf_object__btf(object), codes);
	}
}
