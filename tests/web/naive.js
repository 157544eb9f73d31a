/*
 * The naive model that core.test.js compares with: a profile is a list of stacks, and every question is answered by
 * looking at all of them. Also makes the JSON of such a profile, as wick flame writes it.
 */
"use strict";

const SEPARATOR = ";";

/** Numbers that are the same in each run. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * below);
  };
}

/** Stacks of the functions a, b, c …: short ones, deep ones, recursive ones. Weights are integers. */
function randomStacks(seed, { diff = false } = {}) {
  const random = randomFrom(seed);
  const functions = 2 + random(6), stacks = new Map();
  for (let i = 1 + random(30); i > 0; i--) {
    const frames = Array.from({ length: 1 + random(7) }, () => "abcdefgh"[random(functions)]);
    const before = 1 + random(20), after = diff ? random(20) : 0;
    stacks.set(frames.join(SEPARATOR), { frames, before, after, weight: diff ? Math.max(before, after) : before });
  }
  return [...stacks.values()];
}

/** The JSON of wick flame: the call tree in preorder as name, levels to leave, weights. */
function jsonOf(stacks, { diff = false, leafFirst = false } = {}) {
  const names = [...new Set(stacks.flatMap((stack) => stack.frames))].sort();
  const root = { kids: new Map() };
  for (const stack of stacks) {
    let at = root;
    for (const name of leafFirst ? [...stack.frames].reverse() : stack.frames) {
      if (!at.kids.has(name)) at.kids.set(name, { kids: new Map(), stack: null });
      at = at.kids.get(name);
    }
    at.stack = stack;
  }
  const nodes = [];
  let level = 0;
  const write = (node, depth) => {
    for (const [name, kid] of [...node.kids].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const { before, after, weight } = kid.stack || { before: 0, after: 0, weight: 0 };
      nodes.push(names.indexOf(name), level - depth, ...(diff ? [before, after] : [weight]));
      level = depth + 1;
      write(kid, depth + 1);
    }
  };
  write(root, 0);
  return { names, nodes, diff, options: { reverse: leafFirst } };
}

const sum = (stacks, key = "weight") => stacks.reduce((total, stack) => total + stack[key], 0);

/** Stacks as the tree shows them: from the root, or from the leaf. */
const turn = (stacks, leafFirst) =>
  leafFirst ? stacks.map((stack) => ({ ...stack, frames: [...stack.frames].reverse() })) : stacks;

const startsWith = (frames, path) => path.every((name, i) => frames[i] === name);

/** Every frame of the tree of these stacks, as the path of names that leads to it. */
function paths(stacks) {
  const found = new Map();
  for (const { frames } of stacks)
    for (let depth = 1; depth <= frames.length; depth++)
      found.set(frames.slice(0, depth).join(SEPARATOR), frames.slice(0, depth));
  return [...found.values()];
}

/** What a frame of the tree shows. */
function frameOf(stacks, path) {
  const through = stacks.filter(({ frames }) => startsWith(frames, path));
  const ends = through.filter(({ frames }) => frames.length === path.length);
  return { total: sum(through), self: sum(ends), before: sum(through, "before"), after: sum(through, "after") };
}

/** Matches below a frame: how many frames, and the weight of the stacks that have one. */
function matchesBelow(stacks, zoom, matches) {
  const through = stacks.filter(({ frames }) => startsWith(frames, zoom));
  const first = Math.max(0, zoom.length - 1);
  return {
    count: paths(through).filter((path) => path.length > first && matches(path[path.length - 1])).length,
    weight: sum(through.filter(({ frames }) => frames.slice(first).some(matches))),
  };
}

module.exports = { SEPARATOR, randomFrom, randomStacks, jsonOf, sum, turn, startsWith, paths, frameOf, matchesBelow };
