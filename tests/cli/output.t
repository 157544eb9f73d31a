needs: setpriv

Output that cannot be written: one line, exit code 1, nothing left behind.

  $ printf 'a;b 1\n' >in
  $ wick fold in >/dev/full
  $ wick flame in >/dev/full
  $ wick report in >/dev/full
  $ wick fold in >&-
  $ wick report in >&-
  $ wick fold in -o /dev/full
  $ wick flame in -o /dev/full
  $ wick fold in -o .
  $ wick fold in -o no/such/folder/out
  $ wick fold in -o ''
  $ wick fold in -o in/out
  $ mkdir closed && chmod 555 closed && cp "$WICK" w && chmod 755 w && as-nobody ./w fold in -o closed/out; ls -A closed; rm w
  $ echo old >kept && chmod 444 kept && cp "$WICK" w && chmod 755 w && as-nobody ./w fold in -o kept; cat kept; rm w
  $ bash -c 'ulimit -f 1; wick flame in -o big.svg'; ls -A

A reader that goes away early ends it without a word.

  $ for i in $(seq 50000); do echo "main;f$i $i"; done >many
  $ wick fold many | head -c 0
  $ wick fold many | head -n 1
  $ bash -c 'set -o pipefail; wick fold many | head -n 1 >/dev/null'
  $ wick help | true

The output takes its name when it is whole; what stood there before stays until then.

  $ echo old >out && wick fold missing -o out; cat out
  $ wick fold in -o out && cat out
  $ ln -s out link && wick fold in -o link && readlink link

Nothing is left behind by a process that is told to end, and the caller sees the signal.

  $ rm -f *; mkfifo pipe; for s in INT TERM HUP; do
  >   bash -c 'trap - INT; exec wick fold pipe -o whole' & pid=$!
  >   exec 3>pipe; echo 'a;b 1' >&3; kill -s $s $pid; wait $pid; echo $(($? - 128)) $(kill -l $(($? - 128)));  exec 3>&-
  > done; ls -A

Standard input and files can be mixed, and "-" is standard output too.

  $ printf 'a 1\n' >one; printf 'b 2\n' | wick fold one - -o -
  $ ls -A
