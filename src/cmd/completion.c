/* Completion scripts from the tables. */
#include "cmd/help.h"

/* Values that are names of files; others are completed from their choices or not at all. */
static bool takes_file(const struct option_row *row)
{
	return row->argument && (strstr(row->argument, "FILE") || row->type == OPTION_REST);
}

static void add_bash_words(struct buf *out, const struct command *command)
{
	for (const struct option_row *row = NULL; (row = option_next(command, row));) {
		if (row->type == OPTION_HEADING || row->hidden)
			continue;
		buf_printf(out, " --%s", row->name);
		if (row->negatable)
			buf_printf(out, " --no-%s", row->name);
	}
	buf_str(out, " --help");
}

static void add_bash_pattern(struct buf *out, const struct command *command, const struct option_row *row)
{
	buf_printf(out, "\t%s:--%s", command->name, row->name);
	if (row->letter)
		buf_printf(out, " | %s:-%c", command->name, row->letter);
	buf_str(out, ")\n");
}

/* The words behind an option, by "command:option". Options of the same command without a rule give nothing. */
static void add_bash_values(struct buf *out, const struct command *command)
{
	for (const struct option_row *row = NULL; (row = option_next(command, row));) {
		if (row->type == OPTION_HEADING || row->type == OPTION_FLAG)
			continue;
		add_bash_pattern(out, command, row);
		if (row->choices) {
			buf_str(out, "\t\tmapfile -t COMPREPLY < <(compgen -W \"");
			for (const char *const *choice = row->choices; *choice; choice++)
				buf_printf(out, "%s%s", choice == row->choices ? "" : " ", *choice);
			buf_str(out, "\" -- \"$word\")\n\t\treturn\n");
		} else if (takes_file(row)) {
			buf_str(out, "\t\tcompopt -o filenames\n"
				     "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
				     "\t\treturn\n");
		} else {
			buf_str(out, "\t\treturn\n");
		}
		buf_str(out, "\t\t;;\n");
	}
}

static void add_command_names(struct buf *out)
{
	for (size_t i = 0; commands[i]; i++)
		buf_printf(out, "%s%s", i ? " " : "", commands[i]->name);
}

void completion_bash(struct buf *out)
{
	buf_str(out, "# bash completion for wick " WICK_VERSION ", written by: wick help --completion bash\n\n"
		     "_wick()\n{\n"
		     "\tlocal word=$2 previous=$3 command=${COMP_WORDS[1]-} options=\n"
		     "\tCOMPREPLY=()\n"
		     /* "--name=val" arrives as three words, since "=" parts words */
		     "\tif [[ $word == '=' ]]; then\n\t\tword=\n"
		     "\telif [[ $previous == '=' ]]; then\n\t\tprevious=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
		     "\tif ((COMP_CWORD == 1)); then\n\t\tmapfile -t COMPREPLY < <(compgen -W \"");
	add_command_names(out);
	buf_str(out, " --help --version\" -- \"$word\")\n\t\treturn\n\tfi\n"
		     "\tcase $command:$previous in\n");
	for (size_t i = 0; commands[i]; i++)
		add_bash_values(out, commands[i]);
	buf_str(out, "\tesac\n\tcase $command in\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_printf(out, "\t%s) options=\"", commands[i]->name);
		add_bash_words(out, commands[i]);
		buf_str(out, "\" ;;\n");
	}
	buf_str(out, "\tesac\n"
		     "\tif [[ $word == -* ]]; then\n"
		     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
		     "\telif [[ $command == help ]]; then\n"
		     "\t\tmapfile -t COMPREPLY < <(compgen -W \"");
	add_command_names(out);
	buf_str(out, "\" -- \"$word\")\n"
		     "\telse\n"
		     "\t\tcompopt -o filenames\n"
		     "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
		     "\tfi\n}\n"
		     "complete -F _wick wick\n");
}

