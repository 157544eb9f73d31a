wick flame: the picture as bytes. What a browser makes of it is tested in tests/browser.

  $ cat >in.folded <<'X'
  > main;parse;read_[k] 250
  > main;parse 50
  > main;run;Foo::bar<int> 600
  > main;run 100
  > X
  $ wick flame in.folded -o out.svg && grep -c '<title>' out.svg
  6
  $ sed -n '/<g id="frames">/,/^<\/g>/p' out.svg
  <g id="frames">
  <g><title>all (1,000 samples, 100%)</title><rect x="10.0" y="85" width="1180.0" height="15" fill="rgb(213,39,9)" rx="2"/><text x="13.00" y="95.5" class="l">all</text></g>
  <g><title>main (1,000 samples, 100.00%)</title><rect x="10.0" y="69" width="1180.0" height="15" fill="rgb(243,179,42)" rx="2"/><text x="13.00" y="79.5">main</text></g>
  <g><title>parse (300 samples, 30.00%)</title><rect x="10.0" y="53" width="354.0" height="15" fill="rgb(231,122,29)" rx="2"/><text x="13.00" y="63.5">parse</text></g>
  <g><title>read (250 samples, 25.00%)</title><rect x="69.0" y="37" width="295.0" height="15" fill="rgb(208,16,3)" rx="2"/><text x="72.00" y="47.5" class="l">read</text></g>
  <g><title>run (700 samples, 70.00%)</title><rect x="364.0" y="53" width="826.0" height="15" fill="rgb(210,26,6)" rx="2"/><text x="367.00" y="63.5" class="l">run</text></g>
  <g><title>Foo::bar&lt;int&gt; (600 samples, 60.00%)</title><rect x="482.0" y="37" width="708.0" height="15" fill="rgb(205,2,0)" rx="2"/><text x="485.00" y="47.5" class="l">Foo::bar&lt;int&gt;</text></g>
  </g>
  $ data total decimals diff nodes folded names colors kinds <out.svg
  "decimals":0
  "total":1000
  "diff":false
  "nodes":[0,0,0,1,0,50,2,0,250,3,2,100,4,0,600]
  "folded":{"nodes":0,"weight":0}
  "names":["main","parse","read","run","Foo::bar\u003cint\u003e"]
  "colors":["#f3b32a","#e77a1d","#d01003","#d21a06","#cd0200"]
  "kinds":[0,0,1,0,0]

The same from standard input, and on standard output.

  $ wick flame <in.folded | cmp - out.svg
  $ wick flame - -o - <in.folded | cmp - out.svg
  $ gzip -k in.folded; wick flame in.folded.gz | cmp - out.svg

Titles follow the kind of picture.

  $ wick flame in.folded | texts title
  Flame Graph
  $ wick flame -i in.folded | texts title
  Icicle Graph
  $ wick flame --flamechart in.folded | texts title
  Flame Chart
  $ wick flame --inverted --title 'A & B' --subtitle '<C>' in.folded | texts '[a-z]*title'
  A &amp; B
  &lt;C&gt;

