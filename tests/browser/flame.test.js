/*
 * What a reader can do with the picture that `wick flame` writes. Run by tests/browser/run.
 */
"use strict";

const fs = require("fs");
const path = require("path");
const { test, same, check, row, main } = require("./harness.js");
const { totals, many, SERVER } = require("./stacks.js");

const names = (frames) => frames.filter((frame) => frame.name).map((frame) => frame.name);

/** {"a;b": total} of what is on screen, without the root. */
function shown(frames) {
  const sums = {};
  for (const frame of frames) if (frame.row > 0 && frame.name) sums[frame.stack.join(";")] = frame.total;
  return sums;
}

function sorted(object) {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}

/* ---- the picture ---- */

test("shows every call path with its weight", async (page) => {
  await page.open(SERVER);
  const frames = await page.visible();
  same(sorted(shown(frames)), sorted(totals(SERVER)), "paths and weights");
  same((await page.state()).total, 100, "total");
  const root = await page.frame("all"), serve = await page.frame("serve");
  same(serve.width / root.width, 0.7, "share of the width", 0.001);
});

test("fills the window and follows its size", async (page) => {
  await page.open(SERVER, { width: 1000 });
  same((await page.frame("all")).width, 980, "width", 16);
  await page.browser.resize(1400, 700);
  await page.until(() => wick.layout().width > 1300);
  await page.until(() => document.documentElement.getBoundingClientRect().width === 1400);
});

test("keeps the width that --width asks for", async (page) => {
  await page.open(SERVER, { args: ["--width", "700"] });
  same(await page.run(() => document.getElementById("wick").getBoundingClientRect().width), 700, "width");
  check((await page.frame("all")).width < 700, "the frames are wider than the picture");
});

test("fits a narrow window", async (page) => {
  await page.open(SERVER, { width: 480, height: 640 });
  const wide = await page.run(() => Array.from(document.querySelectorAll(".bar *, .under *, .stage *"))
    .filter((e) => !e.closest(".facts") && !e.closest("svg.icon") && e.getBoundingClientRect().right > innerWidth + 0.5)
    .map((e) => e.localName + "." + e.getAttribute("class")));
  same(wide, [], "elements beyond the right edge");
  await page.search("tcp");
  same((await page.state()).found.count, 4, "matches");
  const room = await page.run(() => document.querySelector(".found").getBoundingClientRect().width);
  check(room > 60, `${room} px for the result`);
});

test("draws labels only where they fit", async (page) => {
  const long = "a_function_with_a_rather_long_name_that_fits_nowhere";
  await page.open(`main;${long} 1\nmain;wide 30\nmain;org/example/Thing.method 2\n`);
  const bad = await page.run(() => Array.from(document.querySelectorAll("#frames g")).filter((g) => {
    const text = g.querySelector("text"), rect = g.querySelector("rect");
    return text.textContent && text.getBBox().width > rect.getBBox().width;
  }).length);
  same(bad, 0, "labels wider than their frame");
  same(await page.run(() => document.querySelector("#frames g text").textContent), "all", "label of the root");
});

test("cuts qualifiers first, and with --truncate-text-right only the right end", async (page) => {
  const folded = "main;core::ops::function::FnOnce::call_once 20\nmain;other 80\n";
  const label = () => page.run(() => {
    const texts = Array.from(document.querySelectorAll("#frames text"), (text) => text.textContent);
    return texts.find((text) => /core|once|…/.test(text));
  });
  await page.open(folded, { width: 900 });
  check(/^….*call_once$/.test(await label()), "label is " + (await label()));
  await page.open(folded, { width: 900, args: ["--truncate-text-right"] });
  check(/^core::.*…$/.test(await label()), "label is " + (await label()));
});

