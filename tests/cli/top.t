wick top on a terminal. (tests/e2e/top has keys and signals.)

needs: gcc script can-draw can-record
  $ gcc -g -O1 -fomit-frame-pointer -o loops $T/../workloads/loops.c

Each function has its process.

  $ on-screen 'wick top -F 999 --window 0 -- ./loops 2' >shown && grep -m 1 Function shown | tr -s ' ' && grep -oE '▸.*' shown | tail -n 1
   ▾Self Total Process Module Function
  ▸*%*%  loops *  loops  *spin * (glob)

One thread keeps one CPU busy at most, also where samples arrive in bursts between two refreshes.

  $ on-screen 'wick top -F 999 --refresh 0.2 -- ./loops 2' >shown
  $ grep -oE '[0-9.]+ CPUs busy' shown | awk '$1 > 1.1 { print } { n++ } END { print (n > 5) }'
  1

Nor are more CPUs busy than there are.

  $ on-screen "wick top -F 999 --refresh 0.2 -- sh -c 'for i in 0 $(seq -s ' ' $(nproc)); do ./loops 1 & done; wait'" >shown
  $ grep -oE '[0-9.]+ CPUs busy' shown | awk -v most=$(nproc) '$1 > most { print } { n++ } END { print (n > 5) }'
  1
