wick report: tables and trees.

  $ cat >in.folded <<'END'
  > main;parse;lex 40
  > main;parse 10
  > main;render;draw;line 25
  > main;render;draw;fill 15
  > main;render;draw;fill;fill 3
  > main;idle 1
  > main;log 1
  > worker;sleep 5
  > END

Self, total (a recursive function counts once), and what is left out.

  $ wick report in.folded
  Total   100 samples
  Input   in.folded
  
      Self  Samples     Total  Samples  Function
   40.00 %       40   40.00 %       40  lex
   25.00 %       25   25.00 %       25  line
   18.00 %       18   18.00 %       18  fill
   10.00 %       10   50.00 %       50  parse
    5.00 %        5    5.00 %        5  sleep
    1.00 %        1    1.00 %        1  idle
    1.00 %        1    1.00 %        1  log
    0.00 %        0   95.00 %       95  main
    0.00 %        0   43.00 %       43  draw
    0.00 %        0   43.00 %       43  render
    0.00 %        0    5.00 %        5  worker
  
  8 folded stacks
  $ wick report --sort total --limit 3 in.folded
  Total   100 samples
  Input   in.folded
  
      Self  Samples     Total  Samples  Function
    0.00 %        0   95.00 %       95  main
   10.00 %       10   50.00 %       50  parse
    0.00 %        0   43.00 %       43  draw
   90.00 %  … 8 more (--limit 3; 0 shows all)
  
  8 folded stacks
  $ wick report --sort name --limit 2 <in.folded
  Total   100 samples
  Input   standard input
  
      Self  Samples     Total  Samples  Function
    0.00 %        0   43.00 %       43  draw
   18.00 %       18   18.00 %       18  fill
   82.00 %  … 9 more (--limit 2; 0 shows all)
  
  8 folded stacks

Trees: only forks indent, what is pruned is counted.

  $ wick report --tree --min-percent 2 in.folded
  Total   100 samples
  Input   in.folded
  
     Total      Self  Function, with its callees below
   95.00 %            ├─ main
   50.00 %   10.00 %  │  ├─ parse
   40.00 %   40.00 %  │  │  lex
   43.00 %            │  ├─ render
                      │  │  draw
   25.00 %   25.00 %  │  │  ├─ line
   18.00 %   15.00 %  │  │  └─ fill
    3.00 %    3.00 %  │  │     fill
                      │  └─ … 2 more, 2.00 %
    5.00 %            └─ worker
              5.00 %     sleep
  
  8 folded stacks
  $ wick report --tree --max-depth 2 in.folded
  Total   100 samples
  Input   in.folded
  
     Total      Self  Function, with its callees below
   95.00 %            ├─ main
   50.00 %   10.00 %  │  ├─ parse  … 1 more, 40.00 %
   43.00 %            │  ├─ render  … 1 more, 43.00 %
    1.00 %    1.00 %  │  ├─ idle
    1.00 %    1.00 %  │  └─ log
    5.00 %            └─ worker
              5.00 %     sleep
  
  8 folded stacks
  $ wick report --tree --limit 1 in.folded
  Total   100 samples
  Input   in.folded
  
     Total      Self  Function, with its callees below
   95.00 %            ├─ main  … 3 more, 45.00 %
   50.00 %   10.00 %  │  parse
   40.00 %   40.00 %  │  lex
                      └─ … 1 more, 5.00 %
  
  8 folded stacks
  $ wick report --bottom-up --min-percent 10 in.folded
  Total   100 samples
  Input   in.folded
  
     Share  Function, with its callers below
   40.00 %  ├─ lex
            │  parse
            │  main
   25.00 %  ├─ line
            │  draw
            │  render
            │  main
   18.00 %  ├─ fill  … 1 more, 3.00 %
   15.00 %  │  draw
            │  render
            │  main
   10.00 %  ├─ parse
            │  main
            └─ … 3 more, 7.00 %
  
  8 folded stacks

Folded stacks have no threads.

  $ wick report --by thread in.folded
  Total   100 samples
  Input   in.folded
  Note    the input has no thread names: using the outermost frame
  
     Share  Samples  Thread
   95.00 %       95  main
    5.00 %        5  worker
  
  8 folded stacks
  $ wick report --by module in.folded
  Total   100 samples
  Input   in.folded
  Note    the input has no module names; use perf.data or perf script text
  
      Self  Samples     Total  Samples  Module
  100.00 %      100  100.00 %      100  [not known]
  
  8 folded stacks

