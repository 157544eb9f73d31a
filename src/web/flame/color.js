/*
 * color.js: the fill of a frame and a label colour that can be read on it.
 *
 * The profile brings one colour per name (and one of a colour-blind-safe palette). The dark theme takes them down a
 * little; frames that do not match a search, and the callers of a zoomed frame, step back towards the background.
 */

const parsedColors = new Map();

function parseColor(text) {
  let rgb = parsedColors.get(text);
  if (rgb) return rgb;
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text || "");
  const list = /^rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)/i.exec(text || "");
  if (hex) {
    const digits = hex[1].length === 3 ? hex[1].replace(/./g, "$&$&") : hex[1];
    rgb = [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
  } else {
    rgb = list ? list.slice(1, 4).map(Number) : [205, 209, 215];
  }
  parsedColors.set(text, rgb);
  return rgb;
}

const writeRgb = (rgb) => "rgb(" + rgb.map(Math.round).join(",") + ")";
const blend = (a, b, share) => a.map((v, i) => v + (b[i] - v) * share);

function luminance(rgb) {
  const [r, g, b] = rgb.map((v) => {
    v /= 255;
    return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Class of a label: "l" (light) or "" (dark), whichever has the better contrast on the fill. */
function inkOn(rgb) {
  const l = luminance(rgb);
  return (l + 0.05) / 0.058 >= 1.05 / (l + 0.05) ? "" : "l";
}

const BACKDROP = { light: [255, 255, 255], dark: [21, 23, 27] };
const ROOT_COLOR = { light: [214, 218, 224], dark: [62, 67, 76] };
const BLOCK_COLOR = { light: [196, 200, 207], dark: [78, 84, 94] };
const DARKEN = 0.16; // how far the dark theme takes a colour towards its background
const STEP_BACK = 0.62; // … and a frame that is not what the reader is looking at

const ROLES = ["frame", "match", "other", "caller", "block"];

/**
 * Colours for one theme and palette; paint(node, role) answers {fill, ink, coarse}.
 * Roles: "frame", "match", "other" (a search is on and this frame does not match), "caller" (above the zoom), "block".
 */
class Painter {
  constructor(profile, { theme, safe, searchColor }) {
    this.profile = profile;
    this.theme = theme;
    this.safe = safe;
    this.searchColor = parseColor(searchColor);
    this.byName = (safe && profile.json.cbcolors) || profile.json.colors || [];
    this.mode = profile.diff ? "diff" : profile.json.options.colordiffusion ? "share" : "name";
  }

  setTree(tree) {
    // Colours by name outlive the tree, colours by weight do not.
    if (this.tree !== tree && (!this.cache || this.mode !== "name")) this.cache = ROLES.map(() => []);
    this.tree = tree;
  }

  paint(node, role) {
    const known = this.cache[ROLES.indexOf(role)];
    const key = role === "match" || role === "block" ? 0 : this.mode === "name" ? this.tree.name[node] : node;
    return known[key] || (known[key] = this.mix(node, role));
  }

  mix(node, role) {
    let rgb = this.baseColor(node, role);
    if (role === "other" || role === "caller") rgb = blend(rgb, BACKDROP[this.theme], STEP_BACK);
    // Slivers are too small to tell nearby colours apart, and each colour among them costs an element.
    const coarse = writeRgb(rgb.map((v) => Math.min(255, Math.round(v / 24) * 24)));
    return { fill: writeRgb(rgb), ink: inkOn(rgb), coarse };
  }

  baseColor(node, role) {
    if (role === "match") return this.searchColor;
    if (role === "block") return BLOCK_COLOR[this.theme];
    if (node === 0) return ROOT_COLOR[this.theme];
    if (this.mode === "diff") return this.changeColor(node);
    if (this.mode === "share") return this.shareColor(node);
    return this.themed(parseColor(this.byName[this.tree.name[node]]));
  }

  themed(rgb) {
    return this.theme === "dark" ? blend(rgb, BACKDROP.dark, DARKEN) : rgb;
  }

  /** Red for growth, blue for shrinkage, paler the smaller the change of the inclusive weight. */
  changeColor(node) {
    const { tree, profile } = this;
    const noise = profile.json.diffNoise;
    let delta = tree.after[node] - tree.before[node];
    if (profile.json.options.negate) delta = -delta;
    if (noise && noise[tree.name[node]]) return this.noiseColor();
    return this.change(delta, tree.maxDelta);
  }

  change(delta, max) {
    return this.theme === "dark" ? darkChangeRgb(delta, max, this.safe) : changeRgb(delta, max, this.safe);
  }

  noiseColor() {
    return this.theme === "dark" ? [112, 117, 125] : [200, 200, 200];
  }

  /** The wider, the redder; the root of the share keeps middling frames visible (50% is already a lot). */
  shareColor(node) {
    const share = Math.sqrt(this.tree.total[node] / this.tree.total[0]);
    return this.change(share, 1);
  }

  /** Legend rows: [label, colour]. */
  legend() {
    const { legend, cblegend } = this.profile.json;
    const named = (this.safe && cblegend) || legend || [];
    const rows = {
      diff: () => this.diffLegend(),
      share: () => [["narrow", this.change(0.1, 1)], ["wide", this.change(1, 1)]],
      name: () => named.map(([label, color]) => [label, this.themed(parseColor(color))]),
    }[this.mode]();
    return rows.map(([label, rgb]) => [label, writeRgb(rgb)]);
  }

  diffLegend() {
    const [before, after] = this.profile.json.diffNames || ["before", "after"];
    const way = this.profile.json.options.negate ? -1 : 1;
    const rows = [
      ["more in " + after, this.change(way, 1)],
      ["more in " + before, this.change(-way, 1)],
      ["the same", this.change(0, 1)],
    ];
    if (this.profile.json.diffNoise) rows.push(["within noise", this.noiseColor()]);
    return rows;
  }
}

const SAFE_MORE = [213, 94, 0], SAFE_LESS = [0, 114, 178], UNCHANGED = [250, 250, 250];

function changeRgb(delta, max, safe) {
  if (delta === 0 || !(max > 0)) return UNCHANGED;
  const scale = Math.min(1, Math.abs(delta) / max);
  if (safe) return blend([240, 240, 240], delta > 0 ? SAFE_MORE : SAFE_LESS, 0.15 + 0.85 * scale);
  const rest = Math.trunc(210 * (1 - scale));
  return delta > 0 ? [255, rest, rest] : [rest, rest, 255];
}

const DARK_UNCHANGED = [70, 75, 84], DARK_MORE = [240, 72, 66], DARK_LESS = [86, 132, 255];

/** On a dark ground no change is dark: near-white frames would shout loudest where nothing happened. */
function darkChangeRgb(delta, max, safe) {
  if (delta === 0 || !(max > 0)) return DARK_UNCHANGED;
  const [more, less] = safe ? [[230, 120, 20], [60, 160, 230]] : [DARK_MORE, DARK_LESS];
  return blend(DARK_UNCHANGED, delta > 0 ? more : less, 0.15 + 0.85 * Math.min(1, Math.abs(delta) / max));
}
