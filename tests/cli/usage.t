The commands themselves: help, version, and what happens to slips.

Without a command there is a short help, on standard error.

  $ wick 2>/dev/null
  $ wick

  $ wick --version
  $ wick version

  $ wick help >a; wick --help >b; wick -h >c; cmp a b && cmp b c
  $ wick help | head -n 12

Every command has help with options, examples and exit codes, in two ways.

  $ for c in fold flame diff report help; do
  >   wick $c --help >a && wick help $c >b && cmp a b && grep -c -e '^Usage: wick' -e '^Examples:' -e '^Exit codes:' -e '--help' a
  > done

Help follows the width of the terminal.

  $ for w in 40 60 80 100; do
  >   COLUMNS=$w wick fold --help | sed '/^Examples:/,/^$/d' | awk -v w=$w 'length($0) > w'
  > done

Help goes to standard output and fails when that is full or closed.

  $ wick help >/dev/full
  $ wick fold --help >&-
  $ wick --version >/dev/full

Slips get a suggestion; what looks like nothing gets none.

  $ wick fld
  $ wick flaem x.folded
  $ wick bananas
  $ wick help reprot
  $ wick --kernel x
  $ wick fold --kernle x.txt
  $ wick flame --titel x
  $ wick fold --zebra
  $ wick fold --fail-if 'total>3%'
  $ wick fold -Z

Options are checked before anything is read.

  $ wick fold --pid=3 missing
  $ wick fold --threads 0 missing
  $ wick fold --threads many missing
  $ wick fold --threads
  $ wick fold -o --pid missing
  $ wick fold --m missing
  $ wick flame --colors rainbow missing
  $ wick report --format cvs missing
  $ wick help fold flame

Getopt::Long's ways of writing options work: one dash, unique prefixes, "=".

  $ printf 'a;b 1\n' >x; wick fold -output=y x && cat y
  $ wick fold --out z x && cat z
  $ wick fold -oz -- x && cat z