perf script text has threads, processes and modules; equal names of two modules stay two functions.

  $ cat >in.perf <<'END'
  > server 10/10 1.000: 1 cycles:
  > 	ffff1 sys_read ([kernel.kallsyms])
  > 	1000 main (/usr/bin/server)
  > 
  > pool-1 10/11 1.001: 1 cycles:
  > 	2000 init (/usr/lib/liba.so)
  > 	1000 main (/usr/bin/server)
  > 
  > pool-2 10/12 1.002: 1 cycles:
  > 	3000 init (/usr/lib/libb.so)
  > 	1000 main (/usr/bin/server)
  > 
  > pool-2 10/12 1.003: 1 cycles:
  > 	3000 init (/usr/lib/libb.so)
  > 	1000 main (/usr/bin/server)
  > 
  > tool 20/20 1.004: 1 cycles:
  > 	4000 [unknown] (/usr/bin/tool)
  > 
  > END
  $ wick report in.perf
  Total   5 samples
  Event   cycles
  Input   in.perf
  
      Self  Samples     Total  Samples  Module             Function
   40.00 %        2   40.00 %        2  libb.so            init
   20.00 %        1   20.00 %        1  tool               [tool]
   20.00 %        1   20.00 %        1  liba.so            init
   20.00 %        1   20.00 %        1  [kernel.kallsyms]  sys_read
    0.00 %        0   80.00 %        4  server             main
  
  5 samples · 1 truncated stack · 1 sample with unresolved frames, most in tool
  $ wick report --by module in.perf
  Total   5 samples
  Event   cycles
  Input   in.perf
  
      Self  Samples     Total  Samples  Module
   40.00 %        2   40.00 %        2  libb.so
   20.00 %        1   20.00 %        1  [kernel.kallsyms]
   20.00 %        1   20.00 %        1  liba.so
   20.00 %        1   20.00 %        1  tool
    0.00 %        0   80.00 %        4  server
  
  5 samples · 1 truncated stack · 1 sample with unresolved frames, most in tool
  $ wick report --by thread in.perf
  Total   5 samples
  Event   cycles
  Input   in.perf
  
     Share  Samples  Thread
   40.00 %        2  pool-2-10/12
   20.00 %        1  pool-1-10/11
   20.00 %        1  server-10/10
   20.00 %        1  tool-20/20
  
  5 samples · 1 truncated stack · 1 sample with unresolved frames, most in tool
  $ wick report --by comm in.perf
  Total   5 samples
  Event   cycles
  Input   in.perf
  
     Share  Samples  Thread name
   60.00 %        3  pool-*
   20.00 %        1  server
   20.00 %        1  tool
  
  5 samples · 1 truncated stack · 1 sample with unresolved frames, most in tool
  $ wick report --by comm --no-merge-threads in.perf
  Total   5 samples
  Event   cycles
  Input   in.perf
  
     Share  Samples  Thread name
   40.00 %        2  pool-2
   20.00 %        1  pool-1
   20.00 %        1  server
   20.00 %        1  tool
  
  5 samples · 1 truncated stack · 1 sample with unresolved frames, most in tool
  $ wick report --by process in.perf
  Total   5 samples
  Event   cycles
  Input   in.perf
  
     Share  Samples  Process
   80.00 %        4  server-10
   20.00 %        1  tool-20
  
  5 samples · 1 truncated stack · 1 sample with unresolved frames, most in tool
  $ wick report --tree --no-comm in.perf
  Total   5 samples
  Event   cycles
  Input   in.perf
  
     Total      Self  Function, with its callees below
   80.00 %            ├─ main
   60.00 %   60.00 %  │  ├─ init
   20.00 %   20.00 %  │  └─ sys_read
   20.00 %   20.00 %  └─ [tool]
  
  5 samples · 1 truncated stack · 1 sample with unresolved frames, most in tool

