// Review on a team server: every proposal can be reached, and all of it is seen before it can be accepted.
import assert from "node:assert/strict";
import { base, check, fits, story, watched } from "./browser.mjs";

await story(async (browser) => {
  const reviewer = await watched(browser);
  const rita = await reviewer.newPage();
  await rita.goto(`${base}/login`);
  await rita.fill("input[name=token]", process.env.RITA);
  await rita.click("form button");
  await rita.waitForURL(`${base}/`);
  const open = async (name) => {
    await rita.goto(`${base}/review`);
    await rita.click(`main >> text="write ${name}"`);
    await rita.waitForSelector("h1");
  };
  const buttons = async () => String(await rita.locator("main form button").allTextContents());

  // 100 open proposals are on the first page, and the next page has the rest.
  await rita.goto(`${base}/review`);
  const first = await rita.locator("main ol.changes a.name").allTextContents();
  assert.equal(first.length, 100);
  await rita.click("main nav.pages a[rel=next]");
  await rita.waitForSelector("text=Page 2");
  const second = await rita.locator("main ol.changes a.name").allTextContents();
  assert.equal(new Set([...first, ...second]).size, 100 + second.length);
  assert.ok(second.length > 0 && [...first, ...second].includes("write many/000"));

  // Bytes that are not valid UTF-8 are shown, and counted.
  await open("raw");
  assert.match(await rita.textContent("main"), /-caf<0xE9>\s+\+caf<0xE8>/);
  assert.match(await rita.textContent("main"), /invalid UTF-8 \(1 byte in the old text, 1 byte in the new text\) is shown as hexadecimal bytes, such as <0xE9>/);
  assert.equal(await buttons(), "Accept,Reject");
  await check(rita, "a proposal with bytes");

  // Characters that reorder or hide text are shown, as on the command line.
  await open("trick");
  assert.match(await rita.textContent("main"), /\+if is_admin <U\+202E>\{ begin<U\+2066> \^\[\[8m hidden/);

  // A long diff has several parts, and is accepted on the last one.
  await open("long");
  let seen = "";
  for (let part = 1; part < 3; part += 1) {
    seen += await rita.textContent("main");
    assert.match(await rita.textContent("main"), new RegExp(`Part ${part} of 3 `));
    assert.equal(await buttons(), "Reject");
    await rita.click("main nav.pages a[rel=next]");
    await rita.waitForSelector(`text=Part ${part + 1} of 3`);
  }
  await check(rita, "a part of a proposal");
  await fits(rita, "a part of a proposal");
  seen += await rita.textContent("main");
  for (const line of [0, 1989, 1990, 3980, 4999]) assert.ok(seen.includes(`+Line ${line}.\n`), `line ${line}`);
  assert.equal(await buttons(), "Accept,Reject");
  await rita.click("main >> text=Accept");
  await rita.waitForSelector("text=accepted by rita");
  reviewer.assertClean();
});
