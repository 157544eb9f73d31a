Recordings of a program: what a command of perf does under the name of wick, what is printed, and what is in the files.
(tests/e2e/perf-options, record and targets have more.)

needs: gcc g++ taskset awk can-record
  $ gcc -g -O1 -fomit-frame-pointer -o loops $T/../workloads/loops.c

Options of perf record, report and script.

  $ wick record -g -o g.data -- ./loops 0.3 2>err && grep wrote err
  wrote g.data
  $ wick record -F 999 --call-graph dwarf,16384 -o dwarf.data -- ./loops 0.3 2>err && grep wrote err
  wrote dwarf.data
  $ ./loops 60 &
  > wick record -F 99 -p $! -o clock.data -- sleep 0.5 2>err && grep wrote err; status=$?
  > kill $!; exit $status
  wrote clock.data
  $ wick report --by comm -i clock.data >out && awk '/^ *[0-9.]+ %/ { print $1, $NF }' out
  100.00 loops
  $ wick report --stdio -n -f -i g.data >out && tr -s ' ' <out | grep -oE 'Samples|loops spin$'
  Samples
  loops spin
  $ cat >spin.cpp <<'END'
  > #include <time.h>
  > namespace work {
  > __attribute__((noinline)) void spin(double seconds) { while ((double)clock() < seconds * CLOCKS_PER_SEC) ; }
  > }
  > int main() { work::spin(0.3); }
  > END
  $ g++ -g -O1 -o spin spin.cpp && wick record -q -F 999 -g -o cpp.data -- ./spin
  $ wick script --demangle -i cpp.data >out && grep -oE '[^ ]*(k4|k::)spin[^ ]*\+0x' out | sort -u
  work::spin(double)+0x
  $ wick script --no-demangle -i cpp.data >out && grep -oE '[^ ]*(k4|k::)spin[^ ]*\+0x' out | sort -u
  _ZN4work4spinEd+0x

A file that is named is a file. What is written is printed.

  $ wick record -F 999 -o x.data -- ./loops 0.2 2>err && grep wrote err && stat -c %F x.data && ls -d x.*
  wrote x.data
  regular file
  x.data
  $ wick record -F 999 -o x -- ./loops 0.2 2>err && grep wrote err && stat -c %F x
  wrote x/flamegraph.svg, report.txt, out.folded, perf.data
  directory

Nothing is explained that nobody asked about: the event and the engine only with -v, the number of samples once.

  $ wick record -F 999 -o plain -- ./loops 0.3 2>&1 | grep -E '^wick: |counters|engine|^Total|^wrote'
  Total   *, * samples (glob)
  wrote plain/flamegraph.svg, report.txt, out.folded, perf.data
  $ wick record -F 999 -o plain -- ./loops 0.3 2>err && grep -c samples err
  1
  $ wick record -v -F 999 -o plain -- ./loops 0.3 2>err && grep -cE '^BPF engine: |^wick: ring engine: ' err
  1

That there are no hardware counters is reported with -v, and by wick doctor.

  $ wick doctor | grep -c '^warn *PMU .*cpu-clock is used instead of cycles' >counters; wick record -o plain -- ./loops 0.1 2>plain.err
  > grep -c '^wick: no hardware counters' err | diff counters - && grep -q ^wrote plain.err && ! grep 'hardware counters' plain.err

A command without a sample is no failure, and -d is not silent.

  $ wick record -F 1 -o none -- true
  wick: no samples in 0.* s: true ended too early for 1 Hz; use -F 9999; no files were written (glob)
  $ ls none
  ls: cannot access 'none': No such file or directory
  [2]
  $ wick record -F 1 -o none -- false
  wick: no samples in 0.* s: false ended too early for 1 Hz; use -F 9999; no files were written (glob)
  [1]
  $ wick record -F 999 -d 0.3 -o stopped -- ./loops 60 2>err; echo $?; grep '^wick: stopped' err
  0
  wick: stopped ./loops after 0.3 s (-d)

The exit code is that of the command, or a shell's where it cannot run.

  $ wick record -F 1 -o none -- sh -c 'exit 5' 2>err
  [5]
  $ wick record -F 1 -o none -- sh -c 'kill -TERM $$' 2>err
  [143]
  $ wick record -o none -- ./missing
  wick: cannot run ./missing: No such file or directory
  [127]
  $ : >data; wick record -o none -- ./data
  wick: cannot run ./data: Permission denied
  [126]