test("shows names with XML specials and in all scripts", async (page) => {
  const odd = [
    "operator<<(a&, \"b\")", "vector<int>::push_back(int&&)", "']]>'", "größe_计算_🔥", "a=b&amp", "sp ace",
  ];
  await page.open(odd.map((name, i) => `main;${name} ${i + 1}`).join("\n") + "\n");
  const found = names(await page.visible());
  for (const name of odd) check(found.includes(name), `"${name}" is not among ${JSON.stringify(found)}`);
  await page.click("größe_计算_🔥");
  same((await page.state()).zoomed, "größe_计算_🔥", "zoomed frame");
});

test("without script it is still a picture", async (page) => {
  const file = page.draw(SERVER);
  await page.browser.devtools("Emulation.setScriptExecutionDisabled", { value: true });
  try {
    await page.openFile(file);
    same(await page.count("foreignObject"), 0, "live views");
    const titles = await page.run(() => Array.from(document.querySelectorAll("#frames title"), (t) => t.textContent));
    check(titles.some((t) => /^serve \(70 samples, 70(\.00)?%\)/.test(t)), "no title for serve: " + titles.join(" | "));
    const widths = await page.run(() =>
      Array.from(document.querySelectorAll("#frames rect"), (rect) => rect.getBoundingClientRect().width));
    check(widths.filter((width) => width > 5).length >= 15, `frames are ${widths.join(", ")} wide`);
  } finally {
    await page.browser.devtools("Emulation.setScriptExecutionDisabled", { value: false });
  }
});

test("works inside <object> and <iframe>", async (page) => {
  const file = page.draw(SERVER);
  const html = path.join(page.folder, "around.html");
  const name = path.basename(file);
  const frames = `<object data="${name}" type="image/svg+xml"></object><iframe src="${name}" width="500"></iframe>`;
  fs.writeFileSync(html, "<!doctype html>" + frames);
  await page.openFile(html);
  for (const [tag, width] of [["object", 1200], ["iframe", 500]]) {
    await page.browser.enter(tag);
    same((await page.state()).total, 100, "total in " + tag);
    same(await page.run(() => document.documentElement.getBoundingClientRect().width), width, "width in " + tag);
    await page.browser.enter(null);
  }
});

test("prints in light colours with all rows", async (page) => {
  const deep = Array.from({ length: 90 }, (_, i) => "level" + i).join(";") + " 5\n";
  await page.open(deep, { dark: true });
  const look = async (event) => {
    await page.run((name) => { window.dispatchEvent(new Event(name)); }, event);
    return [await page.count("#frames g"), await page.attribute("#wick", "data-theme")];
  };
  same(await look("beforeprint"), [91, "light"], "rows and theme on paper");
  const [rows, theme] = await look("afterprint");
  check(rows < 91 && theme === "dark", `after printing: ${rows} rows, ${theme}`);
});

/* ---- zoom ---- */

test("zooms into a frame and back", async (page) => {
  await page.open(SERVER);
  await page.click("reply");
  same((await page.state()).zoomed, "reply", "zoomed frame");
  const [all, reply, send] = [await page.frame("all"), await page.frame("reply"), await page.frame("tcp_send")];
  same(reply.width, all.width, "width of the zoomed frame", 0.1);
  same(send.width / all.width, 30 / 45, "width of its child", 0.001);
  same(names(await page.visible()).includes("log"), false, "a frame outside is still shown");
  await page.click("all");
  same((await page.state()).zoomed, null, "zoomed frame");
  same(await page.frame("serve").then((f) => f.percent), 70, "share after the reset", 0.01);
});

test("callers of a zoomed frame stay in reach", async (page) => {
  await page.open(SERVER);
  await page.click("tcp_send");
  same((await page.frame("serve")).role, "caller", "role");
  await page.click("serve");
  same((await page.state()).zoomed, "serve", "zoomed frame");
});

