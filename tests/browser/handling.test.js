/*
 * Address, keyboard, details, menus, and large or empty pictures. Loaded by flame.test.js.
 */
"use strict";

const fs = require("fs");
const path = require("path");
const { test, same, check, row } = require("./harness.js");
const { many, SERVER } = require("./stacks.js");

/* ---- address and history ---- */

test("back undoes, step by step", async (page) => {
  await page.open(SERVER);
  await page.click("serve");
  await page.click("reply");
  await page.press("i");
  await page.back();
  same((await page.state()).inverted, false, "icicle undone");
  await page.back();
  same((await page.state()).zoomed, "serve", "second zoom undone");
  await page.back();
  same((await page.state()).zoomed, null, "first zoom undone");
  await page.run(() => history.forward());
  await page.until(() => wick.state().zoomed === "serve");
});

test("Backspace and the buttons undo and redo", async (page) => {
  await page.open(SERVER);
  same(await page.run(() => document.querySelector('[aria-label="Undo"]').disabled), true, "nothing to undo");
  await page.click("serve");
  await page.press("k");
  await page.press("Backspace");
  await page.until(() => wick.state().filters.length === 0);
  await page.browser.clickElement('[aria-label="Undo"]');
  await page.until(() => wick.state().zoomed === null);
  await page.browser.clickElement('[aria-label="Redo"]');
  await page.until(() => wick.state().zoomed === "serve");
});

test("a search typed letter by letter is one step back", async (page) => {
  await page.open(SERVER);
  await page.click("serve");
  await page.search("tcp_s");
  await page.back();
  const { search, zoomed } = await page.state();
  same([search, zoomed], ["", "serve"], "search and zoom");
});

test("an address reopens to the same view", async (page) => {
  await page.open(SERVER);
  await page.press("i", "s", "p", "t", "r");
  await page.click("memcpy");
  await page.press("k");
  await page.click("parse");
  await page.search("MEM|pa(r)se [x]?%&#+");
  await page.browser.clickElement(".case");
  const before = [await page.state(), (await page.visible()).map((f) => [f.name, f.x, f.y, f.width, f.fill])];
  const hash = await page.run(() => location.hash.slice(1));
  await page.open(SERVER, { hash });
  const after = [await page.state(), (await page.visible()).map((f) => [f.name, f.x, f.y, f.width, f.fill])];
  after[0].selected = before[0].selected;
  same(after[0], before[0], "state");
  same(after[1], before[1], "frames");
});

test("an address of another profile or an edited one does no harm", async (page) => {
  await page.open(SERVER, { hash: "zoom=AAAABBBB&hide=nothing&sort=sideways&search=%E0%A4%A&cut=ZZZZ&reverse&&=1" });
  const { total, zoomed, search, sort } = await page.state();
  same([total, zoomed, search, sort], [100, null, "", "name"], "state");
  check(/not in this view/.test(await page.text(".notice")), "no notice");
});

test("editing the address changes the view", async (page) => {
  await page.open(SERVER);
  await page.run(() => { location.hash = "search=memcpy"; });
  await page.until(() => wick.state().found && wick.state().found.count === 2);
});

/* ---- keyboard and screen readers ---- */

test("arrows walk the tree as it lies on screen", async (page) => {
  await page.open(SERVER);
  const selected = async () => (await page.state()).selected;
  await page.press("ArrowUp");
  same(await selected(), "all", "first press");
  await page.press("ArrowUp", "ArrowUp");
  same(await selected(), "serve", "up: the widest callee");
  await page.press("ArrowLeft");
  same(await selected(), "log", "left");
  await page.press("ArrowRight");
  same(await selected(), "serve", "right");
  await page.press("ArrowDown");
  same(await selected(), "main", "down: the caller");
  await page.press("i", "ArrowDown");
  same(await selected(), "serve", "icicle, down: the callee");
  await page.press("ArrowUp");
  same(await selected(), "main", "icicle, up: the caller");
});

test("everything works from the keyboard", async (page) => {
  await page.open(SERVER);
  await page.press("ArrowUp", "ArrowUp", "ArrowUp", "Enter");
  same((await page.state()).zoomed, "serve", "Enter zooms");
  await page.press("Escape");
  same((await page.state()).zoomed, null, "Escape resets the zoom");
  await page.browser.chord("Control", "f");
  same(await page.run(() => document.activeElement.localName), "input", "Ctrl-F goes to the search");
  await page.browser.type("log");
  await page.press("Escape");
  same((await page.state()).search, "", "Escape in the search clears it");
  await page.press("ArrowUp", "h");
  same((await page.state()).filters.length, 1, "h hides");
  await page.press("0");
  same((await page.state()).filters.length, 0, "0 resets");
});

