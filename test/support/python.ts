import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Installs Python packages from PyPI into a folder of a test. @returns the folder of their commands */
export function installPackages(folder: string, packages: string[]): string {
  const venv = join(folder, "venv");
  execFileSync("python3", ["-m", "venv", venv], { stdio: "inherit" });
  execFileSync(join(venv, "bin/pip"), ["install", "--quiet", ...packages], { stdio: "inherit" });
  return join(venv, "bin");
}
