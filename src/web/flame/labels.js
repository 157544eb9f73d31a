/*
 * labels.js: how much of a name fits into a frame.
 */

/** Widths of text in one font, summed from cached character widths: exact enough, and no layout per label. */
class TextMeter {
  constructor(font, fallbackWidth) {
    const context = document.createElementNS(XHTML_NS, "canvas").getContext("2d");
    if (context) context.font = font;
    this.context = context;
    this.fallbackWidth = fallbackWidth;
    this.widths = new Map();
  }

  character(ch) {
    let width = this.widths.get(ch);
    if (width === undefined) {
      width = this.context ? this.context.measureText(ch).width : this.fallbackWidth;
      this.widths.set(ch, width);
    }
    return width;
  }

  text(text) {
    let width = 0;
    for (const ch of text) width += this.character(ch);
    return width;
  }
}

const ELLIPSIS = "\u2026";
const FEWEST_PIXELS = 14; // below this not even a short name fits
const FEWEST_LETTERS = 3; // what is left of a cut name must still say something

/**
 * Cuts names to the room there is. A name that has a short form is replaced by that first. Then a long qualified name
 * loses its outer qualifiers, because "…FnOnce::call_once" says more than "core::ops::fun…"; what is still too long
 * loses its right end. With `rightOnly` (the option --truncate-text-right) only the right end is ever cut.
 */
class Labeler {
  constructor(meter, profile, rightOnly) {
    this.meter = meter;
    this.names = profile.names;
    this.shortName = profile.shortName;
    this.rightOnly = rightOnly;
    this.full = new Float32Array(profile.names.length).fill(-1);
    this.dots = meter.text(ELLIPSIS);
  }

  fit(nameId, room) {
    if (room < FEWEST_PIXELS) return "";
    let text = this.names[nameId];
    if (this.full[nameId] < 0) this.full[nameId] = this.meter.text(text);
    if (this.full[nameId] <= room) return text;
    const short = this.shortName(nameId);
    if (short && this.meter.text(short) <= room) return short;
    text = short || text;
    return this.rightOnly ? this.cutRight(text, room) : this.cutQualifiers(text, room);
  }

  cutQualifiers(text, room) {
    let last = text;
    for (const start of qualifierEnds(text)) {
      last = text.slice(start);
      if (this.dots + this.meter.text(last) <= room) return ELLIPSIS + last;
    }
    return this.meter.text(last) <= room ? last : this.cutRight(last, room);
  }

  cutRight(text, room) {
    let width = this.dots, kept = "", letters = 0;
    for (const ch of text) {
      width += this.meter.character(ch);
      if (width > room) break;
      kept += ch;
      letters++;
    }
    return letters >= FEWEST_LETTERS ? kept + ELLIPSIS : "";
  }
}

/** Positions after "::" and "/" that stand outside brackets: template arguments and parameters are not qualifiers. */
function qualifierEnds(text) {
  const ends = [];
  let nested = 0;
  for (let i = 0; i < text.length - 2; i++) {
    const ch = text[i];
    if ("<([{".includes(ch)) nested++;
    else if (")]}".includes(ch) || (ch === ">" && text[i - 1] !== "-")) nested = Math.max(0, nested - 1);
    else if (nested > 0) continue;
    else if (ch === "/") ends.push(i + 1);
    else if (ch === ":" && text[i - 1] === ":") ends.push(i + 1);
  }
  return ends;
}