/* Text inside '…[…]' of a zsh option description, itself inside single quotes. */
static void add_zsh_help(struct buf *out, const char *text)
{
	/* The first sentence is enough for a menu. */
	const char *end = strstr(text, ". ");
	size_t length = end ? (size_t)(end - text) : strlen(text);
	if (!end && length && text[length - 1] == '.')
		length--;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\'')
			buf_str(out, "'\\''");
		else if (strchr("[]\\:", text[i]))
			buf_printf(out, "\\%c", text[i]);
		else
			buf_char(out, text[i] == '\n' ? ' ' : text[i]);
	}
}

static void add_zsh_value(struct buf *out, const struct option_row *row)
{
	buf_printf(out, ":%s:", row->argument ? row->argument : "value");
	if (takes_file(row))
		buf_str(out, "_files");
	for (const char *const *choice = row->choices; choice && *choice; choice++)
		buf_printf(out, "%s%s", choice == row->choices ? "(" : " ", *choice);
	if (row->choices)
		buf_char(out, ')');
}

/* `name` is the row's, its letter, or "no-" and the name. */
static void add_zsh_spec(struct buf *out, const struct option_row *row, const char *dashes, const char *name)
{
	bool flag = row->type == OPTION_FLAG, repeats = row->type == OPTION_LIST || row->type == OPTION_REST;
	bool is_long = dashes[1] != '\0';
	buf_printf(out, "\t\t'%s%s%s%s[", repeats ? "*" : "", dashes, name, flag ? "" : is_long ? "=" : "+");
	CLEANUP_BUF struct buf help = {0};
	if (!strncmp(name, "no-", 3) && row->negatable)
		buf_printf(out, "Undo --%s", row->name);
	else
		add_zsh_help(out, option_help(row, &help) ? help.data : "");
	buf_char(out, ']');
	if (!flag)
		add_zsh_value(out, row);
	buf_str(out, "' \\\n");
}

static void add_zsh_command(struct buf *out, const struct command *command)
{
	buf_printf(out, "\t%s)\n\t\t_arguments -s \\\n", command->name);
	for (const struct option_row *row = NULL; (row = option_next(command, row));) {
		if (row->type == OPTION_HEADING || row->hidden)
			continue;
		char letter[2] = {row->letter, '\0'};
		add_zsh_spec(out, row, "--", row->name);
		if (row->letter)
			add_zsh_spec(out, row, "-", letter);
		if (row->negatable) {
			CLEANUP_BUF struct buf negative = {0};
			buf_printf(&negative, "no-%s", row->name);
			add_zsh_spec(out, row, "--", negative.data);
		}
	}
	buf_str(out, "\t\t'--help[Show the options and examples]' \\\n");
	if (command == &command_help) {
		buf_str(out, "\t\t'*:command:(");
		add_command_names(out);
		buf_str(out, ")'\n\t\t;;\n");
	} else {
		buf_str(out, "\t\t'*:file:_files'\n\t\t;;\n");
	}
}

void completion_zsh(struct buf *out)
{
	buf_str(out, "#compdef wick\n"
		     "# zsh completion for wick " WICK_VERSION ", written by: wick help --completion zsh\n\n"
		     "local context state state_descr line\ntypeset -A opt_args\n\n"
		     "_arguments -C \\\n"
		     "\t'--help[Show the commands]' \\\n"
		     "\t'--version[Show the version]' \\\n"
		     "\t'1:command:->command' \\\n"
		     "\t'*::argument:->argument'\n\n"
		     "case $state in\n"
		     "command)\n\tlocal -a names\n\tnames=(\n");
	for (size_t i = 0; commands[i]; i++) {
		buf_printf(out, "\t\t'%s:", commands[i]->name);
		add_zsh_help(out, commands[i]->summary);
		buf_str(out, "'\n");
	}
	buf_str(out, "\t)\n\t_describe command names\n\t;;\nargument)\n\tcase $words[1] in\n");
	for (size_t i = 0; commands[i]; i++)
		add_zsh_command(out, commands[i]);
	buf_str(out, "\tesac\n\t;;\nesac\n");
}
