/*
 * tree.js: the tree that is on show, made from the profile's stacks.
 *
 * A tree is columns again: name, parent, depth, total (inclusive), self, and for differential profiles before and
 * after (inclusive). The children of i are kids[kidStart[i]] … kids[kidStart[i] + kidCount[i] - 1], valid after
 * tree.open(i), which is also where they are sorted: only frames that reach the screen pay for it.
 *
 *   ListedTree   the profile's own nodes with the filters' weights
 *   TurnedTree   the same stacks from their other end, grown on demand: 100,000 stacks would make millions of nodes,
 *                of which a screen shows a few thousand
 *
 * Usually the profile lists callers first, and the turned tree is the reversed graph. A file written with --reverse
 * lists the leaves first; there it is the other way round.
 */

/* ---- filters ---- */

/**
 * The weights left by the filters, one per profile node:
 *   {op: "keep", name}  only stacks through a function of that name (several: through each of them)
 *   {op: "hide", name}  no stack through a function of that name
 *   {op: "cut", path}   no stack that starts with that path (ends with it, when the path is marked LEAF_FIRST)
 */
function filterWeights(profile, filters) {
  const { self, before, after } = profile;
  if (filters.length === 0) return { self, before, after, filtered: false };
  const dropped = new Uint8Array(profile.count);
  for (const filter of filters) {
    if (filter.op === "keep") dropOthers(profile, filter.name, dropped);
    else if (filter.op === "hide") dropThrough(profile, filter.name, dropped);
    else dropPath(profile, filter.path, dropped);
  }
  const keep = (column) => column && column.map((weight, i) => (dropped[i] ? 0 : weight));
  return { self: keep(self), before: keep(before), after: keep(after), filtered: true };
}

function dropThrough(profile, label, dropped) {
  const id = profile.names.indexOf(label);
  const { name, end } = profile;
  for (let i = 1; i < profile.count; i++) {
    if (name[i] !== id) continue;
    dropped.fill(1, i, end[i]);
    i = end[i] - 1;
  }
}

function dropOthers(profile, label, dropped) {
  const id = profile.names.indexOf(label);
  const { name, end } = profile;
  for (let i = 1; i < profile.count; i++) {
    if (name[i] === id) i = end[i] - 1;
    else dropped[i] = 1;
  }
}

function dropPath(profile, path, dropped) {
  const leafFirst = path.startsWith(LEAF_FIRST);
  const steps = splitPath(path);
  if (leafFirst !== profile.leafFirst) {
    for (let i = 1; i < profile.count; i++) if (endsWithPath(profile, i, steps)) dropped[i] = 1;
    return;
  }
  const found = resolvePath(new ListedTree(profile, profile), path);
  if (found.whole && found.node > 0) dropped.fill(1, found.node, profile.end[found.node]);
}

function endsWithPath(profile, node, steps) {
  for (const step of steps) {
    if (node <= 0 || nameHash(profile.names[profile.name[node]]) !== step.hash) return false;
    node = profile.parent[node];
  }
  return true;
}

/* ---- what both trees share ---- */

class Tree {
  constructor(profile, turned) {
    this.profile = profile;
    this.turned = turned;
    this.leafFirst = profile.leafFirst !== turned;
    this.order = "none";
    this.sortedAs = null; // per node: index into ORDERS, or 0
  }

  label(node) {
    return this.profile.names[this.name[node]];
  }

  /** From the root down to the node itself. */
  chain(node) {
    const nodes = [];
    for (let i = node; i >= 0; i = this.parent[i]) nodes.push(i);
    return nodes.reverse();
  }

  contains(ancestor, node) {
    while (node > ancestor && this.depth[node] > this.depth[ancestor]) node = this.parent[node];
    return node === ancestor;
  }

  sortOpened(node) {
    const mark = ORDERS.indexOf(this.order);
    if (this.sortedAs[node] === mark) return;
    this.sortedAs[node] = mark;
    if (this.kidCount[node] < 2) return;
    const start = this.kidStart[node];
    const range = this.kids.subarray(start, start + this.kidCount[node]);
    range.sort(this.comparer());
  }

  comparer() {
    const { name, total } = this;
    const rank = nameRanks(this.profile);
    if (this.order === "width") return (a, b) => total[b] - total[a] || rank[name[a]] - rank[name[b]] || a - b;
    if (this.order === "name") return (a, b) => rank[name[a]] - rank[name[b]] || a - b;
    return (a, b) => a - b;
  }

  /** The children of a node, as a view on the tree's own array. */
  children(node) {
    this.open(node);
    const start = this.kidStart[node];
    return this.kids.subarray(start, start + this.kidCount[node]);
  }

  /** Largest change of any frame, the full red or blue of a differential graph. */
  get maxDelta() {
    if (this._maxDelta === undefined) this._maxDelta = this.findMaxDelta();
    return this._maxDelta;
  }
}

const ORDERS = ["unsorted", "none", "name", "width"];

