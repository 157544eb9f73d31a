The commands themselves: help, version, and what happens to slips.

Without a command there is a short help, on standard error.

  $ wick 2>/dev/null
  [2]
  $ wick
  usage: wick COMMAND [options] [arguments]
  
    record      Record a command or processes and draw a flame graph
    top         Show the functions that use the CPU now
    fold        Convert stacks to folded lines with counts
    flame       Draw an interactive flame graph (SVG)
    diff        Show what changed between two profiles
    report      Show where the time goes: functions, call trees, threads
    script      Print each sample as text, like perf script
    doctor      Check what this system allows, and how to allow more
    containers  List the containers that run, for wick record --container
    help        Show the commands, or the options of a command
  
  See wick help for more.
  [2]

  $ wick --version
  wick 0.1.0
  $ wick version
  wick 0.1.0

  $ wick help >a; wick --help >b; wick -h >c; test -s a && cmp a b && cmp b c
  $ wick help | head -n 15
  wick 0.1.0: a sampling profiler for Linux
  
  Usage: wick COMMAND [options] [arguments]
  
  Commands:
    record      Record a command or processes and draw a flame graph
    top         Show the functions that use the CPU now
    fold        Convert stacks to folded lines with counts
    flame       Draw an interactive flame graph (SVG)
    diff        Show what changed between two profiles
    report      Show where the time goes: functions, call trees, threads
    script      Print each sample as text, like perf script
    doctor      Check what this system allows, and how to allow more
    containers  List the containers that run, for wick record --container
    help        Show the commands, or the options of a command

Every command has help with options, examples and exit codes, in two ways.

  $ for c in fold flame diff report script help; do
  >   wick $c --help >a && wick help $c >b && cmp a b && grep -c -e '^Usage: wick' -e '^Examples:' -e '^Exit codes:' -e '--help' a
  > done
  4
  4
  4
  4
  4
  4

Help follows the width of the terminal.

  $ for w in 40 60 80 100; do
  >   wide=$(COLUMNS=$w wick fold --help | sed '/^Examples:/,/^$/d' | wc -L); ((wide > w / 2 && wide <= w)) || echo "$wide at $w"
  > done

Help goes to standard output and fails when that is full or closed.

  $ wick help >/dev/full
  wick: cannot write standard output: No space left on device; free some space or write to another file system
  [1]
  $ wick fold --help >&-
  wick: standard output is closed
  [1]
  $ wick --version >/dev/full
  wick: cannot write standard output: No space left on device; free some space or write to another file system
  [1]

Slips get a suggestion; what looks like nothing gets none.

  $ wick fld
  wick: unknown command 'fld'; did you mean fold? (see wick help)
  [2]
  $ wick flaem x.folded
  wick: unknown command 'flaem'; did you mean flame? (see wick help)
  [2]
  $ wick bananas
  wick: unknown command 'bananas' (see wick help)
  [2]
  $ wick help reprot
  wick: unknown command 'reprot'; did you mean report? (see wick help)
  [2]
  $ wick --kernel x
  wick: unknown option --kernel; options must follow the command (see wick help)
  [2]
  $ wick fold --kernle x.txt
  wick: fold: unknown option --kernle; did you mean --kernel? (see wick fold --help)
  [2]
  $ wick flame --titel x
  wick: flame: unknown option --titel; did you mean --title? (see wick flame --help)
  [2]
  $ wick fold --zebra
  wick: fold: unknown option --zebra (see wick fold --help)
  [2]
  $ wick fold --fail-if 'total>3%'
  wick: fold: unknown option --fail-if; it is an option of wick diff (see wick fold --help)
  [2]
  $ wick fold -Z
  wick: fold: unknown option -Z (see wick fold --help)
  [2]

