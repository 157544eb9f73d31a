/*
 * Folded stacks for the tests, and what a picture of them must show, computed the plain way.
 */
"use strict";

/** Weight of every call path, as {"a;b": weight}; with `reversed`, of every path from the leaf. */
function totals(folded, reversed = false) {
  const sums = {};
  for (const line of folded.trim().split("\n")) {
    const [, stack, weight] = /^(.*) (\S+)$/.exec(line);
    const frames = stack.split(";");
    if (reversed) frames.reverse();
    for (let depth = 1; depth <= frames.length; depth++) {
      const path = frames.slice(0, depth).join(";");
      sums[path] = (sums[path] || 0) + Number(weight);
    }
  }
  return sums;
}

/** A profile with about `count` call paths, always the same. */
function many(count) {
  let seed = 12345;
  const random = () => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) / 4294967296;
  const lines = [], seen = new Set(), stack = [];
  while (seen.size < count) {
    stack.length = Math.floor(stack.length * Math.pow(random(), 0.35));
    for (let k = Math.floor(random() * 8); k >= 0 && stack.length < 60; k--) {
      stack.push("ns" + Math.floor(40 * random()) + "::method_" + Math.floor(200 * random() * random()));
      seen.add(stack.join(";"));
    }
    lines.push(stack.join(";") + " " + (1 + Math.floor(1 / random()) % 1000));
  }
  return lines.join("\n") + "\n";
}

const SERVER = `main;accept;tcp_accept 10
main;serve;parse;memcpy 20
main;serve;parse;memcpy;tcp_check 5
main;serve;reply;tcp_send;tcp_copy 30
main;serve;reply;format 15
main;log;memcpy 12
main;log;Flush 8
`;

module.exports = { totals, many, SERVER };
