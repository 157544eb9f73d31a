/*
 * flame.js: the application. Holds the state and rebuilds what a change touches (tree → search → layout → drawing).
 * Starts at the end of this file.
 */

const NARROW_PAGE = 760, ROOMY_PAGE = 1180; // px; below the first the bar wraps, below the second tools lose their text

class App {
  constructor(root, profile) {
    this.root = root;
    this.profile = profile;
    this.options = profile.json.options = profile.json.options || {};
    this.numbers = numberWriter(profile.json);
    this.profileTotal = Math.max(profile.json.total || 0, profile.self.reduce((sum, weight) => sum + weight, 0));
    this.defaults = defaultState(this.options);
    this.state = readHash(location.hash, this.defaults);
    this.selected = -1; // tree node
    this.hovered = -1; // layout index
    this.notice = "";
    this.lastChild = new Map(); // parent → child the selection came from
    this.systemDark = window.matchMedia("(prefers-color-scheme: dark)");
    this.buildPage();
    this.input = new Input(this);
    this.refresh(null);
    this.past = new Past((hash) => this.visit(hash));
    this.updatePage();
  }

  /* ---- the page ---- */

  buildPage() {
    this.toolbar = new Toolbar(this);
    this.panel = new Panel(this);
    this.popups = new Popups(this);
    this.host = html("main", {
      class: "stage", tabindex: "0", role: "application", "aria-roledescription": "flame graph",
      "aria-label": (this.profile.json.title || "Flame graph") +
        ". Arrow keys select frames, Enter zooms, question mark lists all keys.",
    });
    this.page = html("div", { class: "page" }, this.toolbar.element, this.toolbar.chips, this.host, this.panel.element,
      this.panel.spoken, this.popups.layer);
    const frame = svgElement("foreignObject", { x: 0, y: 0, width: "100%", height: "100%" }, this.root);
    frame.append(this.page);
    this.frame = frame;
    this.fitWindow();
    this.stage = new Stage(this.host, this.options, this.profile);
  }

  /**
   * Follows the window unless a width was asked for. The size goes into the style: the attributes stay what an
   * <object> without a size of its own goes by. Inline in a page there is no window to fill, so we take most of it.
   */
  fitWindow() {
    const alone = this.root === document.documentElement;
    this.root.removeAttribute("viewBox");
    this.root.setAttribute("role", "document");
    this.root.style.width = this.options.width ? this.options.width + "px" : alone ? "100vw" : "100%";
    this.root.style.height = alone ? "100vh" : "85vh";
    this.measurePage();
  }

  measurePage() {
    const { width } = this.size();
    this.page.classList.toggle("slim", width < NARROW_PAGE);
    this.page.classList.toggle("terse", width < ROOMY_PAGE);
  }

  size() {
    const box = this.root.getBoundingClientRect();
    return { width: box.width, height: box.height };
  }

  focusGraph() {
    this.host.focus({ preventScroll: true });
  }

  /* ---- changing the view ---- */

  /** Changes the state and records it: as a step to go back to, or in place when `replace` is set. */
  change(part, { replace = false, typing = false } = {}) {
    const before = this.state;
    this.state = { ...before, ...part };
    this.notice = "";
    this.refresh(before);
    const hash = writeHash(this.state, this.defaults);
    // A search being typed is one step, not one for each letter.
    if (replace || (typing && this.typing)) this.past.replace(hash);
    else this.past.push(hash);
    this.typing = typing;
    this.updatePage();
  }

  /** The reader went back or forward, or edited the address. */
  visit(hash) {
    const before = this.state;
    const state = readHash(hash, this.defaults);
    if (writeHash(state, this.defaults) !== writeHash(before, this.defaults)) {
      this.state = state;
      this.typing = false;
      this.notice = "";
      this.refresh(before);
    }
    this.updatePage();
  }

  /** Recomputes what differs between the state before and now (null: everything); updatePage() then shows it. */
  refresh(before) {
    const { state } = this;
    const differs = (key) => JSON.stringify(before[key]) !== JSON.stringify(state[key]);
    const changed = (...keys) => !before || keys.some(differs);
    const newTree = changed("filters", "reverse");
    if (newTree) this.plant();
    this.tree.order = state.sort;
    if (newTree || changed("zoom")) this.findZoom();
    if (changed("search", "match")) this.compile();
    this.theme = this.resolveTheme();
    this.root.setAttribute("data-theme", this.theme);
    this.choosePainter();
    if (newTree || changed("zoom", "search", "match")) this.measureFound();
    this.relayout();
    if (newTree || changed("zoom", "inverted")) this.toZoom = true;
  }

