/*
 * usage: node tests/web/core.test.js
 *
 * Profile, trees, search and layout of src/web/core, compared with the naive model on random profiles. The scripts run
 * in a context that has no window and no document. Writes TAP.
 */
"use strict";

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const vm = require("vm");
const naive = require("./naive.js");

const PROFILES = 60;
const FOLDER = path.join(__dirname, "../../src/web/core");
const CORE = ["data.js", "tree.js", "search.js", "layout.js"].map((name) => path.join(FOLDER, name));
const EXPORTS = ["loadProfile", "numberWriter", "percent", "plural", "signed", "lookUp", "filterWeights", "ListedTree",
  "TurnedTree", "functionTotals", "pathOf", "resolvePath", "LEAF_FIRST", "compileSearch", "matchNames",
  "measureMatches", "escapeRegex", "layoutTree", "minimumWidth", "frameAt", "indexOfNode", "rowOf"];
const core = vm.runInNewContext(
  `(() => { "use strict"; ${CORE.map((file) => fs.readFileSync(file, "utf8")).join("\n")}
  return { ${EXPORTS.join(", ")} }; })()`, {});

const tests = [];

function test(name, body) {
  tests.push({ name, body });
}

/** Calls `body` for profiles of all forms: plain, differential, listed from the leaf. */
function forEachProfile(body) {
  for (let seed = 1; seed <= PROFILES; seed++) {
    const form = { diff: seed % 3 === 0, leafFirst: seed % 4 === 0 };
    const stacks = naive.randomStacks(seed, form);
    body(core.loadProfile(naive.jsonOf(stacks, form)), stacks, form, `profile ${seed}`);
  }
}

/** Calls `body` for both trees of a profile, with its stacks in the direction of the tree. */
function forEachTree(body) {
  forEachProfile((profile, stacks, { diff, leafFirst }, name) => {
    const weights = core.filterWeights(profile, []);
    for (const Kind of [core.ListedTree, core.TurnedTree]) {
      const tree = new Kind(profile, weights);
      body(tree, naive.turn(stacks, leafFirst !== tree.turned), { diff, name: `${name}, ${Kind.name}` });
    }
  });
}

const pathTo = (tree, node) => Array.from(tree.chain(node)).slice(1).map((step) => tree.label(step));

/** All nodes below and with `node`, opened, callers before callees. */
function nodesBelow(tree, node) {
  return [node, ...Array.from(tree.children(node)).flatMap((kid) => nodesBelow(tree, kid))];
}

function nodeAt(tree, names) {
  return names.reduce((node, name) => Array.from(tree.children(node)).find((kid) => tree.label(kid) === name), 0);
}

test("a profile is unpacked to the nodes that were packed", () => {
  forEachProfile((profile, stacks, { leafFirst }, name) => {
    const expected = naive.turn(stacks, leafFirst);
    assert.strictEqual(profile.count, naive.paths(expected).length + 1, name);
    for (let i = 1; i < profile.count; i++) {
      assert.strictEqual(profile.depth[i], profile.depth[profile.parent[i]] + 1, name);
      assert.ok(profile.parent[i] < i && i < profile.end[profile.parent[i]], name);
      let end = i + 1;
      while (end < profile.count && profile.depth[end] > profile.depth[i]) end++;
      assert.strictEqual(profile.end[i], end, name);
    }
    assert.strictEqual(profile.self.reduce((a, b) => a + b, 0), naive.sum(stacks), name);
  });
});

test("every frame of both trees has the weights of its stacks", () => {
  forEachTree((tree, stacks, { diff, name }) => {
    const nodes = nodesBelow(tree, 0);
    assert.deepStrictEqual(nodes.map((node) => pathTo(tree, node).join(naive.SEPARATOR)).sort(),
      ["", ...naive.paths(stacks).map((frames) => frames.join(naive.SEPARATOR))].sort(), name);
    for (const node of nodes) {
      const expected = naive.frameOf(stacks, pathTo(tree, node));
      assert.strictEqual(tree.total[node], expected.total, name);
      if (node > 0) assert.strictEqual(tree.self[node], expected.self, name);
      if (diff) assert.deepStrictEqual([tree.before[node], tree.after[node]], [expected.before, expected.after], name);
      assert.ok(tree.contains(tree.parent[node] < 0 ? 0 : tree.parent[node], node), name);
    }
  });
});

