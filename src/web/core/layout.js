/*
 * layout.js: where the frames of the zoomed subtree lie, and which frame lies under a point.
 *
 * Rows are filled level by level, so each row is sorted by x. Row 0 is the root; the callers of a zoomed frame take
 * one full-width row each. Neighbours too narrow to draw become one block (many > 0) that belongs to their parent.
 */

/** Frames narrower than this are not drawn however small --minwidth is: they could be neither seen nor hit. */
const NARROWEST = 0.5;

function minimumWidth(options, width) {
  const asked = options.minwidthPercent ? (options.minwidth / 100) * width : options.minwidth;
  return Math.max(NARROWEST, asked || 0);
}

function layoutTree(tree, zoom, width, narrowest) {
  const lay = {
    tree, zoom, width, narrowest,
    node: [], x: [], w: [], many: [],
    rowStart: [],
    zoomRow: 0,
    scale: tree.total[zoom] > 0 ? width / tree.total[zoom] : 0,
    notDrawn: 0,
  };
  for (const node of tree.chain(zoom)) {
    lay.rowStart.push(lay.node.length);
    place(lay, node, 0, width, 0);
  }
  lay.zoomRow = lay.rowStart.length - 1;
  let from = lay.node.length - 1;
  for (;;) {
    const to = lay.node.length;
    for (let j = from; j < to; j++) if (!lay.many[j]) placeChildren(lay, j);
    lay.rowStart.push(to);
    if (lay.node.length === to) break;
    from = to;
  }
  lay.rows = lay.rowStart.length - 1;
  return lay;
}

function place(lay, node, x, w, many) {
  lay.node.push(node);
  lay.x.push(x);
  lay.w.push(w);
  lay.many.push(many);
}

function placeChildren(lay, at) {
  const { tree, scale, narrowest } = lay;
  const parent = lay.node[at];
  let x = lay.x[at];
  let runWidth = 0, runCount = 0;
  const flush = () => {
    if (runWidth >= narrowest) place(lay, parent, x - runWidth, runWidth, runCount);
    runWidth = runCount = 0;
  };
  const lead = tree.order === "none" && tree.lead;
  let begun = 0; // weight of the children so far
  for (const kid of tree.children(parent)) {
    const w = tree.total[kid] * scale;
    if (lead) {
      const start = lay.x[at] + (lead[kid] + begun) * scale;
      if (start - x > 1e-6) flush(); // the caller itself ran in between
      x = start;
      begun += tree.total[kid];
    }
    if (w < narrowest) {
      const frames = tree.size ? tree.size[kid] : 1;
      lay.notDrawn += frames;
      runCount += frames;
      runWidth += w;
    } else {
      flush();
      place(lay, kid, x, w, 0);
    }
    x += w;
  }
  flush();
}

/** Index of the frame of a row under x, or -1. */
function frameAt(lay, row, x) {
  if (row < 0 || row >= lay.rows) return -1;
  let low = lay.rowStart[row], high = lay.rowStart[row + 1] - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (x < lay.x[middle]) high = middle - 1;
    else if (x >= lay.x[middle] + lay.w[middle]) low = middle + 1;
    else return middle;
  }
  return -1;
}

/** Index of a tree node in the layout, or -1 when it is not drawn. */
function indexOfNode(lay, node) {
  if (node < 0) return -1;
  const row = lay.tree.depth[node];
  if (row >= lay.rows) return -1;
  for (let j = lay.rowStart[row]; j < lay.rowStart[row + 1]; j++) if (lay.node[j] === node && !lay.many[j]) return j;
  return -1;
}

function rowOf(lay, index) {
  let low = 0, high = lay.rows - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lay.rowStart[middle] <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}