test("the help lists the keys and closes again", async (page) => {
  await page.open(SERVER);
  await page.press("?");
  same(await page.attribute("[role=dialog]", "aria-label"), "Keys and help", "dialog");
  same(await page.count("[role=dialog] :focus"), 1, "focus in the dialog");
  await page.press("Escape");
  same(await page.count("[role=dialog]"), 0, "dialogs after Escape");
});

test("a screen reader hears the name and the percentage", async (page) => {
  await page.open(SERVER);
  await page.press("ArrowUp", "ArrowUp", "ArrowUp");
  const spoken = await page.text(".spoken[aria-live]");
  check(/serve, 70 samples, 70\.00%/.test(spoken), "spoken: " + spoken);
  same(await page.attribute(".stage", "role"), "application", "role");
  same(await page.count("button:not([aria-label])"), 0, "buttons without a name");
  check((await page.labels()).includes("serve, 70.00%"), "frames are called " + (await page.labels()).join("; "));
});

test("the focus can be seen", async (page) => {
  await page.open(SERVER);
  await page.press("Tab", "Tab");
  const outline = await page.run(() => getComputedStyle(document.activeElement).outlineStyle);
  check(outline !== "none", "the focused element looks like the others");
  await page.run(() => document.querySelector(".stage").focus());
  await page.press("ArrowUp");
  same(await page.attribute(".mark.selected", "visibility"), "visible", "outline of the selected frame");
});

/* ---- details, menu, copying, links ---- */

test("the details show self and total of the frame pointed at", async (page) => {
  await page.open(SERVER);
  const memcpy = (await page.run(() => wick.find("memcpy"))).find((frame) => frame.total === 25);
  await page.browser.pointer(memcpy.x + 5, memcpy.y + 5);
  const details = await page.text("#details");
  for (const part of ["memcpy", "25 samples", "25.00%", "20 samples", "20.00%", "37.00%", "self 32.00%"])
    check(details.includes(part), `no "${part}" in: ${details}`);
  check((await page.text(".tip")).includes("25 samples, 25.00%"), "tooltip is " + (await page.text(".tip")));
});

test("the details count recursion once", async (page) => {
  await page.open("a;b;a;b 6\na;c 4\n");
  await page.hover("b");
  check((await page.text("#details")).includes("function60.00%"), "details: " + (await page.text("#details")));
});

test("the details name the module when it is known", async (page) => {
  const text = "app 100 [000] 1.000000:     250000 cpu-clock: \n" +
    "\t    7f0000001000 open64+0x20 (/usr/lib/libc.so.6)\n\t    400100 main+0x8 (/opt/app)\n\n";
  await page.open(text);
  await page.hover("open64");
  check((await page.text("#details")).includes("libc.so.6"), "details: " + (await page.text("#details")));
});

test("the foot holds the quality line", async (page) => {
  await page.open(SERVER);
  check((await page.text("#quality")).length > 3, "no quality line");
});

test("counts follow --countname, --factor and decimals", async (page) => {
  await page.open("a;b 2500000\n", { args: ["--countname", "bytes"] });
  check((await page.text("#details")).includes("2.38 MiB"), "details: " + (await page.text("#details")));
  await page.open("a;b 12\n", { args: ["--factor", "10"] });
  check((await page.text("#details")).includes("120 samples"), "details: " + (await page.text("#details")));
  await page.open("a;b 1.25\na;c 2.5\n");
  check((await page.text("#details")).includes("3.75 samples"), "details: " + (await page.text("#details")));
});

test("copies the name and the folded stack", async (page) => {
  await page.open(SERVER);
  await page.run(() => {
    window.copied = [];
    const writeText = async (text) => { window.copied.push(text); };
    Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText } });
  });
  await page.click("tcp_send");
  await page.press("c", "C");
  same(await page.run(() => window.copied), ["tcp_send", "main;serve;reply;tcp_send 30"], "copied");
  await page.press("r");
  await page.click("reply");
  await page.press("C");
  same(await page.run(() => window.copied[2]), "reply;format 15", "copied from a reversed graph, in call order");
});

test("offers the text where there is no clipboard", async (page) => {
  await page.open(SERVER);
  await page.run(() => { Object.defineProperty(navigator, "clipboard", { configurable: true, value: undefined }); });
  await page.click("tcp_send");
  await page.press("C");
  await page.until(() => Boolean(document.querySelector("[role=dialog] textarea")));
  const [value, selected] = await page.run(() => {
    const area = document.querySelector("textarea");
    return [area.value, area.value.slice(area.selectionStart, area.selectionEnd)];
  });
  same([value, selected], ["main;serve;reply;tcp_send 30", "main;serve;reply;tcp_send 30"], "text and selection");
  await page.press("Escape");
});

