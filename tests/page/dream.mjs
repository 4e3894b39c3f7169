// Dream plans: make one, read it, uncheck an operation, apply, undo; against other writers, with hostile texts, without a script.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { base, check, fits, memdir, start, story, watched } from "./browser.mjs";

const CONFIRM = "Apply the checked operations? One undo reverts all of them.";

await story(async (browser) => {
  const context = await watched(browser);
  const page = await context.newPage();
  await page.goto(start);
  assert.ok(!(await page.textContent("main")).includes("A plan is waiting to be applied"));

  // A plan is made by a button and changes nothing.
  const rota = memdir("read", "notes/rota");
  await page.keyboard.press("g");
  await page.keyboard.press("d");
  await page.waitForURL(/dream$/);
  assert.match(await page.textContent("main"), /There are no plans/);
  await check(page, "no plans");
  await page.click("text=Make a plan");
  await page.waitForURL(/dream\/plan-/);
  const plan = page.url().split("?")[0];
  assert.equal(memdir("read", "notes/rota"), rota);

  // Each operation has its reason, its confidence and what it does.
  const merge = page.locator("section.card[aria-label='merge notes/rota-copy into notes/rota']");
  assert.match(await merge.textContent(), /exact-duplicate · confidence 99 %/);
  assert.match(await merge.textContent(), /Moves notes\/rota-copy to archive\/notes\/rota-copy/);
  const cards = page.locator("section.card");
  const total = await cards.count();
  assert.equal(total, 3);
  await check(page, "plan");
  await fits(page, "plan");
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page, "plan on a phone");
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(`${plan}?only=1`);
  assert.equal(await cards.count(), 1);
  await check(page, "one operation");

  // Home shows the plan that waits.
  await page.goto(`${base}/`);
  await page.click("text=A plan is waiting to be applied");
  await page.waitForURL(/dream\/plan-/);

  // Keys choose an operation and uncheck it. Changes of others do not take the choice away.
  await page.keyboard.press("j");
  assert.equal(await page.getAttribute("section.selected", "aria-label"), "merge notes/rota-copy into notes/rota");
  await page.keyboard.press("x");
  assert.equal(await page.locator("input[type=checkbox]:checked").count(), total - 1);
  memdir("write", "--replace", "notes/empty", "It has a text now.");
  await page.waitForFunction(() => document.getElementById("live").textContent.includes("Memories have changed"));
  assert.equal(await page.locator("input[type=checkbox]:checked").count(), total - 1);

  // Applies only what is checked and unchanged; the rest is named.
  await page.keyboard.press("a");
  await page.waitForSelector("div.done");
  assert.equal(await page.textContent("h1"), "Applied 1 of 3 operations");
  const left = await page.textContent("section:has(h2:text-is('Not applied'))");
  assert.ok(left.includes("merge notes/rota-copy into notes/rota: not checked"), left);
  assert.ok(left.includes("archive notes/empty: notes/empty.md has changed since the plan was made"), left);
  await check(page, "applied plan");
  assert.match(memdir("read", "notes/empty"), /It has a text now/);
  assert.throws(() => memdir("read", "notes/blank"), /not found/);

  // The plan is applied: it cannot be applied again, also not from a tab that still shows it.
  await page.goto(plan);
  assert.equal(await page.locator("form[data-choice]").count(), 0);
  await check(page, "plan that was applied");
  await page.goto(`${base}/dream`);
  assert.equal(await page.textContent(".tag"), "applied");
  await check(page, "plans");

  // One undo reverts all of it.
  await page.click("main ul a.name");
  await page.waitForURL(/dream\/plan-/);
  await page.click("main p a[href*='/change/']");
  await page.waitForURL(/change\//);
  await page.keyboard.press("u");
  await page.waitForSelector("p.done");
  assert.match(memdir("read", "notes/blank"), /# Plans/);
  await page.goto(`${base}/dream`);
  assert.equal(await page.textContent(".tag"), "waiting", "an undone plan is waiting again");

  // Two tabs with one plan: the second one is refused and changes nothing.
  await page.click("text=Make a plan");
  await page.waitForURL(/dream\/plan-/);
  const other = await context.newPage();
  await other.goto(page.url());
  await page.click("button.main");
  await page.waitForSelector("div.done");
  await other.click("button.main");
  await other.waitForSelector("p.error");
  assert.match(await other.textContent("p.error"), /already applied/);

  // The undo of a dream leaves what changed since, and names it.
  memdir("write", "archive/notes/blank", "--append", "Changed after the dream.");
  await page.click(".done button");
  await page.waitForSelector("p.done");
  assert.match(await page.textContent("ul.notes"), /archive\/notes\/blank/);
  assert.equal(memdir("read", "notes/rota"), rota);

  // A plan whose file was edited meanwhile is not applied without being read again.
  await page.goto(`${base}/dream`);
  await page.click("text=Make a plan");
  await page.waitForURL(/dream\/plan-/);
  const name = new URL(page.url()).pathname.split("/").pop();
  const shelf = join(process.env.MEMDIR_HOME, "dreams", readdirSync(join(process.env.MEMDIR_HOME, "dreams"))[0]);
  writeFileSync(join(shelf, name), readFileSync(join(shelf, name), "utf8").replace("> Nothing", "> A remark.\n> Nothing"));
  await page.click("button.main");
  await page.waitForSelector("p.error");
  assert.match(await page.textContent("p.error"), /changed since you opened it/);

  // Without a script: choose, apply, undo. Nothing checked is refused.
  const plain = await watched(browser, { javaScriptEnabled: false });
  await plain.addCookies(await context.cookies(base));
  const still = await plain.newPage();
  await still.goto(`${base}/dream/${name}`);
  const boxes = still.locator("input[type=checkbox]");
  for (let n = 0; n < (await boxes.count()); n += 1) await boxes.nth(n).uncheck();
  await still.click("button.main");
  assert.match(await still.textContent("p.error"), /No operations are checked/);
  for (let n = 1; n < (await boxes.count()); n += 1) await boxes.nth(n).uncheck();
  await still.click("button.main");
  assert.match(await still.textContent("h1"), /Applied 1 of/);
  await still.click(".done button");
  assert.match(await still.textContent("p.done"), /Done/);

  // Hostile texts in a plan: nothing runs, nothing is loaded, no secret is shown.
  const script = `"><script>globalThis.ran = 1</script><img src="http://evil.invalid/x.png" onerror="globalThis.ran = 1">`;
  const operations = [
    { action: "update", path: "notes/kept", text: `${memdir("read", "notes/kept")}${script}\n`, why: `${script} gh${"p_"}a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8` },
    { action: "archive", path: "notes/<img src=x onerror=alert(1)>", why: script },
  ];
  writeFileSync("operations.json", JSON.stringify({ operations }));
  memdir("dream", "--operations", "operations.json");
  await page.goto(`${base}/dream`);
  await page.click("main ul a.name");
  await page.waitForSelector("form[data-choice]");
  assert.match(await page.textContent(".diff"), /\+"><script>globalThis\.ran = 1/);
  assert.match(await page.textContent("main"), /archive notes\/<img src=x onerror/);
  assert.equal(await page.evaluate(() => globalThis.ran), undefined);
  assert.equal(await page.evaluate(() => document.querySelectorAll("script:not([src]), img, iframe, [onerror]").length), 0);
  assert.ok(!(await page.content()).includes("a1B2c3D4"), "a secret is shown");
  await check(page, "hostile plan");
  await fits(page, "hostile plan");
  await page.keyboard.press("a");
  await page.waitForSelector("div.done");
  assert.equal(await page.evaluate(() => document.querySelectorAll("script:not([src]), img, iframe, [onerror]").length), 0);
  await check(page, "applied hostile plan");

  // A plan that does not exist, and a name that is not one.
  for (const path of ["/dream/plan-20000101T000000Z.md", "/dream/..%2F..%2Fconfig.toml", "/dream/state.json"]) {
    assert.equal((await still.goto(base + path)).status(), 404, path);
  }
  plain.assertClean();
  context.assertClean(Array(5).fill(CONFIRM));
});