test("shows narrow frames once there is room for them", async (page) => {
  await page.open("main;big 1000000\nmain;small;a 30\nmain;small;b 10\n");
  same(names(await page.visible()).includes("a"), false, "a is drawn");
  const note = await page.text("#narrow");
  check(/frames? narrower than .* px not drawn/.test(note), "note on what is not drawn: " + note);
  await page.search("^a$");
  await page.press("Enter");
  await page.until(() => wick.state().zoomed === "a");
});

/* ---- search ---- */

test("search counts matches and merges what they cover", async (page) => {
  await page.open(SERVER);
  await page.search("tcp");
  const { found } = await page.state();
  same(found.count, 4, "matches");
  same(found.percent, 45, "percentage, overlaps counted once", 1e-9);
  check((await page.text(".found")).includes("45.00%"), "the result is not shown");
  same((await page.visible()).filter((frame) => frame.role === "match").length, 4, "highlighted frames");
  same((await page.frame("tcp_send")).fill, "rgb(230,0,230)", "colour of a match");
});

test("the percentage of matches is that of the zoomed frame", async (page) => {
  await page.open(SERVER);
  await page.search("tcp");
  await page.press("Escape", "Escape"); // leaving the field clears it …
  await page.search("tcp");
  await page.click("reply"); // … a click keeps it
  const { found } = await page.state();
  same(found.count, 2, "matches");
  same(found.percent, (100 * 30) / 45, "percentage", 1e-9);
  check((await page.text(".found")).includes("66.67%"), "shown: " + (await page.text(".found")));
  await page.click("all");
  same((await page.state()).found.percent, 45, "percentage after the reset", 1e-9);
});

test("search is a regular expression with smart case", async (page) => {
  await page.open(SERVER);
  const count = async (hash) => {
    await page.open(SERVER, { hash });
    return (await page.state()).found.count;
  };
  same(await count("search=^tcp_(send%7Ccopy)%24"), 2, "alternatives");
  same(await count("search=flush"), 1, "small letters match any case");
  same(await count("search=Flush"), 1, "capital");
  same(await count("search=FLUSH"), 0, "capitals match only capitals");
  same(await count("search=FLUSH&match=ignore"), 1, "case ignored");
  same(await count("search=flush&match=match"), 0, "case matched");
});

test("the case button goes through its three ways", async (page) => {
  await page.open(SERVER, { hash: "search=flush" });
  const ways = [];
  for (let i = 0; i < 3; i++) {
    await page.browser.clickElement(".case");
    const { match, found } = await page.state();
    ways.push([match, found.count]);
  }
  same(ways, [["match", 0], ["ignore", 1], ["smart", 1]], "ways");
});

test("next and previous match by key and by button", async (page) => {
  await page.open(SERVER);
  await page.search("tcp");
  await page.press("Enter");
  const selected = async () => (await page.state()).selected;
  same(await selected(), "tcp_accept", "first");
  await page.run(() => document.querySelector(".stage").focus());
  await page.press("n");
  same(await selected(), "tcp_check", "after n");
  await page.press("n", "n", "n");
  same(await selected(), "tcp_accept", "around the end");
  await page.press("N");
  same(await selected(), "tcp_copy", "after N");
  await page.browser.clickElement('[aria-label="Previous match"]');
  same(await selected(), "tcp_send", "after the button");
  check((await page.text(".found")).startsWith("3/4"), "shown: " + (await page.text(".found")));
});

test("an invalid regular expression is said, not thrown", async (page) => {
  await page.open(SERVER);
  await page.search("(tcp");
  const { found } = await page.state();
  check(found.error, "no error in the state");
  check(/^Invalid regex: /.test(await page.text(".found")), "shown: " + (await page.text(".found")));
  same(await page.attribute(".search input", "aria-invalid"), "true", "aria-invalid");
  await page.browser.type(")");
  same((await page.state()).found.count, 4, "matches once it is valid");
});

/* ---- filters ---- */

