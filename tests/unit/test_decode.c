/* Instructions, one by one. The bytes are those that an assembler made. */
#include "unit.h"

#include "arch/x86_64/decode.h"

#include <string.h>

#define CODE(bytes) bytes, sizeof(bytes) - 1
/* An instruction without meaning that changes these registers, and one with meaning. */
#define OTHER(registers) INSTRUCTION_OTHER, NO, NO, 0, registers, 0
#define IS(kind, reg, base, offset, target) INSTRUCTION_##kind, reg, base, offset, 0, target
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { ADDRESS = 0x1000 };

/* DWARF numbers, and bits of `writes`. */
enum { FP = 6, SP = 7, NO = REGISTER_NONE };
enum { AX = 1, DX = 2, CX = 4, BX = 8, SI = 16, DI = 32, BP = 64, R11 = 1 << 11 };

struct line {
	const char *code;
	size_t size;
	uint8_t kind, reg, base;
	int64_t offset;
	uint32_t writes; /* of INSTRUCTION_OTHER */
	uint64_t target;
};

static const struct line lines[] = {
	{CODE("\x90"), OTHER(0)}, /* nop */
	{CODE("\x66\x90"), OTHER(0)}, /* xchg %ax,%ax */
	{CODE("\x2e\x66\x0f\x1f\x04\x00"), OTHER(0)}, /* cs nopw (%rax,%rax,1) */
	{CODE("\xf3\x0f\x1e\xfa"), OTHER(0)}, /* endbr64 */
	{CODE("\x55"), IS(PUSH, FP, NO, 0, 0)}, /* push %rbp */
	{CODE("\x41\x57"), IS(PUSH, 15, NO, 0, 0)}, /* push %r15 */
	{CODE("\x5d"), IS(POP, FP, NO, 0, 0)}, /* pop %rbp */
	{CODE("\x41\x5c"), IS(POP, 12, NO, 0, 0)}, /* pop %r12 */
	{CODE("\x6a\x12"), IS(PUSH, NO, NO, 0, 0)}, /* push $0x12 */
	{CODE("\x68\x78\x56\x34\x12"), IS(PUSH, NO, NO, 0, 0)}, /* push $0x12345678 */
	{CODE("\xff\x74\x24\x10"), IS(PUSH, NO, NO, 0, 0)}, /* push 0x10(%rsp) */
	{CODE("\x8f\x00"), IS(POP, NO, NO, 0, 0)}, /* pop (%rax) */
	{CODE("\x9c"), IS(PUSH, NO, NO, 0, 0)}, /* pushf */
	{CODE("\x48\x83\xec\x18"), IS(ADD, SP, SP, -24, 0)}, /* sub $0x18,%rsp */
	{CODE("\x48\x81\xec\x45\x23\x01\x00"), IS(ADD, SP, SP, -74565, 0)}, /* sub $0x12345,%rsp */
	{CODE("\x48\x83\xc4\x18"), IS(ADD, SP, SP, 24, 0)}, /* add $0x18,%rsp */
	{CODE("\x48\x83\xc4\x80"), IS(ADD, SP, SP, -128, 0)}, /* add $0xffffffffffffff80,%rsp */
	{CODE("\x48\x83\xe4\xe0"), IS(ALIGN, SP, SP, 0, 0)}, /* and $0xffffffffffffffe0,%rsp */
	{CODE("\x48\x8d\x64\x24\xe0"), IS(ADD, SP, SP, -32, 0)}, /* lea -0x20(%rsp),%rsp */
	{CODE("\x48\x8d\xa5\x00\x01\x00\x00"), IS(ADD, SP, FP, 256, 0)}, /* lea 0x100(%rbp),%rsp */
	{CODE("\x48\x8d\x64\xc4\x08"), OTHER(1u << SP)}, /* lea 0x8(%rsp,%rax,8),%rsp */
	{CODE("\x48\x8d\x15\x34\x12\x00\x00"), IS(ADDRESS, 1, NO, 0, 0x223b)}, /* lea 0x1234(%rip),%rdx */
	{CODE("\x48\x89\xe5"), IS(ADD, FP, SP, 0, 0)}, /* mov %rsp,%rbp */
	{CODE("\x48\x89\xec"), IS(ADD, SP, FP, 0, 0)}, /* mov %rbp,%rsp */
	{CODE("\x89\xe5"), OTHER(BP)}, /* mov %esp,%ebp */
	{CODE("\x48\x89\x6c\x24\x08"), IS(STORE, FP, SP, 8, 0)}, /* mov %rbp,0x8(%rsp) */
	{CODE("\x48\x8b\x6c\x24\x08"), IS(LOAD, FP, SP, 8, 0)}, /* mov 0x8(%rsp),%rbp */
	{CODE("\x48\x8b\x6c\x8c\x08"), OTHER(BP)}, /* mov 0x8(%rsp,%rcx,4),%rbp */
	{CODE("\xbd\x01\x00\x00\x00"), OTHER(BP)}, /* mov $0x1,%ebp */
	{CODE("\x48\xbd\xf0\xde\xbc\x9a\x78\x56\x34\x12"), OTHER(BP)}, /* movabs $0x123456789abcdef0,%rbp */
	{CODE("\x40\x88\xc5"), OTHER(BP)}, /* mov %al,%bpl */
	{CODE("\x88\xc5"), OTHER(CX)}, /* mov %al,%ch */
	{CODE("\xc6\x00\x01"), OTHER(0)}, /* movb $0x1,(%rax) */
	{CODE("\x66\xc7\x00\x01\x00"), IS(STORE, NO, 0, 0, 0)}, /* movw $0x1,(%rax) */
	{CODE("\xc7\x44\x24\x10\x01\x00\x00\x00"), IS(STORE, NO, SP, 16, 0)}, /* movl $0x1,0x10(%rsp) */
	{CODE("\x48\xc7\x84\x24\x45\x23\x01\x00\x01\x00\x00\x00"),
	 IS(STORE, NO, SP, 74565, 0)}, /* movq $0x1,0x12345(%rsp) */
	{CODE("\xa1\x88\x77\x66\x55\x44\x33\x22\x11"), OTHER(AX)}, /* movabs 0x1122334455667788,%eax */
	{CODE("\x31\xed"), IS(CLEAR, FP, NO, 0, 0)}, /* xor %ebp,%ebp */
	{CODE("\x48\x31\xed"), IS(CLEAR, FP, NO, 0, 0)}, /* xor %rbp,%rbp */
	{CODE("\x31\xc5"), OTHER(BP)}, /* xor %eax,%ebp */
	{CODE("\x49\x39\xe3"), IS(COMPARE, 11, SP, 0, 0)}, /* cmp %rsp,%r11 */
	{CODE("\x4c\x39\xdc"), IS(COMPARE, SP, 11, 0, 0)}, /* cmp %r11,%rsp */
	{CODE("\xc8\x20\x00\x00"), IS(ENTER, NO, NO, 32, 0)}, /* enter $0x20,$0x0 */
	{CODE("\xc9"), IS(LEAVE, NO, NO, 0, 0)}, /* leave */
	{CODE("\xc3"), IS(RETURN, NO, NO, 0, 0)}, /* ret */
	{CODE("\xf3\xc3"), IS(RETURN, NO, NO, 0, 0)}, /* repz ret */
	{CODE("\xc2\x08\x00"), IS(RETURN, NO, NO, 0, 0)}, /* ret $0x8 */
	{CODE("\xf4"), IS(TRAP, NO, NO, 0, 0)}, /* hlt */
	{CODE("\x0f\x0b"), IS(TRAP, NO, NO, 0, 0)}, /* ud2 */
	{CODE("\xcc"), IS(TRAP, NO, NO, 0, 0)}, /* int3 */
	{CODE("\xcd\x80"), OTHER(0)}, /* int $0x80 */
	{CODE("\x0f\x05"), OTHER(AX | CX | R11)}, /* syscall */
	{CODE("\xff\xd0"), IS(CALL, NO, NO, 0, 0)}, /* call *%rax */
	{CODE("\xff\x50\x08"), IS(CALL, NO, NO, 0, 0)}, /* call *0x8(%rax) */
	{CODE("\xff\xe0"), IS(JUMP_ANYWHERE, NO, NO, 0, 0)}, /* jmp *%rax */
	{CODE("\xff\x24\xc5\x00\x10\x00\x00"), INSTRUCTION_JUMP_ANYWHERE, NO, NO, 0, 0,
	 0x1000}, /* jmp *0x1000(,%rax,8) */
	{CODE("\x3e\xff\xe2"), IS(JUMP_ANYWHERE, NO, NO, 0, 0)}, /* notrack jmp *%rdx */
	{CODE("\xf6\x00\x01"), OTHER(0)}, /* testb $0x1,(%rax) */
	{CODE("\xf7\x00\x01\x00\x00\x00"), OTHER(0)}, /* testl $0x1,(%rax) */
	{CODE("\x66\xf7\x00\x01\x00"), OTHER(0)}, /* testw $0x1,(%rax) */
	{CODE("\xf7\x10"), OTHER(0)}, /* notl (%rax) */
	{CODE("\x48\xf7\xf5"), OTHER(AX | DX)}, /* div %rbp */
	{CODE("\x48\x6b\xe8\x10"), OTHER(BP)}, /* imul $0x10,%rax,%rbp */
	{CODE("\x48\x69\xe8\x45\x23\x01\x00"), OTHER(BP)}, /* imul $0x12345,%rax,%rbp */
	{CODE("\x66\x69\xe8\x23\x01"), OTHER(BP)}, /* imul $0x123,%ax,%bp */
	{CODE("\x48\x0f\x45\xe8"), OTHER(BP)}, /* cmovne %rax,%rbp */
	{CODE("\x0f\xb6\xe8"), OTHER(BP)}, /* movzbl %al,%ebp */
	{CODE("\x48\x0f\xcd"), OTHER(BP)}, /* bswap %rbp */
	{CODE("\x0f\xba\xe5\x03"), OTHER(0)}, /* bt $0x3,%ebp */
	{CODE("\x0f\xba\xed\x03"), OTHER(BP)}, /* bts $0x3,%ebp */
	{CODE("\x0f\xa4\xc5\x03"), OTHER(BP)}, /* shld $0x3,%eax,%ebp */
	{CODE("\x48\x0f\xb1\x2f"), OTHER(AX)}, /* cmpxchg %rbp,(%rdi) */
	{CODE("\x48\x0f\xc1\x2f"), OTHER(BP)}, /* xadd %rbp,(%rdi) */
	{CODE("\x48\x87\x2f"), OTHER(BP)}, /* xchg %rbp,(%rdi) */
	{CODE("\xf3\x48\x0f\xb8\xe8"), OTHER(BP)}, /* popcnt %rax,%rbp */
	{CODE("\xf2\x48\x0f\x38\xf1\xe8"), OTHER(BP)}, /* crc32 %rax,%rbp */
	{CODE("\x0f\x58\xed"), OTHER(0)}, /* addps %xmm5,%xmm5 */
	{CODE("\x66\x0f\x7e\xcd"), OTHER(BP)}, /* movd %xmm1,%ebp */
	{CODE("\x66\x0f\x6e\xcd"), OTHER(0)}, /* movd %ebp,%xmm1 */
	{CODE("\xf3\x0f\x7e\xed"), OTHER(0)}, /* movq %xmm5,%xmm5 */
	{CODE("\x66\x0f\xd7\xe9"), OTHER(BP)}, /* pmovmskb %xmm1,%ebp */
	{CODE("\x66\x0f\xc5\xe9\x01"), OTHER(BP)}, /* pextrw $0x1,%xmm1,%ebp */
	{CODE("\x66\x0f\x3a\x16\xcd\x01"), OTHER(BP)}, /* pextrd $0x1,%xmm1,%ebp */
	{CODE("\x66\x0f\x38\x00\xed"), OTHER(0)}, /* pshufb %xmm5,%xmm5 */
	{CODE("\x66\x0f\x3a\x63\xe9\x01"), OTHER(CX)}, /* pcmpistri $0x1,%xmm1,%xmm5 */
	{CODE("\xf2\x48\x0f\x2c\xed"), OTHER(BP)}, /* cvttsd2si %xmm5,%rbp */
	{CODE("\x66\x0f\x3a\x0b\xed\x01"), OTHER(0)}, /* roundsd $0x1,%xmm5,%xmm5 */
	{CODE("\xc5\xd4\x58\xed"), OTHER(0)}, /* vaddps %ymm5,%ymm5,%ymm5 */
	{CODE("\xc5\x94\x58\xac\x24\x00\x01\x00\x00"), OTHER(0)}, /* vaddps 0x100(%rsp),%ymm13,%ymm5 */
	{CODE("\xc5\xf8\x77"), OTHER(0)}, /* vzeroupper */
	{CODE("\xc5\xfd\x70\xed\x01"), OTHER(0)}, /* vpshufd $0x1,%ymm5,%ymm5 */
	{CODE("\xc4\xe3\x55\x38\xed\x01"), OTHER(0)}, /* vinserti128 $0x1,%xmm5,%ymm5,%ymm5 */
	{CODE("\xc5\xf9\x7e\xcd"), OTHER(BP)}, /* vmovd %xmm1,%ebp */
	{CODE("\xc5\xfd\xd7\xe9"), OTHER(BP)}, /* vpmovmskb %ymm1,%ebp */
	{CODE("\xc4\xe2\xe0\xf2\xe8"), OTHER(BP)}, /* andn %rax,%rbx,%rbp */
	{CODE("\xc4\xe2\xd0\xf3\xc8"), OTHER(BP)}, /* blsr %rax,%rbp */
	{CODE("\xc4\xe2\xd3\xf6\xd8"), OTHER(BX | BP)}, /* mulx %rax,%rbp,%rbx */
	{CODE("\xc4\xe3\xfb\xf0\xe8\x03"), OTHER(BP)}, /* rorx $0x3,%rax,%rbp */
	{CODE("\x62\xf1\x54\x40\x58\xed"), OTHER(0)}, /* vaddps %zmm5,%zmm21,%zmm5 */
	{CODE("\x62\xf1\x54\x48\x58\x6c\x24\x01"), OTHER(0)}, /* vaddps 0x40(%rsp),%zmm5,%zmm5 */
	{CODE("\x62\xf3\x55\x48\x25\xed\x01"), OTHER(0)}, /* vpternlogd $0x1,%zmm5,%zmm5,%zmm5 */
	{CODE("\x62\xe1\x7d\x08\x7e\xcd"), OTHER(BP)}, /* vmovd %xmm17,%ebp */
	{CODE("\xc5\xfb\x93\xe9"), OTHER(BP)}, /* kmovd %k1,%ebp */
	{CODE("\x8f\xe8\x60\xa2\xe2\x10"), OTHER(0)}, /* vpcmov %xmm1,%xmm2,%xmm3,%xmm4 */
	{CODE("\x8f\xe8\x78\xc2\xd1\x01"), OTHER(0)}, /* vprotd $0x1,%xmm1,%xmm2 */
	{CODE("\x8f\xea\x78\x10\xe8\x34\x12\x00\x00"), OTHER(BP)}, /* bextr $0x1234,%eax,%ebp */
	{CODE("\xdb\x6c\x24\x10"), OTHER(0)}, /* fldt 0x10(%rsp) */
	{CODE("\xdf\xe0"), OTHER(AX)}, /* fnstsw %ax */
	{CODE("\xf0\x48\x0f\xc7\x0f"), OTHER(AX | DX)}, /* lock cmpxchg16b (%rdi) */
	{CODE("\xf3\x48\xab"), OTHER(AX | CX | SI | DI)}, /* rep stos %rax,%es:(%rdi) */
	{CODE("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"), OTHER(AX)}, /* mov %fs:0x28,%rax */
	{CODE("\x0f\x18\x08"), OTHER(0)}, /* prefetcht0 (%rax) */
	{CODE("\x0f\x31"), OTHER(AX | DX)}, /* rdtsc */
	{CODE("\x0f\xa2"), OTHER(AX | DX | CX | BX)}, /* cpuid */
	{CODE("\x66\x0f\x1f\x84\x00\x00\x02\x00\x00"), OTHER(0)}, /* nopw 0x200(%rax,%rax,1) */
	{CODE("\xc7\xf8\x00\x00\x00\x00"), OTHER(AX)}, /* xbegin to the next */
	{CODE("\x66\x0f\x78\xc1\x02\x01"), OTHER(0)}, /* extrq $0x1,$0x2,%xmm1 */
	{CODE("\xf2\x0f\x78\xd1\x02\x01"), OTHER(0)}, /* insertq $0x1,$0x2,%xmm1,%xmm2 */
	{CODE("\x0f\x0f\xd1\x9e"), OTHER(0)}, /* pfadd %mm1,%mm2 */
	{CODE("\x75\x00"), IS(BRANCH, NO, NO, 0, 0x1002)}, /* jne to the next */
	{CODE("\xeb\x00"), IS(JUMP, NO, NO, 0, 0x1002)}, /* jmp to the next */
};