Frames follow the options as flamegraph.pl has them.

  $ wick flame --width 800 --height 20 --fontsize 10 in.folded | frames run
  run (700 samples, 70.00%) x="244.0" y="51" width="546.0" height="19" fill="rgb(210,26,6)"
  $ wick flame --inverted in.folded | frames run
  run (700 samples, 70.00%) x="364.0" y="68" width="826.0" height="15" fill="rgb(210,26,6)"
  $ wick flame --reverse in.folded | frames parse
  parse (50 samples, 5.00%) x="718.0" y="69" width="59.0" height="15" fill="rgb(231,122,29)"
  parse (250 samples, 25.00%) x="777.0" y="53" width="295.0" height="15" fill="rgb(231,122,29)"
  $ wick flame --hash in.folded | frames run
  run (700 samples, 70.00%) x="364.0" y="53" width="826.0" height="15" fill="rgb(243,156,41)"
  $ wick flame --deterministic in.folded | frames run
  run (700 samples, 70.00%) x="364.0" y="53" width="826.0" height="15" fill="rgb(228,123,41)"
  $ wick flame --color=java in.folded | frames read
  read (250 samples, 25.00%) x="69.0" y="37" width="295.0" height="15" fill="rgb(194,94,0)"
  $ wick flame --colors chain in.folded | frames run
  run (700 samples, 70.00%) x="364.0" y="53" width="826.0" height="15" fill="rgb(86,86,210)"
  $ wick flame --minwidth 30% in.folded | frames '[a-z]*'
  all (1,000 samples, 100%) x="10.0" y="85" width="1180.0" height="15" fill="rgb(213,39,9)"
  main (1,000 samples, 100.00%) x="10.0" y="69" width="1180.0" height="15" fill="rgb(243,179,42)"
  parse (300 samples, 30.00%) x="10.0" y="53" width="354.0" height="15" fill="rgb(231,122,29)"
  run (700 samples, 70.00%) x="364.0" y="53" width="826.0" height="15" fill="rgb(210,26,6)"
  $ wick flame --minwidth 500 in.folded | frames '[a-z]*'
  all (1,000 samples, 100%) x="10.0" y="85" width="1180.0" height="15" fill="rgb(213,39,9)"
  main (1,000 samples, 100.00%) x="10.0" y="69" width="1180.0" height="15" fill="rgb(243,179,42)"
  run (700 samples, 70.00%) x="364.0" y="53" width="826.0" height="15" fill="rgb(210,26,6)"
  $ wick flame --total 2000 --factor 10 --countname us in.folded | frames '[a-z]*'
  all (20,000 us, 100%) x="10.0" y="85" width="1180.0" height="15" fill="rgb(213,39,9)"
  main (10,000 us, 50.00%) x="10.0" y="69" width="590.0" height="15" fill="rgb(243,179,42)"
  parse (3,000 us, 15.00%) x="10.0" y="53" width="177.0" height="15" fill="rgb(231,122,29)"
  read (2,500 us, 12.50%) x="39.5" y="37" width="147.5" height="15" fill="rgb(208,16,3)"
  run (7,000 us, 35.00%) x="187.0" y="53" width="413.0" height="15" fill="rgb(210,26,6)"
  $ wick flame --base run in.folded | frames '[a-z]*'
  all (700 samples, 100%) x="10.0" y="69" width="1180.0" height="15" fill="rgb(213,39,9)"
  run (700 samples, 100.00%) x="10.0" y="53" width="1180.0" height="15" fill="rgb(210,26,6)"
  $ wick flame --colordiffusion in.folded | frames '[a-z]*'
  all (1,000 samples, 100%) x="10.0" y="85" width="1180.0" height="15" fill="rgb(255,100,100)"
  main (1,000 samples, 100.00%) x="10.0" y="69" width="1180.0" height="15" fill="rgb(255,100,100)"
  parse (300 samples, 30.00%) x="10.0" y="53" width="354.0" height="15" fill="rgb(255,167,167)"
  read (250 samples, 25.00%) x="69.0" y="37" width="295.0" height="15" fill="rgb(255,175,175)"
  run (700 samples, 70.00%) x="364.0" y="53" width="826.0" height="15" fill="rgb(255,124,124)"
  $ wick flame --sort width in.folded | frames '[a-z]*'
  all (1,000 samples, 100%) x="10.0" y="85" width="1180.0" height="15" fill="rgb(213,39,9)"
  main (1,000 samples, 100.00%) x="10.0" y="69" width="1180.0" height="15" fill="rgb(243,179,42)"
  run (700 samples, 70.00%) x="10.0" y="53" width="826.0" height="15" fill="rgb(210,26,6)"
  parse (300 samples, 30.00%) x="836.0" y="53" width="354.0" height="15" fill="rgb(231,122,29)"
  read (250 samples, 25.00%) x="895.0" y="37" width="295.0" height="15" fill="rgb(208,16,3)"
  $ printf 'b 60\na 40\n' | wick flame --no-sort | frames '[a-z]*'
  all (100 samples, 100%) x="10.0" y="53" width="1180.0" height="15" fill="rgb(213,39,9)"
  b (60 samples, 60.00%) x="10.0" y="37" width="708.0" height="15" fill="rgb(230,117,28)"
  a (40 samples, 40.00%) x="718.0" y="37" width="472.0" height="15" fill="rgb(236,146,35)"

