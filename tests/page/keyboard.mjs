// The keyboard alone, without a mouse: find, read, edit, undo and decide. Tab reaches what has no key of its own.
import assert from "node:assert/strict";
import { arrived, base, memdir, start, story, watched } from "./browser.mjs";

/// Presses Tab until an element that matches has the focus.
async function tabTo(page, selector) {
  for (let n = 0; n < 60; n += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((selector) => document.activeElement.matches(selector), selector)) return;
  }
  assert.fail(`Tab does not reach ${selector}`);
}

await story(async (browser) => {
  const context = await watched(browser);
  const page = await context.newPage();
  await page.goto(start);

  // The first Tab offers to skip the navigation.
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");

  // Search, open the first hit, edit, save.
  await page.keyboard.press("/");
  await page.keyboard.type("green tea");
  await page.keyboard.press("Enter");
  await page.waitForURL(/search\?q=green/);
  // A browser moves the focus to the field some time after the page is loaded.
  await page.waitForFunction(() => document.activeElement.id === "q");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/m\/notes\/tea/);
  await page.keyboard.press("e");
  await page.waitForURL(/edit\/notes\/tea/);
  await tabTo(page, "#text");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Ada drinks sencha.\n");
  await tabTo(page, "button.main");
  await page.keyboard.press("Enter");
  await arrived(page, "p.done");
  assert.match(memdir("read", "notes/tea"), /sencha/);

  // Undo from the timeline, through a row that Tab reached and through keys.
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.waitForURL(/timeline/);
  await tabTo(page, "ol.changes button");
  await page.keyboard.press("Enter");
  await arrived(page, "p.done");
  assert.match(memdir("read", "notes/tea"), /green tea/);

  // A new memory, and a decision in the inbox.
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await page.waitForURL(/memories/);
  await page.keyboard.press("n");
  await page.waitForURL(/new/);
  await tabTo(page, "#name");
  await page.keyboard.type("notes/typed");
  await tabTo(page, "#text");
  await page.keyboard.type("Typed without a mouse.");
  await tabTo(page, "button.main");
  await page.keyboard.press("Enter");
  await arrived(page, "p.done");
  assert.match(memdir("read", "notes/typed"), /without a mouse/);
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.waitForURL(/inbox/);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const rejected = await page.getAttribute("section.card.selected", "aria-label");
  await page.keyboard.press("r");
  await arrived(page, ".done");
  assert.ok(!(await page.textContent("main")).includes(`${rejected} accept`), rejected);
  await page.keyboard.press("g");
  await page.keyboard.press("h");
  await page.waitForURL(`${base}/`);
  context.assertClean();
});
