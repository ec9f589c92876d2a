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
  const page = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  tell(page.querySelector(".message p")?.textContent ?? "The service refused this. Load the page again.");
});
document.addEventListener("htmx:sendError", () => {
  tell("The service cannot be reached. Nothing was written; try again.");
});