test("children are in the order that was chosen", () => {
  forEachTree((tree, stacks, { name }) => {
    for (const order of ["name", "width", "none"]) {
      tree.order = order;
      for (const node of nodesBelow(tree, 0)) {
        const kids = Array.from(tree.children(node));
        const by = { none: (a, b) => a - b, name: (a, b) => (tree.label(a) < tree.label(b) ? -1 : 1) };
        by.width = (a, b) => tree.total[b] - tree.total[a] || by.name(a, b);
        assert.deepStrictEqual(kids, [...kids].sort(by[order]), `${name}, ${order}`);
      }
    }
  });
});

test("siblings of one name stay separate in the order of time", () => {
  // main calls a, b, a: a flame chart, where each call is a frame.
  const json = { names: ["a", "b", "main"], nodes: [2, 0, 1, 0, 0, 4, 1, 1, 2, 0, 1, 3], leads: [0, 0.5, 0.5, 1] };
  const profile = core.loadProfile(json), tree = new core.ListedTree(profile, core.filterWeights(profile, []));
  const kids = Array.from(tree.children(1));
  assert.deepStrictEqual(kids.map((kid) => tree.label(kid)), ["a", "b", "a"]);
  assert.strictEqual(core.resolvePath(tree, core.pathOf(tree, kids[2])).node, kids[2]);
  assert.strictEqual(core.resolvePath(tree, core.pathOf(tree, kids[0])).node, kids[0]);
  const lay = core.layoutTree(tree, 0, 100, 0.5);
  const at = kids.map((kid) => lay.x[core.indexOfNode(lay, kid)]);
  assert.deepStrictEqual(at, [5, 45, 70]); // main itself runs before a, and before the second a
});

test("filters keep the stacks that the naive filter keeps", () => {
  forEachProfile((profile, stacks, { leafFirst }, name) => {
    for (const label of profile.names.slice(0, -1)) {
      const through = (stack) => stack.frames.includes(label);
      const expect = (filters, kept) => {
        const weights = core.filterWeights(profile, filters);
        const tree = new core.ListedTree(profile, weights);
        const found = nodesBelow(tree, 0).filter((node) => node > 0 && tree.self[node] > 0)
          .map((node) => pathTo(tree, node).join(naive.SEPARATOR));
        assert.deepStrictEqual(found.sort(),
          naive.turn(kept, leafFirst).map((stack) => stack.frames.join(naive.SEPARATOR)).sort(), name);
        assert.strictEqual(tree.total[0], naive.sum(kept), name);
        assert.strictEqual(new core.TurnedTree(profile, weights).total[0], naive.sum(kept), name);
      };
      expect([{ op: "keep", name: label }], stacks.filter(through));
      expect([{ op: "hide", name: label }], stacks.filter((stack) => !through(stack)));
      expect([{ op: "keep", name: label }, { op: "hide", name: "a" }],
        stacks.filter((stack) => through(stack) && !stack.frames.includes("a")));
    }
  });
});

test("a path is cut from the end that it begins at", () => {
  forEachTree((tree, stacks, { name }) => {
    for (const node of nodesBelow(tree, 0).slice(1)) {
      const path = (tree.leafFirst ? core.LEAF_FIRST : "") + core.pathOf(tree, node);
      const weights = core.filterWeights(tree.profile, [{ op: "cut", path }]);
      const names = pathTo(tree, node);
      const kept = stacks.filter(({ frames }) => !naive.startsWith(frames, names));
      assert.strictEqual(new core.ListedTree(tree.profile, weights).total[0], naive.sum(kept), `${name}: ${names}`);
    }
  });
});

test("a path in a link leads to its frame, or says that it is gone", () => {
  forEachTree((tree, stacks, { name }) => {
    for (const node of nodesBelow(tree, 0)) {
      const path = core.pathOf(tree, node);
      assert.deepStrictEqual({ ...core.resolvePath(tree, path) }, { node, whole: true }, name);
      assert.deepStrictEqual({ ...core.resolvePath(tree, path + "....") }, { node, whole: true }, name);
      assert.deepStrictEqual({ ...core.resolvePath(tree, path + "AAAA") }, { node, whole: false }, name);
    }
  });
});

test("functions have their weight in all stacks, recursion counted once", () => {
  forEachProfile((profile, stacks, form, name) => {
    const { total, self } = core.functionTotals(profile, core.filterWeights(profile, []));
    profile.names.slice(0, -1).forEach((label, id) => {
      assert.strictEqual(total[id], naive.sum(stacks.filter(({ frames }) => frames.includes(label))), name);
      assert.strictEqual(self[id], naive.sum(stacks.filter(({ frames }) => frames[frames.length - 1] === label)), name);
    });
  });
});

