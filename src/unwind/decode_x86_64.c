#include "unwind/decode_x86_64.h"

/* DWARF numbers of registers, by their numbers in instructions. */
static const uint8_t dwarf[REGISTERS] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
enum { RAX = 0, RCX = 1, RDX = 2, RBX = 3, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R11 = 11 };

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

enum map { MAP_ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_5 = 5, MAP_6, MAP_XOP8 = 8, MAP_XOP9, MAP_XOP10 };

struct decoder {
	const uint8_t *at, *end;
	bool operand16, address32, repeat, repeat_not; /* prefixes 66, 67, f3, f2 */
	bool rex, wide, vector; /* a REX prefix; 64-bit operands; VEX, EVEX or XOP */
	uint8_t reg_high, index_high, base_high; /* 8, or 0: what prefixes add to registers */
	uint8_t third; /* the register in a VEX prefix */
	uint8_t map, opcode;
	bool has_modrm, has_sib, has_base, has_index;
	uint8_t mod, reg, rm; /* with what prefixes add */
	int32_t displacement;
	int64_t immediate;
};

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

/* --- what is written --- */

static uint32_t bit(unsigned number)
{
	return 1u << dwarf[number & 15];
}

/* Of byte registers without a REX prefix, 4 to 7 are the high halves of the first four. */
static uint32_t byte_bit(const struct decoder *d, unsigned number)
{
	return bit(!d->rex && number >= 4 && number < 8 ? number - 4 : number);
}

static uint32_t written_rm(const struct decoder *d, bool is_byte)
{
	if (d->mod != 3)
		return 0;
	return is_byte ? byte_bit(d, d->rm) : bit(d->rm);
}

static uint32_t written_reg(const struct decoder *d, bool is_byte)
{
	return is_byte ? byte_bit(d, d->reg) : bit(d->reg);
}

static uint32_t arithmetic_writes(const struct decoder *d)
{
	uint8_t opcode = d->opcode;
	if (opcode >= 0x38) /* cmp */
		return 0;
	switch (opcode & 7) {
	case 0:
	case 1:
		return written_rm(d, !(opcode & 1));
	case 2:
	case 3:
		return written_reg(d, !(opcode & 1));
	default:
		return bit(RAX);
	}
}

static uint32_t one_byte_writes(const struct decoder *d)
{
	uint8_t opcode = d->opcode, operation = d->reg & 7;
	if (opcode < 0x40)
		return arithmetic_writes(d);
	switch (opcode) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8b:
	case 0x8d:
		return written_reg(d, false);
	case 0x8a:
		return written_reg(d, true);
	case 0x80 ... 0x83:
		return operation == 7 ? 0 : written_rm(d, opcode == 0x80);
	case 0x86:
	case 0x87:
		return written_rm(d, opcode == 0x86) | written_reg(d, opcode == 0x86);
	case 0x88:
	case 0x89:
	case 0x8c:
	case 0x8f:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0 ... 0xd3:
		return written_rm(d, opcode == 0x88 || opcode == 0xc0 || opcode == 0xc6 || opcode == 0xd0 ||
					     opcode == 0xd2);
	case 0x90 ... 0x97:
		return opcode == 0x90 && !d->base_high ? 0 : bit(RAX) | bit((opcode & 7) | d->base_high);
	case 0xb0 ... 0xb7:
		return byte_bit(d, (opcode & 7) | d->base_high);
	case 0xb8 ... 0xbf:
		return bit((opcode & 7) | d->base_high);
	case 0x98:
	case 0x9f:
	case 0xa0:
	case 0xa1:
	case 0xd7:
	case 0xe4:
	case 0xe5:
	case 0xec:
	case 0xed:
		return bit(RAX);
	case 0x99:
		return bit(RDX);
	case 0x6c ... 0x6f:
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
		return bit(RAX) | bit(RCX) | bit(RSI) | bit(RDI);
	case 0xe0 ... 0xe3:
		return bit(RCX);
	case 0xf6:
	case 0xf7:
		if (operation < 2)
			return 0;
		return operation < 4 ? written_rm(d, opcode == 0xf6) : bit(RAX) | bit(RDX);
	case 0xfe:
	case 0xff:
		return operation < 2 ? written_rm(d, opcode == 0xfe) : 0;
	case 0xdf: /* fnstsw ax */
		return d->mod == 3 ? bit(RAX) : 0;
	default:
		return 0;
	}
}