function nameRanks(profile) {
  if (!profile.ranks) {
    const ids = profile.names.map((_, id) => id);
    const names = profile.names;
    ids.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : 0));
    profile.ranks = new Int32Array(ids.length);
    ids.forEach((id, rank) => (profile.ranks[id] = rank));
  }
  return profile.ranks;
}

/** Adds each node's column into its parent's: children follow their parents, so one pass from the back does it. */
function inclusive(profile, column) {
  if (!column) return null;
  const sums = Float64Array.from(column);
  for (let i = profile.count - 1; i > 0; i--) sums[profile.parent[i]] += sums[i];
  return sums;
}

/* ---- as listed ---- */

class ListedTree extends Tree {
  constructor(profile, weights) {
    super(profile, false);
    this.name = profile.name;
    this.parent = profile.parent;
    this.depth = profile.depth;
    this.end = profile.end;
    this.self = weights.self;
    this.lead = weights.filtered ? null : profile.lead; // a filter takes some of that time away
    this.total = inclusive(profile, weights.self);
    this.before = inclusive(profile, weights.before);
    this.after = inclusive(profile, weights.after);
    if (!weights.filtered) this.total[0] = Math.max(this.total[0], profile.json.total || 0);
    this.linkChildren();
    this.sortedAs = new Uint8Array(profile.count);
  }

  linkChildren() {
    const { count, parent } = this.profile;
    const { total } = this;
    this.kidCount = new Int32Array(count);
    this.kidStart = new Int32Array(count);
    this.size = new Int32Array(count).fill(1); // frames in the subtree that have any weight
    for (let i = count - 1; i > 0; i--) {
      if (!(total[i] > 0)) continue;
      this.kidCount[parent[i]]++;
      this.size[parent[i]] += this.size[i];
    }
    let next = 0;
    for (let i = 0; i < count; i++) {
      this.kidStart[i] = next;
      next += this.kidCount[i];
    }
    this.kids = new Int32Array(next);
    const fill = this.kidStart.slice();
    for (let i = 1; i < count; i++) if (total[i] > 0) this.kids[fill[parent[i]]++] = i;
  }

  open(node) {
    this.sortOpened(node);
  }

  findMaxDelta() {
    let max = 0;
    for (let i = 1; i < this.profile.count; i++) max = Math.max(max, Math.abs(this.after[i] - this.before[i]));
    return max;
  }
}

/* ---- from the other end ---- */

/**
 * Every stack is an entry; a node owns a range of entries, and opening it splits that range among its children, so
 * the whole tree is a permutation of one array plus the nodes that were opened. cursor[e] is the profile node that
 * entry e has reached at the deepest node opened so far, and moves to its parent with each opening.
 */
class TurnedTree extends Tree {
  constructor(profile, weights) {
    super(profile, true);
    this.weights = weights;
    this.entries = stacksOf(profile, weights.self);
    this.cursor = this.entries.slice();
    this.count = 0;
    this.allocate(1024);
    const root = this.add(-1, profile.rootName, 0, this.entries.length);
    if (!weights.filtered) this.total[root] = Math.max(this.total[root], profile.json.total || 0);
    this.slotOfName = new Int32Array(profile.names.length).fill(-1);
  }

  allocate(capacity) {
    const grow = (old, Type) => {
      const column = new Type(capacity);
      if (old) column.set(old);
      return column;
    };
    for (const key of ["name", "parent", "depth", "kidStart", "kidCount", "kids", "from", "to"])
      this[key] = grow(this[key], Int32Array);
    this.sortedAs = grow(this.sortedAs, Uint8Array);
    for (const key of this.profile.diff ? ["total", "self", "before", "after"] : ["total", "self"])
      this[key] = grow(this[key], Float64Array);
    this.capacity = capacity;
  }

  add(parent, name, from, to) {
    if (this.count === this.capacity) this.allocate(this.capacity * 2);
    const node = this.count++;
    this.name[node] = name;
    this.parent[node] = parent;
    this.depth[node] = parent < 0 ? 0 : this.depth[parent] + 1;
    this.from[node] = from;
    this.to[node] = to;
    this.kidCount[node] = -1; // not opened yet
    this.total[node] = this.sum(this.weights.self, from, to);
    if (this.profile.diff) {
      this.before[node] = this.sum(this.weights.before, from, to);
      this.after[node] = this.sum(this.weights.after, from, to);
    }
    this.self[node] = this.ending(node);
    return node;
  }

  sum(column, from, to) {
    let sum = 0;
    for (let e = from; e < to; e++) sum += column[this.entries[e]];
    return sum;
  }

  /** Weight of the stacks that end here. */
  ending(node) {
    if (this.parent[node] < 0) return 0;
    const { parent } = this.profile;
    let sum = 0;
    for (let e = this.from[node]; e < this.to[node]; e++)
      if (parent[this.cursor[e]] === 0) sum += this.weights.self[this.entries[e]];
    return sum;
  }

  open(node) {
    if (this.kidCount[node] < 0) this.split(node);
    this.sortOpened(node);
  }