test("a search counts frames and the weight they cover, below any zoom", () => {
  forEachTree((tree, stacks, { name }) => {
    for (const term of ["a", "[ab]", "^b$", "x"]) {
      const { regex } = core.compileSearch(term, "smart");
      const flags = core.matchNames(tree.profile, regex);
      for (const node of nodesBelow(tree, 0)) {
        const found = core.measureMatches(tree, node, flags);
        const expected = naive.matchesBelow(stacks, pathTo(tree, node), (label) => regex.test(label));
        assert.deepStrictEqual([found.count, found.weight, found.exact], [expected.count, expected.weight, true],
          `${name}: ${term} below ${pathTo(tree, node)}`);
        assert.strictEqual(found.first >= 0, found.count > 0, name);
      }
    }
  });
});

test("terms of a search", () => {
  assert.strictEqual(core.compileSearch("", "smart"), null);
  assert.strictEqual(core.compileSearch("main", "smart").ignoreCase, true);
  assert.strictEqual(core.compileSearch("Main", "smart").ignoreCase, false);
  assert.strictEqual(core.compileSearch("\\Wmain", "smart").ignoreCase, true); // an escape, not a capital letter
  assert.strictEqual(core.compileSearch("Main", "ignore").ignoreCase, true);
  assert.strictEqual(core.compileSearch("main", "match").ignoreCase, false);
  assert.ok(core.compileSearch("(", "smart").error);
  const name = "operator()(int*) [a.b]/c\\d";
  assert.ok(new RegExp(`^${core.escapeRegex(name)}$`).test(name));
  const json = { names: ["long_name", "all"], shorts: ["brief"], short: [0, -1], nodes: [0, 0, 1] };
  const profile = core.loadProfile(json);
  assert.deepStrictEqual(Array.from(core.matchNames(profile, /brief|all/)), [1, 1, 0]); // the root is no function
});