Time has the same unit in both, with the samples beside it.

  $ wick record -e cpu-clock -F 999 -o units -- ./loops 0.3 2>err && grep -E '^Total|Self' err
  Total   * ms, * samples (glob)
      Self      ms  Samples     Total * Module *Function (glob)
  $ wick report units >out && diff <(grep ^Total out) <(grep ^Total err) && grep -c ^Total out
  1

Advice about the frequency is another one than was used, and one of both: more samples, or fewer. (wick that is stopped
does not read its buffers.)

  $ wick record -F 99 -o brief -- ./loops 0.3 2>err && grep -E 'few|lost' err
  wick: few samples, so percentages are rough: record longer, or with more than 99 Hz (-F)
  $ ./loops 60 & loops=$!
  > "$WICK" record --engine ring -F 99 --stack-size 32768 -d 4 -o lost -p $loops 2>err & recording=$!
  > for i in {1..100}; do sleep 0.1; "$WICK" fold lost >/dev/null 2>&1 && break; done
  > kill -STOP $recording; sleep 3; kill -CONT $recording; wait $recording; status=$?
  > kill $loops; grep -E 'few|lost:' err; exit $status
  * samples lost: record fewer samples (-F 49) (glob)

What happens too often to be recorded each time is recorded every hundredth time.

  $ gcc -O1 -o pages $T/../workloads/pages.c && wick record -q -e page-faults -c 100 -o faults -- ./pages
  $ wick fold --count samples faults 2>err | awk '/;many/ { n += $NF } END { print n }'
  30
  $ wick fold faults 2>err | awk '/;many/ { n += $NF } END { print n }'
  3000

A recording has the CPU and the cgroup of its samples, without an option.

  $ taskset -c 0 wick record -q -e cpu-clock -F 999 -o cpu -- ./loops 0.3
  $ wick report --by cpu cpu
  Total   * ms, * samples (glob)
  Event   c* (glob)
  Input   cpu
  Time    * s, * CPUs used, 1 process, 1 thread (glob)
  
     Share      ms  Samples  CPU
  100.00 %  *  000 (glob)
  
  CPU time * s, sampled * s (* %) (glob)
  * samples (glob)
  $ wick report --cpu 0 cpu >out && grep ^Total out
  Total   * ms, * samples (glob)
  $ wick report --cpu 4095 cpu
  wick: no sample matches the filters
  [1]
  $ wick report --by cgroup cpu >out && grep -cE "^100.00 % .* $(sed -n 's/^0:://p' /proc/self/cgroup)$" out
  1

They are labels, and filters find them by their keys. Patterns of one key are alternatives.

  $ wick report --by flavor cpu
  wick: report: --by cannot be 'flavor'; use one of function, module, thread, comm, process, cpu, cgroup, container, pod, unit, gil, symbol, dso, tid, pid; labels of the input: cgroup, container, cpu, pod, unit (see wick report --help)
  [2]
  $ wick fold cpu >all 2>err
  $ wick fold --label cpu=7 --label cpu=0 --label 'cgroup=*' cpu 2>err | cmp - all
  $ wick script --label 'cpu=[0-3]' cpu >some && wick script cpu | cmp - some
  $ wick fold --label 'cpu=[1-9]*' cpu
  wick: no sample matches the filters
  [1]
  $ wick script --label cpu=0 --label unit=ssh.service cpu
  wick: no sample matches the filters
  [1]
  $ printf 'main;a 1\n' | wick fold --label cpu=0
  wick: no sample matches the filters
  [1]
  $ for label in cpu =0; do wick fold --label $label cpu; done
  wick: --label must be KEY=PATTERN, such as cpu=3
  wick: --label must be KEY=PATTERN, such as cpu=3
  [2]

Text has neither, and no option adds it.

  $ printf 'main;a 1\n' | wick report --by cpu
  Total   1 sample
  Input   standard input
  Note    text has no CPUs and cgroups; use perf.data
  
     Share  Samples  CPU
  100.00 %        1  main
  
  1 folded stack
  $ printf 'main;a 1\n' | wick report --by cgroup
  Total   1 sample
  Input   standard input
  Note    text has no CPUs and cgroups; use perf.data
  
     Share  Samples  Cgroup
  100.00 %        1  main
  
  1 folded stack
