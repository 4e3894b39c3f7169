// Review on a team server: a writer proposes, a reviewer sees the diff and decides, also without JavaScript.
import assert from "node:assert/strict";
import { base, check, fits, focusIsVisible, story, watched } from "./browser.mjs";

const { ADA, RITA } = process.env;
const origin = new URL(base).origin;

async function signIn(context, token) {
  const page = await context.newPage();
  await page.goto(`${base}/login`);
  await page.fill("input[name=token]", token);
  await page.click("form button");
  await page.waitForURL(`${base}/`);
  return page;
}

async function save(page, name, text) {
  await page.goto(`${base}/new`);
  await page.fill("#name", name);
  await page.fill("#text", text);
  await page.click("button.main");
  await page.waitForSelector("text=is waiting for review");
  await page.click("text=View the proposal");
  return page.url().split("/").pop();
}

await story(async (browser) => {
  const writer = await watched(browser);
  const ada = await signIn(writer, ADA);
  assert.ok((await ada.locator("header nav a").allTextContents()).includes("Review"));
  const first = await save(ada, "notes/tea", "Green tea, 80 degrees.\n");
  assert.match(await ada.textContent("main"), /\+Green tea, 80 degrees\./);
  assert.equal(await ada.locator("main button").allTextContents().then(String), "Withdraw");
  assert.equal((await ada.goto(`${base}/m/notes/tea`)).status(), 404, "nothing is changed yet");
  const second = await save(ada, "notes/coffee", "Never after noon.\n");
  const third = await save(ada, "notes/water", "Two litres.\n");
  await ada.click("main >> text=Withdraw");
  await ada.waitForSelector("text=withdrawn by ada");

  const reviewer = await watched(browser);
  const rita = await signIn(reviewer, RITA);
  await rita.click("header nav >> text=Review");
  await check(rita, "the queue");
  await fits(rita, "the queue");
  await focusIsVisible(rita, "the queue");
  const queue = await rita.textContent("main");
  assert.match(queue, /write notes\/tea[\s\S]*ada/);
  assert.match(queue, /Decided[\s\S]*write notes\/water/);
  await rita.click("main >> text=write notes/tea");
  await check(rita, "a proposal");
  await fits(rita, "a proposal");
  assert.match(await rita.textContent("main"), /\+Green tea, 80 degrees\./);
  // A decision needs the form token, and a writer cannot decide.
  const csrf = await rita.getAttribute("input[name=csrf]", "value");
  const post = (context, token) =>
    context.request.post(`${base}/review/decide`, { headers: { origin }, form: { csrf: token, id: first, decision: "accept" }, maxRedirects: 0 });
  assert.equal((await post(reviewer, "wrong")).status(), 403);
  await ada.goto(`${base}/review/${second}`);
  assert.equal((await post(writer, await ada.getAttribute("input[name=csrf]", "value"))).status(), 403);
  assert.equal(csrf.length, 64);
  await rita.click("main >> text=Accept");
  await rita.waitForSelector("text=accepted by rita");
  await rita.click("text=View the change");
  assert.match(await rita.textContent("main"), /ada, reviewed by rita/);
  assert.equal((await ada.goto(`${base}/m/notes/tea`)).status(), 200);

  // The queue follows what is proposed and withdrawn, and the author sees a decision.
  await rita.goto(`${base}/review`);
  const live = await save(ada, "notes/live", "Just now.\n");
  await rita.waitForSelector(`main a[href$="/review/${live}"]`);
  await ada.click("main >> text=Withdraw");
  await rita.waitForSelector("text=withdrawn by ada");
  const decided = await save(ada, "notes/juice", "Orange.\n");
  const form = { csrf, id: decided, decision: "reject" };
  assert.equal((await reviewer.request.post(`${base}/review/decide`, { headers: { origin }, form, maxRedirects: 0 })).status(), 303);
  await ada.waitForSelector("text=rejected by rita");

  // Without JavaScript.
  const plain = await watched(browser, { javaScriptEnabled: false });
  const still = await signIn(plain, RITA);
  await still.goto(`${base}/review/${second}`);
  // As long as the page allows, in a script with three bytes per character.
  const reason = "notes/tea says enough".padEnd(Number(await still.getAttribute("input[name=reason]", "maxlength")), "茶");
  await still.fill("input[name=reason]", reason);
  // Enter in the reason rejects.
  await still.press("input[name=reason]", "Enter");
  await still.waitForSelector("main >> text=rejected by rita");
  assert.ok((await still.textContent("main")).includes(`rejected by rita: ${reason}`));
  await ada.goto(`${base}/review`);
  assert.match(await ada.textContent("main"), /rejected by rita: notes\/tea says enough/);
  assert.equal(await ada.locator("main button").count(), 0);
  assert.equal((await ada.goto(`${base}/review/${"x".repeat(8)}`)).status(), 404);
  assert.equal(typeof third, "string");
  for (const context of [writer, reviewer, plain]) context.assertClean();
});
