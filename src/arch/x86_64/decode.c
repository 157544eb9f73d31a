/* Decodes x86-64 instructions: where they end, and what they mean for the stack. */
#include "arch/x86_64/decode.h"

#include "arch/x86_64/decoder.h"

/*
 * The opcodes of a map, one character each:
 *	-  does not exist, or was dealt with before (prefixes)
 *	.  no operands in further bytes		1 2 4  that many bytes of immediate operand
 *	z  2 or 4 bytes, by operand size	v  2, 4 or 8 bytes, by operand size
 *	a  an address of 8 (or 4) bytes		e  2 bytes and 1
 *	j  a jump of 1 byte			J  a jump of 4 bytes
 * and with a ModRM byte:
 *	m  alone	b  1 byte more		w  2 or 4 bytes more	t u  only "test" has 1 (2 or 4) more
 */
static const char one_byte[] = "mmmm1z--mmmm1z--" /* 00: add, or */
			       "mmmm1z--mmmm1z--" /* 10: adc, sbb */
			       "mmmm1z--mmmm1z--" /* 20: and, sub */
			       "mmmm1z--mmmm1z--" /* 30: xor, cmp */
			       "----------------" /* 40: REX */
			       "................" /* 50: push, pop */
			       "---m----zw1b...." /* 60: movsxd, push, imul, ins, outs */
			       "jjjjjjjjjjjjjjjj" /* 70: jcc */
			       "bw-bmmmmmmmmmmmm" /* 80: operations with a constant, test, xchg, mov, lea, pop */
			       "..........-....." /* 90: xchg, cwd, pushf */
			       "aaaa....1z......" /* a0: mov, string operations, test */
			       "11111111vvvvvvvv" /* b0: mov of a constant */
			       "bb2.--bwe.2..1-." /* c0: shifts, ret, mov, enter, leave, int */
			       "mmmm---.mmmmmmmm" /* d0: shifts, xlat, x87 */
			       "jjjj1111JJ-j...." /* e0: loop, in, out, call, jmp */
			       "-.--..tu......mm"; /* f0: hlt, test … div, flags, inc, dec, call, jmp, push */

static const char two_bytes[] = "mmmm-.....-.-m.b" /* 00: system, syscall, ud2, prefetch, 3DNow! */
				"mmmmmmmmmmmmmmmm" /* 10: moves, nop */
				"mmmm----mmmmmmmm" /* 20: control registers, moves, conversions */
				"......-.--------" /* 30: rdtsc …; 38 and 3a lead on */
				"mmmmmmmmmmmmmmmm" /* 40: cmov */
				"mmmmmmmmmmmmmmmm" /* 50 */
				"mmmmmmmmmmmmmmmm" /* 60 */
				"bbbbmmm.mm--mmmm" /* 70: shuffles, shifts, emms */
				"JJJJJJJJJJJJJJJJ" /* 80: jcc */
				"mmmmmmmmmmmmmmmm" /* 90: setcc */
				"...mbm--...mbmmm" /* a0: push, cpuid, bt, shld */
				"mmmmmmmmmmbmmmmm" /* b0: cmpxchg, movzx, bt, movsx */
				"mmbmbbbm........" /* c0: xadd, cmpps, pinsrw, shufps, bswap */
				"mmmmmmmmmmmmmmmm" /* d0 */
				"mmmmmmmmmmmmmmmm" /* e0 */
				"mmmmmmmmmmmmmmmm"; /* f0 */

static bool take(struct decoder *d, size_t size, int64_t *ret_value)
{
	if ((size_t)(d->end - d->at) < size)
		return false;
	uint64_t value = 0;
	for (size_t i = size; i-- > 0;) /* little endian */
		value = value << 8 | d->at[i];
	unsigned unused = 64 - 8 * (unsigned)size;
	*ret_value = size ? (int64_t)(value << unused) >> unused : 0;
	d->at += size;
	return true;
}

static bool take_byte(struct decoder *d, uint8_t *ret_byte)
{
	if (d->at == d->end)
		return false;
	*ret_byte = *d->at++;
	return true;
}

/* --- prefixes --- */

static bool is_legacy_prefix(struct decoder *d, uint8_t byte)
{
	switch (byte) {
	case 0x66:
		return d->operand16 = true;
	case 0x67:
		return d->address32 = true;
	case 0xf2:
		return d->repeat_not = true;
	case 0xf3:
		return d->repeat = true;
	case 0x26: /* segments */
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0xf0: /* lock */
		return true;
	default:
		return false;
	}
}

static void set_high(struct decoder *d, bool reg, bool index, bool base)
{
	d->reg_high = reg ? 8 : 0;
	d->index_high = index ? 8 : 0;
	d->base_high = base ? 8 : 0;
}

