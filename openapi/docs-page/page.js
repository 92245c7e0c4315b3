const { key } = document.getElementById("docs").dataset;

const ui = window.SwaggerUIBundle({
  dom_id: "#docs",
  url: "openapi.json",
  validatorUrl: null,
  syntaxHighlight: { theme: "tomorrow-night" },
  docExpansion: key ? "list" : "full",
  plugins: key ? [window.clearStaleResponse, window.checkKeys] : [window.readOnly],
  // A published page sends no requests: it has no key, and the API sends no CORS headers.
  ...(key ? {} : { supportedSubmitMethods: [] }),
  tryItOutEnabled: Boolean(key),
  onComplete: () => key && ui.preauthorizeApiKey("apiKey", key),
});

// Swagger UI has dark colors for this class, and no setting that follows the system.
const dark = matchMedia("(prefers-color-scheme: dark)");
const followSystem = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followSystem);
followSystem();