  plant() {
    const { profile, state } = this;
    this.weights = filterWeights(profile, state.filters);
    this.allTotals = null;
    const Kind = state.reverse === profile.leafFirst ? ListedTree : TurnedTree;
    this.tree = new Kind(profile, this.weights);
    this.selected = -1;
    this.lastChild.clear();
  }

  findZoom() {
    const found = resolvePath(this.tree, this.state.zoom);
    this.zoom = found.node;
    if (!found.whole) this.notice = "The zoomed frame is not in this view.";
    const stays = this.selected >= 0 && this.tree.contains(this.zoom, this.selected);
    if (!stays) this.selected = this.zoom > 0 ? this.zoom : -1;
  }

  compile() {
    this.compiled = compileSearch(this.state.search, this.state.match);
    this.flags = this.compiled && this.compiled.regex ? matchNames(this.profile, this.compiled.regex) : null;
  }

  measureFound() {
    if (!this.compiled || this.compiled.error) {
      this.found = this.compiled;
      return;
    }
    const measured = measureMatches(this.tree, this.zoom, this.flags);
    this.found = { ...measured, whole: this.tree.total[this.zoom], turn: -1, drawn: [] };
  }

  relayout() {
    const width = this.stage.room;
    this.lay = layoutTree(this.tree, this.zoom, width, minimumWidth(this.options, width));
    this.hovered = -1;
    this.painter.setTree(this.tree);
    if (this.found && !this.found.error) this.listDrawnMatches();
    this.stage.marked.hover = -1;
    this.stage.marked.selected = indexOfNode(this.lay, this.selected);
    this.stage.setScene({
      lay: this.lay, painter: this.painter, inverted: this.state.inverted, attrs: this.profile.json.attrs,
      roleOf: (index) => this.roleOf(index),
      speak: (index) => this.shortName(this.lay.node[index]),
    });
    this.showEmpty();
  }

  shortName(node) {
    return this.tree.label(node) + ", " + percent(this.tree.total[node], this.tree.total[0]);
  }

  roleOf(index) {
    const { lay, flags } = this;
    if (lay.many[index]) return "block";
    if (flags && flags[this.tree.name[lay.node[index]]]) return "match";
    if (lay.node[index] !== lay.zoom && index < lay.rowStart[lay.zoomRow]) return "caller";
    return flags ? "other" : "frame";
  }

  /** Matches on screen in the order of the tree: from the left, callers before callees. */
  listDrawnMatches() {
    const { lay, flags, found } = this;
    const drawn = [];
    for (let j = lay.rowStart[lay.zoomRow]; j < lay.node.length; j++)
      if (!lay.many[j] && flags[this.tree.name[lay.node[j]]]) drawn.push(j);
    found.drawn = drawn.sort((a, b) => lay.x[a] - lay.x[b] || a - b);
    found.turn = found.drawn.findIndex((j) => lay.node[j] === this.selected);
  }

  choosePainter() {
    const safe = this.state.colors === "safe";
    if (this.painter && this.painter.theme === this.theme && this.painter.safe === safe) return;
    this.painter = new Painter(this.profile, { theme: this.theme, safe, searchColor: this.searchColor() });
  }

  searchColor() {
    return getComputedStyle(this.root).getPropertyValue("--wick-search").trim() || "rgb(230,0,230)";
  }

  resolveTheme() {
    if (this.printing) return "light";
    if (this.state.theme !== "auto") return this.state.theme;
    return this.systemDark.matches ? "dark" : "light";
  }

  showEmpty() {
    const empty = !(this.tree.total[0] > 0);
    if (this.empty) this.empty.remove();
    this.empty = null;
    if (!empty) return;
    const text = this.state.filters.length ? "No stacks match these filters." : "This profile has no samples.";
    this.empty = html("p", { class: "empty" }, text);
    this.host.append(this.empty);
  }

  /** Shows the state: first what surrounds the graph, since it decides how high the graph is, then the graph once. */
  updatePage() {
    this.toolbar.update(this);
    this.panel.update();
    this.describe();
    this.stage.fit();
    if (this.toZoom) this.stage.scrollToZoom();
    this.toZoom = false;
    this.stage.draw();
  }

  resized() {
    if (this.printing) return;
    this.measurePage();
    if (this.stage.room !== this.lay.width) this.relayout();
    this.updatePage();
  }

  /* ---- what the reader can do ---- */

