needs: setpriv

Output that cannot be written: one line, exit code 1, nothing left behind.

  $ printf 'a;b 1000\n' >in
  $ wick fold in >/dev/full
  wick: cannot write standard output: No space left on device; free some space or write to another file system
  [1]
  $ wick flame in >/dev/full
  wick: cannot write standard output: No space left on device; free some space or write to another file system
  [1]
  $ wick report in >/dev/full
  wick: cannot write standard output: No space left on device; free some space or write to another file system
  [1]
  $ wick fold in >&-
  wick: standard output is closed
  [1]
  $ wick report in >&-
  wick: standard output is closed
  [1]
  $ wick fold in -o /dev/full
  wick: cannot write /dev/full: No space left on device; free some space or write to another file system
  [1]
  $ wick flame in -o /dev/full
  wick: cannot write /dev/full: No space left on device; free some space or write to another file system
  [1]
  $ wick fold in -o .
  wick: cannot write .: it is a directory; use the name of a file in it
  [1]
  $ wick fold in -o no/such/folder/out
  wick: cannot create no/such/folder/out: No such file or directory; create the directory first
  [1]
  $ wick fold in -o ''
  wick: the output file name is empty
  [1]
  $ wick fold in -o in/out
  wick: cannot create in/out: Not a directory
  [1]
  $ mkdir closed && chmod 555 closed && cp "$WICK" w && chmod 755 w && as-nobody ./w fold in -o closed/out; ls -A closed; rm -r w closed
  wick: cannot create closed/out: Permission denied; choose a directory that you can write to
  $ echo old >kept && chmod 444 kept && cp "$WICK" w && chmod 755 w && as-nobody ./w fold in -o kept; cat kept; rm w
  wick: cannot write kept: Permission denied; choose a directory that you can write to
  old
  $ bash -c 'ulimit -f 1; wick flame in -o big.svg'; ls -A
  wick: cannot write big.svg: File too large; see ulimit -f
  in
  kept

A reader that goes away early ends it without a word.

  $ seq 50000 | awk '{ print "main;f" $1, $1 }' >many
  $ { wick fold many; echo "exit code $?" >&2; } | head -c 0
  exit code 1
  $ wick fold many | head -n 1
  main;f1 1
  $ bash -c 'set -o pipefail; wick fold many | head -n 1 | cut -c 1-9'
  main;f1 1
  [1]
  $ { sleep 1; wick help; echo "exit code $?" >&2; } | true
  exit code 1

The output takes its name when it is whole; what stood there before stays until then.

  $ echo old >out && wick fold missing -o out; cat out
  wick: missing: No such file or directory
  old
  $ wick fold in -o out && cat out
  a;b 1000
  $ rm out; touch out; ln -s out link && wick fold in -o link && readlink link && cat out
  out
  a;b 1000

Nothing is left behind by a process that is told to end, and the caller sees the signal.

  $ rm -f *; mkfifo pipe; for s in INT TERM HUP; do
  >   env --default-signal=$s wick fold pipe -o whole & pid=$!
  >   exec 3>pipe; echo 'a;b 1' >&3; kill -s $s $pid; wait $pid; kill -l $?; exec 3>&-
  > done 2>/dev/null; ls -A
  INT
  TERM
  HUP
  pipe

Standard input and files can be mixed, and "-" is standard output too.

  $ printf 'a 1\n' >one; printf 'b 2\n' | wick fold one - -o -
  a 1
  b 2
  $ ls -A
  one
  pipe
