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
  await page.goto(`${base}/dream`);
  const plan = await page.getAttribute("ul.rows a.name", "href");
  const path = (href) => href.slice(new URL(base).pathname.length);
  const all = { ...views, chat: path(chat), change: path(change), plan: path(plan), validity: "/m/notes/new-deploy" };
  for (const [name, place] of Object.entries(all)) {
    for (const [width, height] of [[1280, 900], [390, 844]]) {
      await page.setViewportSize({ width, height });
      await page.goto(base + place);
      await fits(page, `${name} at ${width} px`);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(OUT, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      }
    }
  }
  if (DOCS) {
    await page.setViewportSize({ width: 960, height: 640 });
    await page.emulateMedia({ colorScheme: "light" });
    for (const [name, place] of [["page-memory", "/m/notes/deploy"], ["page-search", "/search?q=when%20do%20we%20deploy"]]) {
      await page.goto(base + place);
      await page.screenshot({ path: join(DOCS, `${name}.png`) });
    }
  }
  context.assertClean();
});
