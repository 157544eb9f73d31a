/*
 * Code without unwind information that is about to return: the instructions from an address up to "ret" show where the
 * return address is. Trampolines of JIT compilers are such code (python -X perf), and so are the ends of functions, and
 * their first instructions, where the frame pointer is still that of the caller.
 *
 * Included by user space and by BPF programs: plain integers, no headers, and loops that the verifier can follow.
 */
#ifndef WICK_ARCH_X86_64_AHEAD_H
#define WICK_ARCH_X86_64_AHEAD_H

/* Bytes to pass: AHEAD_BEFORE before the address, the code, and room that is read but not used. */
#define AHEAD_BEFORE 1u
#define AHEAD_CODE 31u
#define AHEAD_BYTES 40u
#define AHEAD_INSTRUCTIONS 8

/* Where to find a caller: the return address is at base + cfa - 8. */
enum ahead_base {
	AHEAD_UNKNOWN,
	AHEAD_SP, /* base is the stack pointer */
	AHEAD_FP, /* base is the frame pointer */
};

enum { AHEAD_FP_SAME = -0x40000000 }; /* the frame pointer is that of the caller already */

struct ahead {
	int base; /* enum ahead_base */
	int cfa; /* offset from the base; before it is found: of the stack pointer */
	int fp; /* offset from the base where the frame pointer of the caller is, or AHEAD_FP_SAME */
	unsigned at; /* the next instruction */
};

/* What a step says. */
enum { AHEAD_MORE, AHEAD_FOUND, AHEAD_FAILED };

/* What one instruction does. */
enum { AHEAD_NO_CODE, AHEAD_NEUTRAL, AHEAD_MOVE, AHEAD_POP_FP, AHEAD_TO_FP, AHEAD_LEAVE, AHEAD_RETURN };

struct ahead_effect {
	int kind;
	int length; /* bytes of the instruction */
	int move; /* of the stack pointer */
};

static inline __attribute__((always_inline)) struct ahead_effect ahead_effect(int kind, int length, int move)
{
	struct ahead_effect effect = {kind, length, move};
	return effect;
}

/* Instructions that change the stack pointer by a number, with REX.W: sub and add of 8 and 32 bits. */
static inline __attribute__((always_inline)) struct ahead_effect ahead_wide(unsigned long long word)
{
	unsigned second = word >> 8 & 0xff, third = word >> 16 & 0xff;
	int byte = (signed char)(word >> 24), number = (int)(word >> 24);
	if (second == 0x83 && (third == 0xc4 || third == 0xec))
		return ahead_effect(AHEAD_MOVE, 4, third == 0xc4 ? byte : -byte);
	if (second == 0x81 && (third == 0xc4 || third == 0xec) && number > -0x100000 && number < 0x100000)
		return ahead_effect(AHEAD_MOVE, 7, third == 0xc4 ? number : -number);
	if ((second == 0x89 && third == 0xec) || (second == 0x8b && third == 0xe5))
		return ahead_effect(AHEAD_TO_FP, 3, 0); /* mov %rbp, %rsp */
	if (second == 0x8d && third == 0x65)
		return ahead_effect(AHEAD_TO_FP, 4, byte); /* lea byte(%rbp), %rsp */
	return ahead_effect(AHEAD_NO_CODE, 0, 0);
}

/* The instruction in the first bytes of `word`. */
static inline __attribute__((always_inline)) struct ahead_effect ahead_decode(unsigned long long word)
{
	unsigned first = word & 0xff, second = word >> 8 & 0xff;
	if (first == 0xc3 || (word & 0xffff) == 0xc3f3)
		return ahead_effect(AHEAD_RETURN, 1, 0);
	if (first == 0x5d)
		return ahead_effect(AHEAD_POP_FP, 1, 8);
	if (first == 0xc9)
		return ahead_effect(AHEAD_LEAVE, 1, 8);
	if (first >= 0x50 && first <= 0x57)
		return ahead_effect(AHEAD_MOVE, 1, -8); /* push */
	if (first >= 0x58 && first <= 0x5f && first != 0x5c)
		return ahead_effect(AHEAD_MOVE, 1, 8); /* pop */
	if (first == 0x41 && second >= 0x50 && second <= 0x5f)
		return ahead_effect(AHEAD_MOVE, 2, second < 0x58 ? -8 : 8);
	if (first == 0xff && second >= 0xd0 && second <= 0xd7)
		return ahead_effect(AHEAD_NEUTRAL, 2, 0); /* call *register */
	if (first == 0x41 && second == 0xff && (word >> 16 & 0xf8) == 0xd0)
		return ahead_effect(AHEAD_NEUTRAL, 3, 0);
	if (first == 0xe8)
		return ahead_effect(AHEAD_NEUTRAL, 5, 0); /* call */
	if (first == 0x90 || (word & 0xffff) == 0x9066)
		return ahead_effect(AHEAD_NEUTRAL, first == 0x90 ? 1 : 2, 0);
	if ((word & 0xffffffff) == 0xfa1e0ff3)
		return ahead_effect(AHEAD_NEUTRAL, 4, 0); /* endbr64 */
	if ((word & 0xffffff) == 0x77f8c5)
		return ahead_effect(AHEAD_NEUTRAL, 3, 0); /* vzeroupper */
	/*
	 * Whatever path is taken, the stack is the same at an address: a conditional jump is not followed. Java
	 * compares the stack pointer with a limit before it returns.
	 */
	if (first >= 0x70 && first <= 0x7f)
		return ahead_effect(AHEAD_NEUTRAL, 2, 0);
	if (first == 0x0f && second >= 0x80 && second <= 0x8f)
		return ahead_effect(AHEAD_NEUTRAL, 6, 0);
	if ((word & 0xffffff) == 0xa73b49)
		return ahead_effect(AHEAD_NEUTRAL, 7, 0);
	return first == 0x48 ? ahead_wide(word) : ahead_effect(AHEAD_NO_CODE, 0, 0);
}

