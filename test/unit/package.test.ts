import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { parse } from "yaml";

// YAML includes JSON.
const read = (file: string) => parse(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"));
const { scripts, dependencies, devDependencies, optionalDependencies, allowScripts } = read("package.json");

interface Locked {
  integrity?: string;
  resolved?: string;
  link?: boolean;
  inBundle?: boolean;
  hasInstallScript?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
}
const { "": _, ...locked } = read("package-lock.json").packages as Record<string, Locked>;
/** The packages with a field, by their names. A package that is part of another one (inBundle) has that one's checksum. */
const named = (has: (entry: Locked) => unknown) =>
  Object.entries(locked)
    .filter(([, entry]) => !entry.inBundle && has(entry))
    .map(([path]) => path.replace(/^.*node_modules\//, ""));

it("has exact versions only", () => {
  const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version as string))).toEqual([]);
});

it("locks every package that Linux with glibc can install by its SHA-512, and takes none from elsewhere", () => {
  const installable = ({ os = ["linux"], cpu = ["x64"], libc = ["glibc"] }: Locked) =>
    os.includes("linux") && libc.includes("glibc") && cpu.some((name) => /^(x64|arm64)$/.test(name));
  const unchecked = ({ integrity = "" }: Locked) => !/^sha512-.{86}==$/.test(integrity);
  expect(named((entry) => unchecked(entry) && (installable(entry) || !entry.optional))).toEqual([]);
  expect(named(({ resolved, link }) => resolved ?? link)).toEqual([]);
});

it("decides for every install script whether it may run", () => {
  const scripts = named(({ hasInstallScript }) => hasInstallScript);
  expect(scripts.filter((name) => typeof allowScripts[name] !== "boolean")).toEqual([]);
});

it("fails `npm test` if a type, a rule of the linter, a test or the coverage does", () => {
  expect(scripts.test).toMatch(/^npm run check && (\w+=\S+ )*c8 jest$/);
  expect(scripts.check).toBe("tsc && biome ci");
  const { all, include, "check-coverage": checked, lines } = read(".c8rc.json");
  expect([all, checked]).toEqual([true, true]);
  expect(lines).toBeGreaterThan(95);
  for (const folder of ["cli", "functions", "infra", "lib", "local", "openapi"])
    expect(include[0]).toMatch(new RegExp(`[{,]${folder}[,}]`));
});

it("gets updates from every ecosystem, a week after their release at the earliest", () => {
  const { updates } = read(".github/dependabot.yml");
  const ecosystems = ["npm", "github-actions"].map((name) => ({
    "package-ecosystem": name,
    directory: "/",
    schedule: { interval: "weekly" },
    cooldown: { "default-days": 7 },
  }));
  expect(updates).toMatchObject(ecosystems);
});