static uint32_t two_byte_writes(const struct decoder *d)
{
	uint8_t opcode = d->opcode, operation = d->reg & 7;
	switch (opcode) {
	case 0x00:
	case 0x20:
	case 0x21:
	case 0xa4:
	case 0xa5:
	case 0xab:
	case 0xac:
	case 0xad:
	case 0xb3:
	case 0xbb:
		return written_rm(d, false);
	case 0x01: /* xgetbv, rdtscp, smsw and others that take no operands */
		return bit(RAX) | bit(RCX) | bit(RDX) | (operation == 4 ? written_rm(d, false) : 0);
	case 0x05: /* syscall */
		return bit(RAX) | bit(RCX) | bit(R11);
	case 0x02:
	case 0x03:
	case 0x2c:
	case 0x2d:
	case 0x40 ... 0x4f:
	case 0x50:
	case 0xaf:
	case 0xb2:
	case 0xb4 ... 0xb8:
	case 0xbc ... 0xbf:
	case 0xc5:
	case 0xd7:
		return written_reg(d, false);
	case 0x1e: /* rdssp */
		return d->repeat && operation == 1 ? written_rm(d, false) : 0;
	case 0x31 ... 0x33:
		return bit(RAX) | bit(RDX);
	case 0x7e:
		return d->repeat ? 0 : written_rm(d, false);
	case 0x90 ... 0x9f:
		return written_rm(d, true);
	case 0xa2:
		return bit(RAX) | bit(RBX) | bit(RCX) | bit(RDX);
	case 0xae: /* rdfsbase, rdgsbase */
		return d->repeat && operation < 2 ? written_rm(d, false) : 0;
	case 0xb0:
	case 0xb1:
		return bit(RAX) | written_rm(d, opcode == 0xb0);
	case 0xba:
		return operation > 4 ? written_rm(d, false) : 0;
	case 0xc0:
	case 0xc1:
		return written_rm(d, opcode == 0xc0) | written_reg(d, opcode == 0xc0);
	case 0xc7: /* cmpxchg16b, rdrand, rdseed, rdpid */
		return operation == 1 ? bit(RAX) | bit(RDX) : written_rm(d, false);
	case 0xc8 ... 0xcf:
		return bit((opcode & 7) | d->base_high);
	default:
		return 0;
	}
}

/* Of the instructions on vectors, those that write general registers. */
static uint32_t vector_writes(const struct decoder *d)
{
	uint8_t opcode = d->opcode;
	switch (d->map) {
	case MAP_0F:
	case MAP_5:
		if (opcode == 0x7e)
			return d->repeat ? 0 : written_rm(d, false);
		return opcode == 0x2c || opcode == 0x2d || opcode == 0x50 || opcode == 0x78 || opcode == 0x79 ||
				       opcode == 0x93 || opcode == 0xc5 || opcode == 0xd7 ?
			       written_reg(d, false) :
			       0;
	case MAP_0F38:
		if (opcode == 0xf3)
			return bit(d->third);
		if (opcode >= 0xe0 && opcode <= 0xef) /* cmpccxadd */
			return written_reg(d, false);
		return opcode >= 0xf2 && opcode <= 0xf7 ? written_reg(d, false) | (opcode == 0xf6 ? bit(d->third) : 0) :
							  0;
	case MAP_0F3A:
		if (opcode >= 0x14 && opcode <= 0x17)
			return written_rm(d, false);
		if (opcode == 0x61 || opcode == 0x63)
			return bit(RCX);
		return opcode == 0xf0 ? written_reg(d, false) : 0;
	case MAP_XOP9:
		return opcode <= 0x02 ? bit(d->third) : opcode == 0x12 ? written_rm(d, false) : 0;
	case MAP_XOP10:
		return written_reg(d, false);
	default:
		return 0;
	}
}

static uint32_t writes_of(const struct decoder *d)
{
	if (d->vector)
		return vector_writes(d);
	switch (d->map) {
	case MAP_ONE_BYTE:
		return one_byte_writes(d);
	case MAP_0F:
		return two_byte_writes(d);
	case MAP_0F38: /* movbe, crc32, adcx */
		return d->opcode >= 0xf0 && !(d->opcode == 0xf1 && !d->repeat_not) ? written_reg(d, false) : 0;
	default:
		if (d->opcode == 0x61 || d->opcode == 0x63)
			return bit(RCX);
		return d->opcode >= 0x14 && d->opcode <= 0x17 ? written_rm(d, false) : 0;
	}
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
	uint8_t operation = d->reg & 7, reg = dwarf[d->rm];
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
	out->reg = dwarf[d->reg];
	if (is_simple_memory(d)) {
		out->kind = INSTRUCTION_ADD;
		out->base = dwarf[d->rm];
		out->offset = d->displacement;
	} else if (is_relative(d)) {
		out->kind = INSTRUCTION_ADDRESS;
		out->target = next + (uint64_t)(int64_t)d->displacement;
	}
}

