needs: gzip xz zstd setpriv

What cannot be read gives one line and exit code 1.

  $ wick fold missing.txt
  $ wick fold .
  $ mkdir d && wick flame d -o x.svg; ls
  $ : >empty && wick fold empty
  $ wick flame empty -o x.svg
  $ wick report empty
  $ wick diff empty empty
  $ wick fold </dev/null
  $ wick fold <&-

  $ printf 'a;b 1\n' >secret && chmod 000 secret && cp "$WICK" w && chmod 755 w && as-nobody ./w fold secret; rm -f secret w

  $ head -c 4096 "$WICK" >rubbish && wick fold rubbish
  $ printf '\0\1\2\3\4' >rubbish && wick fold rubbish
  $ wick flame rubbish -o x.svg; test -e x.svg
  $ printf 'just some words\nand more of them\n' | wick fold

Compressed data that is damaged or cut: what came before is used, and said.

  $ for i in $(seq 200000); do echo "main;f$((i % 7919));g$((i % 104729)) $i"; done >many
  $ for tool in gzip xz zstd; do $tool -qc many >packed; head -c $(($(stat -c %s packed) / 2)) packed >cut; wick fold cut >out 2>err; echo $? $(wc -l <err) $(test -s out && echo some); cat err; done
  $ printf '\037\213\010\0rubbish that is no gzip' >bad.gz && wick fold bad.gz
  $ printf '\3757zXZ\0rubbish that is no xz' >bad.xz && wick fold bad.xz
  $ printf '\050\265\057\375rubbish that is no zstd' >bad.zst && wick fold bad.zst

Single bad lines are counted and left out; the good ones stay.

  $ printf 'a;b 1\nno count here\nc;d 2\n' | wick fold
  $ printf 'a;b 1\nx\ny\nz\nc;d 2\n' >lines && wick fold lines
  $ printf 'a -5\nb 1.5\nc 2\n' | wick fold
  $ printf 'a 99999999999999999999999999\nb 2\n' | wick fold
  $ printf 'a 9223372036854775807\na 5\n' | wick fold
  $ printf 'a;b 1' | wick fold

A stack that the input ends in is left out of perf script text, and said.

  $ printf 'p 1 1.0: 1 cycles:\n\t1 f (/x)\n\t2 main (/x)\n\np 1 1.1: 1 cycles:\n\t1 g (/x)\n' | wick fold

A line of 10 MB stands among the others, whether it is good or bad.

  $ { echo 'a;b 1'; head -c 10000000 /dev/zero | tr '\0' x; echo ';y 3'; echo 'c;d 2'; } >long
  $ wick fold long | awk '{ print length($0), $NF }'
  $ { echo 'a;b 1'; head -c 10000000 /dev/zero | tr '\0' x; echo; echo 'c;d 2'; } | wick fold
  $ wick flame long -o x.svg && xmllint --huge --noout x.svg; rm -f x.svg

Names keep their bytes in folded output, are made harmless in others.

  $ printf 'a\377;b\001;<&"> 2\n' >odd && wick fold odd | cmp - odd
  $ wick flame odd -o odd.svg && xmllint --noout odd.svg
  $ wick report odd | LC_ALL=C grep -c '[[:cntrl:]]'
  $ wick report --format json odd | python3 -c 'import json, sys; json.load(sys.stdin)'
  $ printf '\033[31mred\033[0m;f 2\n' | wick report | LC_ALL=C grep -c $'\033'
