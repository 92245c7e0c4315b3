import { execFileSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { StackDefinition } from "../../infra/assembly/template.ts";
import { localStage } from "../../infra/stages.ts";

/**
 * Installs serverless-offline from npm and configures it with the functions, routes and authorizer of a stack. It runs in
 * osls, a fork of the Serverless Framework, because the framework itself needs an account.
 *
 * @param folder where to install it
 * @throws Error when npm fails
 */
export function installServerlessOffline(folder: string, stack: StackDefinition): void {
  cpSync(fileURLToPath(new URL("tools/", import.meta.url)), folder, { recursive: true });
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  execFileSync("npm", args, { cwd: folder, stdio: "inherit" });
  writeFileSync(join(folder, "serverless.json"), JSON.stringify(configuration(folder, stack)));
}

function configuration(folder: string, { functions, routes, authorizer, apiStageName }: StackDefinition) {
  const { functionName, pattern, cacheSeconds } = authorizer;
  const limits = { identityValidationExpression: pattern.source, resultTtlInSeconds: cacheSeconds };
  const definitions = functions.map(({ name, code, handler, environment }) => {
    const events = routes
      .filter(({ integration }) => "functionName" in integration && integration.functionName === name)
      .map(({ method, path }) => ({ http: { method, path, authorizer: { name: functionName, ...limits } } }));
    const file = relative(folder, join(code, handler));
    return [name, { handler: file, environment: { ...environment, STAGE: localStage.name }, events }];
  });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: osls inserts the variable
  const options = { host: "127.0.0.1", httpPort: "${env:PORT}", lambdaPort: 0 };
  return {
    service: "animal-store",
    provider: { name: "aws", runtime: "nodejs24.x", stage: apiStageName },
    plugins: ["serverless-offline"],
    custom: { "serverless-offline": options },
    functions: Object.fromEntries(definitions),
  };
}
