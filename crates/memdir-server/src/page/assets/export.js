// Search in an exported file: hides the memories and index lines that lack a word.
const form = document.getElementById("search");
const field = document.getElementById("find");
const count = document.getElementById("count");
const articles = [...document.querySelectorAll("article.exported")].map((element) => ({
  element,
  link: document.querySelector(`nav a[href="#${element.id}"]`).parentElement,
  text: element.textContent.toLowerCase(),
}));
form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { element, link, text } of articles) {
    const matches = words.every((word) => text.includes(word));
    element.hidden = link.hidden = !matches;
    shown += matches;
  }
  count.textContent = words.length ? `${shown} found` : "";
});