JSON and CSV; docs/json.md describes the fields.

  $ wick report --json --limit 2 in.perf
  {
  "format": "wick-report",
  "version": 1,
  "kind": "functions",
  "event": "cycles",
  "unit": null,
  "total": 5,
  "inputs": ["in.perf"],
  "note": null,
  "rows": [
  {"name": "init", "module": "/usr/lib/libb.so", "frame": "native", "file": null, "self": 2, "self_percent": 40, "total": 2, "total_percent": 40},
  {"name": "[tool]", "module": "/usr/bin/tool", "frame": "unknown", "file": null, "self": 1, "self_percent": 20, "total": 1, "total_percent": 20}
  ],
  "left_out": {"rows": 3, "weight": 2},
  "recording": {"duration": null, "cpu_time": null, "sampled": null, "processes": null, "threads": null, "cgroup": null},
  "quality": {"samples": 5, "stacks": 0, "lost": 0, "lost_records": 0, "truncated": 1, "unresolved": 1, "derived": 0, "late": 0, "bad_lines": 0, "cut_stacks": 0, "overflows": 0, "filtered": 0, "modules": [{"module": "/usr/bin/tool", "unresolved_frames": 1}], "text": "5 samples · 1 truncated stack · 1 sample with unresolved frames, most in tool"}
  }
  $ wick report --csv --limit 3 in.perf
  self,self_percent,total,total_percent,module,name
  2,40.0000,2,40.0000,/usr/lib/libb.so,init
  1,20.0000,1,20.0000,/usr/bin/tool,[tool]
  1,20.0000,1,20.0000,/usr/lib/liba.so,init
  $ wick report --tree --json --max-depth 1 in.folded
  {
  "format": "wick-report",
  "version": 1,
  "kind": "tree",
  "event": "samples",
  "unit": "samples",
  "total": 100,
  "inputs": ["in.folded"],
  "note": null,
  "rows": [
  {"depth": 1, "parent": -1, "name": "main", "module": null, "frame": "native", "file": null, "self": 0, "self_percent": 0, "total": 95, "total_percent": 95},
  {"depth": 1, "parent": -1, "name": "worker", "module": null, "frame": "native", "file": null, "self": 0, "self_percent": 0, "total": 5, "total_percent": 5}
  ],
  "left_out": {"rows": 5, "weight": 100},
  "recording": {"duration": null, "cpu_time": null, "sampled": null, "processes": null, "threads": null, "cgroup": null},
  "quality": {"samples": 0, "stacks": 8, "lost": 0, "lost_records": 0, "truncated": 0, "unresolved": 0, "derived": 0, "late": 0, "bad_lines": 0, "cut_stacks": 0, "overflows": 0, "filtered": 0, "modules": [], "text": "8 folded stacks"}
  }
  $ wick report --tree --csv --min-percent 20 in.folded
  depth,self,self_percent,total,total_percent,module,name
  1,0,0.0000,95,95.0000,,main
  2,10,10.0000,50,50.0000,,parse
  3,40,40.0000,40,40.0000,,lex
  2,0,0.0000,43,43.0000,,render
  3,0,0.0000,43,43.0000,,draw
  4,25,25.0000,25,25.0000,,line
  $ printf 'a,"b;c 1.25\n' | wick report --csv
  self,self_percent,total,total_percent,module,name
  1.25,100.0000,1.25,100.0000,,c
  0,0.0000,1.25,100.0000,,"a,""b"

Names cannot drive the terminal, and fit the width that is given.

  $ printf 'main;\033[31mred\033[0m;\377bad 3\nmain;\344\270\255\346\226\207\345\255\227 2\n' >odd && wick report odd
  Total   5 samples
  Input   odd
  
      Self  Samples     Total  Samples  Function
   60.00 %        3   60.00 %        3  �bad
   40.00 %        2   40.00 %        2  中文字
    0.00 %        0  100.00 %        5  main
    0.00 %        0   60.00 %        3  �[31mred�[0m
  
  2 folded stacks
  $ echo 'main;std::map<std::string, std::vector<int>>::operator[](std::string const&) 3' | wick report --names full --width 60
  Total   3 samples
  Input   standard input
  
      Self  Samples     Total  Function
  100.00 %        3  100.00 %  std::map<std::s…:string const&)
    0.00 %        0  100.00 %  main
  
  1 folded stack
  $ echo 'main;std::map<std::string, std::vector<int>>::operator[](std::string const&) 3' | wick report --names full --tree --width 50
  Total   3 samples
  Input   standard input
  
     Total      Self  Function, with its callees below
  100.00 %            main
            100.00 %  std::map<std::s…string const&)
  
  1 folded stack

A file gets the whole report or none.

  $ wick report in.folded -o out.txt && head -n 1 out.txt
  Total   100 samples
  $ wick report missing -o none.txt; ls none.txt
  wick: missing: No such file or directory
  ls: cannot access 'none.txt': No such file or directory
  [2]

Wrong use.

  $ wick report --tree --bottom-up in.folded
  wick: report: --tree and --bottom-up cannot be used together (see wick report --help)
  [2]
  $ wick report --tree --by thread in.folded
  wick: report: --by thread has no tree: trees show functions (see wick report --help)
  [2]
  $ wick report --json --csv in.folded
  wick: report: --json and --csv cannot be used together (see wick report --help)
  [2]
  $ wick report --format csv --json in.folded
  wick: report: --format csv and --json cannot be used together (see wick report --help)
  [2]
  $ wick report --by colour in.folded
  wick: report: --by cannot be 'colour'; use one of function, module, thread, comm, process, cpu, cgroup, container, pod, unit, gil, symbol, dso, tid, pid; the input has no labels (see wick report --help)
  [2]
  $ wick report --by modul in.folded
  wick: report: --by cannot be 'modul'; did you mean module? (see wick report --help)
  [2]
  $ wick report --min-percent 101 in.folded
  wick: report: --min-percent must be from 0 to 100, not 101 (see wick report --help)
  [2]

