const { key } = document.getElementById("docs").dataset;

const ui = window.SwaggerUIBundle({
  dom_id: "#docs",
  url: "openapi.json",
  validatorUrl: null,
  // A published page has no key and is of another origin than the API, which a browser could not call.
  supportedSubmitMethods: key ? ["get", "post"] : [],
  tryItOutEnabled: Boolean(key),
  onComplete: () => {
    if (key) ui.preauthorizeApiKey("apiKey", key);
  },
});
