/* Reads the output of `objdump -d -w` and compares the length of each instruction with that of the decoder. */
#include "arch/x86_64/decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 20 };

static size_t parse_bytes(const char *text, uint8_t *bytes, size_t max)
{
	size_t count = 0;
	unsigned value;
	int used;
	while (count < max && sscanf(text, "%2x %n", &value, &used) == 1 && used >= 3) {
		bytes[count++] = (uint8_t)value;
		text += used;
	}
	return count;
}

/*
 * objdump shows what it does not know as "(bad)" or ".byte", and prefixes without an instruction alone. These are data
 * among the code.
 */
static bool is_instruction(const char *text)
{
	const char *last = strrchr(text, ' ');
	last = last ? last + 1 : text;
	return !strstr(text, "(bad)") && !strstr(text, ".byte") && strncmp(last, "rex", 3) != 0 &&
	       strncmp(last, "data16\n", 7) != 0;
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;
	uint64_t instructions = 0, different = 0;
	while (getline(&line, &room, stdin) > 0) {
		uint8_t bytes[INSTRUCTION_BYTES_MAX + 1];
		struct instruction instruction;
		char *first = strstr(line, ":\t"), *second = first ? strchr(first + 2, '\t') : NULL;
		if (line[0] != ' ' || !second || !is_instruction(second + 1))
			continue;
		size_t length = parse_bytes(first + 2, bytes, sizeof bytes);
		if (length > 1 && bytes[0] == 0x9b) /* fwait, an instruction, joined with the next one */
			continue;
		instructions++;
		if (decode_x86_64(bytes, length, 0, &instruction) && instruction.length == length)
			continue;
		if (different++ < SHOWN_MAX)
			printf("%s", line);
	}
	free(line);
	printf("%" PRIu64 " instructions, %" PRIu64 " differences\n", instructions, different);
	return different != 0;
}
