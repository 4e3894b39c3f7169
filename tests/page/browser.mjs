// What every story of the page uses: a browser that watches for foreign requests, errors and dialogs, and checks with axe.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const installed = process.env.MEMDIR_TEST_PAGE;
const require = createRequire(join(installed, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/// The URL with the token, and the address of every page below it.
export const start = process.env.PAGE_URL;
export const base = start.replace(/\/start\?token=.*/, "");

/// Runs memdir as another writer.
export const memdir = (...args) =>
  execFileSync(process.env.MEMDIR_BIN, args, { encoding: "utf8", env: { ...process.env, USER: "bob" } });

/// Starts a browser, runs a story in it, and ends it.
export async function story(run) {
  const browser = await chromium.launch({
    executablePath: readFileSync(join(installed, "browser"), "utf8").trim(),
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });
  try {
    await run(browser);
  } finally {
    await browser.close();
  }
  console.log("ok");
}

/// A context whose pages must not run injected scripts, open dialogs, fail, or ask any other server for anything.
export async function watched(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(90_000);
  const seen = { foreign: [], errors: [], dialogs: [] };
  const own = new URL(start).origin;
  context.on("request", (request) => {
    if (new URL(request.url()).origin !== own) seen.foreign.push(request.url());
  });
  context.on("page", (page) => {
    page.on("pageerror", (error) => seen.errors.push(String(error)));
    page.on("console", (message) => {
      const isExpected = /status of (400|401|404|409|422)/.test(message.text());
      if (message.type() === "error" && !isExpected) seen.errors.push(message.text());
    });
    page.on("dialog", async (dialog) => {
      seen.dialogs.push(dialog.message());
      await dialog.accept();
    });
  });
  context.assertClean = (dialogs = []) => {
    assert.deepEqual(seen.foreign, []);
    assert.deepEqual(seen.errors, []);
    assert.deepEqual(seen.dialogs, dialogs);
  };
  return context;
}

/// Does something that is answered with a new page, and waits for that page: an old one may show the same words already.
export const answered = (page, act) => Promise.all([page.waitForEvent("domcontentloaded"), act()]);

/// Waits for a page that has an element, until its script has run too: before that, keys do nothing.
export async function arrived(page, selector) {
  await page.waitForSelector(selector);
  await page.waitForLoadState();
}

/// Opens a search and waits until the field has the focus, which a browser moves there some time after the page is loaded.
export async function openSearch(page, path) {
  await page.goto(base + path);
  await page.waitForFunction(() => document.activeElement.id === "q");
}

/// Checks a page with axe in both colour schemes.
export async function check(page, what) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
    const found = violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html + " " + node.failureSummary).join(" | ")}`);
    assert.deepEqual(found, [], `${what} in ${colorScheme}`);
  }
}

/// Fails if a page is wider than the window: something is cut or overlaps.
export async function fits(page, what) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(content <= window, `${what} is ${content} px wide in a window of ${window} px`);
}

/// Fails if something moved while the page was loaded.
export async function steady(page, what) {
  const shift = await page.evaluate(
    () =>
      new Promise((resolve) => {
        let sum = 0;
        new PerformanceObserver((list) => list.getEntries().forEach((entry) => (sum += entry.value))).observe({ type: "layout-shift", buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
      }),
  );
  assert.ok(shift < 0.01, `${what} shifts by ${shift}`);
}

/// Fails if the keyboard reaches an element without showing where it is.
export async function focusIsVisible(page, what) {
  for (let n = 0; n < 40; n += 1) {
    await page.keyboard.press("Tab");
    const [name, outline] = await page.evaluate(() => [document.activeElement.outerHTML.slice(0, 120), getComputedStyle(document.activeElement).outlineStyle]);
    if (name.startsWith("<body")) return;
    assert.notEqual(outline, "none", `${what}: ${name}`);
  }
}

/// The views, each with its path.
export const VIEWS = {
  home: "/",
  memories: "/memories",
  topic: "/memories?topic=notes",
  memory: "/m/notes/deploy",
  recall: "/m/notes/deploy?message=how%20do%20we%20deploy",
  plain: "/m/notes/deploy?plain=1",
  hostile: "/m/hostile",
  superseded: "/m/notes/old-deploy",
  validity: "/m/notes/oven",
  neighbours: "/near/notes/deploy",
  search: "/search?q=deploy%20on%20friday",
  edit: "/edit/notes/deploy",
  new: "/new?topic=notes",
  timeline: "/timeline",
  inbox: "/inbox",
  dream: "/dream",
  chats: "/chats",
  rules: "/rules",
  prompt: "/prompt",
  hosts: "/hosts",
  settings: "/settings",
  help: "/help",
};
