What perf's users type. What works is in tests/e2e/perf-options; here is what is refused: one line with the right
spelling, and exit code 2.

  $ wick record -b -- true
  wick: record: -b: wick does not record branches; for stacks from branch records use --call-graph lbr (see wick record --help)
  [2]
  $ wick record -j any,u -- true
  wick: record: -j: wick does not record branches; for stacks from branch records use --call-graph lbr (see wick record --help)
  [2]
  $ wick record -d -- true
  wick: record: -d must be a number, not '--'; wick does not record data addresses, as perf record -d does; omit the option (see wick record --help)
  [2]
  $ wick record -I -- true
  wick: record: -I: wick does not record registers; use perf record (see wick record --help)
  [2]
  $ wick record -W -- true
  wick: record: -W: wick does not record weights of memory accesses; use perf record (see wick record --help)
  [2]
  $ wick record --filter 'prev_state == 1' -- true
  wick: record: --filter: wick does not filter tracepoints; use -p PID or -C LIST to record less (see wick record --help)
  [2]
  $ wick record --all-kernel -- true
  wick: record: --all-kernel: use the modifier k of the event: -e cycles:k, or -e cpu-clock:k (see wick record --help)
  [2]
  $ wick record --switch-output=1G -- true
  wick: record: --switch-output: wick writes one file per recording; use -d SECONDS in a loop (see wick record --help)
  [2]
  $ wick record --dry-run -- true
  wick: record: --dry-run: use wick doctor to check what can be recorded (see wick record --help)
  [2]
  $ wick record -k boottime -- true
  wick: record: -k cannot be 'boottime'; use one of mono, monotonic, CLOCK_MONOTONIC, 1 (see wick record --help)
  [2]
  $ wick record -o - -- true
  wick: record: -o -: cannot write a recording to a pipe; use -o FILE.data (see wick record --help)
  [2]
  $ wick record -o /dev/null -- true
  wick: record: -o /dev/null is neither a file nor a directory (see wick record --help)
  [2]
  $ wick record -o x.svg --format folded,perf.data -- true
  wick: record: -o x.svg is a single file: --format folded,perf.data needs a directory (see wick record --help)
  [2]
  $ wick record --call-graph fp,8192 -- true
  wick: record: --call-graph fp,8192: only dwarf takes a size, in bytes from 256 to 65528 (see wick record --help)
  [2]
  $ wick record --call-graph dwarf,many -- true
  wick: record: --call-graph dwarf,many: only dwarf takes a size, in bytes from 256 to 65528 (see wick record --help)
  [2]
  $ wick record --call-graph stack -- true
  wick: record: --call-graph must be auto, dwarf, fp or lbr, not 'stack' (see wick record --help)
  [2]
  $ wick record -D -1 -- true
  wick: record: --delay must be a time such as 500, 500ms or 2s, not '-1' (see wick record --help)
  [2]
  $ wick record -F 99
  wick: record: no target; use -- COMMAND, -p PID, -n NAME, -u USER, --container NAME or -a (see wick record --help)
  [2]
  $ wick record -p 1 -a -- sleep 1
  wick: record: --pid and --all cannot be used together (see wick record --help)
  [2]

  $ wick report --tui
  wick: report: --tui: wick report writes text: use wick report FILE | less -S, or wick flame FILE -o flame.svg (see wick report --help)
  [2]
  $ wick report -F overhead,symbol
  wick: report: -F: the columns are fixed; for other programs use --csv or --json (see wick report --help)
  [2]
  $ wick report -t ,
  wick: report: -t: use --csv for columns separated by commas (see wick report --help)
  [2]
  $ wick report -w 10,20
  wick: report: -w: use --width COLUMNS for the width of lines (see wick report --help)
  [2]
  $ wick report -T
  wick: report: -T: use --by thread for one row per thread (see wick report --help)
  [2]
  $ wick report --sort comm,dso
  wick: report: --sort comm,dso: only one kind of row is supported; use --by comm (see wick report --help)
  [2]
  $ wick report --sort weight
  wick: report: --sort must be self, total, name or a value of --by, not 'weight' (see wick report --help)
  [2]
  $ wick report -g folded
  wick: report: -g folded: use wick fold FILE (see wick report --help)
  [2]
  $ wick report -b
  wick: report: -b: wick does not read branch records; use perf report (see wick report --help)
  [2]
  $ wick report -k /boot/vmlinux
  wick: report: -k: not needed: the kernel is found by its build ID, on this machine or with debuginfod (see wick report --help)
  [2]
  $ wick report --kallsyms /proc/kallsyms
  wick: report: --kallsyms: not needed: the kernel is found by its build ID, on this machine or with debuginfod (see wick report --help)
  [2]
  $ wick report -D
  wick: report: -D: wick shows only samples; for records use perf script -D (see wick report --help)
  [2]
  $ wick report --hierarchy
  wick: report: --hierarchy: use --tree for the hierarchy of calls, --by module or --by thread for tables (see wick report --help)
  [2]

  $ wick script -F comm,brstack
  wick: script: -F must be comm, pid, tid, cpu, time, period, event, ip, sym, symoff or dso, not 'brstack' (see wick script --help)
  [2]
  $ wick script -s flamegraph.py
  wick: script: -s: wick does not run scripts of perf; for flame graphs use wick flame (see wick script --help)
  [2]
  $ wick script flamegraph
  wick: script: flamegraph: wick does not run scripts of perf; for flame graphs use wick flame (see wick script --help)
  [2]
  $ wick script --show-mmap-events
  wick: script: --show-mmap-events: wick prints only samples; for other records use perf script (see wick script --help)
  [2]
  $ wick script -D
  wick: script: -D: wick shows only samples; for records use perf script -D (see wick script --help)
  [2]
  $ wick script -k /boot/vmlinux
  wick: script: -k: not needed: the kernel is found by its build ID, on this machine or with debuginfod (see wick script --help)
  [2]
  $ wick script --itrace=i100us
  wick: script: --itrace: wick does not decode instruction traces; use perf (see wick script --help)
  [2]