test("hide takes out all stacks through a function and rescales", async (page) => {
  await page.open(SERVER);
  await page.click("memcpy");
  await page.press("x");
  const { total, zoomed } = await page.state();
  same([total, zoomed], [63, null], "total and zoom");
  same(names(await page.visible()).includes("memcpy"), false, "memcpy is still there");
  same((await page.frame("serve")).percent, (100 * 45) / 63, "share of serve", 0.01);
  check((await page.text(".chips")).includes("memcpy"), "no chip says so");
  await page.browser.clickElement(".chip button");
  same((await page.state()).total, 100, "total without the filter");
});

test("hide only this subtree leaves the same function elsewhere", async (page) => {
  await page.open(SERVER);
  const inLog = (await page.run(() => wick.find("memcpy"))).find((frame) => frame.stack.includes("log"));
  await page.browser.pointer(inLog.x + 3, inLog.y + 5, 0);
  await page.press("X");
  same((await page.state()).total, 88, "total");
  same((await page.run(() => wick.find("memcpy"))).map((frame) => frame.total), [25], "what is left of memcpy");
});

test("hide only this subtree works on reversed stacks", async (page) => {
  await page.open(SERVER, { hash: "reverse=1" });
  await page.hover("log"); // memcpy called by log
  const { x, y } = (await page.run(() => wick.find("log"))).find((frame) => frame.stack.join(";") === "memcpy;log");
  await page.browser.pointer(x + 2, y + 5, 0);
  await page.press("X");
  same((await page.state()).total, 88, "total");
});

test("keep leaves only stacks through a function and rescales", async (page) => {
  await page.open(SERVER);
  await page.click("memcpy");
  await page.press("k");
  same((await page.state()).total, 37, "total");
  same((await page.frame("main")).percent, 100, "share of main", 0.01);
  same((await page.frame("log")).percent, (100 * 12) / 37, "share of log", 0.01);
  const kept = SERVER.split("\n").filter((line) => line.includes("memcpy")).join("\n");
  same(sorted(shown(await page.visible())), sorted(totals(kept)), "paths");
});

test("filters that leave nothing say so", async (page) => {
  await page.open(SERVER, { hash: "hide=main" });
  check(/No stacks match/.test(await page.text(".empty")), "no message");
  await page.press("0");
  same((await page.state()).total, 100, "total after the reset");
});

/* ---- the other ways to look at it ---- */

test("reverse has the exact weight of every path from the leaf", async (page) => {
  await page.open(SERVER);
  await page.press("r");
  same(sorted(shown(await page.visible())), sorted(totals(SERVER, true)), "reversed paths");
  await page.press("r");
  same(sorted(shown(await page.visible())), sorted(totals(SERVER)), "paths back in order");
});

test("reverse is exact with many stacks, recursion and a zoom", async (page) => {
  const folded = many(400) + "a;b;a;b;a 7\na;b;a 3\nb;a 2\n";
  const expected = totals(folded, true);
  await page.open(folded, { hash: "reverse=1", height: 1400, width: 3000 });
  for (const [stack, total] of Object.entries(shown(await page.visible()))) same(total, expected[stack], stack);
  const widest = row(await page.visible(), 1).sort((a, b) => b.total - a.total)[0];
  await page.browser.pointer(widest.x + 5, widest.y + 5, 0);
  const zoomed = shown(await page.visible());
  const below = Object.keys(expected).filter((stack) => stack === widest.name || stack.startsWith(widest.name + ";"));
  same(Object.keys(zoomed).length <= below.length, true, "no more paths than there are");
  for (const [stack, total] of Object.entries(zoomed)) same(total, expected[stack], stack);
});

test("search covers the same share in both directions", async (page) => {
  const folded = many(3000);
  const share = async (hash) => {
    await page.open(folded, { hash });
    return (await page.state()).found.percent;
  };
  same(await share("search=method_1"), await share("search=method_1&reverse=1"), "share", 1e-9);
});

