wick diff: what changed, and how sure that is.

  $ cat >before.folded <<'END'
  > main;parse;lex 400
  > main;parse 100
  > main;render 500
  > main;gone 30
  > END
  $ cat >after.folded <<'END'
  > main;parse;lex 600
  > main;parse 105
  > main;render 510
  > main;new 40
  > END
  $ wick diff before.folded after.folded
  Before  1,030 samples: before.folded
  After   1,255 samples: after.folded
  Total   +21.8 %, confidence >99.9 %
  Noise   confidence from the number of samples, 1,030 and 1,255; ~ marks changes below 95 % confidence
  Note    the totals differ by +21.8 %; if the runs did different amounts of work, use --normalize
  
    Before     After      Change     Weight  Confidence  Function (self)
   38.83 %   47.81 %    +8.97 pp    +50.0 %     >99.9 %  lex
    0.00 %    3.19 %    +3.19 pp        new     >99.9 %  new
    2.91 %    0.00 %    -2.91 pp       gone     >99.9 %  gone
   48.54 %   40.64 %    -7.91 pp     +2.0 %    ~ 24.6 %  render
    9.71 %    8.37 %    -1.34 pp     +5.0 %    ~ 24.6 %  parse
  
    Before     After      Change     Weight  Confidence  Function (total, with callees)
  100.00 %  100.00 %    +0.00 pp    +21.8 %     >99.9 %  main
   48.54 %   56.18 %    +7.63 pp    +41.0 %     >99.9 %  parse
   38.83 %   47.81 %    +8.97 pp    +50.0 %     >99.9 %  lex
    0.00 %    3.19 %    +3.19 pp        new     >99.9 %  new
    2.91 %    0.00 %    -2.91 pp       gone     >99.9 %  gone
   48.54 %   40.64 %    -7.91 pp     +2.0 %    ~ 24.6 %  render
  
  8 folded stacks
  $ wick diff --show self --limit 2 before.folded after.folded
  Before  1,030 samples: before.folded
  After   1,255 samples: after.folded
  Total   +21.8 %, confidence >99.9 %
  Noise   confidence from the number of samples, 1,030 and 1,255; ~ marks changes below 95 % confidence
  Note    the totals differ by +21.8 %; if the runs did different amounts of work, use --normalize
  
    Before     After      Change     Weight  Confidence  Function (self)
   38.83 %   47.81 %    +8.97 pp    +50.0 %     >99.9 %  lex
    0.00 %    3.19 %    +3.19 pp        new     >99.9 %  new
  … 3 more changed, 2 of them within noise (--limit 0 shows all)
  
  8 folded stacks

Without --limit a table has at most 20 rows, and at most 10 of noise. Those that are not shown are counted.

  $ seq 40 | awk '{ print "main;f" $1, 1000 }' >flat.folded
  $ seq 40 | awk '{ print "main;f" $1, $1 <= 15 ? 2000 : 1001 }' >steps.folded
  $ wick diff --show self flat.folded steps.folded >rows && grep -cE ' f[0-9]+$' rows && grep limit rows
  15
  … 25 more changed, all within noise (--limit 0 shows all)
  $ wick diff --show self --limit 0 flat.folded steps.folded >rows && grep -cE ' f[0-9]+$' rows && grep limit rows
  40
  [1]
  $ sed s/2000/1001/ steps.folded | wick diff --show self flat.folded - >rows && grep -cE ' f[0-9]+$' rows && grep limit rows
  10
  … 30 more changed, all within noise (--limit 0 shows all)

Shares instead of weights.

  $ wick diff -n --show total before.folded after.folded
  Before  1,030 samples: before.folded
  After   1,255 samples: after.folded
  Total   +21.8 %, confidence >99.9 %
  Noise   confidence from the number of samples, 1,030 and 1,255; ~ marks changes below 95 % confidence
  
    Before     After      Change     Weight  Confidence  Function (total, with callees)
   38.83 %   47.81 %    +8.97 pp    +23.1 %     >99.9 %  lex
   48.54 %   40.64 %    -7.91 pp    -16.3 %     >99.9 %  render
   48.54 %   56.18 %    +7.63 pp    +15.7 %     >99.9 %  parse
    0.00 %    3.19 %    +3.19 pp        new     >99.9 %  new
    2.91 %    0.00 %    -2.91 pp       gone     >99.9 %  gone
  
  8 folded stacks
  $ wick diff before.folded before.folded
  Before  1,030 samples: before.folded
  After   1,030 samples: before.folded
  Total   the same
  Noise   confidence from the number of samples, 1,030 and 1,030; ~ marks changes below 95 % confidence
  
    Before     After      Change     Weight  Confidence  Function (self)
  No function changed.
  
    Before     After      Change     Weight  Confidence  Function (total, with callees)
  No function changed.
  
  8 folded stacks