/* The bits of VEX, EVEX and XOP that stand for 66, f3 and f2. */
static void set_implied(struct decoder *d, uint8_t bits)
{
	d->operand16 = (bits & 3) == 1;
	d->repeat = (bits & 3) == 2;
	d->repeat_not = (bits & 3) == 3;
}

/* VEX, EVEX and XOP: `first` was read; then two bytes, or one after c5, or three after 62. */
static bool take_vector_prefix(struct decoder *d, uint8_t first)
{
	uint8_t one, two, three;
	d->vector = true;
	if (!take_byte(d, &one))
		return false;
	if (first == 0xc5) {
		set_high(d, !(one & 0x80), false, false);
		set_implied(d, one);
		d->third = ~one >> 3 & 15;
		d->map = MAP_0F;
		return take_byte(d, &d->opcode);
	}
	if (!take_byte(d, &two))
		return false;
	set_high(d, !(one & 0x80), !(one & 0x40), !(one & 0x20));
	set_implied(d, two);
	d->wide = two & 0x80;
	d->third = ~two >> 3 & 15;
	d->map = one & (first == 0x62 ? 7 : 31);
	if (first == 0x62 && !take_byte(d, &three))
		return false;
	bool known = first == 0x8f ? d->map >= MAP_XOP8 && d->map <= MAP_XOP10 :
				     (d->map >= MAP_0F && d->map <= MAP_0F3A) ||
					     (first == 0x62 && (d->map == MAP_5 || d->map == MAP_6));
	return known && take_byte(d, &d->opcode);
}

static bool take_opcode(struct decoder *d)
{
	uint8_t byte;
	do {
		if (!take_byte(d, &byte))
			return false;
	} while (is_legacy_prefix(d, byte));
	if ((byte & 0xf0) == 0x40) {
		d->rex = true;
		d->wide = byte & 8;
		set_high(d, byte & 4, byte & 2, byte & 1);
		if (!take_byte(d, &byte))
			return false;
	} else if (byte == 0xc4 || byte == 0xc5 || byte == 0x62 ||
		   (byte == 0x8f && d->at < d->end && (*d->at & 31) >= MAP_XOP8)) {
		return take_vector_prefix(d, byte);
	}
	if (byte == 0x0f) {
		d->map = MAP_0F;
		if (!take_byte(d, &byte))
			return false;
		if (byte == 0x38 || byte == 0x3a) {
			d->map = byte == 0x38 ? MAP_0F38 : MAP_0F3A;
			if (!take_byte(d, &byte))
				return false;
		}
	}
	d->opcode = byte;
	return true;
}

/* --- operands --- */

static bool take_modrm(struct decoder *d)
{
	uint8_t modrm, sib;
	int64_t displacement = 0;
	if (!take_byte(d, &modrm))
		return false;
	d->has_modrm = d->has_base = true;
	d->mod = modrm >> 6;
	d->reg = (modrm >> 3 & 7) | d->reg_high;
	d->rm = modrm & 7;
	bool control = !d->vector && d->map == MAP_0F && d->opcode >= 0x20 && d->opcode <= 0x23;
	if (control) /* registers, whatever mod is */
		d->mod = 3;
	size_t size = d->mod == 1 ? 1 : d->mod == 2 ? 4 : 0;
	if (d->mod != 3 && d->rm == 4) {
		if (!take_byte(d, &sib))
			return false;
		d->has_sib = true;
		d->rm = sib & 7;
		d->has_index = ((sib >> 3 & 7) | d->index_high) != 4;
	}
	if (d->mod == 0 && d->rm == 5) { /* relative to the next instruction, or an address */
		d->has_base = false;
		size = 4;
	}
	d->rm |= d->base_high;
	if (!take(d, size, &displacement))
		return false;
	d->displacement = (int32_t)displacement;
	return true;
}

static char vector_operands(const struct decoder *d)
{
	uint8_t low = d->opcode;
	switch (d->map) {
	case MAP_0F:
		if (low == 0x77)
			return '.';
		return (low >= 0x70 && low <= 0x73) || low == 0xc2 || (low >= 0xc4 && low <= 0xc6) ? 'b' : 'm';
	case MAP_0F3A:
	case MAP_XOP8:
		return 'b';
	case MAP_XOP10:
		return 'w';
	default:
		return 'm';
	}
}

static char operands_of(const struct decoder *d)
{
	if (d->vector)
		return vector_operands(d);
	switch (d->map) {
	case MAP_ONE_BYTE:
		return one_byte[d->opcode];
	case MAP_0F:
		if (d->opcode == 0x78 && (d->operand16 || d->repeat_not)) /* extrq, insertq */
			return 'x';
		return two_bytes[d->opcode];
	case MAP_0F38:
		return 'm';
	default:
		return 'b';
	}
}

