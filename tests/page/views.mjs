// Every view in both colour schemes and at both widths, with hostile memories: nothing runs, nothing is fetched from elsewhere, axe
// finds nothing, nothing is cut.
import assert from "node:assert/strict";
import { VIEWS, base, check, fits, start, story, watched } from "./browser.mjs";

await story(async (browser) => {
  const context = await watched(browser);
  const page = await context.newPage();
  await page.goto(start);
  assert.equal(page.url(), `${base}/`);
  for (const [name, path] of Object.entries(VIEWS)) {
    const response = await page.goto(base + path);
    assert.equal(response.status(), 200, name);
    await check(page, name);
    await fits(page, name);
    await page.setViewportSize({ width: 390, height: 844 });
    await fits(page, `${name} on a phone`);
    await page.setViewportSize({ width: 1280, height: 900 });
  }
  // A change, a conversation and a topic are found by following links.
  await page.goto(`${base}/timeline`);
  await page.click("ol.changes a.name");
  await check(page, "change");
  await page.goto(`${base}/chats`);
  await page.click("ul.rows a.name");
  await check(page, "chat");
  assert.match(await page.textContent("article.text"), /<script>/);
  await page.goto(`${base}/hosts`);
  await page.click("text=Check installations");
  await page.waitForSelector("ul.checks");
  await check(page, "checked hosts");

  // Script injection: in names, frontmatter, bodies, chats, search terms and every query field.
  const hostile = encodeURIComponent(`"><script>globalThis.ran = 1</script><img src=x onerror="globalThis.ran = 1">`);
  for (const path of [
    `/search?q=${hostile}`,
    `/search?q=deploy&under=${hostile}&type=&since=`,
    `/memories?topic=${hostile}`,
    `/m/${hostile}`,
    `/timeline?actor=${hostile}`,
    `/chats?host=${hostile}`,
    `/chat/${hostile}`,
    `/change/${hostile}`,
    `/new?topic=${hostile}`,
    `/m/notes/deploy?message=${hostile}`,
    `/inbox?done=${hostile}&change=${hostile}`,
  ]) {
    await page.goto(base + path);
    assert.equal(await page.evaluate(() => globalThis.ran), undefined, path);
    assert.equal(await page.evaluate(() => document.querySelectorAll("script:not([src]), img, iframe, [onerror]").length), 0, path);
  }
  await page.goto(`${base}/m/hostile`);
  assert.equal(await page.evaluate(() => globalThis.ran), undefined);
  assert.match(await page.textContent("article.text"), /<script>globalThis\.ran = 1<\/script>/);
  assert.equal(await page.locator("article.text a[href^='javascript:'], article.text a[href^='data:']").count(), 0);
  assert.ok(!(await page.content()).includes("a1B2c3D4"), "a secret is shown");
  context.assertClean();
});
