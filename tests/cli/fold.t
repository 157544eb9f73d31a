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

Filters of threads and functions work on text too, and the quality is that of what is left.

  $ printf 'a 1/2 1.0: 5 cycles:\n\t1 f (/x)\n\t2 main (/x)\n\nb 3/4 1.1: 7 cycles:\n\t1 [unknown] (/y)\n\t2 main (/x)\n\n' >two
  $ wick fold --comm='[a]' two
  a;main;f 5
  $ wick fold --pid=3 two
  b;main;[y] 7
  $ wick fold --tid=2,9 two
  a;main;f 5
  $ wick fold --symbol f two
  a;main;f 5
  $ wick fold --dso y two
  b;main;[y] 7
  $ wick fold --dso '*' --symbol 'm*' two
  a;main;f 5
  b;main;[y] 7
  $ wick fold --comm=c two
  wick: no sample fits the filters
  [1]
  $ wick report --comm=a --json two | grep -o '"quality": .*'
  "quality": {"samples": 1, "stacks": 0, "lost": 0, "truncated": 0, "unresolved": 0, "bad_lines": 0, "cut_stacks": 0, "overflows": 0, "filtered": 0, "modules": [], "text": "1 sample"}
  $ wick report --comm=b --json two | grep -o '"quality": .*'
  "quality": {"samples": 1, "stacks": 0, "lost": 0, "truncated": 0, "unresolved": 1, "bad_lines": 0, "cut_stacks": 0, "overflows": 0, "filtered": 0, "modules": [{"module": "/y", "unresolved_frames": 1}], "text": "1 sample · 1 sample with unresolved frames, most in y"}
  $ printf 'a;b 1\na;[unknown] 2\n' | wick report --symbol b --json | grep -o '"quality": .*'
  "quality": {"samples": 0, "stacks": 1, "lost": 0, "truncated": 0, "unresolved": 0, "bad_lines": 0, "cut_stacks": 0, "overflows": 0, "filtered": 0, "modules": [], "text": "1 folded stack"}

Folded lines: what a line shares with the one before ends where its stack does, sorted or not.

  $ printf 'a;b 12\na;b c 3\na;b;c 4\na;b 1\na;b; 2\na 5\n' | wick fold
  a 5
  a;b 15
  a;b c 3
  a;b;c 4
  $ seq 3000 | awk '{ printf "m;f%d;g%d;h%d %d\n", $1 % 7, $1 % 31, $1 % 911, $1 }' >mixed
  $ sort mixed >sorted
  $ wick fold mixed >of-mixed; wick fold sorted >of-sorted; wick fold of-mixed >again; cmp of-mixed of-sorted && cmp of-mixed again
  $ wick flame mixed >mixed.svg; wick flame of-mixed >folded.svg; cmp mixed.svg folded.svg
