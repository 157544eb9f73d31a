/*
 * toolbar.js: the bar above the graph: title, search, switches, and the chips that say what is zoomed or filtered.
 */

const HINT = "Click a frame to zoom, right-click for more, / to search, ? for all keys";

class Toolbar {
  constructor(app) {
    this.app = app;
    const { json } = app.profile;
    this.titles = html("div", { class: "titles" },
      html("h1", { title: json.title || "" }, json.title || "Flame Graph"),
      json.subtitle ? html("p", { title: json.subtitle }, json.subtitle) : null);
    this.chips = html("div", { class: "chips", role: "group", "aria-label": "Active zoom and filters" });
    this.element = html("header", { class: "bar" }, this.titles, this.makeSearch(), this.makeTools());
  }

  /* ---- search ---- */

  makeSearch() {
    this.input = html("input", {
      type: "text", spellcheck: "false", autocomplete: "off", placeholder: "Search (regex)",
      "aria-label": "Search frames by regular expression", "aria-keyshortcuts": "/", "aria-describedby": "wick-found",
      input: () => this.app.search(this.input.value),
      keydown: (event) => this.searchKey(event),
    });
    const { app } = this;
    const small = (label, symbol, key, act) => button({ label, symbol, key, act, className: "tool small" });
    const cycle = () => app.cycleCase();
    this.matchCase = button({ label: "Match case", text: "Aa", className: "tool small case", act: cycle });
    this.found = html("output", { id: "wick-found", class: "found", "aria-live": "polite" });
    this.previous = small("Previous match", "previous", "Shift+N", () => app.step(-1));
    this.next = small("Next match", "next", "N", () => app.step(1));
    this.clear = small("Clear search", "close", null, () => app.search("", true));
    return html("div", { class: "search", role: "search" },
      icon("search"), this.input, this.found, this.matchCase, this.previous, this.next, this.clear);
  }