/* 8 bytes of code, the first one lowest. */
static inline __attribute__((always_inline)) unsigned long long ahead_word(const unsigned char *bytes)
{
#ifdef __bpf__
	return *(const unsigned long long *)bytes;
#else
	unsigned long long word;
	__builtin_memcpy(&word, bytes, sizeof word);
	return word;
#endif
}

/*
 * The first instructions of a function that keeps frame pointers, before it has its own: "push %rbp; mov %rsp, %rbp".
 * Java touches the end of the stack before.
 */
static inline __attribute__((always_inline)) int ahead_enters(unsigned long long word)
{
	if ((word & 0xffffffff) == 0xfa1e0ff3)
		word >>= 32; /* endbr64 */
	if ((word & 0xffffff) == 0x248489 && word >> 56 == 0x55)
		return 1;
	return (word & 0xffffffff) == 0xe5894855 || (word & 0xffffffff) == 0xec8b4855;
}

/*
 * Before the first step. `bytes` are AHEAD_BYTES, of which the code begins at AHEAD_BEFORE. `exact`: the address is
 * that of an instruction that was interrupted, not one behind a call.
 */
static inline __attribute__((always_inline)) int ahead_begin(struct ahead *ahead, const unsigned char *bytes, int exact)
{
	unsigned long long word = ahead_word(bytes + AHEAD_BEFORE);
	unsigned three = word & 0xffffff;
	ahead->base = AHEAD_SP;
	ahead->cfa = 0;
	ahead->fp = AHEAD_FP_SAME;
	ahead->at = AHEAD_BEFORE;
	if (exact && ahead_enters(word)) {
		ahead->cfa = 8;
		return AHEAD_FOUND;
	}
	if (exact && bytes[0] == 0x55 && (three == 0xe58948 || three == 0xec8b48)) {
		ahead->cfa = 16; /* mov %rsp, %rbp */
		ahead->fp = 0;
		return AHEAD_FOUND;
	}
	return AHEAD_MORE;
}

/* Takes one instruction. BPF programs call it AHEAD_INSTRUCTIONS times, so that it is verified once. */
static inline __attribute__((always_inline)) int ahead_step(struct ahead *ahead, const unsigned char *bytes)
{
	unsigned at = ahead->at;
	if (at > AHEAD_CODE)
		return AHEAD_FAILED;
	struct ahead_effect effect = ahead_decode(ahead_word(bytes + at));
	int depth = ahead->cfa, by_fp = ahead->base == AHEAD_FP;
	if (effect.kind == AHEAD_NO_CODE)
		return AHEAD_FAILED;
	if (effect.kind == AHEAD_RETURN) {
		ahead->cfa = depth + 8;
		return by_fp || depth >= 0 ? AHEAD_FOUND : AHEAD_FAILED;
	}
	if (effect.kind == AHEAD_TO_FP || effect.kind == AHEAD_LEAVE) {
		if (ahead->fp != AHEAD_FP_SAME)
			return AHEAD_FAILED; /* it is not the frame pointer any more */
		ahead->base = AHEAD_FP;
		depth = 0;
	}
	/* What was pushed after the address is popped as it was. */
	if (effect.kind == AHEAD_LEAVE || (effect.kind == AHEAD_POP_FP && (by_fp || depth >= 0)))
		ahead->fp = depth;
	ahead->cfa = depth + effect.move;
	ahead->at = at + (unsigned)effect.length;
	return AHEAD_MORE;
}

/* Whether the code ends with a call. `word` are the 8 bytes before a return address, the last one highest. */
static inline __attribute__((always_inline)) int ahead_is_call(unsigned long long word)
{
	unsigned last = word >> 56, before = word >> 48 & 0xff, third = word >> 40 & 0xff, fourth = word >> 32 & 0xff;
	unsigned fifth = word >> 24 & 0xff, sixth = word >> 16 & 0xff, seventh = word >> 8 & 0xff;
	if (fifth == 0xe8)
		return 1;
	if (before == 0xff && ((last & 0xf8) == 0xd0 || ((last & 0xf8) == 0x10 && (last & 6) != 4)))
		return 1; /* *register, *(register) */
	if (third == 0xff && (((before & 0xf8) == 0x50 && before != 0x54) || before == 0x14))
		return 1; /* *byte(register), *(register + register) */
	if (fourth == 0xff && third == 0x54)
		return 1;
	if (sixth == 0xff && (fifth == 0x15 || ((fifth & 0xf8) == 0x90 && fifth != 0x94)))
		return 1; /* *number(%rip), *number(register) */
	return seventh == 0xff && sixth == 0x94;
}

#endif
