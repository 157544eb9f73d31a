/*
 * stage.js: the scrolling area with the frames.
 *
 * Only frames in rows near the visible part exist as elements, and those are reused from one drawing to the next.
 * Frames of a few pixels, which have no label and no corners, share one path per colour. Which frame is under the
 * pointer is computed from the layout, so no frame needs a listener.
 */

const SIDE = 10; // px of air left and right of the frames
const ENDS = 8; // … above and below
const GAP = 1; // between frames
const PATH_BELOW = 3; // frames narrower than this become part of a path
const ROUND_FROM = 8; // narrower frames would look like pills with full corners
const LABEL_PAD = 4;
const SPARE_ROWS = 8; // drawn beyond the visible part, so that scrolling does not show holes

function svgElement(tag, attributes, parent) {
  const element = document.createElementNS(SVG_NS, tag);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(element);
  return element;
}

class Stage {
  constructor(host, options, profile) {
    this.host = host;
    this.rowHeight = options.frameheight || 16;
    this.svg = svgElement("svg", { width: "100%", class: "graph" }, host);
    this.slivers = svgElement("g", { "aria-hidden": "true" }, this.svg);
    this.frames = svgElement("g", { id: "frames" }, this.svg);
    this.overlay = svgElement("g", { "aria-hidden": "true" }, this.svg);
    this.marks = {
      hover: svgElement("rect", { class: "mark hover", rx: 3, visibility: "hidden" }, this.overlay),
      selected: svgElement("rect", { class: "mark selected", rx: 3, visibility: "hidden" }, this.overlay),
    };
    this.marked = { hover: -1, selected: -1 };
    this.pool = []; // elements to draw frames with; the first `inTree` of them are in the document
    this.inTree = this.used = 0;
    this.paths = new Map();
    const probe = svgElement("text", {}, this.frames);
    const font = getComputedStyle(probe);
    const size = parseFloat(font.fontSize) || options.fontsize || 12;
    const meter = new TextMeter(`${font.fontWeight} ${size}px ${font.fontFamily}`, size * (options.fontwidth || 0.59));
    probe.remove();
    this.labeler = new Labeler(meter, profile, options.truncateRight);
    this.baseline = (this.rowHeight - GAP) / 2 + size * 0.35;
    host.addEventListener("scroll", () => this.schedule());
  }

  /** Width that the layout may fill. */
  get room() {
    return Math.max(50, this.host.clientWidth - 2 * SIDE);
  }

  /** Takes what draw() will show. Its roleOf(index) and speak(index) answer for frames as they get drawn. */
  setScene(scene) {
    this.scene = scene;
    this.svg.setAttribute("class", scene.painter.mode === "name" ? "graph" : "graph pale");
  }

  /** Fits the picture to layout and window, keeping the distance from the root's end to the window's. */
  fit() {
    const before = { height: this.height, room: this.hostHeight, scroll: this.host.scrollTop };
    const content = this.scene.lay.rows * this.rowHeight + 2 * ENDS;
    this.hostHeight = this.host.clientHeight;
    this.height = this.allRows ? content : Math.max(content, this.hostHeight);
    this.svg.setAttribute("height", this.height);
    if (this.scene.inverted || before.height === undefined) return;
    const fromRoot = before.height - before.room - before.scroll;
    const scroll = this.height - this.hostHeight - fromRoot;
    if (scroll !== before.scroll) this.host.scrollTop = scroll;
  }

  top(row) {
    return this.scene.inverted ? ENDS + row * this.rowHeight : this.height - ENDS - (row + 1) * this.rowHeight;
  }

  rowUnder(y) {
    const fromRoot = this.scene.inverted ? y - ENDS : this.height - ENDS - y;
    return Math.floor(fromRoot / this.rowHeight);
  }

