// Writes an SVG per contract from folded lines. node fixture.js OUT.svg < folded  (temporary)
"use strict";
const fs = require("fs"), path = require("path");
const WEB = path.join(__dirname, "../../src/web");
const ORDER = ["data", "tree", "search", "layout", "color", "labels", "stage", "state", "widgets", "toolbar", "panel", "popups", "flame"];
const xml = (s) => s.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
function script() {
  return '(() => {\n"use strict";\n' + ORDER.map((f) => fs.readFileSync(path.join(WEB, f + ".js"), "utf8")).join("\n") + "})();\n";
}
function parse(folded, diff) {
  const root = { kids: new Map(), self: 0, self2: 0 };
  for (const line of folded.split("\n")) {
    const m = diff ? /^(.*) (\d+) (\d+)$/.exec(line) : /^(.*) (\d+)$/.exec(line);
    if (!m) continue;
    let n = root;
    for (const f of m[1].split(";")) { if (!n.kids.has(f)) n.kids.set(f, { kids: new Map(), self: 0, self2: 0 }); n = n.kids.get(f); }
    n.self += +m[2]; if (diff) n.self2 += +m[3];
  }
  return root;
}
function hash(s) { let h = 2166136261; for (const c of s) h = Math.imul(h ^ c.codePointAt(0), 16777619); return (h >>> 8) / 0xffffff; }
const KINDS = ["native", "kernel", "inlined", "jit", "python", "thread", "unknown"];
const HUE = { native: 28, kernel: 12, inlined: 190, jit: 130, python: 50, thread: 220, unknown: 0 };
const CB = ["#E69F00", "#D55E00", "#56B4E9", "#009E73", "#F0E442", "#999999", "#CCCCCC"];
function hsl(h, s, l) { const f = (n) => { const k = (n + h / 30) % 12; const a = s * Math.min(l, 1 - l); return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1)))).toString(16).padStart(2, "0"); }; return "#" + f(0) + f(8) + f(4); }
function make(folded, o = {}) {
  const root = parse(folded, o.diff), ids = new Map(), names = [], kinds = [], colors = [], cb = [], nodes = [];
  const idOf = (raw) => {
    if (ids.has(raw)) return ids.get(raw);
    const label = raw.replace(/_\[[kij]\]$/, "");
    const kind = /_\[k\]$/.test(raw) ? 1 : /_\[i\]$/.test(raw) ? 2 : /_\[j\]$/.test(raw) || /^L?(java|org|io|sun)\//.test(raw) ? 3 : /^\[/.test(raw) ? 6 : 0;
    const r = hash(label);
    ids.set(raw, names.length); names.push(label); kinds.push(kind);
    colors.push(hsl(HUE[KINDS[kind]] + (r - .5) * 26, kind === 6 ? 0 : .78, .6 + (hash(label + "l") - .5) * .16));
    cb.push(CB[kind]);
    return names.length - 1;
  };
  let prev = 0, total = 0;
  const walk = (n, depth) => { for (const [k, c] of [...n.kids].sort((a, b) => (a[0] < b[0] ? -1 : 1))) {
    nodes.push(idOf(k), prev - depth, c.self); if (o.diff) nodes.push(c.self2); total += o.diff ? Math.max(c.self, c.self2) : c.self; prev = depth + 1; walk(c, depth + 1); } };
  walk(root, 0);
  const data = { version: 1, title: o.title || "Flame Graph", subtitle: o.subtitle || "", notes: "", countname: "samples", nametype: "Function:", factor: 1, decimals: 0, total,
    options: Object.assign({ minwidth: 0.1, minwidthPercent: false, inverted: false, reverse: false, flamechart: false, sort: "name", truncateRight: false, negate: false, fontwidth: 0.59, frameheight: 18, fontsize: 12, colordiffusion: false, theme: "auto", width: 0 }, o.options),
    names, colors, cbcolors: cb, kinds, kindNames: KINDS, modules: ["libc.so.6", "vmlinux", "app"], module: names.map((n, i) => kinds[i] === 1 ? 1 : hash(n) > .6 ? 0 : hash(n) > .3 ? 2 : -1), files: ["src/server.c:120"], file: names.map((n) => hash(n) > .8 ? 0 : -1),
    attrs: o.attrs, legend: [["user", "#ee9c4d"], ["kernel", "#e8693f"], ["inlined", "#5bb8c9"], ["JIT", "#63cc75"]], cblegend: [["user", CB[0]], ["kernel", CB[1]], ["inlined", CB[2]], ["JIT", CB[3]]],
    nodes, diff: Boolean(o.diff), diffNames: o.diff ? ["before", "after"] : undefined, diffNoise: o.noise && names.map((n) => o.noise.includes(n) ? 1 : 0), folded: { nodes: 0, weight: 0 },
    quality: { samples: total, lost: 0, truncated: 0, unresolved: 12, badLines: 0, text: o.quality || total.toLocaleString("en-US") + " samples · 0 lost · 12 unresolved frames" } };
  const json = JSON.stringify(data).replace(/]]>/g, "]]\\u003e");
  const css = fs.readFileSync(path.join(WEB, "flame.css"), "utf8");
  return `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<svg version="1.1" id="wick" width="1200" height="400" viewBox="0 0 1200 400" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" aria-label="${xml(data.title)}">
<style><![CDATA[:root{--wick-fontsize:12px;--wick-frame-height:18px;--wick-bg1:#ffffff;--wick-bg2:#f6f7f9;--wick-search:#d81bd8;--wick-stroke:none}
${css}]]></style>
<rect id="bg" width="100%" height="100%" fill="#fff"/>
<text id="title" x="600" y="24" text-anchor="middle">${xml(data.title)}</text><text id="subtitle" x="600" y="40" text-anchor="middle">${xml(data.subtitle)}</text>
<g id="frames"><g><title>all (${total} samples, 100%)</title><rect x="10" y="360" width="1180" height="17" fill="#d6dae0" rx="2"/><text x="13" y="372">all</text></g></g>
<text id="quality" x="10" y="394">${xml(data.quality.text)}</text>
<script type="application/json" id="wick-data"><![CDATA[${json}]]></script>
<script type="text/ecmascript"><![CDATA[${script()}]]></script>
</svg>
`;
}
module.exports = { make };
if (require.main === module) fs.writeFileSync(process.argv[2], make(fs.readFileSync(0, "utf8"), JSON.parse(process.argv[3] || "{}")));
