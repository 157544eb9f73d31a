# Containers are found by their cgroups, and named by the files of their engines

  $ make-host host
  $ wick containers --host-root host | awk '{ print $1, $2, $3 }'
  Container Engine ID
  shop-1/api containerd 555555555555
  night/job cri-o 777777777777
  shop-1/proxy container 666666666666
  alpine lxc alpine
  db podman 333333333333
  deb-ian nspawn deb-ian
  web1 docker 111111111111
  web2 docker 222222222222
  ../../x�[31m�next docker 888888888888
  999999999999 docker 999999999999
  aaaaaaaaaaaa docker aaaaaaaaaaaa
  bbbbbbbbbbbb docker bbbbbbbbbbbb
  cccccccccccc docker cccccccccccc
  cache podman 444444444444

Names cannot drive the terminal. A FIFO, a link, a file without end and one that is truncated have no names in them.

  $ wick containers --host-root host | grep 888888888888 | cat -v | cut -c 1-59
  ../../xM-oM-?M-=[31mM-oM-?M-=next  docker      888888888888
  $ wick containers --host-root host --json >list.json
  $ node -p 'JSON.parse(fs.readFileSync("list.json")).map(c => [c.name, c.image, c.pod, c.namespace].join()).join("\n")'
  api,example/api:7,shop-1,prod
  job,example/job:1,night,batch
  proxy,,shop-1,prod
  alpine,,,
  db,docker.io/library/postgres:16,,
  deb-ian,,,
  web1,nginx:1.25,,
  web2,registry.example/team/nginx:1.26,,
  ../../x[31m
  next,ab,,
  ,,,
  ,,,
  ,,,
  ,,,
  cache,,,
  $ node -p 'JSON.parse(fs.readFileSync("list.json")).find(c => c.name == "web1")'
  {
    engine: 'docker',
    id: '1111111111111111111111111111111111111111111111111111111111111111',
    name: 'web1',
    image: 'nginx:1.25',
    pod: null,
    namespace: null,
    pid: 42,
    cpus: 0,
    cgroup: '/system.slice/docker-1111111111111111111111111111111111111111111111111111111111111111.scope',
    labels: { tier: 'front', zone: 'a' }
  }
  $ mkdir empty && wick containers --host-root empty
  wick: no containers are running
  $ wick containers --host-root empty --json
  [
  ]
  $ wick containers web1
  wick: containers: takes no arguments (see wick containers --help)
  [2]

A name, an ID, an image, a label, or a beginning of a name or ID chooses one.

  $ wick record --host-root host --container web
  wick: 'web' matches 2 containers: web1 (111111111111), web2 (222222222222)
  [2]
  $ wick record --host-root host --container nginx
  wick: 'nginx' matches 2 containers: web1 (111111111111), web2 (222222222222)
  [2]
  $ wick record --host-root host --container tier=nowhere
  wick: no running container matches 'tier=nowhere'; wick containers lists them
  [1]
  $ wick record --host-root host --container ''
  wick: no running container matches ''; wick containers lists them
  [1]
  $ wick record --host-root host --container shop-1
  wick: 'shop-1' matches 2 containers: shop-1/api (555555555555), shop-1/proxy (666666666666)
  [2]
  $ wick record --host-root host --unit editor 2>&1 | sed 's/user.\?[0-9]\+/user/g'
  wick: 'editor' matches 2 cgroups: /user.slice/user.slice/user.service/app.slice/editor.service, /user.slice/user.slice/user.service/app.slice/editor.service
  $ wick record --host-root host --unit nothing.service
  wick: no running unit 'nothing.service'
  [1]
  $ wick record --container web1 -p 1
  wick: record: --pid and --container cannot be used together (see wick record --help)
  [2]
  $ wick top --container web1 --unit nginx
  wick: top: --container and --unit cannot be used together (see wick top --help)
  [2]

needs: python3

What the files do not say, the socket of docker may, if it replies in time.

  $ asked() { rm -f ready; serve-containers host/run/docker.sock "$1" >ready 2>request &
  > until grep -qs ready ready; do sleep 0.1; done
  > wick record --host-root host --container "$2"; code=$?; wait; return "$code"; }
  > asked good asked; echo "[$?]"; cat request; asked chunks asked; echo "[$?]"
  > for how in error garbage never; do asked "$how" asked; done
  wick: 'asked' matches 2 containers: asked-9 (999999999999), asked-a (aaaaaaaaaaaa)
  [2]
  GET /containers/json HTTP/1.0
  wick: 'asked' matches 2 containers: asked-9 (999999999999), asked-a (aaaaaaaaaaaa)
  [2]
  wick: no running container matches 'asked'; wick containers lists them
  wick: no running container matches 'asked'; wick containers lists them
  wick: no running container matches 'asked'; wick containers lists them
  [1]

needs: can-record

These cgroups are not real, so the directory that was chosen is shown.

  $ try() { wick record -q -d 0.1 --host-root host "$@" 2>&1 | sed 's/host.*system.slice/…/; s/1\{20,\}/1…/; s/;.*//'; }
  > try --container web1; try --container 1111; try --container nginx:1.25; try --container tier=front
  wick: cgroup …/docker-1….scope does not exist
  wick: cgroup …/docker-1….scope does not exist
  wick: cgroup …/docker-1….scope does not exist
  wick: cgroup …/docker-1….scope does not exist
  $ wick record --host-root host --unit nginx 2>&1 | sed 's/;.*//'
  wick: cgroup host/sys/fs/cgroup/system.slice/nginx.service does not exist
