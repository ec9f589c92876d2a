// The page is whole without this. It opens what a link leads to, and lets the matrix be sorted, filtered, turned and weighed.
"use strict";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const act = (name) => document.querySelector(`[data-act="${name}"]`);
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
  const button = event.target.closest('button[data-act="open"], button[data-act="close"]');
  if (button) all("details.company").forEach((company) => { company.open = button.dataset.act === "open"; });
});
reveal();

// Paper has every company open and what is folded inside it left folded.
let closed = [];
addEventListener("beforeprint", () => {
  closed = all("details.company:not([open]), details.documents:not([open])");
  closed.forEach((part) => { part.open = true; });
});
addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));

// As the report writes shares: a half goes to the even figure.
const percent = (share) => {
  const points = +(100 * share).toFixed(9), low = Math.floor(points);
  return `${points > 99 && points < 100 ? 99 : points - low === 0.5 ? low + (low % 2) : Math.round(points)}\u202f%`;
};
// The head of a column as a button. No <button>: Chromium 156 prints one blank where it repeats a table's head on the next page.
function pressable(cell, press) {
  const button = document.createElement("span");
  button.tabIndex = 0;
  button.setAttribute("role", "button");
  button.append(...cell.childNodes);
  cell.append(button);
  button.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    button.click();
  });
  button.addEventListener("click", press);
}

// The newest key figures: by a column from the highest, each unit by itself, or as they were; what has none stays below.
all(".across table").forEach((table) => {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0], rows = [...body.rows];
  heads.forEach((head, column) => pressable(head, () => {
    const first = column ? "descending" : "ascending", second = column ? "ascending" : "descending";
    const order = head.getAttribute("aria-sort") === first ? second : first, sign = order === "ascending" ? 1 : -1;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const at = (row) => row.cells[column].dataset;
    body.append(...[...rows].sort((a, b) => {
      if (!column) return sign * (rows.indexOf(a) - rows.indexOf(b));
      const [x, y] = [at(a), at(b)];
      if (!x.value || !y.value) return !x.value - !y.value;
      return x.unit.localeCompare(y.unit) || sign * (x.value - y.value);
    }));
  }));
});

const table = document.querySelector(".matrix table");
if (table) workWith(table);