static void check_line(const struct line *line, const struct instruction *instruction)
{
	assert_int_equal(instruction->length, line->size);
	assert_int_equal(instruction->kind, line->kind);
	if (line->kind == INSTRUCTION_OTHER) {
		assert_int_equal(instruction->writes, line->writes);
		return;
	}
	assert_int_equal(instruction->reg, line->reg);
	assert_int_equal(instruction->base, line->base);
	assert_int_equal(instruction->offset, line->offset);
	assert_int_equal(instruction->target, line->target);
}

static void instructions_have_their_length_and_meaning(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct instruction instruction;
		/* What follows does not matter. */
		uint8_t bytes[32];
		memset(bytes, 0x24, sizeof bytes);
		memcpy(bytes, lines[i].code, lines[i].size);
		if (!decode_x86_64(bytes, sizeof bytes, ADDRESS, &instruction))
			fail_msg("line %zu is not known", i);
		check_line(&lines[i], &instruction);
	}
}

static void instructions_that_are_cut_off_are_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		for (size_t size = 0; size < lines[i].size; size++) {
			struct instruction instruction;
			uint8_t *bytes = test_malloc(size + 1); /* of exactly this size, so that sanitizers see more */
			memcpy(bytes + 1, lines[i].code, size);
			if (decode_x86_64(bytes + 1, size, ADDRESS, &instruction))
				assert_true(instruction.length <= size);
			test_free(bytes);
		}
}