  searchKey(event) {
    if (event.key === "Enter") this.app.step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      if (this.input.value) this.app.search("", true);
      this.app.focusGraph();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  focusSearch() {
    this.input.focus();
    this.input.select();
  }

  updateSearch(app) {
    const { state, found } = app;
    if (this.input.value !== state.search) this.input.value = state.search;
    const error = found && found.error;
    const on = Boolean(found && !error);
    this.element.classList.toggle("searching", Boolean(found));
    this.input.setAttribute("aria-invalid", error ? "true" : "false");
    this.found.classList.toggle("error", Boolean(error));
    this.found.textContent = found ? this.foundText(app) : "";
    this.found.title = error || (on ? this.foundTitle(app) : "");
    for (const element of [this.previous, this.next]) {
      element.hidden = !on; // leaves its room to the message of an error
      element.disabled = on && found.count === 0;
    }
    this.clear.hidden = !found;
    this.updateCase(state.match);
  }

  updateCase(way) {
    const [sign, meaning] = {
      smart: ["Aa", "Smart case: a capital letter makes the search case-sensitive"],
      ignore: ["aa", "Ignore case"],
      match: ["A", "Match case"],
    }[way];
    setPressed(this.matchCase, way === "match");
    this.matchCase.querySelector(".text").textContent = sign;
    this.matchCase.title = meaning + " (click to change)";
    this.matchCase.setAttribute("aria-label", meaning);
  }

  foundText(app) {
    const { found } = app;
    if (found.error) return "Invalid regex: " + found.error;
    const count = (found.exact ? "" : "\u2265") + integer.format(found.count);
    const turn = found.turn >= 0 ? integer.format(found.turn + 1) + "/" + count : count;
    const noun = found.count === 1 && found.turn < 0 ? "match" : "matches";
    return `${turn} ${noun} \u00b7 ${percent(found.weight, found.whole)}`;
  }

  foundTitle(app) {
    const { found } = app;
    const narrow = found.count - found.drawn.length;
    return `${plural(found.count, "frame")} match, in total ${app.numbers.amount(found.weight)}, ` +
      `${percent(found.weight, found.whole)} of ${app.zoom > 0 ? "the zoomed frame" : "all"}` +
      (narrow > 0 ? `; ${integer.format(narrow)} of them too narrow to draw at this zoom` : "");
  }

  /* ---- switches ---- */

  makeTools() {
    const { app } = this;
    const tool = (symbol, key, act, label, text) => button({ symbol, key, act, label, text });
    this.tools = {
      undo: tool("undo", "Backspace", () => app.past.undo(), "Undo"),
      redo: tool("redo", "Shift+Backspace", () => app.past.redo(), "Redo"),
      reset: tool("reset", "0", () => app.resetView(), "Reset the view"),
      icicle: tool("icicle", "I", () => app.toggle("inverted"), "Icicle: root at the top", "Icicle"),
      reverse: tool("reverse", "R", () => app.toggle("reverse"), "Reverse: start from the callees", "Reverse"),
      sort: tool("sort", "S", () => app.cycleSort(), "Sort frames", "Name"),
      colors: tool("colors", "P", () => app.cycleColors(), "Colors for color-blind readers"),
      legend: tool("legend", "L", () => app.toggleLegend(), "Legend"),
      theme: tool("dark", "T", () => app.cycleTheme(), "Switch theme"),
      help: tool("help", "?", () => app.popups.help(), "Keys and help"),
    };
    const t = this.tools;
    const group = (...members) => html("div", { class: "group" }, ...members);
    return html("div", { class: "tools", role: "toolbar", "aria-label": "View" },
      group(t.undo, t.redo, t.reset), group(t.icicle, t.reverse, t.sort), group(t.colors, t.legend, t.theme, t.help));
  }

  update(app) {
    const { state, past } = app;
    const t = this.tools;
    t.undo.disabled = !past.canUndo;
    t.redo.disabled = !past.canRedo;
    t.reset.disabled = !(state.zoom || state.search || state.filters.length);
    setPressed(t.icicle, state.inverted);
    setPressed(t.reverse, state.reverse);
    setPressed(t.colors, state.colors === "safe");
    setPressed(t.legend, state.legend && app.painter.legend().length > 0);
    const order = { name: "Name", width: "Width", none: "Time" };
    if (!app.profile.json.options.flamechart) order.none = "Input";
    t.sort.querySelector(".text").textContent = order[state.sort];
    t.sort.title = `Sorted by ${order[state.sort].toLowerCase()} (S)`;
    t.sort.setAttribute("aria-label", `Sorted by ${order[state.sort].toLowerCase()}, change`);
    const dark = app.theme === "dark";
    t.theme.querySelector("path").setAttribute("d", ICONS[dark ? "light" : "dark"]);
    t.theme.title = dark ? "Light theme (T)" : "Dark theme (T)";
    t.theme.setAttribute("aria-label", dark ? "Light theme" : "Dark theme");
    this.updateSearch(app);
    this.updateChips(app);
  }

  /* ---- chips ---- */

  updateChips(app) {
    const chips = app.state.filters.map((filter) => this.filterChip(app, filter));
    if (app.zoom > 0) chips.unshift(this.chip("zoomed into", app.tree.label(app.zoom), () => app.zoomTo(0)));
    if (app.notice) chips.push(html("span", { class: "notice", role: "status" }, app.notice));
    // The line is always there: a graph that jumps when a chip comes or goes is hard to click in.
    refill(this.chips, ...(chips.length ? chips : [html("span", { class: "hint" }, HINT)]));
  }

  filterChip(app, filter) {
    const verb = { keep: "only stacks through", hide: "hidden", cut: "hidden subtree" }[filter.op];
    const label = filter.op === "cut" ? app.nameOfPath(filter.path) : filter.name;
    return this.chip(verb, label, () => app.dropFilter(filter));
  }

  chip(verb, label, remove) {
    const close = button({ label: `Remove: ${verb} ${label}`, symbol: "close", className: "tool tiny", act: remove });
    return html("span", { class: "chip", title: label }, html("em", {}, verb), html("b", {}, label), close);
  }
}
