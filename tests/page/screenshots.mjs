// Screenshots of every view at both widths, light and dark.
import { join } from "node:path";
import { VIEWS, base, fits, start, story, watched } from "./browser.mjs";

const { OUT, DOCS } = process.env;
const { hostile, ...views } = VIEWS;
await story(async (browser) => {
  const context = await watched(browser);
  const page = await context.newPage();
  await page.goto(start);
  await page.goto(`${base}/chats`);
  const chat = await page.getAttribute("ul.rows a.name", "href");
  await page.goto(`${base}/timeline`);
  const change = await page.getAttribute("ol.changes a.name", "href");
  const all = { ...views, chat: chat.slice(new URL(base).pathname.length), change: change.slice(new URL(base).pathname.length) };
  for (const [name, path] of Object.entries(all)) {
    for (const [width, height] of [[1280, 900], [390, 844]]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: width === 390 ? "dark" : "light" });
      await page.goto(base + path);
      await page.screenshot({ path: join(OUT, `${name}-${width}.png`), fullPage: true });
      await fits(page, `${name} at ${width} px`);
    }
  }
  if (DOCS) {
    await page.setViewportSize({ width: 960, height: 640 });
    await page.emulateMedia({ colorScheme: "light" });
    for (const [name, path] of [["page-memory", "/m/notes/deploy"], ["page-search", "/search?q=when%20do%20we%20deploy"]]) {
      await page.goto(base + path);
      await page.screenshot({ path: join(DOCS, `${name}.png`) });
    }
  }
  context.assertClean();
});
