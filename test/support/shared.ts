const variables = {
  assembly: "TEST_ASSEMBLY",
  /** folder of the variants of test/support/stages.ts */
  variants: "TEST_VARIANTS",
  logs: "TEST_LOGS",
  dataFolder: "TEST_DATA_FOLDER",
  baseUrl: "CONTRACT_URL",
  key: "CONTRACT_KEY",
} as const;
type Shared = Record<keyof typeof variables, string>;

/** Makes values known to all tests. Jest runs them in other processes, so the environment has the values. */
export function share(values: Partial<Shared>): void {
  for (const [name, value] of Object.entries(values)) process.env[variables[name as keyof Shared]] = value;
}

/** What global-setup.ts has started for all tests. A value is empty where nothing was started. */
export const shared = new Proxy({} as Readonly<Shared>, {
  get: (_, name: keyof Shared) => process.env[variables[name]] ?? "",
});
