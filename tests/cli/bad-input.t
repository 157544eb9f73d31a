needs: gzip xz zstd setpriv xmllint node

What cannot be read gives one line and exit code 1.

  $ wick fold missing.txt
  wick: missing.txt: No such file or directory
  [1]
  $ wick fold .
  wick: .: is a directory; use the names of files in it
  [1]
  $ mkdir d && wick flame d -o x.svg; ls
  wick: d: is a directory; use the names of files in it
  d
  $ : >empty && wick fold empty
  wick: empty: the input is empty
  [1]
  $ wick flame empty -o x.svg
  wick: empty: the input is empty
  [1]
  $ wick report empty
  wick: empty: the input is empty
  [1]
  $ wick diff empty empty
  wick: empty: the input is empty
  [1]
  $ wick fold </dev/null
  wick: standard input: the input is empty
  [1]
  $ wick fold <&-
  wick: standard input: cannot read: Bad file descriptor
  [1]

  $ printf 'a;b 1\n' >secret && chmod 000 secret && cp "$WICK" w && chmod 755 w && as-nobody ./w fold secret; rm -f secret w
  wick: secret: Permission denied

  $ head -c 4096 "$WICK" >rubbish && wick fold rubbish
  wick: rubbish: this is a program, not a profile
  [1]
  $ printf '\0\1\2\3\4' >rubbish && wick fold rubbish
  wick: rubbish: unknown binary data; wick reads perf.data, perf script text and folded stacks
  [1]
  $ wick flame rubbish -o x.svg; test -e x.svg
  wick: rubbish: unknown binary data; wick reads perf.data, perf script text and folded stacks
  [1]
  $ printf 'just some words\nand more of them\n' | wick fold
  wick: standard input: no line is perf script text or a folded stack ("main;work 12")
  [1]

Recordings that are no recordings, or only their beginning.

  $ printf 'PERFILE2' >p && wick fold p
  wick: p: truncated within its header
  [1]
  $ printf 'PERFILE2\150\0\0\0\0\0\0\0' >p && wick report p
  wick: p: truncated within its header
  [1]
  $ { printf 'PERFILE2\150\0\0\0\0\0\0\0\220\0\0\0\0\0\0\0'; head -c 200 /dev/zero; } >p && wick flame p -o x.svg; test -e x.svg
  wick: p: damaged header: it describes no event
  [1]
  $ { printf 'PERFILE2'; seq 1000; } >p && wick script p
  wick: p: damaged header: it describes no event
  [1]
  $ printf 'PERFFILE and more' >p && wick fold p
  wick: p: written by perf before Linux 3.2, which is not supported
  [1]
  $ printf 'PERFILE2\020\0\0\0\0\0\0\0' >p && wick fold p
  wick: p: cannot read records, because no event is described
  [1]
  $ printf 'PERFILE2\020\0\0\0\0\0\0\0' | wick report --header
  wick: standard input: cannot read records, because no event is described
  [1]
  $ gzip -c p >p.gz && wick fold p.gz
  wick: p.gz: this is a compressed perf.data file; decompress it first
  [1]
  $ wick script secret-not-here
  wick: secret-not-here: No such file or directory
  [1]
  $ printf 'a;b 1\n' >text && wick script text
  wick: text: not a perf.data file
  [1]
  $ wick report --header text
  wick: text: not a perf.data file
  [1]
  $ wick fold --time 1-2s text
  wick: text: --cpu, --cgroup and --time need perf.data
  [2]
  $ mkdir -p folder && wick script folder
  wick: folder: not a perf.data file
  [1]

Without a file perf.data is read, when nothing is piped in.

  $ mkdir -p here && cp p here/perf.data && cd here && wick report
  wick: reading perf.data
  wick: perf.data: cannot read records, because no event is described
  [1]
  $ mkdir -p named && printf 'a;b 1\n' >named/perf.data && cd named && wick report --json | grep inputs
  wick: reading perf.data
  "inputs": ["perf.data"],
  $ cd here && wick script
  wick: reading perf.data
  wick: perf.data: cannot read records, because no event is described
  [1]
  $ cd here && printf 'a;b 1\n' | wick fold
  a;b 1

