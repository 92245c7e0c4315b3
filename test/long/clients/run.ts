import { Command } from "commander";

const description = `Generates clients from openapi.json and uses each with a local service: oapi-codegen (Go), openapi-python-client (Python), openapi-typescript and @hey-api/openapi-ts (TypeScript). Runs the example client on Node 20, Deno and Bun, and schemathesis with three seeds. Everything is installed into a temporary folder.
Needs Go 1.24 or later, Python 3.10 or later with venv, and access to npm, PyPI and the Go module proxy.`;

export const command = new Command("clients")
  .summary("generates clients in Go, Python and TypeScript and uses them (needs Go, Python and registries)")
  .description(description)
  .action(async () => (await import("./clients.ts")).testClients());
