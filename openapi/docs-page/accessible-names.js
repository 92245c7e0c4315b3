// In Swagger UI, some controls have no name for screen readers, and some scrolling parts cannot get the keyboard focus.
const names = {
  "#servers": () => "Server",
  "[data-param-name] :is(input, select)": (element) => element.closest("[data-param-name]").dataset.paramName,
  ".body-param__text": () => "Request body",
  ".close-modal": () => "Close",
};

function complete() {
  for (const [selector, name] of Object.entries(names)) {
    for (const element of document.querySelectorAll(`${selector}:not([aria-label])`))
      element.setAttribute("aria-label", name(element));
  }
  // These labels contradict the texts of the buttons.
  for (const button of document.querySelectorAll(".modal-btn[aria-label]"))
    button.removeAttribute("aria-label");
  for (const element of document.querySelectorAll(".microlight:not([tabindex])")) element.tabIndex = 0;
}

new MutationObserver(complete).observe(document.getElementById("docs"), { childList: true, subtree: true });
