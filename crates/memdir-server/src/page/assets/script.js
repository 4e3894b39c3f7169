// What the pages do better with a script: search as you type, keyboard shortcuts, live updates. Everything works without it.
const base = document.body.dataset.base;
const again = document.body.dataset.again;
const live = document.getElementById("live");
const isTyping = () => document.activeElement?.matches("input:not([type=checkbox]), textarea, select") ?? false;
const say = (text) => {
  live.textContent = text;
};
// What needs the person's attention is not replaced by news.
let isWarning = false;
const warn = (text) => {
  isWarning = true;
  say(text);
};
const ENDED = `The session has ended. ${again}`;
// A request that the browser cancels because the person leaves is not an error.
let isLeaving = false;
addEventListener("pagehide", () => (isLeaving = true));
addEventListener("pageshow", () => (isLeaving = false));

// Puts the part of a page that the server rendered in the place of an element.
function replaceContent(element, html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  element.replaceChildren(...parsed.body.childNodes);
}

// Search as you type. The form may be replaced by a live update, so the page listens.
let running;
let timer;
async function updateHits(form) {
  running?.abort();
  running = new AbortController();
  const fields = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...fields]) if (!value) fields.delete(name);
  history.replaceState(null, "", `${base}/search?${fields}`);
  fields.set("part", "hits");
  try {
    const response = await fetch(`${base}/search?${fields}`, { signal: running.signal });
    if (response.ok) replaceContent(document.getElementById(form.dataset.live), await response.text());
    else if (response.status === 401) warn(ENDED);
  } catch (error) {
    if (error.name !== "AbortError" && !isLeaving) warn(`memdir does not respond. ${document.body.dataset.offline}`);
  }
}
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-live]");
  if (!form) return;
  clearTimeout(timer);
  timer = setTimeout(() => updateHits(form), 80);
});

// Asks before a change that the person may not expect, and sends one form, however often and whichever button is pressed.
let isSending = false;
document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = form.dataset.confirm;
  if (event.defaultPrevented || form.method !== "post") return;
  // Two decisions would cancel each other's answer, so that the person sees only one of them.
  if (isSending || (question && !confirm(question))) event.preventDefault();
  else {
    isSending = true;
    // An answer that never comes must not disable the page.
    setTimeout(() => (isSending = false), 10_000);
  }
});
addEventListener("pageshow", () => (isSending = false));

// Copies a command.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copy).textContent;
  await navigator.clipboard.writeText(text).then(
    () => say("Copied."),
    () => say("The browser does not allow copying. Select the text instead."),
  );
});
const showCopyButtons = () => document.querySelectorAll("[data-copy]").forEach((button) => (button.hidden = false));
showCopyButtons();

// Warns before an edited text is left.
const draft = document.querySelector("form[data-draft]");
let isEdited = draft?.hasAttribute("data-unsaved") ?? false;
draft?.addEventListener("input", () => (isEdited = true));
// A browser shows an error instead of the text if the server has ended, so that is asked first.
let isAlive = false;
draft?.addEventListener("submit", async (event) => {
  if (isAlive) {
    isEdited = isAlive = false;
    return;
  }
  event.preventDefault();
  const response = await fetch(`${base}/help`, { method: "HEAD" }).catch(() => undefined);
  if (!response?.ok) {
    warn(`The session has ended, so nothing was saved. Copy your text, then ${again[0].toLowerCase()}${again.slice(1)}`);
    return;
  }
  isAlive = true;
  draft.requestSubmit(event.submitter);
});
addEventListener("beforeunload", (event) => {
  if (isEdited) event.preventDefault();
});

// Keys. The selection is a class of the row, so that it goes with the row when a list is replaced.
function select(step) {
  const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
  if (!rows.length) return;
  const selected = rows.findIndex((row) => row.classList.contains("selected"));
  rows[selected]?.classList.remove("selected");
  const row = rows[Math.min(Math.max(selected + step, 0), rows.length - 1)];
  row.classList.add("selected");
  (row.querySelector("a, summary, button, input[type=checkbox]") ?? row).focus();
  row.scrollIntoView({ block: "nearest" });
}
const places = { h: "/", m: "/memories", i: "/inbox", d: "/dream", t: "/timeline", c: "/chats", r: "/rules", p: "/prompt" };
let isGoing = false;
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (isTyping()) {
    isGoing = false;
    if (event.key === "Escape") document.activeElement.blur();
    return;
  }
  // A key that is held must not decide about the next row, or undo what it has just undone.
  if (event.repeat && !"jk".includes(event.key)) return;
  if (isGoing) {
    isGoing = false;
    if (places[event.key]) location.assign(base + places[event.key]);
    return;
  }
  if (event.key === "/") (document.getElementById("q") ?? document.getElementById("find"))?.focus();
  else if (event.key === "j") select(1);
  else if (event.key === "k") select(-1);
  else if (event.key === "Escape") document.querySelector(".selected")?.classList.remove("selected");
  else if (event.key === "g") isGoing = true;
  else if (event.key === "?") location.assign(`${base}/help`);
  else {
    const all = [...document.querySelectorAll(`main [data-key="${CSS.escape(event.key)}"]`)];
    // A key acts on the selected row or on the whole page, never on a row that was not chosen.
    const element = all.find((one) => one.closest(".selected")) ?? all.find((one) => !one.closest("[data-row]"));
    const memory = event.key === "e" && document.querySelector(".selected a.name")?.getAttribute("href");
    if (element) element.click();
    else if (memory && memory.startsWith(`${base}/m/`)) location.assign(`${base}/edit/${memory.slice(base.length + 3)}`);
    else if (all.length) say("Select a row first with j or k.");
    else return;
  }
  event.preventDefault();
});

