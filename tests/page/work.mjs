// What a person does: search as you type, edit against another writer, undo, the inbox, two tabs, live updates, keys.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { answered, arrived, base, check, memdir, start, story, watched } from "./browser.mjs";

await story(async (browser) => {
  const context = await watched(browser);
  const page = await context.newPage();
  await page.goto(start);

  // Keys: search, and results while typing. The back button returns to the page before.
  await page.keyboard.press("/");
  await page.keyboard.type("friday");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#hits li");
  assert.match(await page.textContent("#hits li:first-child"), /notes\/deploy/);
  assert.equal(await page.textContent("#hits mark"), "Friday");
  await page.click("#hits li:first-child summary");
  assert.match(await page.textContent("#hits li:first-child details"), /score 0\.\d\d/);
  await page.fill("#q", "");
  await page.locator("#q").pressSequentially("tea");
  await page.waitForFunction(() => document.querySelector("#hits li")?.textContent.includes("notes/tea"));
  assert.match(page.url(), /search\?q=tea$/);
  await page.goBack();
  assert.equal(page.url(), `${base}/`);

  // Edit and preview; nothing is saved before.
  await page.goto(`${base}/m/notes/tea`);
  await page.keyboard.press("e");
  await page.waitForSelector("#text");
  const before = await page.inputValue("#text");
  await page.fill("#text", `${before}\nAlso **oolong**.\n`);
  await page.click("button[value=preview]");
  assert.equal(await page.textContent(".preview strong"), "oolong");
  assert.match(await page.textContent(".preview .diff"), /\+Also \*\*oolong\*\*\./);
  assert.equal(memdir("read", "notes/tea"), before);
  await check(page, "preview");
  // The text is only on this page now, so leaving it asks first.
  await page.click("text=Help and shortcuts");
  await page.waitForURL(/help$/);
  context.assertClean([""]);
  await page.goto(`${base}/edit/notes/tea`);
  await page.fill("#text", `${before}\nAlso **oolong**.\n`);

  // Another writer is faster: a conflict with both texts, and the second save wins on purpose.
  memdir("write", "--replace", "notes/tea", "Ada drinks white tea.");
  await page.click("button.main");
  await page.waitForSelector("p.error");
  assert.match(await page.textContent("p.error"), /Another writer saved notes\/tea/);
  assert.match(await page.inputValue("#text"), /oolong/);
  assert.match(await page.textContent("main"), /white tea/);
  await check(page, "conflict");
  assert.match(memdir("read", "notes/tea"), /white tea/);
  await page.click("button.main");
  await page.waitForSelector("p.done");
  assert.match(memdir("read", "notes/tea"), /oolong/);

  // Undo on the timeline, by key, and redo. Without a selected row a key changes nothing.
  await page.goto(`${base}/timeline`);
  await page.keyboard.press("u");
  await page.waitForFunction(() => document.getElementById("live").textContent.includes("Select a row first"));
  assert.match(memdir("read", "notes/tea"), /oolong/);
  await page.keyboard.press("j");
  await page.keyboard.press("u");
  await page.waitForSelector("p.done");
  assert.match(memdir("read", "notes/tea"), /white tea/);
  await answered(page, () => page.click(".head button"));
  await page.waitForSelector("p.done");
  assert.match(memdir("read", "notes/tea"), /oolong/);

  // An earlier version is restored from the history of the memory.
  await page.goto(`${base}/m/notes/tea`);
  await page.click("ol.changes li:first-child summary");
  await page.click("ol.changes li:first-child button");
  await page.waitForSelector("p.done");
  assert.match(memdir("read", "notes/tea"), /white tea/);
  // Home knows what is undone.
  await page.goto(`${base}/timeline`);
  await answered(page, () => page.click("ol.changes li:first-child button"));
  await page.waitForSelector("p.done");
  await page.goto(`${base}/`);
  assert.match(await page.textContent("ol.changes li.undone button"), /^Redo/);

  // A key edits the memory of the selected row.
  await page.goto(`${base}/memories?topic=notes`);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const row = await page.textContent(".selected a.name");
  await page.keyboard.press("e");
  await page.waitForURL(`${base}/edit/notes/${row}`);

  // What a memory mentions is gone: it is not verified without a second decision.
  mkdirSync("src");
  await page.goto(`${base}/m/people`);
  assert.match(await page.textContent("aside ul.findings"), /src\/gone\.rs does not exist/);
  await answered(page, () => page.click("button:text-is('Verify')"));
  assert.match(await page.textContent("ul.findings"), /src\/gone\.rs/);
  await check(page, "not verified");
  await page.click("text=Mark as verified anyway");
  await page.waitForSelector("p.done");

  // A new memory, a secret that is refused without losing the text, and deleting with a question.
  await page.goto(`${base}/new?topic=notes`);
  await page.fill("#name", "notes/new");
  await page.fill("#text", `token: gh${"p_"}a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n`);
  await page.click("button.main");
  await page.waitForSelector("p.error");
  assert.match(await page.textContent("p.error"), /looks like a secret/);
  await check(page, "a refused text");
  await page.fill("#text", "Coffee is for guests.\n");
  await page.click("button.main");
  await page.waitForSelector("p.done");
  assert.match(memdir("read", "notes/new"), /Coffee/);
  await page.click("button.danger");
  await page.waitForSelector("p.done");
  assert.throws(() => memdir("read", "notes/new"), /not found/);

  // A session that ended while a text was edited: nothing is lost, and the page says so.
  await page.goto(`${base}/edit/people`);
  await page.fill("#text", "Ada and Bob know a lot.\n");
  const cookies = await context.cookies(base);
  await context.clearCookies();
  await page.click("button.main");
  await page.waitForFunction(() => document.getElementById("live").textContent.includes("nothing was saved"));
  assert.equal(await page.inputValue("#text"), "Ada and Bob know a lot.\n");
  await context.addCookies(cookies);
  await page.click("button.main");
  await page.waitForSelector("p.done");
  assert.equal(memdir("read", "people"), "Ada and Bob know a lot.\n");

  // Two tabs: what one saves, the other shows without a reload.
  const other = await context.newPage();
  await other.goto(`${base}/m/notes/tea`);
  await page.goto(`${base}/edit/notes/tea`);
  await page.fill("#text", "Ada drinks rooibos.\n");
  await page.click("button.main");
  await page.waitForSelector("p.done");
  await other.waitForFunction(() => document.querySelector("article").textContent.includes("rooibos"));
  memdir("write", "notes/mate", "Bob drinks mate.");
  await other.goto(`${base}/memories?topic=notes`);
  memdir("delete", "notes/mate");
  await other.waitForFunction(() => !document.querySelector("main").textContent.includes("mate"));

  // The inbox: one key per decision, and undo.
  await page.goto(`${base}/inbox`);
  const cards = await page.locator("section.card").count();
  assert.ok(cards >= 2, "the inbox has candidates");
  await page.keyboard.press("j");
  const accepted = await page.getAttribute("section.card.selected", "aria-label");
  await page.keyboard.press("a");
  await page.waitForSelector(".done");
  assert.equal(await page.locator("section.card").count(), cards - 1);
  assert.ok(memdir("read", accepted).length > 0);
  await check(page, "inbox after a decision");
  await page.click(".done button");
  await page.waitForSelector("p.done");
  assert.throws(() => memdir("read", accepted), /not found/);
  await page.goto(`${base}/inbox`);
  await page.keyboard.press("j");
  await page.keyboard.press("r");
  await arrived(page, ".done");
  assert.match(await page.textContent(".done"), /Rejected/);

  await page.keyboard.press("?");
  await page.waitForURL(/help$/);
  context.assertClean(["", "Delete notes/new? You can undo this."]);
});
