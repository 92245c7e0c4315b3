import { execFileSync } from "node:child_process";
import { join } from "node:path";

/**
 * Installs Python packages from PyPI into a folder of a test.
 *
 * @returns the folder of their commands
 * @throws Error when Python or the packages cannot be installed
 */
export function installPackages(folder: string, packages: string[]): string {
  const venv = join(folder, "venv");
  try {
    execFileSync("python3", ["-m", "venv", venv], { stdio: "pipe" });
    execFileSync(join(venv, "bin/pip"), ["install", "--quiet", ...packages], { stdio: "pipe" });
  } catch (error) {
    const { stderr, message } = error as { stderr?: Buffer; message: string };
    throw new Error(
      `${packages.join(", ")} cannot be installed here: ${stderr?.toString().trim() || message}`,
    );
  }
  return join(venv, "bin");
}
