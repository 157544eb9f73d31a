needs: gzip xz zstd

wick fold: the options of stackcollapse-perf.pl, and more.

  $ cat >in.perf <<'END'
  > java 10/11 [000] 1.000001: 250000 cycles:
  > 	    7f01 Interpreter (/tmp/perf-10.map)
  > 	    4010 helper (inlined)
  > 	    4000 main (/usr/bin/java)
  > 
  > worker-1 10/12 [001] 1.000002: 250000 cycles:
  > 	ffffffff8100 do_syscall_64 ([kernel.kallsyms])
  > 	    4002 __read (/usr/lib/libc.so.6)
  > 	    4100 [unknown] (/usr/lib/libfoo.so)
  > 
  > worker-2 10/13 [001] 1.000003: 250000 cycles:
  > 	    4002 __read (/usr/lib/libc.so.6)
  > 
  > worker-2 10/13 [001] 1.000004: 1 page-faults:
  > 	    4003 __write (/usr/lib/libc.so.6)
  > 
  > END
  $ wick fold in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  java;main;helper;Interpreter 250000
  worker-1;[libfoo.so];__read;do_syscall_64 250000
  worker-2;__read 250000
  $ wick fold --pid in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  java-10;main;helper;Interpreter 250000
  worker-1-10;[libfoo.so];__read;do_syscall_64 250000
  worker-2-10;__read 250000
  $ wick fold --tid in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  java-10/11;main;helper;Interpreter 250000
  worker-1-10/12;[libfoo.so];__read;do_syscall_64 250000
  worker-2-10/13;__read 250000
  $ wick fold --kernel in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  java;main;helper;Interpreter 250000
  worker-1;[libfoo.so];__read;do_syscall_64_[k] 250000
  worker-2;__read 250000
  $ wick fold --jit in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  java;main;helper;Interpreter_[j] 250000
  worker-1;[libfoo.so];__read;do_syscall_64 250000
  worker-2;__read 250000
  $ wick fold --all in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  java;main;helper;Interpreter_[j] 250000
  worker-1;[libfoo.so];__read;do_syscall_64_[k] 250000
  worker-2;__read 250000
  $ wick fold --addrs in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  java;main;helper;Interpreter 250000
  worker-1;[libfoo.so <4100>];__read;do_syscall_64 250000
  worker-2;__read 250000
  $ wick fold --no-inline in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  java;main;Interpreter 250000
  worker-1;[libfoo.so];__read;do_syscall_64 250000
  worker-2;__read 250000
  $ wick fold --no-comm in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  [libfoo.so];__read;do_syscall_64 250000
  __read 250000
  main;helper;Interpreter 250000
  $ wick fold --merge-threads in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  java;main;helper;Interpreter 250000
  worker-*;[libfoo.so];__read;do_syscall_64 250000
  worker-*;__read 250000
  $ wick fold --module in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  java;java`main;helper;perf-10.map`Interpreter 250000
  worker-1;[libfoo.so];libc.so.6`__read;[kernel.kallsyms]`do_syscall_64 250000
  worker-2;libc.so.6`__read 250000
  $ wick fold --skip-after main in.perf
  wick: warning: showing event cycles; 1 sample of other events left out (--event-filter chooses)
  main;helper;Interpreter 250000
  worker-1;[libfoo.so];__read;do_syscall_64 250000
  worker-2;__read 250000
  $ wick fold --event-filter page-faults in.perf
  worker-2;__write 1
  $ wick fold --event-filter instructions in.perf
  wick: no sample of event 'instructions'; the input has: cycles, page-faults
  [1]

What is folded already is added up and sorted by its bytes; counts may have decimals.

  $ printf 'b;c 2\na 1\nb;c 3\nb 1.25\n' | wick fold
  a 1
  b 1.25
  b;c 5

Files are added up, whatever they are packed with, and however many threads read them.

  $ gzip -k in.perf; xz -k in.perf; zstd -q in.perf
  $ wick fold in.perf in.perf in.perf >three 2>/dev/null; wick fold in.perf.gz in.perf.xz in.perf.zst 2>/dev/null | cmp - three
  $ cat in.perf.gz in.perf.gz | wick fold 2>/dev/null | cut -d ' ' -f 2 | sort -u
  500000
  $ for i in $(seq 500); do cat in.perf; done >big; for n in 1 2 7; do wick fold --threads $n big 2>/dev/null | md5sum; done | uniq | wc -l
  1
  $ wick fold big 2>/dev/null >a; wick fold - <big 2>/dev/null | cmp - a

Java's type names are tidied in threads called java; with --pid and --tid the name is another, and they stay.

  $ printf 'java 10/11 1.0: 1 cycles:\n\t7f Lorg/a/B;.run (/tmp/perf-10.map)\n\n' >java.perf
  $ wick fold java.perf; wick fold --pid java.perf; wick fold --tid java.perf
  java;org/a/B:.run 1
  java-10;Lorg/a/B:.run 1
  java-10/11;Lorg/a/B:.run 1