Stacks with two counts are compared, each frame with its callees.

  $ printf 'a;b 50 100\na;gone 100 0\na;same 50 50\n' >two.folded
  $ wick flame two.folded | frames '[a-z]*'
  all (150 samples, 100%) x="10.0" y="69" width="1180.0" height="15" fill="rgb(250,250,250)"
  a (150 samples, 100.00%; -33.33%) x="10.0" y="53" width="1180.0" height="15" fill="rgb(105,105,255)"
  b (100 samples, 66.67%; +33.33%) x="10.0" y="37" width="472.0" height="15" fill="rgb(255,105,105)"
  gone (0 samples, 0.00%; -66.67%) x="482.0" y="37" width="472.0" height="15" fill="rgb(0,0,255)"
  same (50 samples, 33.33%; 0.00%) x="954.0" y="37" width="236.0" height="15" fill="rgb(250,250,250)"
  $ wick flame --negate two.folded | frames b
  b (100 samples, 66.67%; -33.33%) x="10.0" y="37" width="472.0" height="15" fill="rgb(105,105,255)"
  $ wick flame two.folded | data total diff diffNames nodes
  "total":250
  "diff":true
  "diffNames":["before","after"]
  "nodes":[0,0,0,0,1,0,50,100,2,1,100,0,3,1,50,50]
  "nodes":0

A flame chart keeps the order and merges neighbours only.

  $ printf 'b;x 50\na 50\nb;x 30\nb 5\nb;x 20\n' | wick flame --flamechart | frames '[a-z]*'
  all (155 samples, 100%) x="10.0" y="69" width="1180.0" height="15" fill="rgb(213,39,9)"
  b (50 samples, 32.26%) x="10.0" y="53" width="380.6" height="15" fill="rgb(230,117,28)"
  x (50 samples, 32.26%) x="10.0" y="37" width="380.6" height="15" fill="rgb(238,153,36)"
  a (50 samples, 32.26%) x="390.6" y="53" width="380.7" height="15" fill="rgb(236,146,35)"
  b (55 samples, 35.48%) x="771.3" y="53" width="418.7" height="15" fill="rgb(230,117,28)"
  x (30 samples, 19.35%) x="771.3" y="37" width="228.4" height="15" fill="rgb(238,153,36)"
  x (20 samples, 12.90%) x="1037.7" y="37" width="152.3" height="15" fill="rgb(238,153,36)"

Units are those of the event when its periods are counted.

  $ printf 'app 1 1.0: 4000 cycles:u: \n\t 10 f (/bin/app)\n\napp 1 2.0: 5000 cycles:u: \n\t 10 f (/bin/app)\n\n' >perf.txt
  $ wick flame perf.txt | frames f
  f (9,000 cycles, 100.00%) x="10.0" y="37" width="1180.0" height="15" fill="rgb(254,228,54)"
  $ wick flame --countname ticks perf.txt | frames f
  f (9,000 ticks, 100.00%) x="10.0" y="37" width="1180.0" height="15" fill="rgb(254,228,54)"
  $ printf 'app 1 1.0: cycles:u: \n\t 10 f (/bin/app)\n\n' | wick flame --quiet | frames f
  f (1 sample, 100.00%) x="10.0" y="37" width="1180.0" height="15" fill="rgb(254,228,54)"

