Each failure has one next step, and it is the one that helps.

needs: setpriv
Another user's process: no setting of the kernel allows it. The first process is root's. (tests/e2e/failures has more.)

  $ as-nobody wick record -p 1 -d 1 -o denied
  wick: permission denied for process 1: run with sudo or as its owner
  [1]

A file of Docker's is no container.

  $ pid=$(readlink /proc/self/ns/pid) uts=$(readlink /proc/self/ns/uts) ipc=$(readlink /proc/self/ns/ipc) group=$(readlink /proc/self/ns/cgroup)
  > [[ $pid$uts$ipc$group == 'pid:[4026531836]uts:[4026531838]ipc:[4026531839]cgroup:[4026531835]' ]] || exit 0
  > wick doctor | grep 'machine .*container'
  [1]

debuginfod has one address, whoever names it.

  $ unset DEBUGINFOD_URLS; wick doctor | grep '^warn *debuginfod' | grep -oE 'https://[a-z./]*' | sort -u | wc -l
  1
  $ unset DEBUGINFOD_URLS; known=$(wick doctor | grep -oE 'https://debuginfod[^ ;'"'"']*' | sort -u)
  > wick doctor -- bash | grep -oE 'https://debuginfod[^ ;'"'"']*' | sort -u | grep -vxF "$known" | wc -l
  0

A debug package comes with the archive that has it.

  $ DEBUGINFOD_URLS=http://127.0.0.1:9 wick doctor -- bash | grep 'apt install [^ ]*-dbgsym' | grep -v 'sudo apt install [^ ]*-dbgsym$\|deb http' | wc -l
  0