The lines of difffolded.pl, with its -n and -s; stacks that become zero keep their line.

  $ wick diff --format folded before.folded after.folded
  main;gone 30 0
  main;new 0 40
  main;parse 100 105
  main;parse;lex 400 600
  main;render 500 510
  $ wick diff -n --format folded before.folded after.folded
  main;gone 36 0
  main;new 0 40
  main;parse 121 105
  main;parse;lex 487 600
  main;render 609 510
  $ printf 'a;0x12ab;c 5\na;b 1\nmain 1000\n' >hex1; printf 'a;0x9f;c 3\nmain 100\n' >hex2
  $ wick diff -s --format folded hex1 hex2
  a;0x...;c 5 3
  a;b 1 0
  main 1000 100
  $ wick diff -ns --format folded hex1 hex2
  a;0x...;c 0 3
  a;b 0 0
  main 102 100

Sets of runs are compared per run; the spread of the runs says what is noise.

  $ for i in 1 2 3; do printf 'main;f 100%d\nmain;g 50%d\n' $i $((i * 3)) >b$i; printf 'main;f 150%d\nmain;g 50%d\n' $i $i >a$i; done
  $ wick diff --before b1 b2 b3 --after a1 a2 a3
  Before  1,508 samples per run, 3 runs: b1, b2, b3
  After   2,004 samples per run, 3 runs: a1, a2, a3
  Total   +32.9 %, confidence >99.9 %
  Noise   confidence from the variance of the runs; ~ marks changes below 95 % confidence
  Note    the totals differ by +32.9 %; if the runs did different amounts of work, use --normalize
  
    Before     After      Change     Weight  Confidence  Function (self)
   66.45 %   74.95 %    +8.50 pp    +49.9 %     >99.9 %  f
   33.55 %   25.05 %    -8.50 pp     -0.8 %    ~ 16.2 %  g
  
    Before     After      Change     Weight  Confidence  Function (total, with callees)
   66.45 %   74.95 %    +8.50 pp    +49.9 %     >99.9 %  f
  100.00 %  100.00 %    +0.00 pp    +32.9 %     >99.9 %  main
   33.55 %   25.05 %    -8.50 pp     -0.8 %    ~ 16.2 %  g
  
  12 folded stacks
  $ wick diff --before b1 b2 b3 --after a1 --format folded
  wick: warning: 3 runs before, 1 after: before is scaled to the same number
  main;f 1002 1501
  main;g 506 501

JSON.

  $ wick diff --format json --fail-if 'func:new>50%' --limit 1 before.folded after.folded
  {
  "format": "wick-diff",
  "version": 1,
  "before": {"inputs": ["before.folded"], "runs": 1, "event": "samples", "unit": "samples", "total": 1030, "samples": 1030},
  "after": {"inputs": ["after.folded"], "runs": 1, "event": "samples", "unit": "samples", "total": 1255, "samples": 1255},
  "normalized": false,
  "confidence": 0.95,
  "method": "samples",
  "counting": "weights",
  "notes": ["the totals differ by +21.8 %; if the runs did different amounts of work, use --normalize"],
  "total": {"before": 1030, "after": 1255, "before_percent": 100, "after_percent": 100, "points": 0, "relative_percent": 21.8447, "growth_percent": 21.8447, "p": 2.483e-06, "confidence": 0.999998, "significant": true},
  "gates": [
  {"expression": "func:new\u003e50%", "limit_percent": 50, "growth_percent": 3.8835, "found": true, "exceeded": false, "significant": true, "failed": false, "function": "new"}],
  "rows": [
  {"name": "lex", "module": null, "frame": "native",
   "self": {"before": 400, "after": 600, "before_percent": 38.835, "after_percent": 47.8088, "points": 8.9738, "relative_percent": 50, "growth_percent": 19.4175, "p": 2.265e-10, "confidence": 1, "significant": true},
   "total": {"before": 400, "after": 600, "before_percent": 38.835, "after_percent": 47.8088, "points": 8.9738, "relative_percent": 50, "growth_percent": 19.4175, "p": 2.265e-10, "confidence": 1, "significant": true}}
  ],
  "left_out": {"rows": 5},
  "quality": {"samples": 0, "stacks": 8, "lost": 0, "lost_records": 0, "truncated": 0, "unresolved": 0, "derived": 0, "late": 0, "bad_lines": 0, "cut_stacks": 0, "overflows": 0, "filtered": 0, "modules": [], "text": "8 folded stacks"}
  }
  wick: pass func:new>50%: +3.88 %

perf script text: samples are counted, whatever their periods; different events are said.

  $ for i in $(seq 30); do printf 'a 1/1 1.0: 1000%d cycles:\n\t1 f (x)\n\n' $i; done >p1
  $ for i in $(seq 40); do printf 'a 1/1 1.0: 1000%d cycles:\n\t1 f (x)\n\n' $i; done >p2
  $ sed s/cycles/faults/ p2 >p3
  $ wick diff --show self p1 p2
  Before  2,190,465 weight of cycles: p1
  After   3,190,820 weight of cycles: p2
  Total   +45.7 %, confidence 88.0 %: within noise
  Noise   confidence from the number of samples, 30 and 40; ~ marks changes below 95 % confidence
  
    Before     After      Change     Weight  Confidence  Function (self)
  100.00 %  100.00 %    +0.00 pp    +45.7 %    ~ 88.0 %  f
  
  70 samples
  $ wick diff --show self p1 p3 | grep Note
  Note    comparing different events: cycles and faults