static bool take_operands(struct decoder *d)
{
	char operands = operands_of(d);
	size_t by_size = d->operand16 && !d->wide ? 2 : 4, size = 0;
	bool modrm = operands == 'm' || operands == 'b' || operands == 'w' || operands == 't' || operands == 'u' ||
		     operands == 'x';
	if (modrm && !take_modrm(d))
		return false;
	switch (operands) {
	case '-':
		return false;
	case '1':
	case 'j':
	case 'b':
		size = 1;
		break;
	case '2':
	case 'x':
		size = 2;
		break;
	case 'e':
		size = 3;
		break;
	case 'J':
		size = 4;
		break;
	case 'z':
	case 'w':
		size = d->vector ? 4 : by_size;
		break;
	case 'v':
		size = d->wide ? 8 : by_size;
		break;
	case 'a':
		size = d->address32 ? 4 : 8;
		break;
	case 't':
	case 'u':
		size = (d->reg & 7) > 1 ? 0 : operands == 't' ? 1 : by_size;
		break;
	}
	return take(d, size, &d->immediate);
}

/* --- what it means --- */

/* An operand in memory whose address is a register and a constant. */
static bool is_simple_memory(const struct decoder *d)
{
	return d->mod != 3 && d->has_base && !d->has_index && !d->address32;
}

static bool is_relative(const struct decoder *d)
{
	return d->mod == 0 && !d->has_base && !d->has_sib && !d->address32;
}

static void add_constant(const struct decoder *d, struct instruction *out)
{
	uint8_t operation = d->reg & 7, reg = x86_64_dwarf(d->rm);
	if (d->mod != 3 || !d->wide)
		return;
	if (operation == 0 || operation == 5) {
		out->kind = INSTRUCTION_ADD;
		out->offset = operation == 0 ? d->immediate : -d->immediate;
	} else if (operation == 4 && d->immediate < 0) {
		out->kind = INSTRUCTION_ALIGN;
	} else {
		return;
	}
	out->reg = out->base = reg;
}

static void load_address(const struct decoder *d, uint64_t next, struct instruction *out)
{
	if (!d->wide)
		return;
	out->reg = x86_64_dwarf(d->reg);
	if (is_simple_memory(d)) {
		out->kind = INSTRUCTION_ADD;
		out->base = x86_64_dwarf(d->rm);
		out->offset = d->displacement;
	} else if (is_relative(d)) {
		out->kind = INSTRUCTION_ADDRESS;
		out->target = next + (uint64_t)(int64_t)d->displacement;
	}
}

static uint8_t operand_bytes(const struct decoder *d)
{
	return d->wide ? 8 : d->operand16 ? 2 : 4;
}

static void move(const struct decoder *d, bool store, struct instruction *out)
{
	uint8_t reg = x86_64_dwarf(d->reg), rm = x86_64_dwarf(d->rm);
	if (d->mod == 3 && d->wide) {
		out->kind = INSTRUCTION_ADD;
		out->reg = store ? rm : reg;
		out->base = store ? reg : rm;
	} else if (is_simple_memory(d) && (store || d->wide)) {
		out->kind = store ? INSTRUCTION_STORE : INSTRUCTION_LOAD;
		out->reg = d->wide ? reg : REGISTER_NONE;
		out->bytes = operand_bytes(d);
		out->base = rm;
		out->offset = d->displacement;
	}
}

static void compare(const struct decoder *d, struct instruction *out)
{
	if (d->mod != 3 || !d->wide)
		return;
	out->kind = INSTRUCTION_COMPARE;
	out->reg = x86_64_dwarf(d->rm);
	out->base = x86_64_dwarf(d->reg);
}

static void group_ff(const struct decoder *d, struct instruction *out)
{
	switch (d->reg & 7) {
	case 2:
	case 3:
		out->kind = INSTRUCTION_CALL;
		break;
	case 4:
	case 5:
		out->kind = INSTRUCTION_JUMP_ANYWHERE;
		if (d->has_index && !d->has_base)
			out->target = (uint64_t)(int64_t)d->displacement;
		break;
	case 6:
		out->kind = INSTRUCTION_PUSH;
		break;
	}
}

static void push_or_pop(const struct decoder *d, uint8_t kind, uint8_t reg, struct instruction *out)
{
	if (d->operand16) { /* of two bytes, which nobody uses */
		out->writes |= x86_64_bit(RSP) | (reg == REGISTER_NONE ? 0 : 1u << reg);
		return;
	}
	out->kind = kind;
	out->reg = reg;
}

static void clear(const struct decoder *d, struct instruction *out)
{
	if (d->mod != 3 || d->reg != d->rm || d->operand16)
		return;
	out->kind = INSTRUCTION_CLEAR;
	out->reg = x86_64_dwarf(d->reg);
}