static void move(const struct decoder *d, bool store, struct instruction *out)
{
	uint8_t reg = dwarf[d->reg], rm = dwarf[d->rm];
	if (d->mod == 3 && d->wide) {
		out->kind = INSTRUCTION_ADD;
		out->reg = store ? rm : reg;
		out->base = store ? reg : rm;
	} else if (is_simple_memory(d) && (store || d->wide)) {
		out->kind = store ? INSTRUCTION_STORE : INSTRUCTION_LOAD;
		out->reg = d->wide ? reg : REGISTER_NONE;
		out->base = rm;
		out->offset = d->displacement;
	}
}

static void compare(const struct decoder *d, struct instruction *out)
{
	if (d->mod != 3 || !d->wide)
		return;
	out->kind = INSTRUCTION_COMPARE;
	out->reg = dwarf[d->rm];
	out->base = dwarf[d->reg];
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
		out->writes |= bit(RSP) | (reg == REGISTER_NONE ? 0 : 1u << reg);
		return;
	}
	out->kind = kind;
	out->reg = reg;
}

static void one_byte_meaning(const struct decoder *d, uint64_t next, struct instruction *out)
{
	uint8_t low = dwarf[(d->opcode & 7) | d->base_high];
	switch (d->opcode) {
	case 0x31:
	case 0x33:
		if (d->mod == 3 && d->reg == d->rm && !d->operand16) {
			out->kind = INSTRUCTION_CLEAR;
			out->reg = dwarf[d->reg];
		}
		break;
	case 0x39:
		compare(d, out);
		break;
	case 0x50 ... 0x57:
		push_or_pop(d, INSTRUCTION_PUSH, low, out);
		break;
	case 0x58 ... 0x5f:
		push_or_pop(d, INSTRUCTION_POP, low, out);
		break;
	case 0x68:
	case 0x6a:
	case 0x9c:
		push_or_pop(d, INSTRUCTION_PUSH, REGISTER_NONE, out);
		break;
	case 0x9d:
	case 0x8f:
		push_or_pop(d, INSTRUCTION_POP, REGISTER_NONE, out);
		break;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		out->kind = INSTRUCTION_BRANCH;
		out->target = next + (uint64_t)d->immediate;
		out->equal = d->opcode == 0x75;
		break;
	case 0x81:
	case 0x83:
		add_constant(d, out);
		break;
	case 0x89:
	case 0x8b:
		move(d, d->opcode == 0x89, out);
		break;
	case 0x8d:
		load_address(d, next, out);
		break;
	case 0x90:
		out->padding = !d->base_high;
		break;
	case 0xc7:
		if (is_simple_memory(d)) {
			out->kind = INSTRUCTION_STORE;
			out->base = dwarf[d->rm];
			out->offset = d->displacement;
		}
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
	case 0xcc:
		out->kind = INSTRUCTION_TRAP;
		out->padding = true;
		break;
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xf1:
	case 0xf4:
		out->kind = INSTRUCTION_TRAP;
		break;
	case 0xe8:
		out->kind = INSTRUCTION_CALL;
		out->target = next + (uint64_t)d->immediate;
		break;
	case 0xe9:
	case 0xeb:
		out->kind = INSTRUCTION_JUMP;
		out->target = next + (uint64_t)d->immediate;
		break;
	case 0xff:
		group_ff(d, out);
		break;
	}
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
		out->kind = INSTRUCTION_BRANCH;
		out->target = next + (uint64_t)d->immediate;
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
	size_t most = size < INSTRUCTION_BYTES_MOST ? size : INSTRUCTION_BYTES_MOST;
	struct decoder d = {.at = code, .end = code + most};
	if (!take_opcode(&d) || !take_operands(&d))
		return false;
	struct instruction out = {
		.length = (uint8_t)(d.at - code), .reg = REGISTER_NONE, .base = REGISTER_NONE, .writes = writes_of(&d)};
	uint64_t next = address + out.length;
	if (!d.vector && d.map == MAP_ONE_BYTE)
		one_byte_meaning(&d, next, &out);
	else if (!d.vector && d.map == MAP_0F)
		two_byte_meaning(&d, next, &out);
	*ret_instruction = out;
	return true;
}
