// Answers that come late, twice or not at all: a live update never takes away what the person is doing, and shows the last state.
import assert from "node:assert/strict";
import { base, memdir, openSearch, start, story, watched } from "./browser.mjs";

/// Holds the requests of live updates that `page` makes, until `release` is called.
async function held(page) {
  const waiting = [];
  const arrived = [];
  let count = 0;
  const isUpdate = (request) => request.resourceType() === "fetch" && request.method() === "GET" && !request.url().includes("part=");
  await page.route(
    () => true,
    async (route) => {
      if (!isUpdate(route.request())) return route.fallback();
      // The server answers now; the browser gets it later.
      const response = await route.fetch();
      count += 1;
      arrived.splice(0).forEach((tell) => tell());
      await new Promise((done) => waiting.push(done));
      await route.fulfill({ response });
    },
  );
  return {
    /// Waits for the `n`th request.
    async request(n) {
      const late = new Promise((_, fail) => setTimeout(fail, 90_000, new Error(`request ${n} of a live update was not made`)).unref());
      while (count < n) await Promise.race([new Promise((done) => arrived.push(done)), late]);
    },
    async release() {
      waiting.splice(0).forEach((done) => done());
      await page.unroute(() => true);
      await page.unrouteAll({ behavior: "wait" });
    },
    /// Lets one answer through.
    next: () => waiting.shift()(),
  };
}

const heard = (page) => page.waitForFunction(() => document.getElementById("live").textContent.includes("Memories have changed"));
const shows = (page, text) => page.waitForFunction((text) => document.getElementById("main").textContent.includes(text), text);

