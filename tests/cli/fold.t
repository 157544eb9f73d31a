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
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  java;main;helper;Interpreter 250000
  worker-1;[libfoo.so];__read;do_syscall_64 250000
  worker-2;__read 250000
  $ wick fold --pid in.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  java-10;main;helper;Interpreter 250000
  worker-1-10;[libfoo.so];__read;do_syscall_64 250000
  worker-2-10;__read 250000
  $ wick fold --tid in.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  java-10/11;main;helper;Interpreter 250000
  worker-1-10/12;[libfoo.so];__read;do_syscall_64 250000
  worker-2-10/13;__read 250000
  $ wick fold --kernel in.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  java;main;helper;Interpreter 250000
  worker-1;[libfoo.so];__read;do_syscall_64_[k] 250000
  worker-2;__read 250000
  $ wick fold --jit in.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  java;main;helper;Interpreter_[j] 250000
  worker-1;[libfoo.so];__read;do_syscall_64 250000
  worker-2;__read 250000
  $ wick fold --all in.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  java;main;helper;Interpreter_[j] 250000
  worker-1;[libfoo.so];__read;do_syscall_64_[k] 250000
  worker-2;__read 250000
  $ wick fold --addrs in.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  java;main;helper;Interpreter 250000
  worker-1;[libfoo.so <4100>];__read;do_syscall_64 250000
  worker-2;__read 250000
  $ wick fold --no-inline in.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  java;main;Interpreter 250000
  worker-1;[libfoo.so];__read;do_syscall_64 250000
  worker-2;__read 250000
  $ wick fold --no-comm in.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  [libfoo.so];__read;do_syscall_64 250000
  __read 250000
  main;helper;Interpreter 250000
  $ wick fold --merge-threads in.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  java;main;helper;Interpreter 250000
  worker-*;[libfoo.so];__read;do_syscall_64 250000
  worker-*;__read 250000
  $ wick fold --module in.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  java;java`main;helper;perf-10.map`Interpreter 250000
  worker-1;[libfoo.so];libc.so.6`__read;[kernel.kallsyms]`do_syscall_64 250000
  worker-2;libc.so.6`__read 250000
  $ wick fold --skip-after main in.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
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
  $ wick fold in.perf in.perf in.perf >three 2>/dev/null; test -s three && wick fold in.perf.gz in.perf.xz in.perf.zst 2>/dev/null | cmp - three
  $ cat in.perf.gz in.perf.gz | wick fold 2>/dev/null | cut -d ' ' -f 2 | sort -u
  500000
  $ for i in $(seq 500); do cat in.perf; done >big; for n in 1 2 7; do wick fold --threads $n big 2>/dev/null >by$n; done; test -s by1 && cmp by1 by2 && cmp by1 by7 && echo 1
  1
  $ wick fold big 2>/dev/null >a; test -s a && wick fold - <big 2>/dev/null | cmp - a

Java's type names are tidied in threads called java, also with --pid and --tid. With those the Perl script left them.

  $ printf 'java 10/11 1.0: 1 cycles:\n\t7f Lorg/a/B;.run (/tmp/perf-10.map)\n\n' >java.perf
  $ wick fold java.perf; wick fold --pid java.perf; wick fold --tid java.perf
  java;org/a/B:.run 1
  java-10;org/a/B:.run 1
  java-10/11;org/a/B:.run 1
  $ wick fold --perl java.perf; wick fold --perl --pid java.perf; wick fold --perl --tid java.perf
  java;org/a/B:.run 1
  java-10;Lorg/a/B:.run 1
  java-10/11;Lorg/a/B:.run 1

Parameters are dropped with balanced brackets, so that different functions stay apart. Other commands keep names whole.

  $ cat >cpp.perf <<'END'
  > app 1 1.0: 1 cycles:
  > 	1 f(int)::{lambda()#1}::operator()() const (/x)
  > 	2 std::function<int (int, int)>::operator()(int, int) const+0x1f (/x)
  > 	3 (anonymous namespace)::g(void (*)(int)) (/x)
  > 
  > app 1 1.1: 2 cycles:
  > 	1 f(int)::{lambda()#2}::operator()() const (/x)
  > 	2 std::function<int (int, int)>::operator()(int, int) const+0x1f (/x)
  > 	3 decltype (h({parm#1})) (anonymous namespace)::g<int>(int) (/x)
  > 
  > app 1 1.2: 4 cycles:
  > 	1 main.(*T).m (/x)
  > 	2 foo::<fn(i32) -> i32>::bar (/x)
  > 	3 [unknown] ([unknown])
  > 
  > END
  $ wick fold cpp.perf
  app;(anonymous namespace)::g;std::function<int (int, int)>::operator();f(int)::{lambda()#1}::operator() 1
  app;[unknown];foo::<fn(i32) -> i32>::bar;main.(*T).m 4
  app;decltype (h({parm#1})) (anonymous namespace)::g<int>;std::function<int (int, int)>::operator();f(int)::{lambda()#2}::operator() 2
  $ wick fold --perl cpp.perf
  app;[unknown];foo::<fn; i32>::bar_[i];main.(*T).m 4
  app;decltype ;std::function<int ;f 2
  app;std::function<int ;f 1
  $ wick fold --names full cpp.perf | grep -o 'std::function.*'
  std::function<int (int, int)>::operator()(int, int) const;f(int)::{lambda()#1}::operator()() const 1
  std::function<int (int, int)>::operator()(int, int) const;f(int)::{lambda()#2}::operator()() const 2
  $ wick report --format json cpp.perf | grep -o '"name": "[^"]*"' | sort -u
  "name": "(anonymous namespace)::g(void (*)(int))"
  "name": "[unknown]"
  "name": "decltype (h({parm#1})) (anonymous namespace)::g\u003cint\u003e(int)"
  "name": "f(int)::{lambda()#1}::operator()() const"
  "name": "f(int)::{lambda()#2}::operator()() const"
  "name": "foo::\u003cfn(i32) -\u003e i32\u003e::bar"
  "name": "main.(*T).m"
  "name": "std::function\u003cint (int, int)\u003e::operator()(int, int) const"
  $ wick flame cpp.perf | grep -o 'f(int)::{lambda()#[12]}::operator()() const' | sort -u
  f(int)::{lambda()#1}::operator()() const
  f(int)::{lambda()#2}::operator()() const

More names of modules are the kernel or just-in-time compiled code than the Perl script knows; [vdso] is neither.

  $ cat >modules.perf <<'END'
  > app 1 1.0: 1 cycles:
  > 	1 a ([vmlinux-5.4.14-x])
  > 	2 b ([kernel.vmlinux]_text)
  > 	3 c ([guest.kernel.kallsyms])
  > 	4 d (/usr/lib/debug/boot/vmlinux-6.1.0-13-amd64)
  > 	5 e (/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz)
  > 	6 [unknown] ([kernel.kallsyms]_[k])
  > 	7 g (/tmp/jitted-12-3.so)
  > 	8 h (/tmp/jit-12.dump)
  > 	9 i (/tmp/perf-12.map)
  > 	a j ([anon:jit-cache])
  > 	b k ([vdso])
  > 	c l (/home/me/app.kotlin/run)
  > 
  > END
  $ wick fold --all modules.perf
  app;l;k;j_[j];i_[j];h_[j];g_[j];[[kernel.kallsyms]_[k]]_[k];e_[k];d_[k];c_[k];b_[k];a_[k] 1
  $ wick fold --perl --all modules.perf
  app;l;k_[k];j_[k];i_[j];h;g;[[kernel.kallsyms]_[k]]_[k];e;d;c_[k];b_[k];a_[k] 1

A sample on one line is a stack of one frame. Modifiers make no other event, unless they are asked for.

  $ cat >events.perf <<'END'
  > app  7/8  1.0:  1 cycles:u:
  > 	1 f (/x)
  > 
  >      app     7/8     [001]     1.1:          2 cycles:P:              40 g(int)+0x1f (/x)
  >      app     7/8     [001]     1.2:          4 cpu_core/cycles/:      40 g(int)+0x1f (/x)
  > 
  > app  7/8  1.3:  8 instructions:u:
  > 	1 f (/x)
  > 
  > END
  $ wick fold events.perf
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  app;f 1
  app;g 6
  $ wick fold --event-filter cycles events.perf
  app;f 1
  app;g 6
  $ wick fold --event-filter cycles:P events.perf
  app;g 2
  $ wick fold --event-filter instructions events.perf
  app;f 8
  $ wick fold --event-filter cycles:k events.perf
  wick: no sample of event 'cycles:k'; the input has: cycles:u, cycles:P, cpu_core/cycles/, instructions:u
  [1]
  $ wick report --format json events.perf | grep '"event"'
  wick: warning: showing event cycles; 1 sample of other events skipped (use --event-filter to choose)
  "event": "cycles",
  $ wick fold --perl events.perf
  wick: warning: showing event cycles:u; 1 sample of other events skipped (use --event-filter to choose)
  app;f 1

--perl goes by the script where it errs: frames of two samples without an empty line between them, the last stack.

  $ printf 'ab 1/2 1.0: 3 cycles: \n\t1 f (/x)\ncd 1/2 1.0: 5 cycles: \n\t2 g (/x)\n\nab 1/2 1.0: 1 cycles: \n\t1 f (/x)\n' >errs
  $ wick fold --perl errs; echo; wick fold errs
  wick: warning: errs:6: the input ends within this stack; stack skipped
  cd;g;f 5
  
  ab;f 4
  cd;g 5
  $ printf 'ab 1/2 1.0: 3 cycles:\n\t1 f (/x)\n  a.c:1\n\t2 [unknown] ([unknown])\n\n' >src
  $ wick fold --perl --srcline --addrs src; wick fold --srcline --addrs src
  ab;[unknown <2>];f:a.c:1 3
  ab;[unknown <2>];f:a.c:1 3
  $ wick fold --perl --no-comm --module src; wick fold --perl --skip-after f src; wick fold --perl --comm=x src
  wick: warning: src:3: not a line of perf script; line skipped
  [unknown];x`f 3
  wick: warning: src:3: not a line of perf script; line skipped
  f 3
  wick: warning: src:3: not a line of perf script; line skipped
  wick: no sample matches the filters
  [1]
  $ wick fold --perl in.perf in.perf 2>/dev/null | head -1
  java;main;helper;Interpreter 500000

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
  wick: no sample matches the filters
  [1]
  $ wick report --comm=a --json two | grep -o '"quality": .*'
  "quality": {"samples": 1, "stacks": 0, "lost": 0, "lost_records": 0, "truncated": 0, "unresolved": 0, "derived": 0, "late": 0, "bad_lines": 0, "cut_stacks": 0, "overflows": 0, "filtered": 0, "modules": [], "text": "1 sample"}
  $ wick report --comm=b --json two | grep -o '"quality": .*'
  "quality": {"samples": 1, "stacks": 0, "lost": 0, "lost_records": 0, "truncated": 0, "unresolved": 1, "derived": 0, "late": 0, "bad_lines": 0, "cut_stacks": 0, "overflows": 0, "filtered": 0, "modules": [{"module": "/y", "unresolved_frames": 1}], "text": "1 sample · 1 sample with unresolved frames, most in y"}
  $ printf 'a;b 1\na;[unknown] 2\n' | wick report --symbol b --json | grep -o '"quality": .*'
  "quality": {"samples": 0, "stacks": 1, "lost": 0, "lost_records": 0, "truncated": 0, "unresolved": 0, "derived": 0, "late": 0, "bad_lines": 0, "cut_stacks": 0, "overflows": 0, "filtered": 0, "modules": [], "text": "1 folded stack"}

Folded lines: what a line shares with the one before ends where its stack does, sorted or not.

  $ printf 'a;b 12\na;b c 3\na;b;c 4\na;b 1\na;b; 2\na 5\n' | wick fold
  a 5
  a;b 15
  a;b c 3
  a;b;c 4
  $ seq 3000 | awk '{ printf "m;f%d;g%d;h%d %d\n", $1 % 7, $1 % 31, $1 % 911, $1 }' >mixed
  $ sort mixed >sorted
  $ wick fold mixed >of-mixed; wick fold sorted >of-sorted; wick fold of-mixed >again; test -s again && cmp of-mixed of-sorted && cmp of-mixed again
  $ wick flame mixed >mixed.svg; wick flame of-mixed >folded.svg; test -s folded.svg && cmp mixed.svg folded.svg
