// What the pages do better with a script: search as you type, keys, live updates. Everything works without it.
const base = document.body.dataset.base;
const live = document.getElementById("live");
const isTyping = () => document.activeElement?.matches("input, textarea, select") ?? false;
const say = (text) => {
  live.textContent = text;
};

// Puts the part of a page that the server rendered in the place of an element.
function replaceContent(element, html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  element.replaceChildren(...parsed.body.childNodes);
}

// Search as you type.
for (const form of document.querySelectorAll("form[data-live]")) {
  const target = document.getElementById(form.dataset.live);
  let running;
  let timer;
  const update = async () => {
    running?.abort();
    running = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    for (const [name, value] of [...fields]) if (!value) fields.delete(name);
    history.replaceState(null, "", `${base}/search?${fields}`);
    fields.set("part", "hits");
    try {
      const response = await fetch(`${base}/search?${fields}`, { signal: running.signal });
      if (response.ok) replaceContent(target, await response.text());
      else if (response.status === 401) say("The session has ended. Open the page again with: memdir ui");
    } catch (error) {
      if (error.name !== "AbortError") say("memdir does not answer. Open the page again with: memdir ui");
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, 80);
  });
}

// Asks before a change that the person may not expect.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

// Copies a command.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  say("Copied.");
});
const showCopyButtons = () => document.querySelectorAll("[data-copy]").forEach((button) => (button.hidden = false));
showCopyButtons();

// Warns before an edited text is left.
const draft = document.querySelector("form[data-draft]");
let isEdited = false;
draft?.addEventListener("input", () => (isEdited = true));
draft?.addEventListener("submit", () => (isEdited = false));
addEventListener("beforeunload", (event) => {
  if (isEdited) event.preventDefault();
});

// Keys.
let selected = -1;
function select(step) {
  const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
  if (!rows.length) return;
  rows[selected]?.classList.remove("selected");
  selected = Math.min(Math.max(selected + step, 0), rows.length - 1);
  const row = rows[selected];
  row.classList.add("selected");
  (row.querySelector("a, summary, button") ?? row).focus();
  row.scrollIntoView({ block: "nearest" });
}
const places = { h: "/", m: "/memories", i: "/inbox", t: "/timeline", c: "/chats", r: "/rules", p: "/prompt" };
let isGoing = false;
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (isTyping()) {
    if (event.key === "Escape") document.activeElement.blur();
    return;
  }
  if (isGoing) {
    isGoing = false;
    if (places[event.key]) location.assign(base + places[event.key]);
    return;
  }
  if (event.key === "/") (document.getElementById("q") ?? document.getElementById("find"))?.focus();
  else if (event.key === "j") select(1);
  else if (event.key === "k") select(-1);
  else if (event.key === "g") isGoing = true;
  else if (event.key === "?") location.assign(`${base}/help`);
  else {
    const within = document.querySelector(`.selected [data-key="${CSS.escape(event.key)}"]`);
    const element = within ?? document.querySelector(`main [data-key="${CSS.escape(event.key)}"]`);
    if (!element) return;
    element.click();
  }
  event.preventDefault();
});

// Live updates: shows what other writers changed, without taking away what the person is doing.
async function refresh() {
  const response = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!response.ok) return;
  const parsed = new DOMParser().parseFromString(await response.text(), "text/html");
  const open = [...document.querySelectorAll("main details")].map((one) => one.open);
  document.getElementById("main").replaceChildren(...parsed.getElementById("main").childNodes);
  document.querySelectorAll("main details").forEach((one, n) => (one.open = open[n] ?? one.open));
  showCopyButtons();
  selected = -1;
}
if (window.EventSource) {
  const events = new EventSource(`${base}/events`);
  events.addEventListener("change", () => {
    if (draft) say("Memories have changed. If this one did, saving shows you how.");
    else if (isTyping() || document.querySelector(".selected")) say("Memories have changed. Reload to see it.");
    else refresh();
  });
  events.addEventListener("end", () => {
    events.close();
    say("memdir has stopped. Open the page again with: memdir ui");
  });
  addEventListener("pagehide", () => events.close());
}
