// 10,000 memories: pages stay small, and the last one is found.
import assert from "node:assert/strict";
import { base, check, start, story, watched } from "./browser.mjs";

await story(async (browser) => {
  const context = await watched(browser);
  const page = await context.newPage();
  await page.goto(start);
  for (const path of ["/", "/memories", "/memories?topic=bulk", "/memories?topic=bulk&page=100", "/timeline"]) {
    const response = await page.goto(base + path);
    const { length } = await response.body();
    assert.ok(length <= 100_000, `${path} has ${length} bytes`);
  }
  await page.goto(`${base}/memories?topic=bulk`);
  await check(page, "a topic with 10,000 memories");
  assert.equal(await page.locator("tbody tr").count(), 100);
  await page.click("a[rel=next]");
  assert.equal(await page.locator("tbody tr").count(), 100);
  await page.goto(`${base}/search`);
  await page.locator("#q").pressSequentially("zebra9999");
  await page.waitForFunction(() => document.querySelector("#hits li")?.textContent.includes("bulk/m9999"));
  await page.click("#hits a");
  assert.match(await page.textContent("article"), /zebra9999/);
  context.assertClean();
});