  /** Does one of the frame's actions; the names are those used by the menu and the panel. */
  act(verb, node) {
    if (node < 0) return;
    const name = this.tree.label(node);
    if (verb === "zoom") this.zoomTo(node);
    else if (verb === "copy") this.copy(name, "name");
    else if (verb === "copystack") this.copy(this.foldedLine(node), "stack");
    else if (verb === "link") this.openLink(node);
    else if (node === 0) return;
    else if (verb === "find") this.change({ search: "^" + escapeRegex(name) + "$", match: "match" });
    else if (verb === "keep" || verb === "hide") this.addFilter({ op: verb, name });
    else if (verb === "cut") this.addFilter({ op: "cut", path: this.markedPath(node) });
  }

  markedPath(node) {
    return (this.tree.leafFirst ? LEAF_FIRST : "") + pathOf(this.tree, node);
  }

  zoomTo(node) {
    this.selected = node > 0 ? node : this.selected;
    this.change({ zoom: pathOf(this.tree, node) });
    this.panel.speak(node > 0 ? "Zoomed into " + this.tree.label(node) : "Zoom reset");
  }

  addFilter(filter) {
    const same = (other) => JSON.stringify(other) === JSON.stringify(filter);
    if (this.state.filters.some(same)) return;
    const zoom = filter.op === "keep" ? "" : this.zoomWithout(filter);
    this.change({ filters: this.state.filters.concat(filter), zoom });
    this.panel.speak(this.numbers.amount(this.tree.total[0]) + " left");
  }

  /** Hiding what we are zoomed into, or a caller of it, leaves nothing to be zoomed into. */
  zoomWithout(filter) {
    const path = this.tree.chain(this.zoom).slice(1);
    if (filter.op === "hide") return path.some((node) => this.tree.label(node) === filter.name) ? "" : this.state.zoom;
    const cut = filter.path.replace(LEAF_FIRST, "");
    return this.state.zoom.startsWith(cut) ? "" : this.state.zoom;
  }

  dropFilter(filter) {
    this.change({ filters: this.state.filters.filter((other) => other !== filter) });
  }

  nameOfPath(path) {
    const last = splitPath(path).pop();
    return (last && this.profile.names.find((name) => nameHash(name) === last.hash)) || "unknown";
  }

  toggle(key) {
    // A frame of one direction is no frame of the other, so reversing leaves the zoom.
    this.change(key === "reverse" ? { reverse: !this.state.reverse, zoom: "" } : { [key]: !this.state[key] });
    const { reverse, inverted } = this.state;
    this.panel.speak(`${inverted ? "Icicle" : "Flame"}, ${reverse ? "callees" : "callers"} first`);
  }

  cycleSort() {
    const orders = this.defaults.sort === "none" ? ["none", "name", "width"] : ["name", "width"];
    const sort = orders[(orders.indexOf(this.state.sort) + 1) % orders.length];
    this.change({ sort });
    this.panel.speak("Sorted by " + sort);
  }

  cycleColors() {
    this.change({ colors: this.state.colors === "safe" ? "default" : "safe" }, { replace: true });
  }

  /** To the other theme; back at the one the reader would get anyway, the address need not say it. */
  cycleTheme() {
    const theme = this.theme === "dark" ? "light" : "dark";
    const usual = this.defaults.theme === "auto" ? (this.systemDark.matches ? "dark" : "light") : this.defaults.theme;
    this.change({ theme: theme === usual ? this.defaults.theme : theme }, { replace: true });
  }

  toggleLegend() {
    this.change({ legend: !this.state.legend }, { replace: true });
  }

  search(term, done = false) {
    this.change({ search: term }, { typing: !done });
  }

  cycleCase() {
    const next = { smart: "match", match: "ignore", ignore: "smart" };
    this.change({ match: next[this.state.match] }, { replace: true });
  }

  /** To the next (1) or previous (-1) match on screen; when all are too narrow to be drawn, zooms to the widest. */
  step(by) {
    const { found, lay } = this;
    if (!found || found.error || found.count === 0) return;
    if (found.drawn.length === 0) {
      this.zoomTo(found.first);
      return;
    }
    const turns = found.drawn.length;
    found.turn = found.turn < 0 ? (by > 0 ? 0 : turns - 1) : (found.turn + by + turns) % turns;
    this.select(lay.node[found.drawn[found.turn]]);
    this.toolbar.updateSearch(this);
  }

  resetView() {
    this.change({ zoom: "", search: "", filters: [] });
  }

  foldedLine(node) {
    const names = this.tree.chain(node).slice(1).map((step) => this.tree.label(step));
    if (this.tree.leafFirst) names.reverse();
    return (names.join(";") || ROOT_LABEL) + " " + this.numbers.plain(this.tree.total[node]);
  }

  async copy(text, what) {
    if (await copyText(text)) this.popups.say("Copied the " + what);
    else this.popups.offerText(text);
  }

