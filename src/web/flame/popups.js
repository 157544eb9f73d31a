/*
 * popups.js: what floats above the page: tooltip, frame menu, help, text to copy by hand, short messages.
 */

const KEYS = [
  ["Arrows", "select a frame: callee, caller, left, right"],
  ["Enter", "zoom into the selected frame"],
  ["Escape", "close, reset the zoom, then clear the search"],
  ["Backspace", "undo (also Back in the browser); Shift: redo"],
  ["0", "reset zoom, search and filters"],
  ["/ or Ctrl-F", "search by regular expression"],
  ["n, N", "next, previous match"],
  ["k", "keep only stacks through the selected function"],
  ["x or h", "hide all stacks through the selected function; Shift: only this subtree"],
  ["c", "copy the name; Shift: the whole stack"],
  ["r", "reverse: start from callers or from callees"],
  ["i", "flame or icicle"],
  ["s", "sort by name or width"],
  ["p", "colors for color-blind readers"],
  ["t", "light or dark"],
  ["l", "show or hide the legend"],
  ["m", "menu of the selected frame"],
  ["?", "this help"],
];

class Popups {
  constructor(app) {
    this.app = app;
    this.tip = html("div", { class: "tip", hidden: "", "aria-hidden": "true" });
    this.toast = html("div", { class: "toast", hidden: "" });
    this.open = null; // the menu or dialog on show
    this.layer = html("div", { class: "layer" }, this.tip, this.toast);
  }

  /* ---- tooltip ---- */

  showTip(index, x, y) {
    const { app } = this;
    const { lay, tree } = app;
    const node = lay.node[index];
    const own = app.attrsOf(node);
    if (lay.many[index]) refill(this.tip, html("b", {}, plural(lay.many[index], "frame") + " too narrow to draw"));
    else if (own && own.title) refill(this.tip, html("b", {}, own.title));
    else {
      const lines = this.tipLines(node).map((line) => html("span", {}, line));
      refill(this.tip, html("b", {}, tree.label(node)), ...lines);
    }
    this.tip.hidden = false;
    this.moveTip(x, y);
  }

  tipLines(node) {
    const { app } = this;
    if (app.profile.diff) {
      const [before, after, change] = changeFacts(app, node);
      const side = ([term, value, share]) => `${term} ${value}, ${share}`;
      return [side(before) + " \u2192 " + side(after), side(change)];
    }
    const { json } = app.profile;
    const id = app.tree.name[node];
    const where = [lookUp(json.modules, json.module, id), lookUp(json.files, json.file, id)].filter(Boolean);
    return [sentenceOf(app, node), where.join(" \u00b7 ")].filter(Boolean);
  }

  moveTip(x, y) {
    const { width, height } = this.app.size();
    const box = this.tip.getBoundingClientRect();
    const left = Math.max(4, Math.min(x + 14, width - box.width - 6));
    const below = y + 18 + box.height < height;
    this.tip.style.left = left + "px";
    this.tip.style.top = (below ? y + 18 : Math.max(4, y - box.height - 10)) + "px";
  }

  hideTip() {
    this.tip.hidden = true;
  }

  /* ---- menu ---- */

  menu(index, x, y) {
    const { app } = this;
    const node = app.lay.node[index];
    const item = (label, key, verb) => html("button", {
      type: "button", role: "menuitem", class: "item",
      click: () => { this.close(); app.act(verb, node); },
    }, html("span", {}, label), html("kbd", {}, key));
    const items = [item("Zoom into this frame", "Enter", "zoom")];
    if (node !== 0) {
      items.push(
        item("Keep only stacks through this function", "k", "keep"),
        item("Hide all stacks through this function", "x", "hide"),
        item("Hide only this subtree", "X", "cut"),
        html("hr", {}),
        item("Search for this name", "", "find"));
    }
    items.push(item("Copy the name", "c", "copy"), item("Copy the stack", "C", "copystack"));
    if (app.linkOf(node)) items.push(item("Open link", "Ctrl-click", "link"));
    const name = app.tree.label(node);
    const menu = html("div",
      { class: "menu", role: "menu", "aria-label": name, keydown: (event) => this.menuKey(event) },
      html("div", { class: "menu-title" }, name), ...items);
    this.show(menu);
    const { width, height } = app.size();
    const box = menu.getBoundingClientRect();
    menu.style.left = Math.max(4, Math.min(x, width - box.width - 4)) + "px";
    menu.style.top = Math.max(4, Math.min(y, height - box.height - 4)) + "px";
    items[0].focus();
  }

  menuKey(event) {
    const items = Array.from(event.currentTarget.querySelectorAll(".item"));
    const at = items.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) items[(at + step + items.length) % items.length].focus();
    else if (event.key === "Home") items[0].focus();
    else if (event.key === "End") items[items.length - 1].focus();
    else if (event.key === "Escape" || event.key === "Tab") this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /* ---- dialogs ---- */

  help() {
    const { json } = this.app.profile;
    const rows = KEYS.map(([key, text]) => html("div", {}, html("dt", {}, html("kbd", {}, key)), html("dd", {}, text)));
    this.dialog("Keys and help", html("dl", { class: "keys" }, ...rows),
      html("p", {}, "The wider a frame, the more ", json.countname || "samples",
        " have it on the stack. The legend explains the colors. ",
        "The URL contains the view: copy it to share what you see."),
      json.notes ? html("p", {}, "Notes: ", json.notes) : null);
  }

  /** Last resort for copying: the text, selected, for the reader's own Ctrl-C. */
  offerText(text) {
    const area = html("textarea", { readonly: "", rows: 5, "aria-label": "Text to copy" });
    area.value = text;
    this.dialog("Press Ctrl-C to copy", area);
    area.focus();
    area.select();
  }

  dialog(title, ...content) {
    const close = button({ label: "Close", symbol: "close", key: "Escape", act: () => this.close() });
    const keydown = (event) => this.dialogKey(event);
    const box = html("div", { class: "dialog", role: "dialog", "aria-modal": "true", "aria-label": title, keydown },
      html("div", { class: "dialog-head" }, html("h2", {}, title), close), ...content);
    const outside = (event) => {
      if (event.target === veil) this.close();
    };
    const veil = html("div", { class: "veil", mousedown: outside }, box);
    this.show(veil);
    close.focus();
  }

  /** While a dialog is open its keys are its own. */
  dialogKey(event) {
    event.stopPropagation();
    if (event.key === "Escape" || event.key === "?") this.close();
    else if (event.key === "Tab") this.keepFocus(event);
    else return;
    event.preventDefault();
  }

  keepFocus(event) {
    const stops = Array.from(event.currentTarget.querySelectorAll("button, textarea, a"));
    const at = stops.indexOf(document.activeElement);
    stops[(at + (event.shiftKey ? -1 : 1) + stops.length) % stops.length].focus();
  }

  show(element) {
    this.close();
    this.hideTip();
    this.open = element;
    this.layer.append(element);
  }

  /** Closes what is open; says whether anything was. */
  close() {
    if (!this.open) return false;
    this.open.remove();
    this.open = null;
    this.app.focusGraph();
    return true;
  }

  /* ---- messages ---- */

  say(text) {
    this.toast.textContent = text;
    this.toast.hidden = false;
    this.app.panel.speak(text);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.toast.hidden = true), 2200);
  }
}