  schedule() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.draw();
    });
  }

  /* ---- drawing ---- */

  draw() {
    if (!this.scene) return;
    this.used = 0;
    this.paths.clear();
    const [first, last] = this.visibleRows();
    for (let row = first; row <= last; row++) this.drawRow(row);
    while (this.inTree > this.used) this.pool[--this.inTree].g.remove();
    this.drawPaths();
    this.mark("hover", this.marked.hover);
    this.mark("selected", this.marked.selected);
  }

  visibleRows() {
    const rows = this.scene.lay.rows;
    if (this.allRows) return [0, rows - 1];
    const a = this.rowUnder(this.host.scrollTop), b = this.rowUnder(this.host.scrollTop + this.host.clientHeight);
    return [Math.max(0, Math.min(a, b) - SPARE_ROWS), Math.min(rows - 1, Math.max(a, b) + SPARE_ROWS)];
  }

  drawRow(row) {
    const { lay, painter, roleOf } = this.scene;
    const y = this.top(row);
    for (let j = lay.rowStart[row]; j < lay.rowStart[row + 1]; j++) {
      const paint = painter.paint(lay.node[j], roleOf(j));
      if (lay.w[j] < PATH_BELOW || lay.many[j]) this.addToPath(paint.coarse, lay.x[j], y, lay.w[j]);
      else this.drawFrame(j, y, paint);
    }
  }

  addToPath(fill, x, y, w) {
    const width = Math.max(0.4, w > 2 ? w - GAP : w * 0.75);
    const d = `M${(SIDE + x).toFixed(2)},${y}h${width.toFixed(2)}v${this.rowHeight - GAP}h-${width.toFixed(2)}z`;
    const known = this.paths.get(fill);
    if (known) known.push(d);
    else this.paths.set(fill, [d]);
  }

  drawPaths() {
    this.slivers.textContent = "";
    for (const [fill, parts] of this.paths) svgElement("path", { fill, d: parts.join("") }, this.slivers);
  }

  drawFrame(index, y, paint) {
    const { lay, speak } = this.scene;
    const item = this.nextItem();
    const w = lay.w[index];
    const nameId = lay.tree.name[lay.node[index]];
    set(item, "transform", item.g, "transform", `translate(${(SIDE + lay.x[index]).toFixed(2)},${y})`);
    set(item, "width", item.rect, "width", (w - GAP).toFixed(2));
    set(item, "corner", item.rect, "rx", w < ROUND_FROM ? 1 : 2);
    set(item, "fill", item.rect, "fill", paint.fill);
    set(item, "aria", item.g, "aria-label", speak(index));
    this.applyAttributes(item, nameId);
    const label = this.labeler.fit(nameId, w - GAP - 2 * LABEL_PAD);
    if (label !== item.label) item.text.textContent = item.label = label;
    if (label) set(item, "ink", item.text, "class", paint.ink);
  }

  nextItem() {
    let item = this.pool[this.used];
    if (!item) {
      const g = svgElement("g", { class: "f", role: "img" });
      const rect = svgElement("rect", { height: this.rowHeight - GAP }, g);
      const text = svgElement("text", { x: LABEL_PAD, y: this.baseline }, g);
      item = { g, rect, text, label: "", ink: "", class: "f", style: "" };
      this.pool.push(item);
    }
    if (this.used++ >= this.inTree) {
      this.frames.appendChild(item.g);
      this.inTree = this.used;
    }
    return item;
  }

  /** Class and style that the user gave to a function (--nameattr). */
  applyAttributes(item, nameId) {
    const own = this.scene.attrs && this.scene.attrs[nameId];
    if (!own && item.class === "f" && !item.style) return;
    const classes = "f" + (own && own.href ? " link" : "") + (own && own.class ? " " + own.class : "");
    set(item, "class", item.g, "class", classes);
    set(item, "style", item.g, "style", (own && own.style) || "");
  }

  /* ---- outlines, pointing, scrolling ---- */

  mark(kind, index) {
    this.marked[kind] = index;
    const rect = this.marks[kind];
    if (index < 0 || index >= this.scene.lay.node.length) {
      rect.setAttribute("visibility", "hidden");
      return;
    }
    const { lay } = this.scene;
    rect.setAttribute("x", SIDE + lay.x[index] - 0.5);
    rect.setAttribute("y", this.top(rowOf(lay, index)) - 0.5);
    rect.setAttribute("width", Math.max(2, lay.w[index]));
    rect.setAttribute("height", this.rowHeight);
    rect.setAttribute("visibility", "visible");
  }

  /** Index of the frame at a point of the window, or -1. */
  hit(clientX, clientY) {
    const box = this.svg.getBoundingClientRect();
    return frameAt(this.scene.lay, this.rowUnder(clientY - box.top), clientX - box.left - SIDE);
  }

  /** The frame's box in window coordinates. */
  box(index) {
    const { lay } = this.scene;
    const origin = this.svg.getBoundingClientRect();
    return {
      x: origin.left + SIDE + lay.x[index],
      y: origin.top + this.top(rowOf(lay, index)),
      width: lay.w[index],
      height: this.rowHeight - GAP,
    };
  }

  /** Puts the zoomed row at the root's end of the area, with two of its callers still in sight. */
  scrollToZoom() {
    if (this.height <= this.hostHeight) return;
    const row = Math.max(0, this.scene.lay.zoomRow - 2);
    const y = this.top(row);
    this.host.scrollTop = this.scene.inverted ? y - ENDS : y + this.rowHeight + ENDS - this.host.clientHeight;
  }

  reveal(index) {
    const y = this.top(rowOf(this.scene.lay, index));
    const margin = 2 * this.rowHeight;
    const { scrollTop, clientHeight } = this.host;
    if (y < scrollTop + margin) this.host.scrollTop = y - margin;
    else if (y + this.rowHeight > scrollTop + clientHeight - margin)
      this.host.scrollTop = y + this.rowHeight + margin - clientHeight;
  }
}

/** Writes an attribute only when it differs from what the element has: most of a drawing does not change. */
function set(item, key, element, attribute, value) {
  if (item[key] === value) return;
  item[key] = value;
  element.setAttribute(attribute, value);
}
