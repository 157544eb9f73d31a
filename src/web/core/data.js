/*
 * data.js: the profile as columns, and how its numbers are written.
 *
 * The scripts in this folder are concatenated, in the order the Makefile lists them, inside one function
 * (`(() => { "use strict"; … })();`), so what one file declares the next ones see and nothing leaks into the page.
 *
 * The data is the JSON in <script id="wick-data">. Its "nodes" are a call tree in preorder: name, up, self (and a
 * second self in a differential profile), where `up` says how many levels to leave before hanging the node. Here
 * they become typed arrays; node 0 is the root "all", a node's descendants are the nodes i+1 … end[i]-1, and every
 * node with a weight of its own is one stack of the profile.
 */

const ROOT_LABEL = "all";

/** Unpacks the parsed JSON. The result is never written to again; filters and views derive from it. */
function loadProfile(json) {
  const stride = json.diff ? 4 : 3;
  const list = json.nodes || [];
  const count = Math.floor(list.length / stride) + 1;
  const profile = {
    json,
    count,
    diff: Boolean(json.diff),
    leafFirst: Boolean(json.options && json.options.reverse), // the stacks are listed from their leaves
    names: (json.names || []).concat(ROOT_LABEL),
    shortName: (id) => lookUp(json.shorts, json.short, id), // "" where the name has no shorter form
    name: new Int32Array(count),
    parent: new Int32Array(count),
    depth: new Int32Array(count),
    end: new Int32Array(count),
    // Weight of each node alone. `self` is what the frame's width counts; in a differential profile it is the
    // larger of the two, so that a frame that vanished or is new still has a width.
    self: new Float64Array(count),
    before: null,
    after: null,
    // In a flame chart: how much of its caller's own time came before a node (index 0 is the root).
    lead: json.leads ? Float64Array.from([0].concat(json.leads)) : null,
  };
  if (profile.diff) {
    profile.before = new Float64Array(count);
    profile.after = new Float64Array(count);
  }
  profile.rootName = profile.names.length - 1;
  unpackNodes(profile, list, stride);
  return profile;
}

function unpackNodes(profile, list, stride) {
  const { name, parent, depth, end, self, before, after } = profile;
  const open = [0]; // open[d]: the node now open at depth d
  let level = 0;
  name[0] = profile.rootName;
  parent[0] = -1;
  for (let i = 1, k = 0; i < profile.count; i++, k += stride) {
    level = Math.max(1, level - list[k + 1] + 1);
    name[i] = list[k];
    parent[i] = open[level - 1];
    depth[i] = level;
    open[level] = i;
    if (profile.diff) {
      before[i] = list[k + 2];
      after[i] = list[k + 3];
      self[i] = Math.max(before[i], after[i]);
    } else {
      self[i] = list[k + 2];
    }
  }
  for (let i = profile.count - 1; i >= 0; i--) {
    if (end[i] === 0) end[i] = i + 1;
    if (i > 0 && end[parent[i]] < end[i]) end[parent[i]] = end[i];
  }
}

/** A column of per-name indices ("module", "file", "kinds") looked up in its table, or "" when unknown. */
function lookUp(table, column, nameId) {
  const index = column ? column[nameId] : -1;
  return index >= 0 && table && table[index] !== undefined ? table[index] : "";
}

/* ---- numbers ---- */

const HUMAN_UNITS = [
  [/^bytes?$/i, 1024, ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]],
  [/^(ns|nanoseconds?)$/i, 1000, ["ns", "µs", "ms", "s"]],
  [/^(us|µs|microseconds?)$/i, 1000, ["µs", "ms", "s"]],
  [/^(ms|milliseconds?)$/i, 1000, ["ms", "s"]],
];

/** Writes weights the way the profile counts them: numbers("samples") style closures bound to one profile. */
function numberWriter(json) {
  const decimals = json.decimals || 0;
  const scale = (json.factor || 1) / Math.pow(10, decimals);
  const format = new Intl.NumberFormat("en-US", { maximumFractionDigits: decimals });
  const unit = json.countname || "samples";
  const human = HUMAN_UNITS.find(([pattern]) => pattern.test(unit));

  const count = (weight) => format.format(weight * scale);
  const plain = (weight) => String(+(weight * scale).toFixed(decimals)); // for folded lines
  const inUnits = (weight) => {
    const value = weight * scale;
    if (!human || Math.abs(value) < human[1]) return "";
    let v = value, step = 0;
    while (Math.abs(v) >= human[1] && step + 1 < human[2].length) {
      v /= human[1];
      step++;
    }
    return v.toFixed(2) + " " + human[2][step];
  };
  const single = /^(samples|faults|bytes)$/.test(unit) ? unit.slice(0, -1) : unit;
  const counted = (text) => text + " " + (text === "1" ? single : unit);
  const amount = (weight) => inUnits(weight) || counted(count(weight));
  return { count, plain, inUnits, amount, unit };
}

function percent(part, whole) {
  if (!(whole > 0)) return "0.00%";
  const value = (100 * part) / whole;
  return part > 0 && value < 0.01 ? "<0.01%" : value.toFixed(2) + "%";
}

function signed(text, value) {
  return value > 0 ? "+" + text : text.replace(/^-/, "\u2212");
}

const integer = new Intl.NumberFormat("en-US");

function plural(count, noun) {
  return integer.format(count) + " " + noun + (count === 1 ? "" : "s");
}
