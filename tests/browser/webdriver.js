/*
 * A W3C WebDriver client for the browser tests: starts chromedriver on a free port and drives one headless Chromium.
 * Only what the tests need, only what Node brings.
 */
"use strict";

const { spawn, spawnSync } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const ELEMENT = "element-6066-11e4-a52e-4f735466cecf"; // key of an element reference, W3C WebDriver section 12.1

/** Path of a program, or null. */
function which(...names) {
  for (const name of names) {
    const found = spawnSync("sh", ["-c", 'command -v "$1"', "sh", name], { encoding: "utf8" });
    if (found.status === 0) return found.stdout.trim();
  }
  return null;
}

/** What is missing to run a browser, with what would provide it, or null. */
function missing() {
  if (!which("chromium", "chromium-browser", "google-chrome")) return "chromium is not installed (Debian: chromium)";
  if (!which("chromedriver")) return "chromedriver is not installed (Debian: chromium-driver)";
  // chromedriver reaches the browser by this name; a system without /etc/hosts does not know it.
  if (spawnSync("getent", ["hosts", "localhost"]).status !== 0) return "localhost has no address; add it to /etc/hosts";
  return null;
}

class Browser {
  /** Starts driver and browser; close() ends both and removes the profile folder. */
  static async start() {
    const browser = new Browser();
    browser.folder = fs.mkdtempSync(path.join(os.tmpdir(), "wick-browser-"));
    browser.driver = spawn(which("chromedriver"), ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
    const port = await startedPort(browser.driver);
    browser.base = `http://127.0.0.1:${port}`;
    const args = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--hide-scrollbars", "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--user-data-dir=" + browser.folder, "--window-size=1280,800",
    ];
    const binary = which("chromium", "chromium-browser", "google-chrome");
    const session = await browser.begin({
      capabilities: {
        alwaysMatch: {
          browserName: "chrome",
          "goog:chromeOptions": { binary, args },
          "goog:loggingPrefs": { browser: "ALL" },
        },
      },
    });
    browser.base += "/session/" + session.sessionId;
    return browser;
  }

  /** Opens the session; without one nothing is left running. */
  async begin(request) {
    try {
      return await this.send("POST", "/session", request);
    } catch (error) {
      this.driver.kill();
      fs.rmSync(this.folder, { recursive: true, force: true });
      throw error;
    }
  }

  async send(method, route, body) {
    const response = await fetch(this.base + route, {
      method,
      headers: { "content-type": "application/json" },
      body: method === "POST" ? JSON.stringify(body || {}) : undefined,
      signal: AbortSignal.timeout(120000), // a browser that hangs fails the test
    });
    const { value } = await response.json();
    if (value && value.error) throw new Error(`${route}: ${value.error}: ${value.message.split("\n")[0]}`);
    return value;
  }

  async close() {
    await this.send("DELETE", "").catch(() => {});
    this.driver.kill();
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  open(url) {
    return this.send("POST", "/url", { url });
  }

  /** Runs a function in the page with JSON arguments and returns its JSON result. */
  run(fn, ...args) {
    return this.send("POST", "/execute/sync", { script: `return (${fn}).apply(null, arguments);`, args });
  }

  /** A command of the Chrome DevTools Protocol. */
  devtools(cmd, params) {
    return this.send("POST", "/goog/cdp/execute", { cmd, params: params || {} });
  }

  back() {
    return this.send("POST", "/back");
  }

  /** Size of the page itself, not of the window around it. */
  resize(width, height) {
    return this.devtools("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  }

  /** Messages of the console since the last call. */
  log() {
    return this.send("POST", "/se/log", { type: "browser" });
  }

  async screenshot(file) {
    fs.writeFileSync(file, Buffer.from(await this.send("GET", "/screenshot"), "base64"));
  }

  async element(css) {
    const found = await this.send("POST", "/element", { using: "css selector", value: css });
    return found[ELEMENT];
  }

  /** Goes into a frame, or with null back to the page around it. */
  async enter(css) {
    return this.send("POST", "/frame", { id: css === null ? null : { [ELEMENT]: await this.element(css) } });
  }

  async clickElement(css) {
    return this.send("POST", `/element/${await this.element(css)}/click`);
  }

  /** Presses the keys one after the other; names of the W3C key table or single characters. */
  async press(...keys) {
    const actions = [];
    for (const key of keys) {
      const value = KEYS[key] || key;
      const shifted = /^[A-Z?]$/.test(value);
      if (shifted) actions.push({ type: "keyDown", value: KEYS.Shift });
      actions.push({ type: "keyDown", value }, { type: "keyUp", value });
      if (shifted) actions.push({ type: "keyUp", value: KEYS.Shift });
    }
    await this.send("POST", "/actions", { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  /** Holds one key while another is pressed. */
  async chord(held, key) {
    const actions = [
      { type: "keyDown", value: KEYS[held] }, { type: "keyDown", value: KEYS[key] || key },
      { type: "keyUp", value: KEYS[key] || key }, { type: "keyUp", value: KEYS[held] },
    ];
    await this.send("POST", "/actions", { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  async type(text) {
    await this.press(...text);
  }

  /** Moves the pointer, and clicks with the given button (0 left, 2 right) unless it is null. */
  async pointer(x, y, button = null) {
    const actions = [{ type: "pointerMove", duration: 0, x: Math.round(x), y: Math.round(y) }];
    if (button !== null) actions.push({ type: "pointerDown", button }, { type: "pointerUp", button });
    const mouse = { type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions };
    await this.send("POST", "/actions", { actions: [mouse] });
  }
}

const KEYS = {
  Backspace: "\uE003", Tab: "\uE004", Enter: "\uE007", Shift: "\uE008", Control: "\uE009", Escape: "\uE00C",
  ArrowLeft: "\uE012", ArrowUp: "\uE013", ArrowRight: "\uE014", ArrowDown: "\uE015",
};

function startedPort(driver) {
  return new Promise((resolve, reject) => {
    let text = "";
    driver.stdout.on("data", (chunk) => {
      text += chunk;
      const match = /on port (\d+)/.exec(text.replace(/on port 0\b/, ""));
      if (match) resolve(match[1]);
    });
    driver.on("error", reject);
    driver.on("exit", (code) => reject(new Error("chromedriver ended with " + code)));
    setTimeout(() => reject(new Error("chromedriver did not start within 60 s")), 60000).unref();
  });
}

module.exports = { Browser, missing };