test("--reverse opens reversed", async (page) => {
  await page.open(SERVER, { args: ["--reverse"] });
  same(sorted(shown(await page.visible())), sorted(totals(SERVER, true)), "reversed paths");
  await page.hover("memcpy");
  check((await page.text("#details")).includes("self 32.00%"), "details: " + (await page.text("#details")));
  const { x, y } = (await page.run(() => wick.find("log"))).find((frame) => frame.stack.join(";") === "memcpy;log");
  await page.browser.pointer(x + 2, y + 5, 0);
  await page.press("X");
  same((await page.state()).total, 88, "total without a subtree");
  await page.press("0", "r");
  same(sorted(shown(await page.visible())), sorted(totals(SERVER)), "paths");
  await page.click("reply");
  await page.press("X");
  same((await page.state()).total, 55, "total without a subtree of the turned graph");
});

test("icicle puts the root on top", async (page) => {
  await page.open(SERVER);
  check((await page.frame("all")).y > (await page.frame("main")).y, "flame: the root is not at the bottom");
  await page.press("i");
  check((await page.frame("all")).y < (await page.frame("main")).y, "icicle: the root is not on top");
  await page.open(SERVER, { args: ["--inverted"] });
  check((await page.frame("all")).y < (await page.frame("main")).y, "--inverted: the root is not on top");
});

test("sort by name or by width", async (page) => {
  await page.open(SERVER);
  const order = async () => row(await page.visible(), 2).sort((a, b) => a.x - b.x).map((frame) => frame.name);
  same(await order(), ["accept", "log", "serve"], "by name");
  await page.press("s");
  same(await order(), ["serve", "log", "accept"], "by width");
  await page.press("s");
  same(await order(), ["accept", "log", "serve"], "by name again");
});

test("a flame chart keeps the order of time", async (page) => {
  await page.open("m;b 5\nm;a 5\nm;b 5\n", { args: ["--flamechart"] });
  const order = async () => row(await page.visible(), 2).sort((a, b) => a.x - b.x).map((frame) => frame.name);
  same(await order(), ["b", "a", "b"], "order");
  await page.open("m 10\nm;a 10\n", { args: ["--flamechart"] });
  same((await page.frame("a")).x, (await page.frame("m")).x + (await page.frame("m")).width / 2, "start of a", 0.5);
  await page.open("m;b 5\nm;a 5\nm;b 5\n", { args: ["--flamechart"] });
  const last = (await page.run(() => wick.find("b")))[1];
  await page.browser.pointer(last.x + 5, last.y + 5, 0);
  const { hash } = await page.run(() => ({ hash: location.hash }));
  await page.open("m;b 5\nm;a 5\nm;b 5\n", { args: ["--flamechart"], hash: hash.slice(1) });
  same((await page.state()).zoomed, "b", "reopened zoom");
});

/* ---- colours ---- */

test("follows the reader's system and can be switched", async (page) => {
  const ground = () => page.run(() => getComputedStyle(document.querySelector(".page")).backgroundColor);
  await page.open(SERVER, { dark: true });
  same((await page.state()).theme, "dark", "theme on a dark system");
  const dark = await ground();
  await page.press("t");
  same((await page.state()).theme, "light", "theme after the switch");
  check((await ground()) !== dark, "the page looks the same");
  await page.press("t");
  same((await page.state()).theme, "dark", "theme after two switches");
  await page.open(SERVER, { dark: false });
  same((await page.state()).theme, "light", "theme on a light system");
  await page.open(SERVER, { dark: true, hash: "theme=light" });
  same((await page.state()).theme, "light", "theme of the address");
  await page.open(SERVER, { args: ["--theme", "dark"] });
  same((await page.state()).theme, "dark", "theme of --theme");
});

