Each failure has one next step, and it is the one that helps.

needs: setpriv
Another user's process: no setting of the kernel allows it. The first process is root's. (tests/e2e/failures has more.)

  $ as-nobody wick record -p 1 -d 1 -o denied
  wick: permission denied for process 1: run with sudo or as its owner
  [1]

debuginfod has one address, whoever names it.

  $ unset DEBUGINFOD_URLS; wick doctor >rows; grep '^warn *debuginfod' rows | grep -oE 'https://[a-z./]*' | sort -u | wc -l
  1
  $ unset DEBUGINFOD_URLS; wick doctor -- bash | grep -E '^(ok|warn|bad) .*/bash: ' >of-bash; wc -l <of-bash
  1
  $ address() { grep -oE 'https://debuginfod[^ ;'"'"']*' "$1" | sort -u; }
  > ! grep -qE 'bash: symbols and debug|apt install' of-bash || cp rows of-bash # where another step is the right one
  > diff <(address rows) <(address of-bash) && address of-bash | wc -l
  1

A debug package comes with the archive that has it.

  $ DEBUGINFOD_URLS=http://127.0.0.1:9 wick doctor -- bash >rows; grep -cE '^(ok|warn|bad) .*/bash: ' rows
  1
  $ ! cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>&1 | grep -qE '^[^#].*(debian-debug|ddebs)' ||
  >   sed -i 's/sudo apt install/deb http &/' rows # which apt knows already
  > grep -oE 'deb http.*sudo apt install bash-dbgsym$|/bash: symbols and debug information' rows | wc -l
  1

A seccomp filter that blocks perf_event_open(), as that of Docker, is named in the first line.

needs: gcc
  $ gcc -o deny $T/../workloads/deny.c
  $ ./deny perf 1 wick record -o denied -- true
  wick: permission denied: a seccomp filter blocks perf_event_open; docker run --security-opt seccomp=unconfined --cap-add PERFMON … (the same with podman)
  [1]
  $ ./deny perf 1 wick doctor | grep -oE '^bad +(own|seccomp).*; now: [^;]*'
  bad   own processes        no: perf_event_open fails: Operation not permitted, blocked by a seccomp filter — nothing can be recorded; now: docker run --security-opt seccomp=unconfined --cap-add PERFMON … (the same with podman)
  bad   seccomp              a filter blocks perf_event_open — nothing can be recorded in this container; now: docker run --security-opt seccomp=unconfined --cap-add PERFMON … (the same with podman)
  $ ls denied
  ls: cannot access 'denied': No such file or directory
  [2]

A recorded file that is gone: the option that helps exists.

needs: can-record
  $ gcc -g -O0 -o gone $T/../workloads/loops.c && wick record -q --no-cache -F 999 -o gone.data -- ./gone 0.3
  $ mkdir -p "copy$PWD" && mv gone "copy$PWD" && wick report --no-cache gone.data >out 2>&1 && grep -oE 'file not found .*' out
  file not found (deleted, in a container, or on another machine): read the recording where it was made, or use --symfs DIRECTORY with a copy of that file system
  $ wick report --no-cache --symfs copy gone.data >out 2>&1 && grep -oE ' spin$' out
   spin

The file /.dockerenv alone is no container: an image may have become the disk of a machine. With a separate namespace
it is one. (Where the tests run in a container, it is one in both cases.)

needs: can-be-denied
  $ with-dockerenv wick doctor >rows; grep -cE '^(ok|warn|bad) +machine ' rows
  1
  $ pid=$(readlink /proc/self/ns/pid) uts=$(readlink /proc/self/ns/uts) ipc=$(readlink /proc/self/ns/ipc) group=$(readlink /proc/self/ns/cgroup)
  > [[ $pid$uts$ipc$group == 'pid:[4026531836]uts:[4026531838]ipc:[4026531839]cgroup:[4026531835]' ]] || echo machine >rows
  > test -s rows && grep 'machine .*container' rows
  [1]
  $ unshare --uts with-dockerenv wick doctor | grep -oE 'in a container \([A-Za-z]*\)'
  in a container (Docker)

In a container root may lack what root has elsewhere. The first line names it, and the step is one for the container.

  $ setpriv --bounding-set -all --inh-caps -all wick record -a -d 1 -o denied
  wick: permission denied for the whole system: root lacks CAP_PERFMON; add it to the container or service (docker run --cap-add PERFMON, systemd CapabilityBoundingSet=)
  [1]
  $ setpriv --bounding-set -all --inh-caps -all wick record -p 1 -d 1 -o denied
  wick: permission denied for process 1: root lacks CAP_PERFMON; add it to the container or service (docker run --cap-add PERFMON, systemd CapabilityBoundingSet=)
  [1]
  $ setpriv --bounding-set -all --inh-caps -all wick record -F 999 -o user -- ./copy$PWD/gone 0.3 2>err && grep '^wick: ' err
  wick: recording user space only: kernel.perf_event_paranoid is 2; root lacks CAP_PERFMON; add it to the container or service (docker run --cap-add PERFMON, systemd CapabilityBoundingSet=)

In a user namespace, as in rootless containers:

needs: can-unshare
  $ unshare -Ur wick record -a -d 1 -o denied
  wick: permission denied for the whole system: root in a user namespace lacks CAP_PERFMON; run wick on the host, not in a rootless container
  [1]
  $ unshare -Ur wick record -p 1 -d 1 -o denied
  wick: permission denied for process 1: root in a user namespace lacks CAP_PERFMON; run wick on the host, not in a rootless container
  [1]