Compressed data that is damaged or cut: what came before is used, and said.

  $ seq 30000 | awk '{ print "main;f" $1 % 7919 ";g" $1 % 104729, $1 }' >many
  $ for tool in gzip xz zstd; do
  >   $tool -qc many >packed; head -c $(($(stat -c %s packed) / 2)) packed >cut
  >   wick fold cut >out 2>err; echo $? $(test -s out && echo some); tail -n 1 err
  > done
  0 some
  wick: warning: cut: the gzip data is truncated; using everything before
  0 some
  wick: warning: cut: the xz data is truncated; using everything before
  0 some
  wick: warning: cut: the zstd data is truncated; using everything before
  $ printf '\037\213\010\0rubbish that is no gzip' >bad.gz && wick fold bad.gz
  wick: bad.gz: the gzip data is damaged; using everything before
  [1]
  $ printf '\3757zXZ\0rubbish that is no xz' >bad.xz && wick fold bad.xz
  wick: bad.xz: the xz data is damaged; using everything before
  [1]
  $ printf '\050\265\057\375rubbish that is no zstd' >bad.zst && wick fold bad.zst
  wick: bad.zst: the zstd data is damaged; using everything before
  [1]

Single bad lines are counted and left out; the good ones stay.

  $ printf 'a;b 1\nno count here\nc;d 2\n' | wick fold
  wick: warning: standard input:2: no count at the end of the line; line skipped
  a;b 1
  c;d 2
  $ printf 'a;b 1\nx\ny\nz\nc;d 2\n' >lines && wick fold lines
  wick: warning: lines:2: no count at the end of the line; 3 such lines skipped
  a;b 1
  c;d 2
  $ printf 'a -5\nb 1.5\nc 2\n' | wick fold
  wick: warning: standard input:1: negative count; line skipped
  b 1.5
  c 2
  $ printf 'a 99999999999999999999999999\nb 2\n' | wick fold
  wick: warning: standard input:1: count does not fit into 64 bits; line skipped
  b 2
  $ printf 'a 9223372036854775807\na 5\n' | wick fold
  wick: warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  a 9223372036854775807
  $ printf 'a;b 1' | wick fold
  a;b 1

Every command warns of sums that do not fit, also of those that only its output has. A single large weight is none.

  $ printf 'a;b 9223372036854775807\na;c 9223372036854775807\n' >large
  $ printf 'a;b 9223372036854775807\n' >one
  $ for c in fold report 'report --format json' 'report --by thread' flame 'flame --flamechart' 'diff one' 'diff --format json one' 'diff --format svg one' 'diff --format folded one'; do echo "$c"; wick $c large 2>&1 >/dev/null | grep 64; done
  fold
  wick: warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  report
  wick: warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  report --format json
  wick: warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  report --by thread
  wick: warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  flame
  wick: warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  flame --flamechart
  wick: warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  diff one
  wick: warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  diff --format json one
  wick: warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  diff --format svg one
  wick: warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  diff --format folded one
  wick: warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  $ wick fold one; wick report one | head -1; wick flame one >one.svg
  a;b 9223372036854775807
  Total   9,223,372,036,854,775,807 samples
  $ wick report --format json large 2>/dev/null | grep -o '"overflows": [0-9]*'
  "overflows": 1
  $ wick diff --before one --after one one --format json 2>&1 | grep -o 'warning.*\|"overflows": [0-9]*'
  warning: the sum of the weights does not fit into 64 bits; sums are limited to 9223372036854775807
  "overflows": 1

The last stack of perf script text counts when its last line is whole; one that is cut off is left out, with a warning.

  $ printf 'p 1 1.0: 1 cycles:\n\t1 f (/x)\n\t2 main (/x)\n\np 1 1.1: 1 cycles:\n\t1 g (/x)\n' >end
  $ wick fold end
  p;g 1
  p;main;f 1
  $ head -c -1 end | wick fold
  p;g 1
  p;main;f 1
  $ head -c -2 end | wick fold
  wick: warning: standard input:6: not a line of perf script; line skipped
  wick: warning: standard input:5: the input ends within this stack; stack skipped
  p;main;f 1
  $ gzip -c end | head -c -9 >end.gz; wick fold end.gz
  wick: warning: end.gz:5: the input ends within this stack; stack skipped
  wick: warning: end.gz: the gzip data is truncated; using everything before
  p;main;f 1

