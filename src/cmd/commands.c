/* The rows of commands, and suggestions for misspelled ones. */
#include "base/text.h"
#include "cmd/help.h"

const struct command *const commands[] = {
	&command_record, &command_top,    &command_fold,       &command_flame, &command_diff, &command_report,
	&command_script, &command_doctor, &command_containers, &command_help,  NULL,
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

const struct command *command_suggest(const char *name)
{
	const struct command *nearest = NULL;
	unsigned best = suggest_limit(name) + 1;
	for (size_t i = 0; commands[i]; i++) {
		unsigned distance = text_distance(name, commands[i]->name);
		if (distance < best && distance < strlen(commands[i]->name)) {
			best = distance;
			nearest = commands[i];
		}
	}
	return nearest;
}
