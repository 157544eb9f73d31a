/*
 * panel.js: below the graph: the details of the frame pointed at or selected, the legend, and the quality line.
 */

class Panel {
  constructor(app) {
    this.app = app;
    this.name = html("div", { class: "name" });
    this.facts = html("dl", { class: "facts" });
    this.actions = html("div", { class: "actions", role: "group", "aria-label": "Selected frame" });
    this.actions.append(...this.makeActions());
    this.details = html("section", { class: "details", id: "details", "aria-label": "Frame details" },
      html("div", { class: "headline" }, this.name, this.actions), this.facts);
    this.legend = html("div", { class: "legend", id: "legend", role: "list", "aria-label": "Colors" });
    this.narrow = html("span", { class: "narrow", id: "narrow" });
    this.quality = html("span", { class: "quality", id: "quality" }, (app.profile.json.quality || {}).text || "");
    this.quality.title = (app.profile.json.quality || {}).advice || "";
    this.element = html("div", { class: "under" }, this.details, this.legend,
      html("footer", { class: "foot" }, this.quality, this.narrow));
    this.spoken = html("div", { class: "spoken", role: "status", "aria-live": "polite" });
  }

  makeActions() {
    const { app } = this;
    const make = (verb, text, label, key) =>
      button({ label, text, symbol: verb, key, act: () => app.act(verb, app.selected) });
    return [
      make("zoom", "Zoom", "Zoom into this frame", "Enter"),
      make("keep", "Keep", "Keep only stacks through this function", "K"),
      make("hide", "Hide", "Hide all stacks through this function", "X"),
      make("copy", "Copy", "Copy the name", "C"),
    ];
  }

  /** Shows a frame; -1 shows what is zoomed. */
  describe(index) {
    const { app } = this;
    const { lay, tree } = app;
    if (index >= 0 && lay.many[index]) {
      this.describeBlock(index);
      return;
    }
    const node = index < 0 ? app.zoom : lay.node[index];
    refill(this.name, tree.label(node), this.makeLink(app.linkOf(node)));
    refill(this.facts, ...factsOf(app, node).map(writeFact));
  }

  makeLink(link) {
    if (!link) return null;
    const { href, target } = link;
    return html("a", { href, target, rel: "noopener", class: "href", title: href }, icon("link"), "open");
  }

  describeBlock(index) {
    const { lay, tree, numbers } = this.app;
    const weight = lay.w[index] / lay.scale;
    refill(this.name, plural(lay.many[index], "frame") + " too narrow to draw");
    refill(this.facts, ...[
      ["together", numbers.amount(weight), percent(weight, tree.total[0])],
      [tree.leafFirst ? "calling" : "called by", tree.label(lay.node[index]), ""],
    ].map(writeFact));
  }

  update() {
    const { app } = this;
    for (const action of this.actions.children) action.disabled = app.selected < 0;
    const rows = app.painter.legend();
    this.legend.hidden = !app.state.legend || rows.length === 0;
    app.toolbar.tools.legend.disabled = rows.length === 0;
    refill(this.legend, ...rows.map(([label, color]) => {
      const swatch = html("i", {});
      swatch.style.background = color;
      return html("span", { class: "key", role: "listitem" }, swatch, label);
    }));
    this.narrow.textContent = this.narrowText();
  }

  narrowText() {
    const { lay, profile, numbers, tree } = this.app;
    const parts = [];
    if (lay.notDrawn > 0) {
      const atLeast = tree.size ? "" : "at least ";
      const width = +lay.narrowest.toFixed(2);
      parts.push(`${atLeast}${plural(lay.notDrawn, "frame")} narrower than ${width} px not drawn; zoom in to see them`);
    }
    const folded = profile.json.folded;
    if (folded && folded.nodes > 0)
      parts.push(`${plural(folded.nodes, "frame")} (${numbers.amount(folded.weight)}) folded into their callers ` +
        "when this file was written");
    return parts.join(" \u00b7 ");
  }

  speak(text) {
    this.spoken.textContent = text;
  }
}

/* ---- facts about a frame: [term, value, share of the whole, tooltip]; without a share the value may be cut ---- */

function writeFact([term, value, share, tip]) {
  return html("div", { title: tip || value, class: share ? null : "long" }, html("dt", {}, term),
    html("dd", {}, value, share ? html("span", { class: "share" }, share) : null));
}

function factsOf(app, node) {
  const { tree, profile, numbers, zoom } = app;
  const { json } = profile;
  const nameId = tree.name[node];
  const facts = profile.diff ? changeFacts(app, node) : weightFacts(app, node);
  if (node === 0 && app.weights.filtered)
    facts.push(["after filters", percent(tree.total[0], app.profileTotal), "of the profile"]);
  if (zoom > 0 && node !== zoom && tree.contains(zoom, node))
    facts.push(["of zoomed", percent(tree.total[node], tree.total[zoom]), " "]);
  if (node !== 0) {
    const { total, self } = app.functionTotals();
    facts.push(["function", percent(total[nameId], tree.total[0]), "self " + percent(self[nameId], tree.total[0]),
      `This function in all stacks: ${numbers.amount(total[nameId])} including callees, ` +
      `${numbers.amount(self[nameId])} self`]);
  }
  const module = lookUp(json.modules, json.module, nameId);
  const file = lookUp(json.files, json.file, nameId);
  const kind = node === 0 ? "" : lookUp(json.kindNames, json.kinds, nameId);
  if (module) facts.push(["module", module, ""]);
  if (file) facts.push(["source", file, ""]);
  if (kind && kind !== "native") facts.push(["kind", kind, ""]);
  return facts;
}

function weightFacts({ tree, numbers }, node) {
  const exact = (weight) => numbers.count(weight) + " " + numbers.unit;
  const fact = (term, weight, tip) =>
    [term, numbers.inUnits(weight) || exact(weight), percent(weight, tree.total[0]), tip + ": " + exact(weight)];
  const own = tree.leafFirst ? "Stacks that start here" : "Spent in this frame itself";
  return [
    fact("total", tree.total[node], "This frame and its " + (tree.leafFirst ? "callers" : "callees")),
    fact("self", tree.self[node], own),
  ];
}

function changeFacts({ tree, numbers, profile }, node) {
  const [before, after] = profile.json.diffNames || ["before", "after"];
  const b = tree.before[node], a = tree.after[node];
  const shareBefore = tree.before[0] > 0 ? (100 * b) / tree.before[0] : 0;
  const shareAfter = tree.after[0] > 0 ? (100 * a) / tree.after[0] : 0;
  const points = shareAfter - shareBefore;
  const growth = b > 0 ? ` (${signed(((100 * (a - b)) / b).toFixed(1), a - b)}%)` : a > 0 ? " (new)" : "";
  return [
    [before, numbers.amount(b), shareBefore.toFixed(2) + "%"],
    [after, numbers.amount(a), shareAfter.toFixed(2) + "%"],
    ["change", signed(numbers.amount(a - b), a - b) + growth, signed(points.toFixed(2), points) + " points"],
  ];
}

/** One line for tooltips and screen readers, in the words of the static picture. */
function sentenceOf(app, node) {
  const { tree, numbers, profile } = app;
  const weight = profile.diff ? tree.after[node] : tree.total[node];
  const whole = profile.diff ? tree.after[0] : tree.total[0];
  const change = profile.diff ? ", change " + changeFacts(app, node)[2][1] : "";
  return `${numbers.count(weight)} ${numbers.unit}, ${percent(weight, whole)}${change}`;
}