A line of 10 MB stands among the others, whether it is good or bad.

  $ { echo 'a;b 1'; head -c 10000000 /dev/zero | tr '\0' x; echo ';y 3000'; echo 'c;d 2'; } >long
  $ wick fold long | awk '{ print length($0), $NF }'
  5 1
  5 2
  10000007 3000
  $ { echo 'a;b 1'; head -c 10000000 /dev/zero | tr '\0' x; echo; echo 'c;d 2'; } | wick fold
  wick: warning: standard input:2: no count at the end of the line; line skipped
  a;b 1
  c;d 2
  $ wick flame long -o x.svg && xmllint --huge --noout x.svg && echo well-formed; rm -f x.svg
  well-formed

Names keep their bytes in folded output, are made harmless in others.

  $ printf 'a\377;b\001;<&"> 2000\nmain;some_ordinary_name;another_ordinary_name 3000\n' >odd && wick fold odd | cmp - odd
  $ wick flame odd -o odd.svg && xmllint --noout odd.svg
  $ wick report odd >shown && test -s shown && LC_ALL=C grep -c '[[:cntrl:]]' shown
  0
  [1]
  $ wick report --format json odd | node -e 'JSON.parse(require("fs").readFileSync(0))'
  $ printf '\033[31mred\033[0m;f 2\n' | wick report >shown && test -s shown && LC_ALL=C grep -c $'\033' shown
  0
  [1]

A few kilobytes of compressed data can be one line of gigabytes. It is one bad line, and takes no memory.

needs: zstd

  $ { echo 'main;a 1'; head -c 600000000 /dev/zero | tr "\0" x; echo; echo "main;b 2"; } | zstd -q >bomb.zst
  $ with-memory 400000 fold bomb.zst
  wick: warning: bomb.zst:2: no count at the end of the line; line skipped
  main;a 1
  main;b 2
  $ { echo 'main;a 1'; head -c 40000000 /dev/zero | tr '\0' x; } | wick fold
  wick: warning: standard input:2: no count at the end of the line; line skipped
  main;a 1
  $ head -c 200000000 /dev/zero | zstd -q --long=30 >long.zst && wick fold long.zst
  wick: long.zst needs more than 128 MB of memory to decompress; use zstd -d --long=31 first
  [1]

Input that keeps growing in memory ends at the limit, compressed or not, and nothing is written.

  $ seq 1 2000000 | sed 's/.*/main;f&;g& 1/' | zstd -q >many.zst
  $ wick fold --max-memory 64M many.zst
  wick: reached the memory limit of 64 MiB; use a larger --max-memory or a smaller input
  [4]
  $ zstd -qdc many.zst | wick flame --max-memory 64M -o many.svg
  wick: reached the memory limit of 64 MiB; use a larger --max-memory or a smaller input
  [4]
  $ ls many.*
  many.zst
  $ for size in 5 0 -1 M 15M 1X 1Gx 512; do wick report --max-memory "$size" one; done
  wick: --max-memory must be a size such as 500M or 2G, at least 16M, not '5'
  wick: --max-memory must be a size such as 500M or 2G, at least 16M, not '0'
  wick: --max-memory must be a size such as 500M or 2G, at least 16M, not '-1'
  wick: --max-memory must be a size such as 500M or 2G, at least 16M, not 'M'
  wick: --max-memory must be a size such as 500M or 2G, at least 16M, not '15M'
  wick: --max-memory must be a size such as 500M or 2G, at least 16M, not '1X'
  wick: --max-memory must be a size such as 500M or 2G, at least 16M, not '1Gx'
  wick: --max-memory must be a size such as 500M or 2G, at least 16M, not '512'
  [2]
  $ for size in 800m 1.5G 1T 900MiB 99999999999G; do wick fold --max-memory "$size" one; done
  a;b 9223372036854775807
  a;b 9223372036854775807
  a;b 9223372036854775807
  a;b 9223372036854775807
  a;b 9223372036854775807