Other commands of perf and scripts of FlameGraph.

  $ for c in annotate archive buildid-cache c2c difffolded flamegraph inject kmem list lock mem probe sched stackcollapse stat trace; do
  >   wick $c; [[ $? == 2 ]] || echo "exit code of $c"
  > done
  wick: unknown command 'annotate': for source lines use wick report --srcline (see wick help)
  wick: unknown command 'archive': not needed: names are cached by build ID when recording (see wick help)
  wick: unknown command 'buildid-cache': not needed: names are cached by build ID when recording (see wick help)
  wick: unknown command 'c2c': wick does not record memory accesses; use perf c2c (see wick help)
  wick: unknown command 'difffolded': use wick diff --format folded A B (see wick help)
  wick: unknown command 'flamegraph': use wick flame (see wick help)
  wick: unknown command 'inject': not needed: jitdump files are read directly (see wick help)
  wick: unknown command 'kmem': use wick record -t trace -e kmem:kmalloc --weight bytes_alloc (see wick help)
  wick: unknown command 'list': use perf list; wick record -e takes the same events (see wick help)
  wick: unknown command 'lock': for waits for locks use wick record -t offcpu (see wick help)
  wick: unknown command 'mem': wick does not record memory accesses; use perf mem (see wick help)
  wick: unknown command 'probe': define the probe with perf probe, then use wick record -e probe:NAME (see wick help)
  wick: unknown command 'sched': for waits and their reasons use wick record -t offcpu (see wick help)
  wick: unknown command 'stackcollapse': use wick fold (see wick help)
  wick: unknown command 'stat': wick does not count events; use perf stat (see wick help)
  wick: unknown command 'trace': use wick record -t trace -e EVENT (see wick help)

Options of perf are not listed with wick's, but are in the man page.

  $ wick record --help >help && grep -c -- --freq help && grep -cE 'proc-map-timeout|mmap-pages' help
  1
  0
  [1]
  $ wick help --man record | grep -c -A1 'proc\\-map\\-timeout'
  1
  $ wick help --man record >page && grep -c '^.BR wick' page && grep -c 'switch\\-output' page
  9
  0
  [1]

Tables of reports can be cut by shares, and ordered as perf's users say it.

  $ printf 'main;a 60\nmain;b 30\nmain;c 9\nmain;d 1\n' >four.folded
  $ wick report --stdio -n --percent-limit 10 four.folded
  Total   100 samples
  Input   four.folded
  
      Self  Samples     Total  Samples  Function
   60.00 %       60   60.00 %       60  a
   30.00 %       30   30.00 %       30  b
   10.00 %  … 3 more below 10 %
  
  4 folded stacks
  $ wick report --children --percent-limit 50 --csv -i four.folded
  self,self_percent,total,total_percent,module,name
  0,0.0000,100,100.0000,,main
  60,60.0000,60,60.0000,,a
  $ wick report --no-children --sort overhead,sym --limit 1 -i four.folded | tail -n 4
   60.00 %       60   60.00 %       60  a
   40.00 %  … 4 more (--limit 1; 0 shows all)
  
  4 folded stacks
  $ wick report -s comm,dso,symbol --limit 1 -i four.folded | head -n 1
  wick: showing functions of all threads; for thread names use --by comm
  Total   100 samples
  $ wick report --stdio -g caller,20 -i four.folded
  Total   100 samples
  Input   four.folded
  
     Total      Self  Function, with its callees below
  100.00 %            main
   60.00 %   60.00 %  ├─ a
   30.00 %   30.00 %  ├─ b
                      └─ … 2 more, 10.00 %
  
  4 folded stacks
  $ wick report -g none --limit 1 -i four.folded | sed -n '/Function/,/^$/p'
      Self  Samples     Total  Samples  Function
   60.00 %       60   60.00 %       60  a
   40.00 %  … 4 more (--limit 1; 0 shows all)
  
  $ wick report -S b,d -i four.folded | sed -n '/Function/,/^$/p'
      Self  Samples     Total  Samples  Function
   96.77 %       30   96.77 %       30  b
    3.23 %        1    3.23 %        1  d
    0.00 %        0  100.00 %       31  main
    0.00 %        0    0.00 %        0  a
    0.00 %        0    0.00 %        0  c
  

A table is no profile. wick diff writes it to a pipe too, since less, grep and the log of a CI run read it.

  $ printf 'main;a 60\nmain;b 60\n' >two.folded
  $ wick diff four.folded two.folded | wick flame
  wick: standard input: this is a table of wick diff; use wick diff A B -o diff.svg, or wick diff --format folded A B | wick flame
  [1]
  $ wick diff --format folded four.folded two.folded | wick flame 2>/dev/null | data diff
  "diff":true
  $ wick report four.folded | wick flame
  wick: standard input: this is a table of wick report; use the recording or the folded stacks
  [1]
  $ wick diff --limit 2 four.folded two.folded | grep limit
  … 1 more changed, all within noise (--limit 0 shows all)
  … 2 more changed, all within noise (--limit 0 shows all)
