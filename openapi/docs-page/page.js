const { key } = document.getElementById("docs").dataset;

const ui = window.SwaggerUIBundle({
  dom_id: "#docs",
  url: "openapi.json",
  validatorUrl: null,
  syntaxHighlight: { theme: "tomorrow-night" },
  plugins: [window.clearStaleResponse, window.checkKeys],
  tryItOutEnabled: true,
  onComplete: () => ui.preauthorizeApiKey("apiKey", key),
});

// Swagger UI has dark colors for this class, and no setting that follows the system.
const dark = matchMedia("(prefers-color-scheme: dark)");
const followSystem = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followSystem);
followSystem();
