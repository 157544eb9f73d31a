/*
 * Runs named tests one after the other in one browser and reports them as TAP. Each test gets a Page.
 */
"use strict";

const { execFileSync } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const { Browser, missing } = require("./webdriver.js");

const tests = [];

function test(name, body) {
  tests.push({ name, body });
}

/** Throws unless the two are equal as JSON; numbers may differ by `tolerance`. */
function same(actual, expected, what, tolerance) {
  const near = tolerance !== undefined && Math.abs(actual - expected) <= tolerance;
  if (near || JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new Error(`${what || "value"} is ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
}

function check(condition, what) {
  if (!condition) throw new Error(what);
}

/** What a reader does with a picture. */
class Page {
  constructor(browser, wick, folder) {
    Object.assign(this, { browser, wick, folder, made: new Map() });
  }

  /** Makes a picture with `wick flame` and returns its path. */
  draw(input, args = []) {
    const key = JSON.stringify([input, args]);
    if (!this.made.has(key)) {
      const file = path.join(this.folder, `picture${this.made.size}.svg`);
      const svg = execFileSync(this.wick, ["flame", "--quiet", ...args], { input, maxBuffer: 1 << 30 });
      fs.writeFileSync(file, svg);
      this.made.set(key, file);
    }
    return this.made.get(key);
  }

  /** Opens a file in a fresh page; `hash` is the part of the address behind the '#'. */
  async openFile(file, { hash = "", width = 1280, height = 800, dark = false } = {}) {
    const scheme = { name: "prefers-color-scheme", value: dark ? "dark" : "light" };
    await this.browser.devtools("Emulation.setEmulatedMedia", { features: [scheme] });
    await this.browser.resize(width, height);
    await this.browser.open("about:blank");
    await this.browser.open("file://" + file + (hash ? "#" + hash : ""));
  }

  async open(input, { args, ...where } = {}) {
    await this.openFile(this.draw(input, args), where);
  }

  run(fn, ...args) {
    return this.browser.run(fn, ...args);
  }

  state() {
    return this.run(() => wick.state());
  }

  visible() {
    return this.run(() => wick.visible());
  }

  /** The only (or first) frame of that name on screen. */
  async frame(name) {
    const [found] = await this.run((n) => wick.find(n), name);
    check(found, `no frame "${name}" on screen`);
    return found;
  }

  async click(name) {
    const { x, y, width, height } = await this.frame(name);
    await this.browser.pointer(x + width / 2, y + height / 2, 0);
  }

  async hover(name) {
    const { x, y, width, height } = await this.frame(name);
    await this.browser.pointer(x + width / 2, y + height / 2);
  }

  async search(term) {
    await this.browser.press("/");
    await this.browser.type(term);
  }

  text(css) {
    return this.run((s) => { const e = document.querySelector(s); return e && !e.hidden ? e.textContent : null; }, css);
  }

  attribute(css, name) {
    return this.run((s, n) => { const e = document.querySelector(s); return e && e.getAttribute(n); }, css, name);
  }

  count(css) {
    return this.run((s) => document.querySelectorAll(s).length, css);
  }

  /** What a screen reader calls the frames that exist as elements. */
  labels() {
    return this.run(() => Array.from(document.querySelectorAll("#frames g"), (g) => g.getAttribute("aria-label")));
  }

  press(...keys) {
    return this.browser.press(...keys);
  }

  /** Waits until the function, run in the page, returns something true. */
  async until(fn, ...args) {
    for (let tries = 0; tries < 100; tries++) {
      if (await this.run(fn, ...args)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error("waited 2 s in vain for " + fn);
  }

  async back() {
    const before = await this.run(() => location.hash);
    await this.run(() => history.back());
    await this.until((hash) => location.hash !== hash, before);
  }

  /** Errors and warnings of the console since the last call. */
  async complaints() {
    const log = await this.browser.log();
    return log.filter((entry) => ["SEVERE", "WARNING"].includes(entry.level)).map((entry) => entry.message);
  }
}

/* ---- running ---- */

function report(results) {
  const count = (state) => results.filter((result) => result === state).length;
  const skipped = count("skipped");
  console.log(`${count("passed")} passed, ${count("failed")} failed` + (skipped ? `, ${skipped} skipped` : ""));
  process.exitCode = count("failed") ? 1 : 0;
}

function skipAll(why) {
  const results = tests.map(({ name }, i) => {
    if (process.env.CI === "true") {
      console.log(`not ok ${i + 1} - ${name}: ${why}`);
      return "failed";
    }
    console.log(`ok ${i + 1} - ${name} # SKIP ${why}`);
    return "skipped";
  });
  report(results);
}

async function runOne(page, { name, body }, number) {
  try {
    await page.complaints();
    await body(page);
    const complaints = await page.complaints();
    check(complaints.length === 0, "the console says " + complaints.join("; "));
    console.log(`ok ${number} - ${name}`);
    return "passed";
  } catch (error) {
    console.log(`not ok ${number} - ${name}: ${error.message.replace(/\n/g, " ")}`);
    return "failed";
  }
}

async function main(wick) {
  const why = missing();
  console.log(`1..${tests.length}`);
  if (why) {
    skipAll(why);
    return;
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "wick-pictures-"));
  const browser = await Browser.start();
  const results = [];
  try {
    const page = new Page(browser, wick, folder);
    const only = process.env.ONLY && new RegExp(process.env.ONLY, "i");
    for (const [i, each] of tests.entries())
      if (!only || only.test(each.name)) results.push(await runOne(page, each, i + 1));
  } finally {
    await browser.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
  report(results);
}

/** The frames of one row on screen. */
const row = (frames, number) => frames.filter((frame) => frame.row === number);

module.exports = { test, same, check, row, main };