function workWith(table) {
  const head = table.tHead.rows[0], body = table.tBodies[0], corner = head.cells[0];
  const low = +table.dataset.low, high = +table.dataset.high;
  const columns = [...head.cells].slice(1).map((cell, place) => ({ cell, place, weight: +cell.dataset.weight, figure: cell.dataset.figure }));
  const criteria = columns.filter((column) => !column.figure);
  const companies = [...body.rows].map((row) => ({ head: row.cells[0], cells: [...row.cells].slice(1), number: row.dataset.company, fails: "gate" in row.dataset, standing: {} }));
  all(".standings > li").forEach((item, place) => { companies[place].item = item; });
  let turned = false, sorted = [...companies];

  const score = (company, column) => {
    const mark = company.cells[column.place].firstElementChild;
    return mark.className.includes("heat") ? +(mark.dataset.score ?? mark.textContent) : null;
  };
  const value = (company, column) => column.figure ? company.cells[column.place].dataset.value : score(company, column) ?? "";

  // Rows and columns in their order, without those that are filtered out; cells are moved, not made.
  function lay() {
    const find = act("find-company").value.trim().toLowerCase(), named = act("find-criterion").value.trim().toLowerCase();
    const show = act("show").value;
    const rows = sorted.filter((company) => company.head.dataset.name.includes(find));
    const shown = columns.filter(({ cell, place, figure }) => figure || (`${cell.textContent} ${cell.title}`.toLowerCase().includes(named)
      && (!show || cell.dataset.kind === show || cell.dataset.severity === show
        || (show === "flags" && rows.some((company) => company.cells[place].firstElementChild.hasAttribute("data-flag"))))));
    const focused = document.activeElement; // what is moved loses it
    companies.forEach((company) => { company.head.scope = turned ? "col" : "row"; if (company.item) company.item.hidden = !rows.includes(company); });
    columns.forEach(({ cell }) => { cell.scope = turned ? "row" : "col"; });
    (corner.querySelector("span") ?? corner).textContent = turned ? "Criterion" : "Company";
    head.replaceChildren(corner, ...(turned ? rows.map((company) => company.head) : shown.map(({ cell }) => cell)));
    body.replaceChildren(...(turned ? shown : rows).map((line) => {
      const row = document.createElement("tr");
      if (turned) row.append(line.cell, ...rows.map((company) => company.cells[line.place]));
      else row.append(line.head, ...shown.map(({ place }) => line.cells[place]));
      if (!turned) row.dataset.company = line.number;
      return row;
    }));
    if (table.contains(focused)) focused.focus({ preventScroll: true });
    all(".companies details[data-name]").forEach((part) => { part.hidden = !part.dataset.name.includes(find); });
    const said = document.querySelector(".said"), criteriaShown = shown.filter(({ figure }) => !figure).length;
    said.value = rows.length < companies.length || criteriaShown < criteria.length
      ? `${rows.length} of ${companies.length} companies, ${criteriaShown} of ${criteria.length} criteria` : "";
  }

  [{ cell: corner }, ...columns].forEach((column) => {
    pressable(column.cell, () => {
      // the company's own order begins with the first, figures with the highest; what has none stays below
      const first = column.cell === corner ? "ascending" : "descending";
      const second = first === "ascending" ? "descending" : "ascending";
      const order = column.cell.getAttribute("aria-sort") === first ? second : first;
      all(".matrix th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      column.cell.setAttribute("aria-sort", order);
      sorted = [...companies].sort((a, b) => {
        const [x, y] = column.cell === corner ? [a.place ?? +a.number, b.place ?? +b.number] : [value(a, column), value(b, column)];
        if (x === "" || y === "") return (x === "") - (y === "");
        return order === "ascending" ? x - y : y - x;
      });
      lay();
    });
  });

  for (const name of ["find-company", "find-criterion", "show"]) act(name).addEventListener("input", lay);
  act("turn").addEventListener("click", () => {
    turned = !turned;
    act("turn").setAttribute("aria-pressed", turned);
    lay();
  });

  act("weigh")?.addEventListener("click", () => {
    const on = act("weigh").getAttribute("aria-pressed") !== "true";
    act("weigh").setAttribute("aria-pressed", on);
    document.querySelector(".matrix").classList.toggle("weighed", on);
    criteria.forEach((column) => {
      if (!column.input) {
        column.input = document.createElement("input");
        Object.assign(column.input, { type: "number", min: 0, step: "any", value: column.weight });
        column.input.setAttribute("aria-label", `Weight of ${column.cell.querySelector(".id").textContent}`);
        column.input.addEventListener("input", weigh);
        column.cell.append(column.input);
      }
      column.input.hidden = !on;
    });
  });
  act("reset")?.addEventListener("click", () => {
    criteria.forEach((column) => { if (column.input) column.input.value = column.weight; });
    weigh();
  });

  // What is proven and open, and the ranks, with the weights that stand in the fields.
  function weigh() {
    const weights = criteria.map(({ input, weight }) => (input ? Math.max(0, +input.value || 0) : weight));
    const whole = weights.reduce((sum, weight) => sum + weight, 0), equal = 1e-9;
    const changed = criteria.some(({ weight }, place) => weights[place] !== weight);
    for (const company of companies) {
      let earned = 0, scored = 0, open = 0;
      criteria.forEach((column, place) => {
        const points = score(company, column);
        if (points === null) {
          if (!("closed" in company.cells[column.place].firstElementChild.dataset)) open += weights[place];
          return;
        }
        scored += weights[place];
        earned += weights[place] * (high > low ? (points - low) / (high - low) : 1);
      });
      const share = (weight) => (whole ? weight / whole : 0), least = share(earned), most = share(earned + open);
      company.standing = { least, most, open: share(open), coverage: share(scored), ranked: !company.fails && share(scored) >= 0.5 - equal };
    }
    const ranked = companies.filter(({ standing }) => standing.ranked).sort((a, b) => b.standing.least - a.standing.least);
    let last = 1;
    for (const company of companies) {
      const { least, most } = company.standing;
      const count = (better) => 1 + ranked.filter((other) => other !== company && better(other.standing)).length;
      company.behind = count((other) => other.least > least + equal && other.most > most + equal);
      company.ends = [count((other) => other.least > most + equal), count((other) => other.most > least + equal)];
      company.rank = null;
    }
    for (const company of ranked) {
      const { least } = company.standing;
      last = Math.max(last, ...ranked.filter((other) => Math.abs(other.standing.least - least) <= equal).map(({ behind }) => behind));
      company.rank = last;
    }
    companies.forEach((company) => show(company, changed));
    companies.map((company) => company).sort((a, b) => (a.rank ?? 1e9) - (b.rank ?? 1e9) || a.fails - b.fails || b.standing.least - a.standing.least || a.number - b.number)
      .forEach((company, place) => { company.place = place; });
    sorted = [...companies].sort((a, b) => a.place - b.place);
    all(".matrix th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    lay();
    document.querySelector(".standings").append(...sorted.map(({ item }) => item));
    act("reset").hidden = !changed;
    if (changed) document.querySelector(".said").value = "Shares and ranks above and here are those of your weights; the companies’ own pages keep the run’s.";
  }

  function show(company, changed) {
    const { coverage, least, most, open } = company.standing, { head, item, cells, rank, ends } = company;
    const put = (figure, share) => {
      const cell = cells[columns.find((other) => other.figure === figure).place];
      cell.dataset.value = share;
      cell.textContent = percent(share);
    };
    put("proven", least);
    put("open", open);
    const stability = columns.find(({ figure }) => figure === "stability");
    if (stability) cells[stability.place].classList.toggle("past", changed); // it was drawn around the run's weights
    head.querySelector(".rank").textContent = rank ?? "–";
    item.querySelector(".rank").textContent = rank ?? "–";
    item.querySelector(".rank").setAttribute("aria-label", rank === null ? "no rank" : `rank ${rank}`);
    item.querySelector(".at").setAttribute("width", 100 * least);
    const may = item.querySelector(".may"), why = item.querySelector('[data-show="why"]');
    may.setAttribute("x", 100 * least);
    may.setAttribute("width", 100 * (most - least));
    item.querySelector('[data-show="standing"]').textContent = `${percent(least)} proven, ${open > 1e-9 ? `${percent(open)} open` : "nothing open"}`;
    if (!company.fails) why.textContent = rank === null ? `Not ranked: ${percent(coverage)} of the weight is scored, and half is needed.` : "";
    const ranks = item.querySelector('[data-show="ranks"]');
    if (ranks) ranks.textContent = rank === null ? "" : ends[0] === ends[1] ? `rank ${ends[0]} whatever is open` : `rank ${ends[0]} to ${ends[1]} possible`;
  }
}