static void store_constant(const struct decoder *d, struct instruction *out)
{
	if (!is_simple_memory(d))
		return;
	out->kind = INSTRUCTION_STORE;
	out->bytes = operand_bytes(d);
	out->base = x86_64_dwarf(d->rm);
	out->offset = d->displacement;
}

static void lead(uint8_t kind, const struct decoder *d, uint64_t next, struct instruction *out)
{
	out->kind = kind;
	out->target = next + (uint64_t)d->immediate;
}

/* Those that move data, or change the stack pointer by it. False: it is none of them. */
static bool data_meaning(const struct decoder *d, uint64_t next, struct instruction *out)
{
	uint8_t low = x86_64_dwarf((d->opcode & 7) | d->base_high);
	switch (d->opcode) {
	case 0x31:
	case 0x33:
		clear(d, out);
		return true;
	case 0x39:
		compare(d, out);
		return true;
	case 0x50 ... 0x57:
		push_or_pop(d, INSTRUCTION_PUSH, low, out);
		return true;
	case 0x58 ... 0x5f:
		push_or_pop(d, INSTRUCTION_POP, low, out);
		return true;
	case 0x68:
	case 0x6a:
	case 0x9c:
		push_or_pop(d, INSTRUCTION_PUSH, REGISTER_NONE, out);
		return true;
	case 0x9d:
	case 0x8f:
		push_or_pop(d, INSTRUCTION_POP, REGISTER_NONE, out);
		return true;
	case 0x81:
	case 0x83:
		add_constant(d, out);
		return true;
	case 0x89:
	case 0x8b:
		move(d, d->opcode == 0x89, out);
		return true;
	case 0x8d:
		load_address(d, next, out);
		return true;
	case 0xc7:
		store_constant(d, out);
		return true;
	default:
		return false;
	}
}

/* Those that lead elsewhere, or do nothing. */
static void control_meaning(const struct decoder *d, uint64_t next, struct instruction *out)
{
	switch (d->opcode) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		lead(INSTRUCTION_BRANCH, d, next, out);
		out->equal = d->opcode == 0x75;
		break;
	case 0x90:
		out->padding = !d->base_high;
		break;
	case 0xc2:
	case 0xc3:
		out->kind = INSTRUCTION_RETURN;
		break;
	case 0xc8:
		out->kind = d->immediate >> 16 ? INSTRUCTION_TRAP : INSTRUCTION_ENTER;
		out->offset = d->immediate & 0xffff;
		break;
	case 0xc9:
		out->kind = INSTRUCTION_LEAVE;
		break;
	case 0xca:
	case 0xcb:
	case 0xcc:
	case 0xcf:
	case 0xf1:
	case 0xf4:
		out->kind = INSTRUCTION_TRAP;
		out->padding = d->opcode == 0xcc;
		break;
	case 0xe8:
		lead(INSTRUCTION_CALL, d, next, out);
		break;
	case 0xe9:
	case 0xeb:
		lead(INSTRUCTION_JUMP, d, next, out);
		break;
	case 0xff:
		group_ff(d, out);
		break;
	}
}

static void one_byte_meaning(const struct decoder *d, uint64_t next, struct instruction *out)
{
	if (!data_meaning(d, next, out))
		control_meaning(d, next, out);
}

static void two_byte_meaning(const struct decoder *d, uint64_t next, struct instruction *out)
{
	switch (d->opcode) {
	case 0x0b:
	case 0xb9:
	case 0xff:
		out->kind = INSTRUCTION_TRAP;
		break;
	case 0x1f:
		out->padding = true;
		break;
	case 0x80 ... 0x8f:
		lead(INSTRUCTION_BRANCH, d, next, out);
		out->equal = d->opcode == 0x85;
		break;
	case 0xa0:
	case 0xa8:
		push_or_pop(d, INSTRUCTION_PUSH, REGISTER_NONE, out);
		break;
	case 0xa1:
	case 0xa9:
		push_or_pop(d, INSTRUCTION_POP, REGISTER_NONE, out);
		break;
	}
}

bool decode_x86_64(const uint8_t *code, size_t size, uint64_t address, struct instruction *ret_instruction)
{
	size_t max = size < INSTRUCTION_BYTES_MAX ? size : INSTRUCTION_BYTES_MAX;
	struct decoder d = {.at = code, .end = code + max};
	if (!take_opcode(&d) || !take_operands(&d))
		return false;
	struct instruction out = {.length = (uint8_t)(d.at - code),
				  .reg = REGISTER_NONE,
				  .base = REGISTER_NONE,
				  .writes = x86_64_writes(&d)};
	uint64_t next = address + out.length;
	if (!d.vector && d.map == MAP_ONE_BYTE)
		one_byte_meaning(&d, next, &out);
	else if (!d.vector && d.map == MAP_0F)
		two_byte_meaning(&d, next, &out);
	*ret_instruction = out;
	return true;
}