static void padding_is_distinguished_from_code(void **state)
{
	(void)state;
	struct instruction instruction;
	assert_true(decode_x86_64((const uint8_t *)"\x90", 1, 0, &instruction) && instruction.padding);
	assert_true(decode_x86_64((const uint8_t *)"\xcc", 1, 0, &instruction) && instruction.padding);
	assert_true(decode_x86_64((const uint8_t *)"\x0f\x1f\x40\x00", 4, 0, &instruction) && instruction.padding);
	assert_true(decode_x86_64((const uint8_t *)"\x41\x90", 2, 0, &instruction) && !instruction.padding); /* xchg */
	assert_true(decode_x86_64((const uint8_t *)"\xf3\x0f\x1e\xfa", 4, 0, &instruction) && !instruction.padding);
}

static void prefixes_without_end_are_no_instruction(void **state)
{
	(void)state;
	uint8_t bytes[64];
	struct instruction instruction;
	memset(bytes, 0x66, sizeof bytes);
	assert_false(decode_x86_64(bytes, sizeof bytes, 0, &instruction));
	bytes[14] = 0x90;
	assert_true(decode_x86_64(bytes, sizeof bytes, 0, &instruction));
	assert_int_equal(instruction.length, 15);
	assert_false(decode_x86_64(bytes, 0, 0, &instruction));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_have_their_length_and_meaning),
		cmocka_unit_test(instructions_that_are_cut_off_are_none),
		cmocka_unit_test(padding_is_distinguished_from_code),
		cmocka_unit_test(prefixes_without_end_are_no_instruction),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