test("labels can be read in both themes and palettes", async (page) => {
  for (const dark of [false, true]) {
    for (const colors of ["default", "safe"]) {
      await page.open(SERVER, { dark, hash: "colors=" + colors });
      const worst = await page.run(() => {
        const light = (css) => {
          const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
          const [r, g, b] = css.match(/[\d.]+/g).map((v) => linear(v / 255));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        return Math.min(...Array.from(document.querySelectorAll("#frames g"), (g) => {
          const [a, b] = ["text", "rect"].map((tag) => light(getComputedStyle(g.querySelector(tag)).fill));
          return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        }));
      });
      check(worst >= 4.3, `contrast ${worst.toFixed(2)} with ${colors} colours, ${dark ? "dark" : "light"}`);
    }
  }
});

test("the colour-blind-safe palette can be switched on", async (page) => {
  await page.open(SERVER);
  const before = (await page.frame("main")).fill;
  await page.press("p");
  const after = (await page.frame("main")).fill;
  check(before !== after, "the colour did not change");
  same(await page.run(() => location.hash), "#colors=safe", "address");
  await page.press("p");
  same((await page.frame("main")).fill, before, "colour after switching back");
});

test("the legend explains the colours and can be put away", async (page) => {
  await page.open(SERVER, { args: ["--colors", "safe"] });
  check(/native/.test(await page.text("#legend")), "legend is " + (await page.text("#legend")));
  await page.press("l");
  same(await page.text("#legend"), null, "legend put away");
});

test("--colordiffusion colours by width", async (page) => {
  await page.open(SERVER, { args: ["--colordiffusion"] });
  same((await page.frame("main")).fill, "rgb(255,0,0)", "full width");
  const c = Math.trunc(210 * (1 - Math.sqrt(0.2)));
  same((await page.frame("log")).fill, `rgb(255,${c},${c})`, "a fifth of the width");
});

test("differential colours go by the inclusive change", async (page) => {
  // main 100 → 130; up 40 → 100 (+60, the largest); down 40 → 10 (-30); same 20 → 20; gone 5 → 0
  const folded = "main;up;x 40 100\nmain;down 35 10\nmain;same 20 20\nmain;gone 5 0\n";
  await page.open(folded);
  const c = (delta) => Math.trunc(210 * (1 - Math.abs(delta) / 60));
  same((await page.frame("up")).fill, "rgb(255,0,0)", "largest growth");
  same((await page.frame("down")).fill, `rgb(${c(25)},${c(25)},255)`, "shrunk");
  same((await page.frame("same")).fill, "rgb(250,250,250)", "unchanged");
  same((await page.frame("main")).fill, `rgb(255,${c(30)},${c(30)})`, "sum of all");
  check((await page.frame("gone")).width > 5, "a vanished frame is not shown");
  await page.hover("up");
  const tip = await page.text(".tip");
  check(tip.includes("40 samples") && tip.includes("100 samples") && tip.includes("+60"), "tooltip is " + tip);
  await page.open(folded, { args: ["--negate"] });
  same((await page.frame("up")).fill, "rgb(0,0,255)", "with --negate");
});

test("a reversed differential graph keeps both weights exact", async (page) => {
  await page.open("main;a;x 4 10\nmain;b;x 5 1\nmain;c 3 3\n", { hash: "reverse=1" });
  const [x] = await page.run(() => wick.find("x"));
  same([x.before, x.after], [9, 11], "before and after");
});

require("./handling.test.js");

/* ---- start: WICK and pictures from the command line ---- */

const given = process.argv.slice(2);
const pictures = given.filter((file) => file.endsWith(".svg")).map((file) => path.resolve(file));
const program = given.find((file) => !file.endsWith(".svg")) || process.env.WICK;
const wick = path.resolve(program || path.join(__dirname, "../../build/wick"));

for (const file of pictures) {
  test("opens " + path.basename(file), async (page) => {
    await page.openFile(file);
    const { total } = await page.state();
    check((await page.count("#frames rect")) > 0, "nothing is drawn");
    await page.press("r", "i", "s", "t", "p");
    same((await page.state()).total, total, "total of the reversed graph");
  });
}

main(wick);
