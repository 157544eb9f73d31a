/*
 * state.js: what is on show, in the address and in the browser's history.
 *
 * The state is a plain object; what differs from the file's own options is written behind the '#', so a copied
 * address opens the same view and the browser's back button is the undo. Pages from file:// may change nothing of
 * their address but this part, which is why there are no query parameters. Tests look at the state through window.wick.
 */

function defaultState(options) {
  return {
    zoom: "", // path of the zoomed frame, see tree.js
    search: "",
    match: "smart", // or "ignore", "match"
    reverse: Boolean(options.reverse),
    inverted: Boolean(options.inverted),
    sort: options.flamechart ? "none" : options.sort || "name",
    filters: [],
    theme: options.theme || "auto",
    colors: "default", // or "safe"
    legend: true,
  };
}

function writeHash(state, defaults) {
  const parts = [];
  const put = (key, value) => parts.push(key + "=" + encodeURIComponent(value));
  if (state.reverse !== defaults.reverse) put("reverse", state.reverse ? 1 : 0);
  if (state.inverted !== defaults.inverted) put("icicle", state.inverted ? 1 : 0);
  for (const key of ["sort", "search", "match", "theme", "colors"])
    if (state[key] !== defaults[key]) put(key, state[key]);
  for (const filter of state.filters) put(filter.op, filter.op === "cut" ? filter.path : filter.name);
  if (state.zoom) put("zoom", state.zoom);
  if (state.legend !== defaults.legend) put("legend", state.legend ? 1 : 0);
  return parts.join("&");
}

const CHOICES = {
  sort: ["name", "width", "none"],
  match: ["smart", "ignore", "match"],
  theme: ["auto", "light", "dark"],
  colors: ["default", "safe"],
};

/** Reads what writeHash wrote; parts that make no sense (an edited or foreign address) are left out. */
function readHash(hash, defaults) {
  const state = { ...defaults, filters: [] };
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at < 0) continue;
    const key = part.slice(0, at), value = decoded(part.slice(at + 1));
    if (value === null) continue;
    if (key === "reverse") state.reverse = value === "1";
    else if (key === "icicle") state.inverted = value === "1";
    else if (key === "legend") state.legend = value === "1";
    else if (key === "search" || key === "zoom") state[key] = value;
    else if (key in CHOICES && CHOICES[key].includes(value)) state[key] = value;
    else if (key === "hide" || key === "keep") state.filters.push({ op: key, name: value });
    else if (key === "cut") state.filters.push({ op: key, path: value });
  }
  return state;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (_) {
    return null;
  }
}

/** Records states in the browser's history and reports when the reader goes back or forward. */
class Past {
  constructor(onVisit) {
    this.depth = (history.state && history.state.wick) || 0;
    this.deepest = this.depth;
    this.write("replaceState", location.hash.replace(/^#/, ""), this.depth);
    const visit = () => {
      this.depth = (history.state && history.state.wick) || 0;
      onVisit(location.hash);
    };
    window.addEventListener("popstate", visit);
    window.addEventListener("hashchange", visit);
  }

  push(hash) {
    if (hash === location.hash.replace(/^#/, "")) return;
    this.depth++;
    this.deepest = this.depth;
    this.write("pushState", hash, this.depth);
  }

  replace(hash) {
    this.write("replaceState", hash, this.depth);
  }

  write(method, hash, depth) {
    try {
      const same = hash === location.hash.replace(/^#/, "");
      history[method]({ wick: depth }, "", same ? undefined : "#" + hash);
    } catch (_) {
      // Some embeddings (data: addresses, sandboxed frames) forbid it; the view works without.
      this.depth = this.deepest = 0;
    }
  }

  get canUndo() {
    return this.depth > 0;
  }

  get canRedo() {
    return this.depth < this.deepest;
  }

  undo() {
    if (this.canUndo) history.back();
  }

  redo() {
    if (this.canRedo) history.forward();
  }
}

/* ---- a window for tests ---- */

/** window.wick: {state(), visible(), find(name), layout()}. Read-only: what it returns are copies. */
function windowFor(app) {
  const all = () => app.lay.node.map((_, index) => frameInfo(app, index));
  return Object.freeze({
    state: () => stateInfo(app),
    visible: all,
    find: (name) => all().filter((frame) => frame.name === name),
    layout: () => {
      const { width, rows, node, notDrawn } = app.lay;
      return { width, rows, frames: node.length, notDrawn, elements: app.stage.inTree };
    },
  });
}

function stateInfo(app) {
  const { tree, zoom, selected, found } = app;
  return {
    ...JSON.parse(JSON.stringify(app.state)),
    theme: app.theme,
    total: tree.total[0],
    zoomed: zoom > 0 ? tree.label(zoom) : null,
    selected: selected >= 0 ? tree.label(selected) : null,
    found: found && { count: found.count, percent: (100 * found.weight) / found.whole, error: found.error },
  };
}

/** One frame of the layout, its box in window coordinates; no name means a block of frames too narrow to draw. */
function frameInfo(app, index) {
  const { lay, tree } = app;
  const node = lay.node[index], many = lay.many[index], role = app.roleOf(index);
  const info = {
    name: many ? null : tree.label(node),
    many,
    row: rowOf(lay, index),
    total: many ? lay.w[index] / lay.scale : tree.total[node],
    self: many ? 0 : tree.self[node],
    percent: (100 * lay.w[index]) / lay.width,
    role,
    fill: app.painter.paint(node, role).fill,
    stack: many ? null : tree.chain(node).slice(1).map((step) => tree.label(step)),
    ...app.stage.box(index),
  };
  if (app.profile.diff) Object.assign(info, { before: tree.before[node], after: tree.after[node] });
  return info;
}
