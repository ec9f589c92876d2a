// Small help for the keyboard. Every page works without it.
document.addEventListener("htmx:afterSwap", (event) => {
  const said = event.target.querySelector?.("[data-focus]");
  if (said) said.focus();
});
