// The pages of a server: people sign in with a token or through the identity provider, and see their own memory only.
import assert from "node:assert/strict";
import { base, check, fits, focusIsVisible, memdir, story, watched } from "./browser.mjs";

const { ADA, BOB, BOB_ID, ISSUER } = process.env;
const origin = new URL(base).origin;

async function signIn(context, token) {
  const page = await context.newPage();
  await page.goto(`${base}/`);
  assert.equal(page.url(), `${base}/login`);
  await page.fill("input[name=token]", token);
  await page.click("form button");
  await page.waitForURL(`${base}/`);
  return page;
}

await story(async (browser) => {
  // A browser without a session gets the login form on every page.
  const unauthenticated = await watched(browser);
  const outside = await unauthenticated.newPage();
  for (const path of ["", "/", "/m/user/plan", "/search?q=plan", "/new"]) {
    await outside.goto(base + path);
    assert.equal(outside.url(), `${base}/login`, path);
  }
  await check(outside, "the form");
  await fits(outside, "the form");
  await focusIsVisible(outside, "the form");
  for (const path of ["/events", "/help"]) {
    assert.equal((await unauthenticated.request.get(base + path, { headers: { "sec-fetch-mode": "cors" } })).status(), 401, path);
  }
  await outside.fill("input[name=token]", "mdt_wrong");
  const [refused] = await Promise.all([outside.waitForResponse(`${base}/login`), outside.click("form button")]);
  assert.equal(refused.status(), 401);
  assert.match(await outside.textContent("[role=alert]"), /missing or unknown bearer token/);
  assert.deepEqual(await unauthenticated.cookies(), []);
  const foreign = { form: { token: ADA }, maxRedirects: 0 };
  assert.equal((await unauthenticated.request.post(`${base}/login`, { ...foreign, headers: { origin: "https://evil.example" } })).status(), 403);
  assert.equal((await unauthenticated.request.post(`${base}/login`, foreign)).status(), 403);

  // Ada signs in, writes and edits.
  const ada = await watched(browser);
  const page = await signIn(ada, ADA);
  assert.match(await page.textContent("footer"), /Signed in as ada/);
  const [cookie] = (await ada.cookies(base)).filter((one) => one.name === "memdir");
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path, cookie.secure, cookie.expires], [true, "Strict", "/ui", false, -1]);
  await check(page, "home");
  await fits(page, "home");
  assert.deepEqual(await page.locator("header nav a").allTextContents(), ["Home", "Memories", "Timeline", "Prompt"]);
  for (const path of ["/hosts", "/settings", "/chats", "/inbox", "/rules", "/dream/x"]) {
    assert.equal((await page.goto(base + path)).status(), 404, path);
  }
  await page.goto(`${base}/new`);
  await page.fill("#name", "user/plan");
  await page.fill("#text", "The wedding is in Lisbon.\n");
  await page.click("button.main");
  await page.waitForSelector("p.done");
  await page.goto(`${base}/edit/user/plan`);
  await page.fill("#text", "The wedding is in Porto.\n");
  await page.click("button.main");
  assert.match(await page.textContent("p.done"), /Saved/);
  await page.goto(`${base}/search?q=wedding`);
  assert.match(await page.textContent("#hits"), /Porto/);
  await page.goto(`${base}/timeline`);
  assert.match(await page.textContent("main"), /ada/);

  // A change needs the form token of the session and the origin of this server.
  await page.goto(`${base}/m/user/plan`);
  const csrf = await page.getAttribute("input[name=csrf]", "value");
  assert.ok(!csrf.includes(ADA.slice(4)) && csrf.length === 64);
  const post = (path, headers, form) => ada.request.post(base + path, { headers, form, maxRedirects: 0 });
  for (const path of ["/delete", "/save", "/logout", "/project"]) {
    assert.equal((await post(path, { origin }, { csrf: "wrong", name: "user/plan" })).status(), 403, path);
    assert.equal((await post(path, { origin: "https://evil.example" }, { csrf, name: "user/plan" })).status(), 403, path);
    assert.equal((await post(path, {}, { csrf, name: "user/plan" })).status(), 403, path);
  }

  // Bob never sees it; he has a project of his own, and cannot select one of others.
  const bob = await watched(browser);
  const his = await signIn(bob, BOB);
  assert.match(await his.textContent("footer"), /Signed in as bob/);
  assert.equal((await his.goto(`${base}/m/user/plan`)).status(), 404);
  for (const path of ["/", "/memories", "/search?q=wedding", "/timeline", "/prompt"]) {
    await his.goto(base + path);
    assert.doesNotMatch(await his.textContent("main"), /Porto|Lisbon|user\/plan/, path);
  }
  const select = async (project) => {
    await his.fill("footer input[name=project]", project);
    await Promise.all([his.waitForURL(`${base}/`), his.click("footer form >> text=Select")]);
    return his.inputValue("footer input[name=project]");
  };
  assert.equal(await select("shop"), "shop");
  assert.match(await his.textContent(".cards"), /project/);
  assert.equal(await select("bank"), "", "not one of his projects");

  // A revoked token ends the session at once, and a text that cannot be saved is not lost.
  await his.goto(`${base}/new`);
  await his.fill("#name", "user/late");
  await his.fill("#text", "Too late.\n");
  memdir("token", "revoke", BOB_ID);
  await his.click("button.main");
  await his.waitForFunction(() => /nothing was saved.*sign in again\./.test(document.getElementById("live").textContent));
  assert.equal(await his.inputValue("#text"), "Too late.\n");
  await his.goto(`${base}/`);
  assert.match(await his.textContent("[role=alert]"), /Your session has ended/);
  assert.deepEqual((await bob.cookies()).filter((one) => one.value), []);

  // Ada signs out.
  await page.click("footer form >> text=Sign out");
  await page.waitForURL(`${base}/login`);
  assert.deepEqual((await ada.cookies()).filter((one) => one.value), []);
  await page.goBack();
  await page.goto(`${base}/m/user/plan`);
  assert.equal(page.url(), `${base}/login`);
  ada.assertClean();

  // The identity provider is another site.
  const person = await browser.newContext();
  const signed = await person.newPage();
  await signed.goto(`${base}/`);
  await signed.click("text=Sign in with your identity provider");
  assert.equal(new URL(signed.url()).origin, ISSUER);
  await signed.fill("input[name=name]", "ada");
  await signed.click("button");
  await signed.waitForURL(`${base}/`);
  assert.match(await signed.textContent("footer"), /Signed in as ada/);
  assert.equal((await signed.goto(`${base}/m/user/plan`)).status(), 200);
  assert.match(await signed.textContent("main"), /Porto/);
  assert.deepEqual((await person.cookies(base)).map((one) => one.name).sort(), ["memdir", "memdir-project"]);

  // A sign-in that another browser began, or that was changed on the way, is refused.
  const victim = await browser.newContext();
  const theirs = await victim.newPage();
  await theirs.goto(`${base}/callback?code=stolen&state=stolen`);
  assert.match(await theirs.textContent("[role=alert]"), /The sign-in has expired/);
  await theirs.goto(`${base}/login`);
  await Promise.all([theirs.waitForURL(`${ISSUER}/**`), theirs.click("text=Sign in with your identity provider")]);
  await theirs.goto(`${base}/callback?code=stolen&state=stolen`);
  assert.match(await theirs.textContent("[role=alert]"), /was not started in this browser/);
  const [begun] = (await victim.cookies(base)).filter((one) => one.name === "memdir-login");
  const state = begun.value.split(".")[0];
  await theirs.goto(`${base}/callback?code=stolen&state=${state}&iss=https://evil.example`);
  assert.match(await theirs.textContent("[role=alert]"), /another identity provider/);
  await theirs.goto(`${base}/callback?code=stolen&state=${state}`);
  assert.match(await theirs.textContent("[role=alert]"), /invalid_grant/);
  await theirs.goto(`${base}/`);
  assert.equal(theirs.url(), `${base}/login`);
});