Kernel frames are told apart, in their colour and in the data, without being asked for.

  $ printf 'app 1 1.0: 200 cycles: \n\t 10 f ([kernel.kallsyms])\n\t 20 f (/bin/app)\n\n' >kernel.txt
  $ wick flame --colors java kernel.txt | frames f
  f (200 cycles, 100.00%) x="10.0" y="53" width="1180.0" height="15" fill="rgb(254,129,129)"
  f (200 cycles, 100.00%) x="10.0" y="37" width="1180.0" height="15" fill="rgb(254,154,0)"
  $ wick flame kernel.txt | data names colors kinds kindNames modules module
  "names":["app","f","f"]
  "colors":["#efa026","#fee436","#fee436"]
  "kinds":[5,0,1]
  "kindNames":["native","kernel","inlined","jit","python","thread","unknown","waker"]
  "modules":["/bin/app","[kernel.kallsyms]
  "module":[-1,0,1]

Colours last in palette.map.

  $ printf 'main->rgb(1,2,3)\nrubbish\n' >palette.map
  $ wick flame --cp in.folded | frames main
  wick: warning: palette.map: lines skipped because they are not NAME->rgb(R,G,B): 1
  main (1,000 samples, 100.00%) x="10.0" y="69" width="1180.0" height="15" fill="rgb(1,2,3)"
  $ cat palette.map
  ->rgb(213,39,9)
  Foo::bar<int>->rgb(205,2,0)
  main->rgb(1,2,3)
  parse->rgb(231,122,29)
  read_[k]->rgb(208,16,3)
  run->rgb(210,26,6)
  $ wick flame --cp --random in.folded | frames run
  run (700 samples, 70.00%) x="364.0" y="53" width="826.0" height="15" fill="rgb(210,26,6)"
  $ rm palette.map

Attributes of functions.

  $ printf 'main\thref=http://x/?a=1&b=2\ttitle=<start>\nrun\tclass=hot\tonclick=alert(1)\n' >attributes
  $ wick flame --nameattr attributes in.folded | grep -E 'target=|class="hot' | sed 's/<rect.*//'
  wick: warning: attributes:2: attribute onclick would run a script: skipped
  <a xlink:href="http://x/?a=1&amp;b=2" target="_top"><title>&lt;start&gt;</title>
  <g class="hot"><title>run (700 samples, 70.00%)</title>
  $ printf 'main\ttitle=ok\nrun class=hot\n' >attributes; wick flame --nameattr attributes in.folded
  wick: attributes:2: expected a function, a tab and key=value
  [1]
  $ wick flame --nameattr missing in.folded
  wick: cannot open missing: No such file or directory
  [1]

No script when it is not wanted.

  $ wick flame --no-javascript --pretty-xml -q -v in.folded >plain.svg && test -s plain.svg && grep -c '<script' plain.svg
  0
  [1]

A font of one's own, colours of one's own.

  $ wick flame --fonttype 'Fira Code, monospace' --search-color '#ff0000' --stroke-color '#000' --uicolor '#123456' \
  >   --bgcolors '#ffffff' --encoding UTF-8 in.folded | sed -n '/<style>/{n;p;}'
  :root{--wick-font:Fira Code, monospace,"DejaVu Sans",sans-serif;--wick-fontsize:12px;--wick-frame-height:16px;--wick-bg1:#ffffff;--wick-bg2:#ffffff;--wick-search:#ff0000;--wick-stroke:#000000;--wick-ui:#123456;}

What is wrong with options is said before anything is read.

  $ wick flame --width 0 in.folded
  wick: flame: --width must be from 40 to 100000, not 0 (see wick flame --help)
  [2]
  $ wick flame --width -5 in.folded
  wick: flame: --width must be from 40 to 100000, not -5 (see wick flame --help)
  [2]
  $ wick flame --width 1e9 in.folded
  wick: flame: --width must be a whole number, not '1e9' (see wick flame --help)
  [2]
  $ wick flame --height 0 in.folded
  wick: flame: --height must be from 3 to 1000, not 0 (see wick flame --help)
  [2]
  $ wick flame --fontsize 0 in.folded
  wick: flame: --fontsize must be from 1 to 200, not 0 (see wick flame --help)
  [2]
  $ wick flame --fontwidth -1 in.folded
  wick: flame: --fontwidth must be from 0.01 to 10, not -1 (see wick flame --help)
  [2]
  $ wick flame --factor 0 in.folded
  wick: flame: --factor must be from 1e-12 to 1000000000000, not 0 (see wick flame --help)
  [2]
  $ wick flame --total 0 in.folded
  wick: flame: --total must be from 1e-09 to 1e+18, not 0 (see wick flame --help)
  [2]
  $ wick flame --total x in.folded
  wick: flame: --total must be a number, not 'x' (see wick flame --help)
  [2]
  $ wick flame --minwidth -1 in.folded
  wick: flame: --minwidth must be pixels or percent, such as 0.5 or 2%, not '-1' (see wick flame --help)
  [2]
  $ wick flame --minwidth 101% in.folded
  wick: flame: --minwidth must be pixels or percent, such as 0.5 or 2%, not '101%' (see wick flame --help)
  [2]
  $ wick flame --minwidth 1e3 in.folded
  wick: flame: --minwidth must be pixels or percent, such as 0.5 or 2%, not '1e3' (see wick flame --help)
  [2]
  $ wick flame --colors hott in.folded
  wick: flame: --colors cannot be 'hott'; did you mean hot? (see wick flame --help)
  [2]
  $ wick flame --colors pink in.folded
  wick: flame: --colors cannot be 'pink'; use one of hot, mem, io, wakeup, chain, java, js, perl, python, rust, red, green, blue, aqua, yellow, purple, orange, safe, state (see wick flame --help)
  [2]
  $ wick flame --bgcolors pink in.folded
  wick: flame: --bgcolors must be yellow, blue, green, grey or #rrggbb, not 'pink' (see wick flame --help)
  [2]
  $ wick flame --search-color 'red"/><script>' in.folded
  wick: flame: --search-color must be a color such as #1f77b4, not 'red"/><script>' (see wick flame --help)
  [2]
  $ wick flame --stroke-color '#12' in.folded
  wick: flame: --stroke-color must be a color such as #1f77b4, not '#12' (see wick flame --help)
  [2]
  $ wick flame --uicolor '' in.folded
  wick: flame: --uicolor must be a color such as #1f77b4, not '' (see wick flame --help)
  [2]
  $ wick flame --fonttype 'x;}</style>' in.folded
  wick: flame: --fonttype must be the name of a font, not 'x;}</style>' (see wick flame --help)
  [2]
  $ wick flame --notes '<b>' in.folded
  wick: flame: --notes must not contain < or > (see wick flame --help)
  [2]
  $ wick flame --hash --deterministic in.folded
  wick: flame: --hash and --deterministic cannot be used together (see wick flame --help)
  [2]
  $ wick flame --sort width --flamechart in.folded
  wick: flame: --sort and --flamechart cannot be used together (see wick flame --help)
  [2]

Nothing to draw is an error, and writes nothing.

  $ wick flame --base nothing in.folded -o none.svg
  wick: no stack contains the function of --base
  [1]
  $ wick flame -o none.svg </dev/null
  wick: standard input: the input is empty
  [1]
  $ printf 'a 0\n' | wick flame -o none.svg
  wick: nothing to draw: the counts of all stacks are zero
  [1]
  $ ls none.svg 2>/dev/null
  [2]

What looks odd is said, and the picture drawn.

  $ printf 'a 3\n' | wick flame >few.svg
  wick: warning: only 3 samples; is the input complete?
  $ printf 'a 3\n' | wick flame -q >few.svg && test -s few.svg
  $ printf 'a 3\n' | wick flame --countname ms >few.svg && grep -q ' ms' few.svg
  $ wick flame --total 900 in.folded >few.svg
  wick: warning: --total 900 is less than the sum 1,000: ignored
  $ wick flame --total 1 in.folded >few.svg && test -s few.svg
  $ wick flame --encoding latin1 in.folded >few.svg
  wick: warning: --encoding latin1: ignored, the SVG is always in UTF-8

On a terminal the picture goes to a file.

  $ script -qec 'wick flame in.folded' /dev/null | tr -d '\r'; cmp flamegraph.svg out.svg
  wick: wrote flamegraph.svg
