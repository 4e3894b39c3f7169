// An exported file: readable without a script, searchable with its own, and nothing else runs or is loaded.
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { check, fits, memdir, story } from "./browser.mjs";

await story(async (browser) => {
  memdir("view", "-o", "view.html", "--include", "user");
  const file = pathToFileURL(resolve("view.html")).href;
  const foreign = [];
  const errors = [];
  for (const javaScriptEnabled of [false, true]) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, javaScriptEnabled });
    context.setDefaultTimeout(90_000);
    context.on("request", (request) => request.url().startsWith(file) || foreign.push(request.url()));
    const page = await context.newPage();
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await page.goto(file);
    assert.match(await page.textContent("main"), /Never deploy on a Friday.*Short answers, please/s);
    assert.equal(await page.isVisible("#search"), javaScriptEnabled);
    // A link between memories leads to the other one in the same file.
    await page.click("article:has-text('Never deploy') a:text-is('tea')");
    assert.match(await page.textContent("article:target"), /green tea/);
    for (const width of [1280, 390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      await fits(page, `the file at ${width} px`);
    }
    if (!javaScriptEnabled) continue;
    assert.equal(await page.evaluate(() => globalThis.ran), undefined);
    assert.equal(await page.evaluate(() => document.querySelectorAll("img, iframe, [onerror], [onclick]").length), 0);
    assert.ok(!(await page.content()).includes("a1B2c3D4"), "a secret is in the file");
    await check(page, "the file");
    // An inline script that something put into the page does not run.
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = 1";
      document.body.append(script);
    });
    assert.equal(await page.evaluate(() => globalThis.ran), undefined);
    assert.match(errors.splice(0).join(), /Content Security Policy/);
    await page.fill("#find", "green tea");
    assert.equal(await page.locator("article:visible").count(), 1);
    assert.equal(await page.textContent("#count"), "1 found");
    await page.fill("#find", "");
    assert.ok((await page.locator("article:visible").count()) > 5);
  }
  assert.deepEqual(foreign, []);
  assert.deepEqual(errors, []);
});