await story(async (browser) => {
  const context = await watched(browser);
  const page = await context.newPage();
  await page.goto(start);

  // A row that is selected while the server answers stays selected, and its keys act on it.
  await page.goto(`${base}/timeline`);
  let update = await held(page);
  memdir("write", "notes/first", "The first change of another writer.");
  await update.request(1);
  await page.keyboard.press("j");
  const row = await page.textContent(".selected");
  await update.release();
  await heard(page);
  assert.equal(await page.textContent(".selected"), row);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".selected").count(), 0);

  // A change that is heard while an update of another cause is late is reported, also if the page is busy when the answer arrives.
  update = await held(page);
  await page.evaluate(() => {
    document.getElementById("live").textContent = "";
    const channel = new BroadcastChannel(`memdir${document.body.dataset.base}`);
    globalThis.change = new Promise((done) => channel.addEventListener("message", ({ data }) => data === "change" && done()));
    dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
  });
  await update.request(1);
  memdir("write", "notes/meanwhile", "A change while an update is late.");
  await page.evaluate(() => globalThis.change);
  await page.keyboard.press("j");
  await update.release();
  await heard(page);
  await page.keyboard.press("Escape");

  // Two changes while an answer is late: the page shows the second one, although the first answer does not have it.
  update = await held(page);
  memdir("write", "notes/second", "The second change.");
  await update.request(1);
  memdir("write", "notes/third", "The third change.");
  update.next();
  await update.request(2);
  await update.release();
  await shows(page, "notes/third");

  // What was typed into a field stays there after the field was left.
  await page.goto(`${base}/m/notes/tea`);
  await page.fill("input[name=message]", "what does Ada drink");
  await page.locator("input[name=message]").blur();
  memdir("write", "--replace", "notes/tea", "Ada drinks white tea.");
  await heard(page);
  assert.equal(await page.inputValue("input[name=message]"), "what does Ada drink");

  // A text that the person is marking is not replaced.
  await page.goto(`${base}/m/notes/tea`);
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector("article")));
  memdir("write", "--replace", "notes/tea", "Ada drinks black tea.");
  await heard(page);
  assert.match(await page.evaluate(() => String(getSelection())), /white tea/);
  await page.evaluate(() => getSelection().removeAllRanges());

  // The element with the focus keeps it, also when a new row comes before it; what was opened stays open.
  await openSearch(page, "/search?q=deploy");
  // The memory has several hits; one of them is opened.
  const hit = page.locator("#hits li", { has: page.locator("a.name:text-is('notes/deploy')") }).nth(1);
  await hit.locator("summary").click();
  await hit.locator("a.name").focus();
  memdir("write", "notes/deploy-deploy", "Deploy, deploy, deploy.");
  await shows(page, "notes/deploy-deploy");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "notes/deploy");
  assert.equal(await page.locator("#hits details[open]").count(), 1);
  assert.equal(await hit.locator("details[open]").count(), 1);

  // An update of a search whose words have changed meanwhile is dropped.
  await page.locator("#q").blur();
  update = await held(page);
  memdir("delete", "notes/deploy-deploy");
  await update.request(1);
  await page.fill("#q", "oven");
  await shows(page, "notes/oven");
  await page.locator("#q").blur();
  await update.release();
  await page.waitForFunction(() => !document.querySelector("#live").textContent.includes("does not respond"));
  assert.equal(await page.inputValue("#q"), "oven");
  assert.match(await page.textContent("#hits li"), /notes\/oven/);

  // A key that is held undoes once. Another decision while the first one is sent is not sent.
  memdir("write", "--replace", "notes/tea", "Ada drinks mate.");
  await page.goto(`${base}/timeline`);
  await page.keyboard.press("j");
  await page.keyboard.down("u");
  await page.waitForSelector("p.done");
  await page.keyboard.down("u");
  await page.keyboard.up("u");
  assert.equal(memdir("read", "notes/tea"), "Ada drinks black tea.\n");
  const posts = [];
  await page.route(
    () => true,
    async (route) => {
      if (route.request().method() === "POST") {
        posts.push(route.request().postData());
        await page.keyboard.press("r");
      }
      await route.continue();
    },
  );
  await page.goto(`${base}/inbox`);
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await page.waitForSelector(".done");
  assert.equal(posts.length, 1);
  await page.unrouteAll({ behavior: "wait" });

  // Back and forward: the addresses of a search and of what was opened from it, as the memories are now.
  await openSearch(page, "/search");
  await page.locator("#q").pressSequentially("black tea");
  await page.waitForFunction(() => document.querySelector("#hits li")?.textContent.includes("notes/tea"));
  await page.click("#hits a.name");
  await page.waitForURL(/m\/notes\/tea/);
  memdir("write", "--replace", "notes/tea", "Ada drinks black tea with milk.");
  await page.goBack();
  await page.waitForURL(/search\?q=black\+tea/);
  await shows(page, "with milk");
  await page.goForward();
  await page.waitForURL(/m\/notes\/tea/);
  await shows(page, "with milk");

  // A warning is not replaced by the news that all tabs hear of.
  const editor = await context.newPage();
  await editor.goto(`${base}/edit/people`);
  await editor.fill("#text", "A text that must not get lost.\n");
  await page.goto(`${base}/timeline`);
  await page.keyboard.press("j");
  const cookies = await context.cookies(base);
  await context.clearCookies();
  await editor.click("button.main");
  await editor.waitForFunction(() => document.getElementById("live").textContent.includes("nothing was saved"));
  memdir("write", "notes/news", "News for all tabs.");
  await heard(page);
  assert.match(await editor.textContent("#live"), /nothing was saved/);
  await editor.close();
  await context.addCookies(cookies);

  // A session that ended: search as you type and live updates say so, and a link leads to the way back in.
  await openSearch(page, "/search?q=tea");
  await context.clearCookies();
  await page.fill("#q", "oven");
  await page.waitForFunction(() => document.getElementById("live").textContent.includes("The session has ended"));
  assert.equal((await page.goto(`${base}/memories`)).status(), 401);
  assert.match(await page.textContent("body"), /memdir ui/);
  context.assertClean();
});