One sample is one sample; where samples weigh their period, their number stands beside it.

  $ echo 'main 1' | wick report
  Total   1 sample
  Input   standard input
  
      Self  Samples     Total  Samples  Function
  100.00 %        1  100.00 %        1  main
  
  1 folded stack
  $ printf 'tool 7 1.0: 1000 cycles:\n\t1 spin (/usr/bin/tool)\n\ntool 7 2.0: 3000 cycles:\n\t2 rest (/usr/bin/tool)\n\n' | wick report
  Total   4,000 cycles, 2 samples
  Event   cycles
  Input   standard input
  
      Self  Weight  Samples     Total  Weight  Module  Function
   75.00 %   3,000        1   75.00 %   3,000  tool    rest
   25.00 %   1,000        1   25.00 %   1,000  tool    spin
  
  2 samples
  $ printf 'tool 7 1.0: 1000 cycles:\n\t1 spin (/usr/bin/tool)\n\n' | wick report --by thread
  Total   1,000 cycles, 1 sample
  Event   cycles
  Input   standard input
  
     Share  Weight  Samples  Thread
  100.00 %   1,000        1  tool-?/7
  
  1 sample
  $ printf 'tool 7 1.0: 1000 cycles:\n\t1 spin (/usr/bin/tool)\n\n' | wick report --width 48
  Total   1,000 cycles, 1 sample
  Event   cycles
  Input   standard input
  
      Self  Weight     Total  Module  Function
  100.00 %   1,000  100.00 %  tool    spin
  
  1 sample

Of waits a table shows the kind and the function of the program's own code. Flame graphs have the whole stack.

  $ cat >waits.txt <<'END'
  > server 7 1.0: 300 time-sleeping:
  > 	ffffffff81000010 futex_do_wait+0x10 ([kernel.kallsyms])
  > 	7f0000001000 __futex_abstimed_wait_common+0x10 (/usr/lib/x86_64-linux-gnu/libc.so.6)
  > 	7f0000002000 std::condition_variable::wait+0x10 (/usr/lib/x86_64-linux-gnu/libstdc++.so.6)
  > 	401000 Queue::pop+0x10 (/opt/server/bin/server)
  > 	402000 main+0x10 (/opt/server/bin/server)
  > 
  > server 7 2.0: 200 time-sleeping:
  > 	ffffffff81000020 do_epoll_wait+0x10 ([kernel.kallsyms])
  > 	7f0000003000 epoll_wait+0x10 (/usr/lib/x86_64-linux-gnu/libc.so.6)
  > 	7f1000003000 wait_ready+0x10 (/opt/server/lib/libloop.so)
  > 	402000 main+0x10 (/opt/server/bin/server)
  > 
  > server 8 3.0: 100 time-sleeping:
  > 	ffffffff81000020 do_epoll_wait+0x10 ([kernel.kallsyms])
  > 	7f0000003000 epoll_wait+0x10 (/usr/lib/x86_64-linux-gnu/libc.so.6)
  > 	7f2000003000 poll_once+0x10 (/usr/lib/x86_64-linux-gnu/libuv.so.1)
  > 	7f2000004000 uv_run+0x10 (/usr/lib/x86_64-linux-gnu/libuv.so.1)
  > 	7f0000004000 start_thread+0x10 (/usr/lib/x86_64-linux-gnu/libc.so.6)
  > 
  > END
  $ wick report waits.txt | grep -v ' 0.00 %'
  Total   600 ns
  Event   offcpu
  Input   waits.txt
  
      Self   ns     Total   ns  Module      Function
   50.00 %  300   50.00 %  300  server      lock      Queue::pop
   33.33 %  200   33.33 %  200  libloop.so  sleeping  wait_ready
   16.67 %  100   16.67 %  100  libuv.so.1  sleeping  uv_run
  
  3 samples
  $ wick report --json waits.txt | grep -c futex_do_wait
  1
  $ wick fold waits.txt
  server;[lock];main;Queue::pop;std::condition_variable::wait;__futex_abstimed_wait_common;futex_do_wait 300
  server;[sleeping];main;wait_ready;epoll_wait;do_epoll_wait 200
  server;[sleeping];start_thread;uv_run;poll_once;epoll_wait;do_epoll_wait 100