The ending of the output chooses the format.

  $ wick diff -o d.svg before.folded after.folded; head -c 38 d.svg; grep -o '"diff":true' d.svg
  wick: warning: the totals differ by +21.8 %; if the runs did different amounts of work, use --normalize
  <?xml version="1.0" encoding="UTF-8" s"diff":true
  $ wick diff -o d.json before.folded after.folded; head -n 2 d.json
  {
  "format": "wick-diff",
  $ wick diff -o d.folded before.folded after.folded; wc -l <d.folded
  5

Thresholds: exit code 3 and a verdict.

  $ wick diff --fail-if 'total>20%' before.folded after.folded >/dev/null
  wick: FAIL total>20%: +21.84 %, confidence >99.9 %
  [3]
  $ wick diff --fail-if 'total>25%' before.folded after.folded >/dev/null
  wick: pass total>25%: +21.84 %
  $ wick diff --fail-if 'func:lex>19%' --fail-if 'self:parse>0.1%' before.folded after.folded >/dev/null
  wick: FAIL func:lex>19%: +19.42 %, confidence >99.9 %
  wick: pass self:parse>0.1%: +0.49 %, confidence 27.2 %: within noise, which does not fail
  [3]
  $ wick diff --fail-if 'self:parse>0.1%' before.folded after.folded >/dev/null
  wick: pass self:parse>0.1%: +0.49 %, confidence 27.2 %: within noise, which does not fail
  $ wick diff --fail-if 'self:parse>0.1%' --fail-on-noise before.folded after.folded >/dev/null
  wick: FAIL self:parse>0.1%: +0.49 %, confidence 27.2 %, within noise
  [3]
  $ wick diff --fail-if 'func:*>5%' before.folded after.folded >/dev/null
  wick: FAIL func:*>5%: +21.84 % (main), confidence >99.9 %
  [3]
  $ wick diff --fail-if 'func:rende>1%' before.folded after.folded >/dev/null
  wick: pass func:rende>1%: no such function in either profile; did you mean 'render'?
  $ printf 'main;std::vector<a, b>::at(int) const 100\n' >t1; printf 'main;std::vector<a, b>::at(int) const 200\n' >t2
  $ wick diff --fail-if 'func:std::vector<a, b>::at(int) const>5%' t1 t2 >/dev/null
  wick: FAIL func:std::vector<a, b>::at(int) const>5%: +100.00 %, confidence >99.9 %
  [3]

Wrong use.

  $ wick diff --fail-if 'total>lots' before.folded after.folded
  wick: diff: --fail-if 'total>lots': 'lots' must be a percentage such as 3% (see wick diff --help)
  [2]
  $ wick diff --fail-if 'main>3%' before.folded after.folded
  wick: diff: --fail-if 'main>3%': use total, func:NAME or self:NAME before '>' (see wick diff --help)
  [2]
  $ wick diff --fail-if 'func:main<3%' before.folded after.folded
  wick: diff: --fail-if 'func:main<3%' has no '>'; use total>3%, func:NAME>2% or self:NAME>2% (see wick diff --help)
  [2]
  $ wick diff before.folded
  wick: diff: two profiles are needed, not 1; for sets of profiles use --before and --after (see wick diff --help)
  [2]
  $ wick diff - -
  wick: diff: standard input can be read only once (see wick diff --help)
  [2]
  $ wick diff --before before.folded
  wick: diff: --before and --after must be used together (see wick diff --help)
  [2]
  $ wick diff --before before.folded --after after.folded --format text --limit 1 extra
  wick: diff: 'extra' is in neither --before nor --after (see wick diff --help)
  [2]
  $ wick diff
  wick: diff: two profiles are needed, not 0; for sets of profiles use --before and --after (see wick diff --help)
  [2]

What cannot be compared says which side it is.

  $ : >empty; wick diff empty after.folded
  wick: empty: the input is empty
  [1]
  $ wick diff before.folded empty
  wick: empty: the input is empty
  [1]
  $ echo 'a;b 0' >zero; wick diff before.folded zero
  wick: zero (AFTER): the sum of the weights is zero: nothing to compare
  [1]
  $ wick diff before.folded missing
  wick: missing: No such file or directory
  [1]
  $ wick diff d.folded after.folded
  wick: d.folded: already a comparison (two counts per line); draw it with wick flame
  [1]

JIT code has the same name in every run, whatever the PID was.

  $ printf 'node;main;[perf-12.map] 600\nnode;main;[jitted-12-3.so] 200\nnode;main;gc 100\n' >pid12.folded
  $ printf 'node;main;[perf-7890.map] 900\nnode;main;[jit-7890.dump] 300\nnode;main;gc 100\n' >pid7890.folded
  $ wick diff --show self pid12.folded pid7890.folded | grep -v '^[A-Z]'
  
    Before     After      Change     Weight  Confidence  Function (self)
   88.89 %   92.31 %    +3.42 pp    +50.0 %     >99.9 %  [jit]
  
  6 folded stacks · 1 stack with unresolved frames