  /* ---- attributes the user gave to functions ---- */

  attrsOf(node) {
    const { attrs } = this.profile.json;
    return attrs && attrs[this.tree.name[node]];
  }

  linkOf(node) {
    const own = this.attrsOf(node);
    // A link may lead anywhere but into this page's own scripts.
    if (!own || !own.href || /^\s*(javascript|data|vbscript):/i.test(own.href)) return null;
    return { href: own.href, target: own.target || "_blank" };
  }

  openLink(node) {
    const link = this.linkOf(node);
    if (link) window.open(link.href, link.target, "noopener");
    return Boolean(link);
  }

  functionTotals() {
    if (!this.allTotals) this.allTotals = functionTotals(this.profile, this.weights);
    return this.allTotals;
  }

  /* ---- selection ---- */

  select(node) {
    this.selected = node;
    const index = indexOfNode(this.lay, node);
    this.stage.mark("selected", index);
    if (index >= 0) this.stage.reveal(index);
    if (this.found && this.found.drawn) this.found.turn = this.found.drawn.findIndex((j) => j === index);
    this.panel.update();
    this.describe();
    this.panel.speak(`${this.tree.label(node)}, ${sentenceOf(this, node)}`);
  }

  describe() {
    this.panel.describe(this.hovered >= 0 ? this.hovered : indexOfNode(this.lay, this.selected));
  }

  /** Moves the selection: "out" to the caller's side, "in" to the callee's side, or along the row. */
  move(direction) {
    const { lay, tree } = this;
    const at = indexOfNode(lay, this.selected);
    if (at < 0) {
      this.select(this.zoom);
      return;
    }
    const row = rowOf(lay, at);
    const next = {
      out: () => tree.parent[lay.node[at]],
      in: () => this.childToEnter(at),
      left: () => this.neighbour(at, row, -1),
      right: () => this.neighbour(at, row, 1),
    }[direction]();
    if (direction === "out" && next >= 0) this.lastChild.set(next, lay.node[at]);
    if (next >= 0) this.select(next);
  }

  /** The child we came from, else the widest. */
  childToEnter(at) {
    const { lay, tree } = this;
    const node = lay.node[at];
    if (at < lay.rowStart[lay.zoomRow]) return lay.node[at + 1];
    const known = this.lastChild.get(node);
    if (known !== undefined && indexOfNode(lay, known) >= 0) return known;
    let widest = -1;
    for (const kid of tree.children(node)) if (widest < 0 || tree.total[kid] > tree.total[widest]) widest = kid;
    return indexOfNode(lay, widest) >= 0 ? widest : -1;
  }

  neighbour(at, row, step) {
    const { lay } = this;
    const first = lay.rowStart[row], end = lay.rowStart[row + 1];
    for (let j = at + step; j >= first && j < end; j += step) if (!lay.many[j]) return lay.node[j];
    return -1;
  }

  /** On paper: light, all rows, scaled to fit one page. */
  print(on) {
    const { width } = this.size();
    this.printing = this.stage.allRows = on;
    this.page.classList.toggle("printing", on);
    this.page.style.width = on ? width + "px" : "";
    this.refresh(this.state);
    this.updatePage();
    const height = on ? this.page.getBoundingClientRect().height : 0;
    this.frame.setAttribute("width", on ? width : "100%");
    this.frame.setAttribute("height", on ? height : "100%");
    if (on) {
      this.root.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.root.setAttribute("preserveAspectRatio", "xMidYMin");
      this.root.style.width = "100%";
      this.root.style.height = "100vh";
    } else {
      this.fitWindow();
      this.toZoom = true;
      this.resized();
    }
  }
}

/* ---- start ---- */

/** Replaces the static picture by the live one; if that fails, the picture stays and says why it does not react. */
function start() {
  const root = document.getElementById("wick");
  const data = document.getElementById("wick-data");
  if (!root || !data) return;
  const ids = ["bg", "title", "subtitle", "frames", "quality"];
  const picture = ids.map((id) => document.getElementById(id)).filter(Boolean);
  const viewBox = root.getAttribute("viewBox");
  for (const element of picture) element.remove();
  try {
    window.wick = windowFor(new App(root, loadProfile(JSON.parse(data.textContent))));
  } catch (error) {
    for (const rest of root.querySelectorAll("foreignObject")) rest.remove();
    for (const name of ["style", "data-theme"]) root.removeAttribute(name);
    if (viewBox) root.setAttribute("viewBox", viewBox);
    root.append(...picture);
    const line = picture.find((element) => element.id === "quality");
    if (line) line.textContent += ` \u00b7 not interactive: ${error.message}`;
  }
}

start();