test("a right click opens the frame's menu", async (page) => {
  await page.open(SERVER);
  const { x, y } = await page.frame("reply");
  await page.browser.pointer(x + 4, y + 4, 2);
  check((await page.text("[role=menu]")).includes("Keep only stacks"), "no menu");
  await page.press("ArrowDown", "Enter");
  same((await page.state()).filters.map(({ op, name }) => op + " " + name), ["keep reply"], "filters");
  same(await page.count("[role=menu]"), 0, "menus");
});

test("links, titles and classes of --nameattr", async (page) => {
  const file = path.join(page.folder, "attrs.txt");
  fs.writeFileSync(file, "serve\thref=https://example.org/serve\ttitle=The server\tclass=hot\n" +
    "log\thref=javascript:alert(1)\n");
  await page.open(SERVER, { args: ["--nameattr", file] });
  same(await page.attribute("#frames .hot", "aria-label"), "serve, 70.00%", "frame with the class");
  await page.hover("serve");
  same(await page.text(".tip"), "The server", "tooltip");
  same(await page.attribute("#details a", "href"), "https://example.org/serve", "link");
  const opened = await page.run((x, y) => {
    let address = null;
    window.open = (href) => { address = href; };
    const click = new MouseEvent("click", { clientX: x, clientY: y, ctrlKey: true, bubbles: true });
    document.querySelector(".stage").dispatchEvent(click);
    return address;
  }, (await page.frame("serve")).x + 5, (await page.frame("serve")).y + 5);
  same([opened, (await page.state()).zoomed], ["https://example.org/serve", null], "Ctrl-click");
  await page.hover("log");
  same(await page.count("#details a"), 0, "links to a script");
});

/* ---- size ---- */

test("100,000 call paths open fast and with few elements", async (page) => {
  const folded = many(100000);
  await page.open(folded, { height: 900 });
  const { elements, frames, notDrawn } = await page.run(() => wick.layout());
  const dom = await page.run(() => document.getElementsByTagName("*").length);
  check(frames + notDrawn > 90000, `only ${frames + notDrawn} frames`);
  check(dom < 12000, `${dom} elements, ${elements} of them frames`);
  const sum = folded.split("\n").reduce((total, line) => total + Number(line.split(" ").pop()), 0);
  same((await page.state()).total, sum, "total");
  const widest = row(await page.visible(), 2).sort((a, b) => b.width - a.width)[0];
  const zoom = await page.run((x, y) => {
    const start = performance.now();
    document.querySelector(".stage").dispatchEvent(new MouseEvent("click", { clientX: x, clientY: y, bubbles: true }));
    document.querySelector(".page").getBoundingClientRect();
    return performance.now() - start;
  }, widest.x + widest.width / 2, widest.y + 5);
  console.log(`# zoom with 100,000 call paths: ${zoom.toFixed(0)} ms, ${dom} elements`);
  check(zoom < 1000, `a zoom takes ${zoom.toFixed(0)} ms`);
  same((await page.state()).zoomed, widest.name, "zoomed frame");
});

test("rows out of sight are not drawn until scrolled to", async (page) => {
  const deep = Array.from({ length: 300 }, (_, i) => "level" + i).join(";") + " 5\n";
  await page.open(deep);
  const first = await page.labels();
  check(first.includes("all, 100.00%"), "the root is not drawn");
  check(first.length < 90, `${first.length} of 301 rows are drawn`);
  await page.run(() => { document.querySelector(".stage").scrollTop = 0; });
  await page.until(() => Boolean(document.querySelector('[aria-label="level299, 100.00%"]')));
});

test("an empty profile says so", async (page) => {
  const file = path.join(page.folder, "empty.svg");
  const svg = fs.readFileSync(page.draw(SERVER), "utf8");
  fs.writeFileSync(file, svg.replace(/"nodes":\[[^\]]*\]/, '"nodes":[]').replace(/"total":100/, '"total":0'));
  await page.openFile(file);
  check(/no samples/.test(await page.text(".empty")), "no message");
  await page.press("ArrowUp", "ArrowUp", "r", "i", "s", "n", "Enter");
});

test("unreadable data leaves the static picture", async (page) => {
  const svg = fs.readFileSync(page.draw(SERVER), "utf8");
  for (const broken of [svg.replace('"version":1', '"version":1,,'), svg.replace('"decimals":0', '"decimals":1000')]) {
    const file = path.join(page.folder, "broken.svg");
    fs.writeFileSync(file, broken);
    await page.openFile(file);
    same(await page.count("#frames rect"), 15, "static frames");
    same(await page.count("foreignObject"), 0, "live views");
    check(/not interactive/.test(await page.text("#quality")), "no word about it");
    const width = await page.run(() => document.querySelector("#frames rect").getBoundingClientRect().width);
    check(width > 900, `the root is ${width} px wide`);
  }
});