// Live updates: shows what other writers changed, without taking away what the person is doing.
const isFilled = (field) =>
  field.type === "checkbox" || field.type === "radio"
    ? field.checked !== field.defaultChecked
    : field.options
      ? field.options[field.selectedIndex] !== ([...field.options].find((option) => option.defaultSelected) ?? field.options[0])
      : field.type !== "hidden" && field.value !== field.defaultValue;
const isBusy = () =>
  draft ||
  isSending ||
  isTyping() ||
  !getSelection().isCollapsed ||
  document.querySelector(".selected, form[data-choice]") ||
  [...document.querySelectorAll("main form:not([data-live]) :is(input, textarea, select)")].some(isFilled);
const sayChanged = () => isWarning || say(draft ? "Memories have changed. If this memory is one of them, you will see the differences when you save." : "Memories have changed. Reload to see the changes.");
// Names for elements that are the same in the old and the new page: what they are, in which row, and the how many-th of these.
function named(selector) {
  const seen = new Map();
  const main = document.getElementById("main");
  return [...main.querySelectorAll(selector)].map((one) => {
    const row = one.closest("[data-row]")?.querySelector("a")?.href;
    const name = [row, one.localName, one.getAttribute("href"), (one.querySelector("summary") ?? one).textContent].join(" ");
    seen.set(name, (seen.get(name) ?? 0) + 1);
    return [`${name} ${seen.get(name)}`, one];
  });
}
// Only one answer at a time: of two, the older one might arrive last.
let isRefreshing = false;
// What was heard meanwhile. A change is reported even if the update that is on its way has another cause.
let missed;
const miss = (kind) => (missed = missed === "change" ? missed : kind);
async function refresh(kind) {
  if (isRefreshing) {
    miss(kind);
    return;
  }
  isRefreshing = true;
  const asked = location.href;
  try {
    const response = await fetch(asked, { headers: { accept: "text/html" } });
    if (response.ok) show(await response.text(), asked, kind);
    else if (response.status === 401) warn(ENDED);
  } catch {
    // The stream of events reports a server that has ended.
  } finally {
    isRefreshing = false;
  }
  const next = missed;
  missed = undefined;
  if (next) hear(next);
}
function show(html, asked, kind) {
  // A search may have been typed while the server answered, a row selected, or a field entered.
  if (asked !== location.href) {
    miss(kind);
    return;
  }
  if (isBusy()) {
    if (kind === "change") sayChanged();
    return;
  }
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const main = document.getElementById("main");
  const open = new Map(named("details").map(([name, one]) => [name, one.open]));
  const focused = named("a, button, summary").find(([, one]) => one === document.activeElement)?.[0];
  main.replaceChildren(...parsed.getElementById("main").childNodes);
  document.title = parsed.title;
  document.body.dataset.cursor = parsed.body.dataset.cursor ?? "";
  named("details").forEach(([name, one]) => (one.open = open.get(name) ?? one.open));
  if (focused) named("a, button, summary").find(([name]) => name === focused)?.[1].focus({ preventScroll: true });
  showCopyButtons();
}
let hasEnded = false;
function hear(kind) {
  if (kind === "end") {
    hasEnded = true;
    // A text that was not saved is more important.
    if (!isWarning) warn(document.body.dataset.ended);
  } else if (isBusy()) {
    if (kind === "change") sayChanged();
    // A page that answers a form has no address of its own.
  } else if (!document.body.hasAttribute("data-answer")) refresh(kind);
}
// A browser opens only six connections to a server, so one tab listens and notifies the others.
if (window.EventSource && navigator.locks) {
  const channel = new BroadcastChannel(`memdir${base}`);
  channel.addEventListener("message", (event) => hear(event.data));
  const broadcast = (kind) => {
    channel.postMessage(kind);
    hear(kind);
  };
  const loaded = performance.now();
  const listen = (done) => {
    if (hasEnded) return done();
    const events = new EventSource(`${base}/events?since=${document.body.dataset.cursor ?? ""}`);
    const stop = () => {
      events.close();
      done();
    };
    // What changed while no tab was connected was not reported to any of them.
    events.addEventListener("open", () => {
      if (performance.now() - loaded > 200) broadcast("unknown");
    });
    events.addEventListener("change", () => broadcast("change"));
    events.addEventListener("end", () => {
      broadcast("end");
      stop();
    });
    addEventListener("pagehide", stop, { once: true });
  };
  const wait = () => navigator.locks.request(`memdir${base}`, () => new Promise(listen));
  wait();
  // A page that the browser kept while the person was elsewhere does not know what changed.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    hear("unknown");
    wait();
  });
}
