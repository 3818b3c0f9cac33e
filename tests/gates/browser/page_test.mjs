// page_test.mjs <program that writes the pages> <node_modules>: opens pages in a real browser, as a person would.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

const [program, modules] = process.argv.slice(2).map((path) => resolve(path));
if (!existsSync(join(modules, "playwright-core"))) throw new Error("playwright-core is missing: make setup");
const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");

const folder = mkdtempSync(join(tmpdir(), "hindsight-pages-"));
let browser;
before(async () => {
  execFileSync(program, [folder], { stdio: "inherit" });
  const profile = join(folder, "profile");
  mkdirSync(profile);
  browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce", // nothing moves, so nothing has to be waited for
    env: { ...process.env, HOME: folder },
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** A test that looks at one page, and that fails if the page complains or asks for anything but itself. */
function looking(at, sentence, look) {
  test(sentence, { timeout: 60000 }, async () => {
    const page = await browser.newPage();
    const troubles = [], requests = [];
    page.on("console", (message) => troubles.push(message.text()));
    page.on("pageerror", (error) => troubles.push(error.message));
    page.on("dialog", (dialog) => troubles.push(dialog.message()));
    page.on("request", (request) => requests.push(request.url()));
    const address = pathToFileURL(join(folder, `${at}.html`)).href;
    await page.goto(address);
    await page.waitForFunction(() => window.hindsight);
    await look(page);
    assert.deepEqual(troubles, []);
    assert.deepEqual(requests.filter((url) => !url.startsWith("data:")), [address]);
    await page.close();
  });
}

/** Clicks where a node is drawn. */
async function clickNode(page, number) {
  const at = await page.evaluate((i) => {
    const { left, top } = document.getElementById("canvas").getBoundingClientRect();
    const { x, y } = window.hindsight.drawing.getElementById(`n${i}`).renderedPosition();
    return { x: left + x, y: top + y };
  }, number);
  await page.mouse.click(at.x, at.y);
}

const details = (page) => page.locator("#details").innerText();
const withClass = (page, name) => page.evaluate((selector) => window.hindsight.drawing.$(selector).map((e) => e.id()).sort(), `.${name}`);
/** Ids of the links along a route, from the page's own data. */
const linksAlong = (page, route) => page.evaluate((steps) => {
  const { links } = JSON.parse(document.getElementById("graph").textContent);
  return steps.slice(1).map((to, i) => `e${links.findIndex((link) => link.from === steps[i] && link.to === to)}`).sort();
}, route);

looking("five", "a click on a node that violates Assumption 1 shows its facts and both routes", async (page) => {
  assert.ok(await page.locator("#details").isHidden());
  await clickNode(page, 1);
  const text = await details(page);
  for (const part of ["a", "Bernoulli", "8", "violated", "a[0] → c", "a[0] → b[0] → c", "Both end in c", "hnca", "chosen by estimate_with",
    "refused: policy", "reward score", "Assumption::relaxed"])
    assert.ok(text.replace(/\s+/g, " ").includes(part), `${part} in ${text}`);
  const neighbours = await page.locator("#details ul.nodes bdi").allInnerTexts();
  assert.deepEqual(neighbours, ["x", "b", "t", "c"]);
  assert.deepEqual(await withClass(page, "chosen"), ["n1"]);
  assert.deepEqual(await withClass(page, "meets"), ["n4"]);
  assert.deepEqual(await withClass(page, "edge"), await linksAlong(page, [1, 4]));
  assert.deepEqual(await withClass(page, "route"), await linksAlong(page, [1, 2, 4]));
});

looking("five", "violations can be switched off and on again", async (page) => {
  assert.deepEqual(await withClass(page, "violating"), ["n1"]);
  await clickNode(page, 1);
  await page.locator("label.switch").click();
  for (const name of ["violating", "on-edge", "on-route", "edge", "route", "meets"]) assert.deepEqual(await withClass(page, name), [], name);
  await page.locator("label.switch").click();
  assert.deepEqual(await withClass(page, "violating"), ["n1"]);
  assert.deepEqual(await withClass(page, "meets"), ["n4"]);
});

looking("five", "levels are columns and shapes tell what is what", async (page) => {
  const columns = await page.evaluate(() => window.hindsight.drawing.nodes().map((node) => [Math.round(node.position("x")), node.style("shape")]));
  assert.deepEqual(columns.map(([, shape]) => shape), ["tag", "round-rectangle", "round-rectangle", "rectangle", "round-rectangle", "hexagon"]);
  const x = columns.map(([place]) => place);
  assert.equal(x[2], x[3]); // b and t
  for (const [left, right] of [[0, 1], [1, 2], [3, 4], [4, 5]]) assert.ok(x[left] < x[right]);
  assert.deepEqual(await page.locator("#level-names span").allInnerTexts(), ["level 0", "level 1", "level 2", "level 3", "rewards"]);
  const dashed = await page.evaluate(() => window.hindsight.drawing.edges().filter((edge) => edge.style("line-style") === "dashed").map((edge) => edge.id()));
  assert.deepEqual(dashed, await linksAlong(page, [2, 4]));
});

looking("five", "the keyboard does all: slash, search, Enter, arrows, Tab, Escape", async (page) => {
  await page.keyboard.press("/");
  await page.keyboard.type("SCO");
  assert.equal(await page.locator("#found").innerText(), "1 found, Enter shows the first");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#details h2").innerText(), "score");
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#details").isHidden());
  assert.equal(await page.locator("#search").inputValue(), "");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.querySelector("bdi").textContent), "a");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#details h2").innerText(), "b");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.querySelector("bdi").textContent), "b");
});

