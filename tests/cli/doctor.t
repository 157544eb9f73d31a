What this system lets wick record. What it says depends on the machine, so here is only its shape.

  $ wick doctor | grep -cE '^(ok  |warn|bad )  [A-Za-z]'
  18
  $ wick doctor >said && test -s said && grep -v '^ok' said | grep -vc ' — '
  0
  [1]
  $ test -s said && grep -c "$(printf '\033')" said
  0
  [1]

JSON for scripts.

needs: node
  $ wick doctor --json >d.json; node -p 'd = JSON.parse(fs.readFileSync("d.json")); d.checks.length + " " + d.modules.length'
  18 0
  $ node -p 'Object.keys(JSON.parse(fs.readFileSync("d.json")).checks[0]).sort().join(" ")'
  limits name permanently state until_reboot verdict

The files of a command, which is not run, and of a process.

  $ wick doctor --json -- "$WICK" record --no-such-option >d.json && test -s d.json
  $ node -p 'm = JSON.parse(fs.readFileSync("d.json")).modules; [m[0].path.split("/").pop(), m[0].unwind_tables, m.length > 1].join(" ")'
  wick true true
  $ wick doctor --json -p $$ >d.json; node -p 'JSON.parse(fs.readFileSync("d.json")).modules.length > 1'
  true

What is not there.

  $ wick doctor -- no-such-program
  wick: program no-such-program not found
  [1]
  $ wick doctor -p 4194303
  wick: process 4194303 does not exist
  [1]
  $ wick doctor -p 1 -- ls
  wick: doctor: use a process or a command, not both (see wick doctor --help)
  [2]

How to start a container in which wick can record.

  $ wick doctor --in-container | grep -cE '^  docker run .*--cap-add PERFMON|^      cap_add: \[PERFMON|^          add: \[PERFMON'
  3
