// The page is whole without this. It opens what a link leads to, sorts and filters, and opens all for paper.
"use strict";
const all = (selector) => [...document.querySelectorAll(selector)];
const companies = all("details.company");
all(".tools").forEach((tools) => { tools.hidden = false; });

function reveal() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) reveal(); // the same place again: no hashchange
  const act = event.target.closest("button[data-act]");
  if (act) companies.forEach((company) => { company.open = act.dataset.act === "open"; });
});
reveal();

const body = document.querySelector(".matrix tbody");
all(".matrix thead th").forEach((head, column) => {
  // no <button>: Chromium 156 prints one blank where it repeats a table's head on the next page
  const button = document.createElement("span");
  button.tabIndex = 0;
  button.setAttribute("role", "button");
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    button.click();
  });
  button.addEventListener("click", () => {
    // names and ranks begin with the first, figures with the highest; what has none stays below
    const first = head.dataset.sort === "rank" ? "ascending" : "descending";
    const second = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? second : first;
    all(".matrix th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const value = (row) => row.cells[column].dataset.value;
    body.append(...[...body.rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      return order === "ascending" ? x - y : y - x;
    }));
  });
});

const find = document.querySelector('[data-act="find"]');
if (find) find.addEventListener("input", () => {
  const wanted = find.value.trim().toLowerCase();
  all("[data-name]").forEach((part) => { part.hidden = !part.dataset.name.includes(wanted); });
});

let closed = [];
addEventListener("beforeprint", () => {
  closed = all("details:not([open])");
  closed.forEach((part) => { part.open = true; });
});
addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));