looking("five", "the drawing can be panned, zoomed and fitted", async (page) => {
  const view = () => page.evaluate(() => ({ zoom: window.hindsight.drawing.zoom(), ...window.hindsight.drawing.pan() }));
  const first = await view();
  await page.locator("#zoom-in").click();
  assert.ok((await view()).zoom > first.zoom);
  await page.keyboard.press("-");
  await page.mouse.move(700, 600);
  await page.mouse.down();
  await page.mouse.move(760, 640, { steps: 5 });
  await page.mouse.up();
  assert.ok(Math.abs((await view()).x - first.x) > 30);
  await page.locator("#fit").click();
  assert.ok(Math.abs((await view()).x - first.x) < 1);
});

looking("sixty", "the search lights up what it finds, and says when it finds nothing", async (page) => {
  await page.locator("#search").fill("layer7_");
  assert.equal((await withClass(page, "match")).length, 7);
  assert.equal(await page.locator("#list button:visible").count(), 7);
  await page.locator("#search").fill("no such node");
  assert.equal(await page.locator("#found").innerText(), "nothing by that name");
  assert.equal((await withClass(page, "match")).length, 0);
});

looking("sixty", "a route through the details leads from node to node", async (page) => {
  await page.locator("#list button:has(em)").first().click();
  const name = await page.locator("#details .witness.route button").nth(1).innerText();
  await page.locator("#details .witness.route button").nth(1).click();
  assert.ok(name.startsWith(await page.locator("#details h2").innerText()));
});

looking("neurons", "two hundred neurons do not overlap and are large enough to read", async (page) => {
  const { overlaps, zoom } = await page.evaluate(() => {
    const boxes = window.hindsight.drawing.nodes().map((node) => {
      const { x, y } = node.position(), [width, height] = [node.width(), node.height()];
      return { x1: x - width / 2, x2: x + width / 2, y1: y - height / 2, y2: y + height / 2 };
    });
    let count = 0;
    for (let i = 0; i < boxes.length; ++i)
      for (let k = 0; k < i; ++k)
        if (boxes[i].x1 < boxes[k].x2 && boxes[k].x1 < boxes[i].x2 && boxes[i].y1 < boxes[k].y2 && boxes[k].y1 < boxes[i].y2) ++count;
    return { overlaps: count, zoom: window.hindsight.drawing.zoom() };
  });
  assert.equal(overlaps, 0);
  assert.ok(zoom > 0.5, `zoom ${zoom}`);
});

looking("many", "thousands of nodes are boxes that count, and the page says so", async (page) => {
  assert.match(await page.locator("#remark").innerText(), /too large to draw node by node/);
  await page.locator("#list button:has(em)").first().click();
  const text = await details(page);
  assert.match(text, /stands for\s+\d+ nodes/);
  assert.match(text, /violate Assumption 1\s+\d+/);
  assert.match(text, /Nodes that violate it/);
  assert.doesNotMatch(text, /false|undefined|null|NaN/);
});

looking("hostile", "hostile names are shown and nothing in them is run", async (page) => {
  const names = await page.locator("#list bdi").allInnerTexts();
  assert.ok(names.includes("<img src=x onerror=hacked=1>"), names.join("\n"));
  const buttons = await page.locator("#list button").count();
  assert.equal(buttons, 7);
  for (let i = 0; i < buttons; ++i) {
    await page.locator("#list button").nth(i).click();
    assert.equal(await page.locator("#details h2").innerText(), names[i]);
    if (i === 3) assert.ok((await details(page)).includes("</script><script>hacked = 1</script>"));
    assert.equal(await page.locator("#details :is(img, script, b b)").count(), 0);
  }
  assert.equal(await page.evaluate(() => typeof window.hacked), "undefined");
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
});

looking("empty", "an empty graph says why there is nothing", async (page) => {
  assert.match(await page.locator("#list").innerText(), /error\[empty-graph\]/);
  assert.match(await page.locator("main").innerText(), /nothing to draw/);
});

looking("five", "dark and light follow the reader's choice", async (page) => {
  const drawn = (fill) => page.waitForFunction((wanted) => window.hindsight.drawing.getElementById("n1").style("background-color") === wanted, fill);
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "light" });
  await drawn("rgb(227,238,251)");
  assert.equal(await paper(), "rgb(247, 248, 250)");
  await page.emulateMedia({ colorScheme: "dark" });
  await drawn("rgb(31,52,77)");
  assert.equal(await paper(), "rgb(20, 24, 30)");
});
