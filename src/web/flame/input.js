/*
 * input.js: turns the pointer, the keys and what happens to the window into changes of the application.
 */

class Input {
  constructor(app) {
    this.app = app;
    this.listen();
  }

  listen() {
    const { app } = this;
    app.host.addEventListener("mousemove", (event) => this.hover(event));
    app.host.addEventListener("mouseleave", () => this.unhover());
    app.host.addEventListener("click", (event) => this.click(event));
    app.host.addEventListener("contextmenu", (event) => this.contextMenu(event));
    app.root.addEventListener("mousedown", (event) => this.pressOutside(event));
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("resize", () => this.scheduleResize());
    app.systemDark.addEventListener("change", () => { app.refresh(app.state); app.updatePage(); });
    window.addEventListener("beforeprint", () => app.print(true));
    window.addEventListener("afterprint", () => app.print(false));
  }

  hover(event) {
    const { app } = this;
    const index = app.stage.hit(event.clientX, event.clientY);
    if (index < 0) {
      this.unhover();
      return;
    }
    const origin = app.root.getBoundingClientRect();
    const x = event.clientX - origin.left, y = event.clientY - origin.top;
    if (index === app.hovered) {
      app.popups.moveTip(x, y);
      return;
    }
    app.hovered = index;
    app.host.classList.add("pointing");
    app.stage.mark("hover", index);
    app.popups.showTip(index, x, y);
    app.describe();
  }

  unhover() {
    const { app } = this;
    if (app.hovered < 0) return;
    app.hovered = -1;
    app.host.classList.remove("pointing");
    app.stage.mark("hover", -1);
    app.popups.hideTip();
    app.describe();
  }

  click(event) {
    const { app } = this;
    const index = app.stage.hit(event.clientX, event.clientY);
    if (index < 0) return;
    const node = app.lay.node[index];
    if ((event.ctrlKey || event.metaKey) && app.openLink(node)) return;
    this.unhover();
    app.zoomTo(node);
  }

  contextMenu(event) {
    const { app } = this;
    if (event.shiftKey) return; // the browser's own menu stays within reach
    const pointed = app.stage.hit(event.clientX, event.clientY);
    const index = pointed >= 0 ? pointed : indexOfNode(app.lay, app.selected);
    if (index < 0) return;
    event.preventDefault();
    this.openMenu(index, pointed >= 0 ? event : null);
  }

  openMenu(index, event) {
    const { app } = this;
    const origin = app.root.getBoundingClientRect();
    const box = app.stage.box(index);
    const x = event ? event.clientX : box.x + Math.min(40, box.width / 2);
    const y = event ? event.clientY : box.y + box.height;
    app.select(app.lay.node[index]);
    app.popups.menu(index, x - origin.left, y - origin.top);
  }

  pressOutside(event) {
    const { app } = this;
    const { open } = app.popups;
    if (open && open.classList.contains("menu") && !open.contains(event.target)) app.popups.close();
  }

  scheduleResize() {
    const { app } = this;
    cancelAnimationFrame(this.resizing);
    this.resizing = requestAnimationFrame(() => app.resized());
  }

  /* ---- keys ---- */

  key(event) {
    const { app } = this;
    // Inside a page of other things only keys pressed in the graph are for us.
    if (app.root !== document.documentElement && !app.root.contains(event.target)) return;
    const field = event.target.closest && event.target.closest("input, textarea, select");
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f" && !event.shiftKey) {
      if (field === app.toolbar.input) return; // a second Ctrl-F is the browser's
      event.preventDefault();
      app.toolbar.focusSearch();
      return;
    }
    if (field || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const onButton = event.target.closest && event.target.closest("button, a");
    if (onButton && (event.key === "Enter" || event.key === " ")) return;
    const act = this.keyAction(event);
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** The frame that keys act on: the selected one, or without a selection the one pointed at. */
  target() {
    const { app } = this;
    const pointed = app.hovered >= 0 && !app.lay.many[app.hovered] ? app.lay.node[app.hovered] : -1;
    return app.selected >= 0 ? app.selected : pointed;
  }

  keyAction(event) {
    const { app } = this;
    const outward = app.state.inverted ? "ArrowUp" : "ArrowDown";
    const inward = app.state.inverted ? "ArrowDown" : "ArrowUp";
    const on = (verb) => () => app.act(verb, this.target());
    const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const shift = event.shiftKey;
    const actions = {
      [outward]: () => app.move("out"),
      [inward]: () => app.move("in"),
      ArrowLeft: () => app.move("left"),
      ArrowRight: () => app.move("right"),
      Enter: on("zoom"),
      " ": on("zoom"),
      PageUp: () => app.host.scrollBy(0, -0.9 * app.host.clientHeight),
      PageDown: () => app.host.scrollBy(0, 0.9 * app.host.clientHeight),
      Escape: () => this.escape(),
      Backspace: () => (shift ? app.past.redo() : app.past.undo()),
      "/": () => app.toolbar.focusSearch(),
      n: () => app.step(shift ? -1 : 1),
      r: () => app.toggle("reverse"),
      i: () => app.toggle("inverted"),
      s: () => app.cycleSort(),
      t: () => app.cycleTheme(),
      p: () => app.cycleColors(),
      l: () => app.toggleLegend(),
      k: on("keep"),
      x: on(shift ? "cut" : "hide"),
      h: on(shift ? "cut" : "hide"),
      c: on(shift ? "copystack" : "copy"),
      m: () => { const at = indexOfNode(app.lay, this.target()); if (at >= 0) this.openMenu(at, null); },
      0: () => app.resetView(),
      "?": () => app.popups.help(),
    };
    return Object.prototype.hasOwnProperty.call(actions, letter) ? actions[letter] : null;
  }

  escape() {
    const { app } = this;
    if (app.popups.close()) return;
    if (app.state.zoom) app.change({ zoom: "" });
    else if (app.state.search) app.search("", true);
    else {
      app.selected = -1;
      app.stage.mark("selected", -1);
      app.updatePage();
    }
  }
}
