// The page of the machines: the filter, the sorting of the table, sheets that open when they are
// gone to. Without it everything is there, in the order of the names.

document.documentElement.classList.add("scripted");
const table = document.querySelector("table.machines");
const rows = [...table.tBodies[0].rows];
const sheets = [...document.querySelectorAll("details.machine")];
const counted = document.getElementById("count");

// The filter: every word must occur.
function filter(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (element) => words.every((word) => element.dataset.search.includes(word));
  let shown = 0;
  for (const row of rows) {
    row.hidden = !fits(row);
    if (!row.hidden) ++shown;
  }
  for (const sheet of sheets) sheet.hidden = !fits(sheet);
  document.getElementById("nothing").hidden = shown > 0;
  const of = shown === rows.length ? "" : ` of ${rows.length}`;
  counted.textContent = `${shown}${of} ${rows.length === 1 ? "machine" : "machines"}`;
}
const box = document.getElementById("filter");
box.addEventListener("input", () => filter(box.value));

// Sorting: numbers fall first, names rise first.
function sortBy(column, heads) {
  const head = heads[column];
  const numbers = column > 0;
  const before = head.getAttribute("aria-sort");
  const falling = before ? before === "ascending" : numbers;
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  const value = (row) => row.cells[column].dataset.value;
  const compare = (a, b) => numbers ? value(a) - value(b) : value(a).localeCompare(value(b));
  const sorted = [...rows].sort((a, b) => falling ? compare(b, a) : compare(a, b));
  table.tBodies[0].append(...sorted);
}
const heads = [...table.tHead.rows[0].cells];
heads.forEach((head, column) => {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  button.addEventListener("click", () => sortBy(column, heads));
  head.append(button);
});

// Sheets.
const openAll = document.getElementById("open-all");
openAll.addEventListener("click", () => {
  const open = openAll.getAttribute("aria-pressed") !== "true";
  openAll.setAttribute("aria-pressed", String(open));
  for (const sheet of sheets) sheet.open = open;
});
function openTarget() {
  const target = sheets.find((sheet) => "#" + sheet.id === decodeURIComponent(location.hash));
  if (!target) return;
  target.open = true;
  target.scrollIntoView();
}
window.addEventListener("hashchange", openTarget);
// A second click on the same link changes no hash.
table.addEventListener("click", (event) => {
  if (event.target.closest("a")) setTimeout(openTarget);
});
window.addEventListener("beforeprint", () => {
  for (const sheet of sheets) sheet.open = true;
});
openTarget();