/** The layout of a tree, and the nodes of it that are drawn. */
function checkLayout(tree, zoom, width, narrowest, name) {
  const lay = core.layoutTree(tree, zoom, width, narrowest);
  const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${name}: ${a} is not ${b}`);
  let hidden = 0;
  for (let j = 0; j < lay.node.length; j++) {
    const row = core.rowOf(lay, j), node = lay.node[j];
    assert.ok(lay.rowStart[row] <= j && j < lay.rowStart[row + 1], name);
    assert.ok(j === lay.rowStart[row] || lay.x[j] >= lay.x[j - 1] + lay.w[j - 1] - 1e-6, name); // no overlap
    assert.strictEqual(core.frameAt(lay, row, lay.x[j] + lay.w[j] / 2), j, name);
    hidden += lay.many[j];
    if (lay.many[j]) continue;
    assert.strictEqual(tree.depth[node], row, name);
    assert.strictEqual(core.indexOfNode(lay, node), j, name);
    if (row <= lay.zoomRow) near(lay.w[j], width);
    else near(lay.w[j], (tree.total[node] * width) / tree.total[zoom]);
    if (row <= lay.zoomRow) continue;
    const above = core.indexOfNode(lay, tree.parent[node]); // a frame lies within its caller
    assert.ok(above >= 0 && lay.x[j] >= lay.x[above] - 1e-6, name);
    assert.ok(lay.x[j] + lay.w[j] <= lay.x[above] + lay.w[above] + 1e-6, name);
  }
  assert.ok(hidden <= lay.notDrawn, name);
  return lay;
}

test("frames lie within their callers, as wide as their weight", () => {
  forEachTree((tree, stacks, { name }) => {
    for (const order of ["name", "width"]) {
      tree.order = order;
      for (const zoom of nodesBelow(tree, 0)) {
        const where = `${name}, ${order}, zoom ${pathTo(tree, zoom)}`;
        const lay = checkLayout(tree, zoom, 1000, 0.001, where);
        assert.strictEqual(lay.node.length, nodesBelow(tree, zoom).length + tree.depth[zoom], where);
        assert.strictEqual(lay.notDrawn, 0, where);
        checkLayout(tree, zoom, 200, 20, where);
      }
    }
  });
});

test("frames too narrow to draw are counted", () => {
  forEachTree((tree, stacks, { name }) => {
    const width = 200, narrowest = 20, lay = checkLayout(tree, 0, width, narrowest, name);
    const wide = nodesBelow(tree, 0).filter((node) => tree.total[node] * lay.scale >= narrowest);
    assert.deepStrictEqual(Array.from(lay.node).filter((_, j) => !lay.many[j]).sort((a, b) => a - b),
      wide.sort((a, b) => a - b), name);
    if (!tree.turned) assert.strictEqual(lay.notDrawn, nodesBelow(tree, 0).length - wide.length, name);
  });
});

test("nothing lies beside the frames", () => {
  const stacks = [{ frames: ["a"], weight: 3 }, { frames: ["a", "b"], weight: 1 }];
  const profile = core.loadProfile(naive.jsonOf(stacks));
  const tree = new core.ListedTree(profile, core.filterWeights(profile, []));
  const lay = core.layoutTree(tree, 0, 100, 0.5);
  assert.strictEqual(lay.rows, 3);
  assert.strictEqual(core.frameAt(lay, 2, 24), core.indexOfNode(lay, nodeAt(tree, ["a", "b"])));
  for (const [row, x] of [[2, 26], [-1, 10], [3, 10], [0, -1], [0, 100]])
    assert.strictEqual(core.frameAt(lay, row, x), -1, `row ${row}, ${x}`);
  assert.strictEqual(core.indexOfNode(lay, -1), -1);
  assert.strictEqual(core.minimumWidth({ minwidth: 1, minwidthPercent: true }, 1200), 12);
  assert.strictEqual(core.minimumWidth({ minwidth: 0.1 }, 1200), 0.5);
});

test("an empty profile has a root", () => {
  const profile = core.loadProfile({ names: [], nodes: [] }), weights = core.filterWeights(profile, []);
  for (const Kind of [core.ListedTree, core.TurnedTree]) {
    const tree = new Kind(profile, weights);
    assert.strictEqual(tree.total[0], 0);
    assert.strictEqual(tree.children(0).length, 0);
    assert.strictEqual(core.layoutTree(tree, 0, 100, 0.5).node.length, 1);
  }
});

test("the root is as wide as the total that the file states", () => {
  const json = { ...naive.jsonOf([{ frames: ["a"], weight: 4 }]), total: 10 }, profile = core.loadProfile(json);
  for (const Kind of [core.ListedTree, core.TurnedTree]) {
    assert.strictEqual(new Kind(profile, core.filterWeights(profile, [])).total[0], 10);
    assert.strictEqual(new Kind(profile, core.filterWeights(profile, [{ op: "hide", name: "x" }])).total[0], 4);
  }
});

test("the largest change of a differential profile", () => {
  forEachTree((tree, stacks, { diff, name }) => {
    if (!diff) return;
    const nodes = tree.turned ? Array.from(tree.children(0)) : nodesBelow(tree, 0).slice(1);
    const changes = nodes.map((node) => {
      const { before, after } = naive.frameOf(stacks, pathTo(tree, node));
      return Math.abs(after - before);
    });
    assert.strictEqual(tree.maxDelta, Math.max(0, ...changes), name);
  });
});

test("numbers in the unit of the profile", () => {
  const samples = core.numberWriter({}), bytes = core.numberWriter({ countname: "bytes" });
  const times = core.numberWriter({ countname: "ns" }), tenths = core.numberWriter({ decimals: 1, factor: 1 });
  assert.strictEqual(samples.amount(1), "1 sample");
  assert.strictEqual(samples.amount(1234567), "1,234,567 samples");
  assert.strictEqual(bytes.amount(1), "1 byte");
  assert.strictEqual(bytes.amount(1536), "1.50 KiB");
  assert.strictEqual(times.amount(999), "999 ns");
  assert.strictEqual(times.amount(2500000), "2.50 ms");
  assert.strictEqual(times.amount(9e12), "9000.00 s");
  assert.strictEqual(tenths.plain(15), "1.5");
  assert.strictEqual(core.percent(1, 3), "33.33%");
  assert.strictEqual(core.percent(1, 1e9), "<0.01%");
  assert.strictEqual(core.percent(1, 0), "0.00%");
  assert.strictEqual(core.plural(1, "frame"), "1 frame");
  assert.strictEqual(core.plural(1000, "frame"), "1,000 frames");
  assert.strictEqual(core.signed("5", 5), "+5");
  assert.strictEqual(core.signed("-5", -5), "\u22125");
  assert.strictEqual(core.lookUp(["x"], [0, -1], 0) + core.lookUp(["x"], [0, -1], 1) + core.lookUp(null, null, 0), "x");
});

let failed = 0;
tests.forEach(({ name, body }, i) => {
  try {
    body();
    console.log(`ok ${i + 1} - ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${i + 1} - ${name}\n${String(error.stack).replace(/^/gm, "# ")}`);
  }
});
console.log(`1..${tests.length}`);
process.exitCode = failed ? 1 : 0;
