/**
 * What is mutated together, and the suites that cover it. Suites that start processes or wait for time-outs would take
 * days, so few are among them.
 *
 * `inChildren`: the suites start the mutated code as a process. Stryker does not see what it covers, so every mutant runs
 * every test of the slice.
 */
export const slices = {
  operations: {
    mutate: ["lib/{errors,int64,limits,operations,pet,schema}.ts"],
    tests: ["lib/(errors|http|int64)", "openapi/document"],
  },
  lib: {
    mutate: ["lib/*.ts", "!lib/{errors,int64,limits,operations,pet,schema}.ts"],
    tests: ["lib/(?!http|errors|patterns|prototype)"],
  },
  http: {
    mutate: ["lib/http/*.ts"],
    tests: ["lib/http", "lib/int64"],
  },
  "pet-store": {
    mutate: ["lib/dynamo/{claims,pet-store}.ts"],
    tests: ["functions/(calls|idempotency|pets|shards|warm-up)"],
  },
  "key-store": { mutate: ["lib/dynamo/key-store.ts"], tests: ["functions/(calls|key-store|warm-up)"] },
  client: { mutate: ["lib/dynamo/client.ts"], tests: ["functions/(faults|key-store|warm-up)"] },
  functions: { mutate: ["functions/*.ts"], tests: ["functions/(authorize|calls|idempotency|pets|warm-up)"] },
  openapi: {
    mutate: ["openapi/*.ts", "!openapi/{generate,build-docs-page,client-types}.ts"],
    tests: ["openapi/(document|docs-page|openapi-3-0)"],
  },
  "openapi-scripts": {
    mutate: ["openapi/{generate,build-docs-page,client-types}.ts"],
    tests: ["openapi/scripts"],
    inChildren: true,
  },
  cli: {
    mutate: ["cli/*.ts", "!cli/{keys,keys-program,open-keys,trace}.ts"],
    tests: ["cli/(arguments|confirm|format-keys|map-log|run-program|source-maps)"],
  },
  keys: { mutate: ["cli/{keys-program,open-keys}.ts"], tests: ["cli/keys-(deployed|local|usage)"] },
  "cli-scripts": {
    mutate: ["cli/{keys,trace}.ts"],
    tests: ["cli/(keys-process|trace)"],
    inChildren: true,
  },
};
