Off-CPU time: where threads wait, and for what. (tests/e2e/types has more.)

needs: gcc setpriv can-record-waits
  $ gcc -g -O1 -fomit-frame-pointer -pthread -o waits $T/../workloads/waits.c

A table shows the kind of wait, and the first function of the program's own code.

  $ wick record -t offcpu -o waits.out -- ./waits 1 2>err && grep -oE '(sleeping|lock) +(nap|contend|listen_pipe)$' err | sort
  lock      contend
  sleeping  listen_pipe
  $ wick report waits.out >out && grep -c 'lock *contend$' out && grep -E 'futex|nanosleep|pipe_read' out | grep -v '^ *0.00 %'
  1
  [1]

The stack of a thread that waits since before the recording is read from the kernel and from its memory.

  $ sleep 60 &
  > until grep -q nanosleep /proc/$!/stack; do sleep 0.1; done
  > wick record -q -t offcpu -d 0.5 -o asleep -p $!; status=$?
  > kill $!; exit $status
  $ wick fold asleep 2>err
  sleep;[[]sleeping[]];_start;*;*nanosleep*;entry_SYSCALL_64_after_hwframe;*;hrtimer_nanosleep * (glob)

Who may not read it gets a wait without a stack, which is named as such.

  $ sleep 60 &
  > until grep -q nanosleep /proc/$!/stack; do sleep 0.1; done
  > setpriv --bounding-set -sys_ptrace,-sys_admin --inh-caps -sys_ptrace,-sys_admin \
  >   wick record -q -t offcpu -d 0.5 -o unseen -p $!; status=$?
  > kill $!; exit $status
  $ wick fold unseen 2>err
  sleep;[[]sleeping[]];[[]no stack: waited before the recording began[]] * (glob)
  $ wick report unseen
  Total   [0-9]*s (glob)
  Event   offcpu
  Input   unseen
  Time    [0-9]* s, 1 process, 1 thread (glob)
  
      Self      ms     Total      ms  Function
  100.00 %  [0-9]*  100.00 %  [0-9]*  sleeping  [[]no stack: waited before the recording began[]] (glob)
    0.00 %    0.00  100.00 %  [0-9]*  [[]sleeping[]] (glob)
  
  1 sample
