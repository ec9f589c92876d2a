// Small help for htmx and the keyboard. Every page works without it.
function tell(words) {
  const told = document.getElementById("told");
  told.textContent = words;
  told.hidden = false;
  told.focus();
}
document.addEventListener("htmx:afterSettle", (event) => {
  document.getElementById("told").hidden = true;
  document.getElementById(event.detail.elt.id)?.querySelector("[data-focus]")?.focus();
});
// What was refused is told above the page, in the words of the service.
document.addEventListener("htmx:responseError", (event) => {
  const xhr = event.detail.xhr;
  const isProblem = xhr.getResponseHeader("content-type")?.includes("json");
  tell(isProblem ? JSON.parse(xhr.responseText).detail : "The service refused this. Load the page again.");
});
document.addEventListener("htmx:sendError", () => {
  tell("The service cannot be reached. Nothing was written; try again.");
});
// A value of a table leads to its words: the document's page, at the column.
document.addEventListener("click", (event) => {
  const cell = event.target.closest(".grid td");
  if (!cell || getSelection().toString()) return;
  const column = cell.closest("table").tHead.rows[0].cells[cell.cellIndex].dataset.column;
  location.assign(`${cell.parentElement.querySelector("a").href}#cell-${column}`);
});
