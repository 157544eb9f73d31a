/* Which registers an x86-64 instruction changes. */
#include "arch/x86_64/decoder.h"

/* Of byte registers without a REX prefix, 4 to 7 are the high halves of the first four. */
static uint32_t byte_bit(const struct decoder *d, unsigned number)
{
	return x86_64_bit(!d->rex && number >= 4 && number < 8 ? number - 4 : number);
}

static uint32_t written_rm(const struct decoder *d, bool is_byte)
{
	if (d->mod != 3)
		return 0;
	return is_byte ? byte_bit(d, d->rm) : x86_64_bit(d->rm);
}

static uint32_t written_reg(const struct decoder *d, bool is_byte)
{
	return is_byte ? byte_bit(d, d->reg) : x86_64_bit(d->reg);
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
		return x86_64_bit(RAX);
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
	case 0x86 ... 0x87:
		return written_rm(d, opcode == 0x86) | written_reg(d, opcode == 0x86);
	case 0x88 ... 0x89:
	case 0x8c:
	case 0x8f:
	case 0xc0 ... 0xc1:
	case 0xc6 ... 0xc7:
	case 0xd0 ... 0xd3:
		return written_rm(d, opcode == 0x88 || opcode == 0xc0 || opcode == 0xc6 || opcode == 0xd0 ||
					     opcode == 0xd2);
	case 0x90 ... 0x97:
		return opcode == 0x90 && !d->base_high ? 0 : x86_64_bit(RAX) | x86_64_bit((opcode & 7) | d->base_high);
	case 0xb0 ... 0xb7:
		return byte_bit(d, (opcode & 7) | d->base_high);
	case 0xb8 ... 0xbf:
		return x86_64_bit((opcode & 7) | d->base_high);
	case 0x98:
	case 0x9f:
	case 0xa0 ... 0xa1:
	case 0xd7:
	case 0xe4 ... 0xe5:
	case 0xec ... 0xed:
		return x86_64_bit(RAX);
	case 0x99:
		return x86_64_bit(RDX);
	case 0x6c ... 0x6f:
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
		return x86_64_bit(RAX) | x86_64_bit(RCX) | x86_64_bit(RSI) | x86_64_bit(RDI);
	case 0xe0 ... 0xe3:
		return x86_64_bit(RCX);
	case 0xf6 ... 0xf7:
		if (operation < 2)
			return 0;
		return operation < 4 ? written_rm(d, opcode == 0xf6) : x86_64_bit(RAX) | x86_64_bit(RDX);
	case 0xfe ... 0xff:
		return operation < 2 ? written_rm(d, opcode == 0xfe) : 0;
	case 0xdf: /* fnstsw ax */
		return d->mod == 3 ? x86_64_bit(RAX) : 0;
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
		return x86_64_bit(RAX) | x86_64_bit(RCX) | x86_64_bit(RDX) |
		       (operation == 4 ? written_rm(d, false) : 0);
	case 0x05: /* syscall */
		return x86_64_bit(RAX) | x86_64_bit(RCX) | x86_64_bit(R11);
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
		return x86_64_bit(RAX) | x86_64_bit(RDX);
	case 0x7e:
		return d->repeat ? 0 : written_rm(d, false);
	case 0x90 ... 0x9f:
		return written_rm(d, true);
	case 0xa2:
		return x86_64_bit(RAX) | x86_64_bit(RBX) | x86_64_bit(RCX) | x86_64_bit(RDX);
	case 0xae: /* rdfsbase, rdgsbase */
		return d->repeat && operation < 2 ? written_rm(d, false) : 0;
	case 0xb0:
	case 0xb1:
		return x86_64_bit(RAX) | written_rm(d, opcode == 0xb0);
	case 0xba:
		return operation > 4 ? written_rm(d, false) : 0;
	case 0xc0:
	case 0xc1:
		return written_rm(d, opcode == 0xc0) | written_reg(d, opcode == 0xc0);
	case 0xc7: /* cmpxchg16b, rdrand, rdseed, rdpid */
		return operation == 1 ? x86_64_bit(RAX) | x86_64_bit(RDX) : written_rm(d, false);
	case 0xc8 ... 0xcf:
		return x86_64_bit((opcode & 7) | d->base_high);
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
			return x86_64_bit(d->third);
		if (opcode >= 0xe0 && opcode <= 0xef) /* cmpccxadd */
			return written_reg(d, false);
		return opcode >= 0xf2 && opcode <= 0xf7 ?
			       written_reg(d, false) | (opcode == 0xf6 ? x86_64_bit(d->third) : 0) :
			       0;
	case MAP_0F3A:
		if (opcode >= 0x14 && opcode <= 0x17)
			return written_rm(d, false);
		if (opcode == 0x61 || opcode == 0x63)
			return x86_64_bit(RCX);
		return opcode == 0xf0 ? written_reg(d, false) : 0;
	case MAP_XOP9:
		return opcode <= 0x02 ? x86_64_bit(d->third) : opcode == 0x12 ? written_rm(d, false) : 0;
	case MAP_XOP10:
		return written_reg(d, false);
	default:
		return 0;
	}
}

uint32_t x86_64_writes(const struct decoder *d)
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
			return x86_64_bit(RCX);
		return d->opcode >= 0x14 && d->opcode <= 0x17 ? written_rm(d, false) : 0;
	}
}