Options are checked before anything is read.

  $ wick fold --kernel=3 missing
  wick: fold: --kernel takes no value (see wick fold --help)
  [2]
  $ wick fold --pid=many missing
  wick: --pid= and --tid= must be numbers such as 12,13
  [2]
  $ wick fold --tid= missing
  wick: --pid= and --tid= must be numbers such as 12,13
  [2]
  $ wick fold --cpu 3-1 missing
  wick: --cpu must be numbers such as 0,2-3
  [2]
  $ wick fold --cpu 1,, missing
  wick: --cpu must be numbers such as 0,2-3
  [2]
  $ for range in 4-2s nan- 3 - 1x-2x -inf; do wick fold --time $range missing; done
  wick: --time must be a range such as 2.5-4s, 300ms- or -10s, not '4-2s'
  wick: --time must be a range such as 2.5-4s, 300ms- or -10s, not 'nan-'
  wick: --time must be a range such as 2.5-4s, 300ms- or -10s, not '3'
  wick: --time must be a range such as 2.5-4s, 300ms- or -10s, not '-'
  wick: --time must be a range such as 2.5-4s, 300ms- or -10s, not '1x-2x'
  wick: --time must be a range such as 2.5-4s, 300ms- or -10s, not '-inf'
  [2]
  $ wick script --pid 1-2 missing
  wick: --pid= and --tid= must be numbers such as 12,13
  [2]
  $ wick fold --threads 0 missing
  wick: fold: --threads must be from 1 to 1024, not 0 (see wick fold --help)
  [2]
  $ wick fold --threads many missing
  wick: fold: --threads must be a whole number, not 'many' (see wick fold --help)
  [2]
  $ wick fold --threads
  wick: fold: --threads needs a value: N (see wick fold --help)
  [2]
  $ wick fold -o --pid missing
  wick: fold: -o needs a value; if the value is --pid, use -o=--pid (see wick fold --help)
  [2]
  $ wick fold --m missing
  wick: fold: --m is ambiguous: --merge-threads, --module, --max-memory (see wick fold --help)
  [2]
  $ wick flame --colors rainbow missing
  wick: flame: --colors cannot be 'rainbow'; use one of hot, mem, io, wakeup, chain, java, js, perl, python, rust, red, green, blue, aqua, yellow, purple, orange, safe, state (see wick flame --help)
  [2]
  $ wick report --format cvs missing
  wick: report: --format cannot be 'cvs'; did you mean csv? (see wick report --help)
  [2]
  $ wick help fold flame
  wick: help: help takes at most one command (see wick help --help)
  [2]

Getopt::Long's ways of writing options work: one dash, unique prefixes, "=".

  $ printf 'a;b 1\n' >x; wick fold -output=y x && cat y
  a;b 1
  $ wick fold --out z x && cat z
  a;b 1
  $ wick fold -oz -- x && cat z
  a;b 1

Exit codes are those of the command.

  $ for c in diff doctor record top; do echo "$c:"; wick $c --help | sed '1,/^Exit codes/d'; done
  diff:
    0    success
    1    failure; one line on standard error gives the reason
    2    wrong options or arguments
    3    success, but a threshold was exceeded (wick diff --fail-if)
    4    the memory limit was reached (--max-memory)
  doctor:
    0    success
    1    your own processes cannot be recorded, or the check failed
    2    wrong options or arguments
  record:
    0    success
    1    failure; one line on standard error gives the reason
    2    wrong options or arguments
    4    the memory limit was reached (--max-memory)
    126  the command cannot be executed
    127  the command was not found
    N    with a command: its exit code, or 128 plus the number of the signal that
         ended it
  top:
    0    success
    1    failure; one line on standard error gives the reason
    2    wrong options or arguments
    4    the memory limit was reached (--max-memory)
    126  the command cannot be executed
    127  the command was not found
    N    with a command: its exit code, or 128 plus the number of the signal that
         ended it
  $ wick help --man record | grep -A1 -E '^.fB(127|DURATION|SAMPLING_FREQ|DEBUGINFOD_URLS)'
  \fB127\fR
  the command was not found
  --
  \fBDURATION\fR
  Default of \-\-duration, in seconds.
  --
  \fBSAMPLING_FREQ\fR
  Default of \-\-freq, in samples per second.
  --
  \fBDEBUGINFOD_URLS\fR
  debuginfod servers to query for missing debug files, separated by spaces. Default: none.
  $ for c in fold flame report script; do wick help --man $c | grep -cE '^(.SH EXIT STATUS|.fB(3|127|DURATION).fR)$'; done
  1
  1
  1
  1

An option of perf without an effect is in the man page once, with the others.

  $ wick help --man record | grep -oE 'for compatibility with perf|accepted and ignored'
  accepted and ignored
  $ wick help --man record | grep -A2 'accepted and ignored'
  These options of perf are accepted and ignored:
  \fB\-f\fR/\fB\-\-force\fR,
  \fB\-m\fR/\fB\-\-mmap\-pages\fR,
