// Every view in both colour schemes and at both widths, with hostile memories: nothing runs, nothing is fetched from elsewhere, axe
// finds nothing, nothing is cut.
import assert from "node:assert/strict";
import { VIEWS, base, check, fits, focusIsVisible, start, steady, story, watched } from "./browser.mjs";

await story(async (browser) => {
  const context = await watched(browser);
  const page = await context.newPage();
  await page.goto(start);
  assert.equal(page.url(), `${base}/`);
  for (const [name, path] of Object.entries(VIEWS)) {
    const response = await page.goto(base + path);
    assert.equal(response.status(), 200, name);
    // Only the editor has the text as it is.
    if (name !== "edit") assert.ok(!(await page.content()).includes("a1B2c3D4"), `${name} shows a secret`);
    await check(page, name);
    await fits(page, name);
    await steady(page, name);
    await focusIsVisible(page, name);
    // A phone, a zoom of 200 % and one of 400 %, at which WCAG asks for pages that need no scrolling in two directions.
    for (const width of [390, 640, 320]) {
      await page.setViewportSize({ width, height: 844 });
      await fits(page, `${name} at ${width} px`);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  }
  // Where the last conversation ended.
  await page.goto(`${base}/`);
  const end = await page.textContent(".left-off");
  assert.match(end, /Your last message: Now "><script>.*Changed: src\/login\.rs.*cargo test login\s*failed.*Resume with/s);

  // How far memories can be trusted: fields and a banner on their pages, marks in the tree and in the search.
  await page.goto(`${base}/m/notes/old-deploy`);
  assert.equal(await page.textContent("p.error"), "This memory is superseded by notes/deploy.");
  await page.goto(`${base}/m/notes/deploy`);
  assert.match(await page.textContent("aside"), /ValiditySupersedesnotes\/old-deploy/);
  await page.goto(`${base}/m/notes/oven`);
  assert.match(await page.textContent("p.error"), /went stale after 2026-01-31/);
  const fields = await page.textContent("aside");
  assert.match(fields, /Statusdraft.*Stale after2026-01-31.*src\/oven\.rs@0123abcd:3-5.*2026-01-02 by ada/s);
  assert.equal(await page.locator("aside a[href='https://example.org/oven'], aside a[href$='/chat/claude-code/s?line=12']").count(), 2);
  await page.goto(`${base}/memories?topic=notes`);
  assert.deepEqual(await page.locator("td .tag").allTextContents(), ["superseded", "stale"]);
  await page.goto(`${base}/search?q=oven+hours`);
  assert.equal(await page.textContent("#hits h2 .tag"), "stale");
  await page.goto(`${base}/search?q=office+is+quiet`);
  assert.match(await page.textContent("#hits li"), /notes\/deploy.*in place of notes\/old-deploy/s);

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

  // Pages that refuse something are pages too.
  for (const [path, status] of Object.entries({ "/m/no/such": 404, "/change/zzzzzzzz": 404, "/nowhere": 404, "/chat/claude-code/none": 404, "/search?q=a&since=soon": 422 })) {
    assert.equal((await page.goto(base + path)).status(), status, path);
    await check(page, path);
    await fits(page, path);
  }
  const unauthenticated = await watched(browser);
  const outside = await unauthenticated.newPage();
  assert.equal((await outside.goto(`${base}/`)).status(), 401);
  await check(outside, "no session");
  unauthenticated.assertClean();

  // Search terms find a memory with a secret and a strange name, and show neither.
  await page.goto(`${base}/search?q=strange+name`);
  assert.match(await page.textContent("#hits"), /notes\/<img src=x onerror/);
  assert.ok(!(await page.content()).includes("a1B2c3D4"), "the search shows a secret");

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
    `/dream?note=${hostile}`,
    `/dream/${hostile}`,
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
