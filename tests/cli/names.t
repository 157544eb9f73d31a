Names of functions. Tables show short forms, which are as distinct as the names; everything else shows whole names.

  $ cat >names.folded <<'END'
  > main;void ns::call<int>(std::vector<int, std::allocator<int> > const&);over(int) 10
  > main;over(char const*) 9
  > main;std::function<int (int, int)>::operator()(int, int) const 8
  > main;run(int)::{lambda()#1}::operator()() const 7
  > main;run(int)::{lambda()#2}::operator()() const 6
  > main;int instance<int>(int) 5
  > main;int instance<long>(int) 4
  > main;std::basic_ostream<char, std::char_traits<char> >& operator<< <char>(std::basic_ostream<char, std::char_traits<char> >&, char) 3
  > main;main.(*T).Method 2
  > main;work (app.py:12) 1
  > END
  $ wick report names.folded
  Total   55 samples
  Input   names.folded
  
      Self  Samples     Total  Samples  Function
   18.18 %       10   18.18 %       10  over(int)
   16.36 %        9   16.36 %        9  over(char const*)
   14.55 %        8   14.55 %        8  std::function::operator()
   12.73 %        7   12.73 %        7  run::{lambda()#1}::operator()
   10.91 %        6   10.91 %        6  run::{lambda()#2}::operator()
    9.09 %        5    9.09 %        5  instance<int>
    7.27 %        4    7.27 %        4  instance<long>
    5.45 %        3    5.45 %        3  operator<<
    3.64 %        2    3.64 %        2  main.(*T).Method
    1.82 %        1    1.82 %        1  work (app.py:12)
    0.00 %        0  100.00 %       55  main
    0.00 %        0   18.18 %       10  ns::call
  
  10 folded stacks
  $ wick report --names full names.folded
  Total   55 samples
  Input   names.folded
  
      Self  Samples     Total  Samples  Function
   18.18 %       10   18.18 %       10  over(int)
   16.36 %        9   16.36 %        9  over(char const*)
   14.55 %        8   14.55 %        8  std::function<int (int, int)>::operator()(int, int) const
   12.73 %        7   12.73 %        7  run(int)::{lambda()#1}::operator()() const
   10.91 %        6   10.91 %        6  run(int)::{lambda()#2}::operator()() const
    9.09 %        5    9.09 %        5  int instance<int>(int)
    7.27 %        4    7.27 %        4  int instance<long>(int)
    5.45 %        3    5.45 %        3  std::basic_ostream<char, std::char_traits<char> >& operator<< <char>(std::basic_ostream<char, std::char_traits<char> >&, char)
    3.64 %        2    3.64 %        2  main.(*T).Method
    1.82 %        1    1.82 %        1  work (app.py:12)
    0.00 %        0  100.00 %       55  main
    0.00 %        0   18.18 %       10  void ns::call<int>(std::vector<int, std::allocator<int> > const&)
  
  10 folded stacks
  $ wick report --tree names.folded
  Total   55 samples
  Input   names.folded
  
     Total      Self  Function, with its callees below
  100.00 %            main
   18.18 %            ├─ ns::call
             18.18 %  │  over(int)
   16.36 %   16.36 %  ├─ over(char const*)
   14.55 %   14.55 %  ├─ std::function::operator()
   12.73 %   12.73 %  ├─ run::{lambda()#1}::operator()
   10.91 %   10.91 %  ├─ run::{lambda()#2}::operator()
    9.09 %    9.09 %  ├─ instance<int>
    7.27 %    7.27 %  ├─ instance<long>
    5.45 %    5.45 %  ├─ operator<<
    3.64 %    3.64 %  ├─ main.(*T).Method
    1.82 %    1.82 %  └─ work (app.py:12)
  
  10 folded stacks
  $ wick report --csv --limit 3 names.folded
  self,self_percent,total,total_percent,module,name
  10,18.1818,10,18.1818,,over(int)
  9,16.3636,9,16.3636,,over(char const*)
  8,14.5455,8,14.5455,,"std::function<int (int, int)>::operator()(int, int) const"
  $ wick report --csv --limit 3 --names short names.folded
  self,self_percent,total,total_percent,module,name
  10,18.1818,10,18.1818,,over(int)
  9,16.3636,9,16.3636,,over(char const*)
  8,14.5455,8,14.5455,,std::function::operator()
  $ wick report --json names.folded | grep -o '"name": "run[^"]*"'
  "name": "run(int)::{lambda()#1}::operator()() const"
  "name": "run(int)::{lambda()#2}::operator()() const"
  $ wick fold names.folded | cmp - <(LC_ALL=C sort names.folded)
  $ wick fold --names short names.folded
  main;instance<int> 5
  main;instance<long> 4
  main;main.(*T).Method 2
  main;ns::call;over(int) 10
  main;operator<< 3
  main;over(char const*) 9
  main;run::{lambda()#1}::operator() 7
  main;run::{lambda()#2}::operator() 6
  main;std::function::operator() 8
  main;work (app.py:12) 1
  $ wick fold --names long names.folded
  wick: fold: --names cannot be 'long'; use one of short, full, perf, raw (see wick fold --help)
  [2]

Rows of a table stay below 200 characters, and long names stay apart.

  $ for n in 1 2; do printf 'main;a::%s<%s>::f(%s) 1\n' "$(printf 'x%.0s' {1..300})" "$n" "$n"; done >long.folded
  $ wick report long.folded | awk '{ if (length($0) > most) most = length($0) } END { print (most > 100 && most < 200) }'
  1
  $ wick report long.folded | grep -c '::f'
  2
  $ wick report --names full long.folded | awk '{ if (length($0) > most) most = length($0) } END { print (most > 300) }'
  1

In a picture a frame that is too narrow for its name shows the short form. Titles and data keep the name.

  $ printf 'main;ns::f<%s>(int) 9\nmain;ns::g(int) 1\n' "$(printf 'a%.0s' {1..200})" | wick flame >f.svg
  wick: warning: only 10 samples; is the input complete?
  $ grep -o '>ns::[a-z]*</text>' f.svg
  >ns::f</text>
  $ grep -c '<title>ns::f&lt;aaaaa.*(int) (9 samples' f.svg
  1
  $ grep -o '"shorts":[^]]*],"short":[^]]*]' f.svg
  "shorts":["ns::f","ns::g"],"short":[-1,0,1]
  $ printf 'main;ns::f<%s>(int) 9\nmain;ns::g(int) 1\n' "$(printf 'a%.0s' {1..200})" | wick flame --names full | grep -c '"shorts"'
  wick: warning: only 10 samples; is the input complete?
  0
  [1]

Patterns and names on the command line are compared with the name, with what perf prints for it, and with its short
form.

  $ wick fold --symbol 'ns::call' names.folded
  main;void ns::call<int>(std::vector<int, std::allocator<int> > const&);over(int) 10
  $ wick fold --symbol 'ns::call<int>' names.folded
  main;void ns::call<int>(std::vector<int, std::allocator<int> > const&);over(int) 10
  $ wick fold --symbol 'run::{lambda()#2}*' names.folded
  main;run(int)::{lambda()#2}::operator()() const 6
  $ wick fold --skip-after 'ns::call' names.folded | grep over.int
  void ns::call<int>(std::vector<int, std::allocator<int> > const&);over(int) 10
  $ printf 'ns::call\thref=http://example.org/\n' >attributes
  $ wick flame --nameattr attributes names.folded | grep -c 'xlink:href="http://example.org/"'
  wick: warning: only 55 samples; is the input complete?
  1

A comparison finds functions again where one side has no parameters, as long as it is clear which one is meant.

  $ cat >cut.folded <<'END'
  > main;ns::call<int> 10
  > main;over 19
  > main;std::function::operator() 4
  > END
  $ wick diff --format folded names.folded cut.folded | grep 'function\|call\|over'
  main;over 0 19
  main;over(char const*) 9 0
  main;std::function<int (int, int)>::operator()(int, int) const 8 4
  main;void ns::call<int>(std::vector<int, std::allocator<int> > const&) 0 10
  main;void ns::call<int>(std::vector<int, std::allocator<int> > const&);over(int) 10 0
  $ wick diff --format folded cut.folded names.folded | grep 'function\|call\|over'
  main;ns::call<int> 10 0
  main;ns::call<int>;over(int) 0 10
  main;over 19 0
  main;over(char const*) 0 9
  main;std::function::operator() 4 8
  $ wick diff --before names.folded --before cut.folded --after cut.folded --format folded | grep 'function'
  wick: warning: 2 runs before, 1 after: before is scaled to the same number
  main;std::function<int (int, int)>::operator()(int, int) const 6 4
  $ wick diff names.folded cut.folded -o table.txt --fail-if 'func:std::function::operator()>1%'
  wick: pass func:std::function::operator()>1%: -7.27 %
  $ grep -c 'std::function::operator()$' table.txt
  2
  $ wick diff --names full names.folded cut.folded | grep -c 'std::function<int (int, int)>::operator()(int, int) const$'
  2
