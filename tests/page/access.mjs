// Who gets in: tokens, cookies, forms from elsewhere; and everything without a script.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { VIEWS, base, memdir, start, story, watched } from "./browser.mjs";

/// The hashes of all files of memdir but two caches that reading keeps up to date: the index, and the stamps of known files.
const files = () => {
  const all = readdirSync(process.env.MEMDIR_HOME, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = all.map((entry) => join(entry.parentPath, entry.name)).filter((path) => !path.includes("/index/") && !path.endsWith("/seen"));
  return Object.fromEntries(paths.sort().map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")]));
};

await story(async (browser) => {
  // A browser without a session: no token, a wrong one, a wrong path.
  const unauthenticated = await watched(browser);
  const outside = await unauthenticated.newPage();
  for (const url of [`${base}/`, `${base}/start?token=wrong`, `${base}/start`, `${base}/m/notes/deploy`]) {
    assert.equal((await outside.goto(url)).status(), 401, url);
    assert.match(await outside.textContent("body"), /memdir ui/);
  }
  assert.equal((await outside.goto(new URL("/", start).href)).status(), 404);
  assert.ok(!(await outside.content()).includes(base.split("/").pop()), "the path is not given away");

  // The token works once.
  const context = await watched(browser, { javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(start);
  assert.equal(page.url(), `${base}/`);
  assert.equal((await outside.goto(start)).status(), 401);
  const [cookie] = await context.cookies(base);
  assert.ok(cookie.httpOnly && cookie.sameSite === "Strict" && cookie.path === new URL(base).pathname);

  // The headers of every response.
  const response = await page.goto(`${base}/m/notes/deploy`);
  const headers = response.headers();
  assert.match(headers["content-security-policy"], /default-src 'none'.*frame-ancestors 'none'/);
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["referrer-policy"], "same-origin");

  // A change needs the form token and the origin of this server; a GET never changes anything.
  const csrf = await page.getAttribute("input[name=csrf]", "value");
  const form = { csrf, name: "notes/deploy", version: "0".repeat(32), text: "x", do: "save" };
  const post = (headers, fields) => context.request.post(`${base}/save`, { headers, form: fields, maxRedirects: 0 });
  const origin = new URL(start).origin;
  assert.equal((await post({ origin }, { ...form, csrf: "wrong" })).status(), 403);
  assert.equal((await post({ origin }, { ...form, csrf: "" })).status(), 403);
  assert.equal((await post({ origin: "https://evil.example" }, form)).status(), 403);
  assert.equal((await post({ origin: "null" }, form)).status(), 403);
  assert.equal((await post({}, form)).status(), 403);
  assert.equal((await context.request.get(`${base}/save?name=notes/deploy`)).status(), 405);
  assert.equal((await context.request.get(`${base}/`, { headers: { host: "evil.example" } })).status(), 403);
  assert.match(memdir("read", "notes/deploy"), /Friday/);

  // Without a script: every view, search, edit, undo. Looking changes nothing.
  const before = files();
  for (const [name, path] of Object.entries(VIEWS)) {
    assert.equal((await page.goto(base + path)).status(), 200, name);
    assert.ok((await page.textContent("main")).trim().length > 20, name);
  }
  for (const path of ["/undo", "/redo", "/restore", "/delete", "/decide", "/verify", "/save", "/dream/make", "/dream/apply", "/hosts/check"]) {
    assert.equal((await context.request.get(`${base}${path}?csrf=${csrf}&name=notes/deploy&decision=accept`)).status(), 405, path);
  }
  assert.deepEqual(files(), before);
  await page.goto(`${base}/`);
  await page.fill("#find", "friday");
  await page.click("form.find button");
  assert.match(await page.textContent("#hits li"), /notes\/deploy/);
  await page.click("#hits li a");
  await page.click(".actions a.button");
  await page.fill("#text", "Deploy on Mondays.\n");
  await page.click("button.main");
  assert.match(await page.textContent("p.done"), /Saved/);
  assert.equal(memdir("read", "notes/deploy"), "Deploy on Mondays.\n");
  await page.goto(`${base}/timeline`);
  await page.click("ol.changes li:first-child button");
  assert.match(memdir("read", "notes/deploy"), /Friday/);

  // A decision in the inbox, and its undo.
  await page.goto(`${base}/inbox`);
  const candidates = await page.locator("section.card").count();
  await page.click("section.card button.main");
  assert.equal(await page.locator("section.card").count(), candidates - 1);
  await page.click(".done button");
  await page.goto(`${base}/inbox`);
  assert.equal(await page.locator("section.card").count(), candidates);

  // A session that the server does not know: another browser's cookie, or one of a server that has ended.
  await unauthenticated.addCookies([{ ...cookie, value: "0".repeat(64) }]);
  assert.equal((await outside.goto(`${base}/`)).status(), 401);
  context.assertClean();
  unauthenticated.assertClean();
});