  /** Groups the node's entries by the name of their next frame, keeping those that end here in front. */
  split(node) {
    const { entries, cursor, slotOfName: slot } = this;
    const { name, parent } = this.profile;
    const from = this.from[node], to = this.to[node];
    const oldEntries = entries.slice(from, to);
    const next = cursor.slice(from, to);
    if (node !== 0) for (let e = 0; e < next.length; e++) next[e] = parent[next[e]];

    const found = [], sizes = [];
    let ended = 0;
    for (let e = 0; e < next.length; e++) {
      if (next[e] === 0) { ended++; continue; }
      const id = name[next[e]];
      if (slot[id] < 0) { slot[id] = found.length; found.push(id); sizes.push(0); }
      sizes[slot[id]]++;
    }
    const starts = [];
    let position = from + ended;
    for (const size of sizes) { starts.push(position); position += size; }
    const fill = starts.slice();
    let endFill = from;
    for (let e = 0; e < next.length; e++) {
      const at = next[e] === 0 ? endFill++ : fill[slot[name[next[e]]]]++;
      entries[at] = oldEntries[e];
      cursor[at] = next[e];
    }
    for (const id of found) slot[id] = -1;
    this.link(node, found, starts, sizes);
  }

  link(node, names, starts, sizes) {
    const first = this.count;
    names.forEach((id, k) => this.add(node, id, starts[k], starts[k] + sizes[k]));
    this.kidStart[node] = first;
    this.kidCount[node] = names.length;
    for (let kid = first; kid < this.count; kid++) this.kids[kid] = kid;
  }

  /** Opens everything below a node unless that takes more than `budget` nodes; says whether it is complete. */
  openAll(node, budget) {
    const stack = [node];
    while (stack.length) {
      if (this.count > budget) return false;
      const next = stack.pop();
      if (this.kidCount[next] < 0) this.split(next);
      for (let k = 0; k < this.kidCount[next]; k++) stack.push(this.kids[this.kidStart[next] + k]);
    }
    return true;
  }

  /** Frames below a frame can cancel out, so this is a good scale rather than an upper bound. */
  findMaxDelta() {
    let max = 0;
    for (const kid of this.children(0)) max = Math.max(max, Math.abs(this.after[kid] - this.before[kid]));
    return max;
  }
}

function stacksOf(profile, self) {
  const list = new Int32Array(profile.count);
  let count = 0;
  for (let i = 1; i < profile.count; i++) if (self[i] > 0) list[count++] = i;
  return list.slice(0, count);
}

/* ---- function totals ---- */

/** Per name: its weight in all stacks, recursion counted once, and its own weight. */
function functionTotals(profile, weights) {
  const sums = inclusive(profile, weights.self);
  const total = new Float64Array(profile.names.length);
  const self = new Float64Array(profile.names.length);
  const active = new Int32Array(profile.names.length);
  const open = [];
  const { name, depth } = profile;
  for (let i = 1; i < profile.count; i++) {
    while (open.length >= depth[i]) active[open.pop()]--;
    const id = name[i];
    if (active[id]++ === 0) total[id] += sums[i];
    self[id] += !profile.leafFirst ? weights.self[i] : depth[i] === 1 ? sums[i] : 0;
    open.push(id);
  }
  return { total, self };
}

/* ---- paths that survive in a link ---- */

/*
 * A frame in a link is the list of names from the root, each as four letters of a hash: short for deep C++ stacks,
 * and still right, or visibly not found, when the same address later serves a newer profile. Where siblings share a
 * name (flame charts), ".2" picks the second.
 */
const LEAF_FIRST = "~"; // before a path that begins at the leaf
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const hashes = new Map();

function nameHash(text) {
  let known = hashes.get(text);
  if (known !== undefined) return known;
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h ^= h >>> 24;
  known = "";
  for (let i = 0; i < 4; i++) known += DIGITS[(h >>> (6 * i)) & 63];
  hashes.set(text, known);
  return known;
}

function pathOf(tree, node) {
  return tree.chain(node).slice(1).map((step) => {
    const hash = nameHash(tree.label(step));
    const alike = Array.from(tree.children(tree.parent[step])).filter((kid) => nameHash(tree.label(kid)) === hash);
    const turn = alike.sort((a, b) => a - b).indexOf(step);
    return turn > 0 ? hash + "." + (turn + 1) : hash;
  }).join("");
}

function splitPath(path) {
  const steps = [];
  for (const match of path.matchAll(/([\w-]{4})(?:\.(\d+))?/g)) steps.push({ hash: match[1], turn: +(match[2] || 1) });
  return steps;
}

/** Walks as far as the path leads; `whole` is false when a frame of it no longer exists. */
function resolvePath(tree, path) {
  let node = 0;
  for (const { hash, turn } of splitPath(path)) {
    const alike = Array.from(tree.children(node)).filter((kid) => nameHash(tree.label(kid)) === hash);
    if (alike.length < turn) return { node, whole: false };
    node = alike.sort((a, b) => a - b)[turn - 1];
  }
  return { node, whole: true };
}
