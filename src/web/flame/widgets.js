/*
 * widgets.js: small parts of the page. Elements are made with createElementNS because the document is XML.
 */

const SVG_NS = "http://www.w3.org/2000/svg";
const XHTML_NS = "http://www.w3.org/1999/xhtml";

function html(tag, attributes, ...children) {
  const element = document.createElementNS(XHTML_NS, tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

function refill(element, ...children) {
  element.textContent = "";
  element.append(...children.filter((child) => child !== null && child !== undefined));
}

/* 16 by 16 line drawings. */
const ICONS = {
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.6 10.6 14 14",
  previous: "M4 10l4-4 4 4",
  next: "M4 6l4 4 4-4",
  close: "M4 4l8 8M12 4l-8 8",
  flame: "M2 13.5h12M3.5 10h7M5 6.5h4M6 3h2",
  icicle: "M2 2.5h12M3.5 6h7M5 9.5h4M6 13h2",
  reverse: "M5 13V3M5 3 2.5 5.5M5 3l2.5 2.5M11 3v10M11 13l-2.5-2.5M11 13l2.5-2.5",
  sort: "M2.5 4h11M2.5 8h7.5M2.5 12h4",
  colors: "M8 2.5s4.5 4.6 4.5 7.5a4.5 4.5 0 0 1-9 0C3.5 7.1 8 2.5 8 2.5ZM8 5v9.5",
  light: "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6ZM8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5" +
    "M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M3.4 12.6l1.1-1.1M11.5 4.5l1.1-1.1",
  dark: "M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1Z",
  legend: "M2.5 3h3v3h-3zM2.5 10h3v3h-3zM8.5 4.5h5M8.5 11.5h5",
  undo: "M6 3 2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H7",
  redo: "M10 3l3.5 3.5L10 10M13.5 6.5H6a3.5 3.5 0 0 0 0 7h3",
  reset: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  help: "M6 6.2A2 2 0 1 1 8.8 8C8.2 8.3 8 8.7 8 9.3M8 11.7v.1M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Z",
  zoom: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.6 10.6 14 14M7 5v4M5 7h4",
  keep: "M2.5 3h11L9.5 8v4.5l-3 1V8z",
  hide: "M2 8s2.3-4 6-4 6 4 6 4-2.3 4-6 4-6-4-6-4ZM3 13.5l10-11",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  link: "M9 3h4v4M13 3 7.5 8.5M11 9.5V13H3V5h3.5",
};

function icon(name) {
  const svg = svgElement("svg", { class: "icon", width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" });
  svgElement("path", { d: ICONS[name] }, svg);
  return svg;
}

/** A button whose meaning is also in its tooltip, with the key that does the same. */
function button({ label, text, symbol, key, act, className }) {
  const hint = key ? `${label} (${key})` : label;
  const element = html("button", {
    type: "button", class: className || "tool", title: hint, "aria-label": label, "aria-keyshortcuts": key || null,
    click: act,
  });
  if (symbol) element.append(icon(symbol));
  if (text) element.append(html("span", { class: "text" }, text));
  return element;
}

function setPressed(element, on) {
  element.setAttribute("aria-pressed", on ? "true" : "false");
}

/* ---- clipboard ---- */

/**
 * Copies text; resolves to false when the browser does not let us (no clipboard on this address, no permission), and
 * then the caller shows the text for copying by hand. execCommand is no way out: it refuses to work in XML documents.
 */
async function copyText(text) {
  if (!navigator.clipboard || !navigator.clipboard.writeText) return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (_) {
    return false;
  }
}
