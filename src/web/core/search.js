/*
 * search.js: which frames match, how many, and how much of what is on show they cover.
 */

/** Opening a turned tree to count its matches stops here; the count is then a lower bound and said so. */
const SEARCH_BUDGET = 1500000;

/**
 * Compiles the term. `mode` is "smart" (a capital letter makes it case-sensitive), "ignore" or "match".
 * Returns null for an empty term, else {regex} or {error}.
 */
function compileSearch(term, mode) {
  if (!term) return null;
  const capital = /\p{Lu}/u.test(term.replace(/\\./gu, ""));
  const ignoreCase = mode === "ignore" || (mode === "smart" && !capital);
  try {
    return { regex: new RegExp(term, ignoreCase ? "i" : ""), ignoreCase };
  } catch (error) {
    return { error: error.message.replace(/^Invalid regular expression: (\/.*\/\w*: )?/s, "") };
  }
}

/**
 * One flag per name id: the name or its short form matches. The root is a container, not a function, so it never
 * matches.
 */
function matchNames(profile, regex) {
  const flags = new Uint8Array(profile.names.length);
  for (let id = 0; id < profile.rootName; id++) {
    const short = profile.shortName(id);
    flags[id] = regex.test(profile.names[id]) || (short && regex.test(short)) ? 1 : 0;
  }
  return flags;
}

/**
 * Matches in the subtree of `zoom`: how many frames, and the weight they cover together, a stack with several
 * matching frames counted once. `first` is the widest matching frame.
 */
function measureMatches(tree, zoom, flags) {
  return tree.turned ? measureTurned(tree, zoom, flags) : measureListed(tree, zoom, flags);
}

function measureListed(tree, zoom, flags) {
  const { name, total, end } = tree;
  let count = 0, weight = 0, coveredUntil = 0, first = -1;
  for (let i = zoom; i < end[zoom]; i++) {
    if (!flags[name[i]] || !(total[i] > 0)) continue;
    count++;
    if (first < 0 || total[i] > total[first]) first = i;
    if (i < coveredUntil) continue;
    weight += total[i];
    coveredUntil = end[i];
  }
  return { count, weight, first, exact: true };
}

function measureTurned(tree, zoom, flags) {
  const exact = tree.openAll(zoom, SEARCH_BUDGET);
  const { name, total, kidStart, kidCount, kids } = tree;
  let count = 0, first = -1;
  const stack = [zoom];
  while (stack.length) {
    const node = stack.pop();
    if (flags[name[node]]) {
      count++;
      if (first < 0 || total[node] > total[first]) first = node;
    }
    for (let k = 0; k < kidCount[node]; k++) stack.push(kids[kidStart[node] + k]);
  }
  return { count, weight: coveredTurned(tree, zoom, flags), first, exact };
}

/** A stack is covered when the frame it has at the zoomed depth, or any of that frame's ancestors, matches. */
function coveredTurned(tree, zoom, flags) {
  const { profile, entries, weights } = tree;
  const covered = new Uint8Array(profile.count);
  for (let i = 1; i < profile.count; i++)
    covered[i] = flags[profile.name[i]] || covered[profile.parent[i]];
  const stepsUp = Math.max(0, tree.depth[zoom] - 1);
  let weight = 0;
  for (let e = tree.from[zoom]; e < tree.to[zoom]; e++) {
    let node = entries[e];
    for (let s = 0; s < stepsUp; s++) node = profile.parent[node];
    if (covered[node]) weight += weights.self[entries[e]];
  }
  return weight;
}

function escapeRegex(text) {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
