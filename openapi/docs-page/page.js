const { key } = document.getElementById("docs").dataset;

const ui = window.SwaggerUIBundle({
  dom_id: "#docs",
  url: "openapi.json",
  validatorUrl: null,
  syntaxHighlight: { theme: "tomorrow-night" },
  // There is only this service. The list has no name for screen readers.
  plugins: [() => ({ wrapComponents: { ServersContainer: () => () => null } })],
  tryItOutEnabled: true,
  onComplete: () => ui.preauthorizeApiKey("apiKey", key),
});

// These fields have no name either.
new MutationObserver(() => {
  for (const field of document.querySelectorAll("[data-param-name] select, .body-param__text"))
    field.ariaLabel ??= field.closest("[data-param-name]")?.dataset.paramName ?? "Request body";
}).observe(document.body, { childList: true, subtree: true });
