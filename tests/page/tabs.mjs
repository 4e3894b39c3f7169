// What only happens with more than one tab, click or writer: nine tabs, search after a live update, a double click, a forgotten version.
import assert from "node:assert/strict";
import { base, memdir, openSearch, start, story, watched } from "./browser.mjs";

await story(async (browser) => {
  const context = await watched(browser);
  const page = await context.newPage();
  await page.goto(start);

  // More tabs than a browser opens connections to one server: all of them load, hear of a change, and can leave.
  const tabs = [];
  for (let n = 0; n < 9; n += 1) {
    tabs.push(await context.newPage());
    await tabs[n].goto(`${base}/memories?topic=notes`);
  }
  memdir("write", "notes/ninth", "A memory for nine tabs.");
  for (const tab of tabs) await tab.waitForFunction(() => document.querySelector("main").textContent.includes("ninth"));
  // The tab that listens is closed, and another one takes over.
  await page.close();
  await tabs.shift().close();
  memdir("delete", "notes/ninth");
  for (const tab of tabs) await tab.waitForFunction(() => !document.querySelector("main").textContent.includes("ninth"));
  const [tab] = tabs;
  for (const other of tabs.slice(1)) await other.close();

  // Search as you type works in a form that a live update has replaced.
  await openSearch(tab, "/search?q=tea");
  await tab.evaluate(() => {
    document.activeElement.blur();
    document.querySelector("form[data-live]").dataset.old = "";
  });
  memdir("write", "notes/zebras", "Zebras graze at noon.");
  await tab.waitForFunction(() => !("old" in document.querySelector("form[data-live]").dataset));
  await tab.fill("#q", "");
  await tab.locator("#q").pressSequentially("graze");
  await tab.waitForFunction(() => document.querySelector("#hits li")?.textContent.includes("notes/zebras"));

  // A double click saves once, and is no conflict with oneself.
  await tab.goto(`${base}/edit/notes/zebras`);
  await tab.fill("#text", "Zebras graze at dawn.\n");
  await tab.dblclick("button.main");
  await tab.waitForSelector("p.done");
  assert.equal(memdir("read", "notes/zebras"), "Zebras graze at dawn.\n");

  // The version that was edited is forgotten meanwhile: the text of the person stays.
  await tab.goto(`${base}/edit/notes/zebras`);
  memdir("forget", "--yes", "at dawn");
  await tab.fill("#text", "A text that took an hour.\n");
  await tab.click("button.main");
  await tab.waitForSelector("p.error");
  assert.equal(await tab.inputValue("#text"), "A text that took an hour.\n");
  context.assertClean();
});
