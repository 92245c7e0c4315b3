import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { openLoop } from "../../../bench/stage/open-loop.ts";

const script = fileURLToPath(new URL("../../../bench/stage/run.ts", import.meta.url));

/** Runs the script for one second, with the local service's key. Fails if it fails. */
const benchStage = (args: string[], environment: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)(
    process.execPath,
    [script, "--url", process.env.CONTRACT_URL ?? "", "--seconds", "1", ...args],
    { env: { ...process.env, API_KEY: process.env.CONTRACT_KEY, ...environment } },
  );

/** The cells of the rows of the tables in a text, without the heads. */
const rowsOf = (text: string) =>
  [...text.matchAll(/^\| (\w.*) \|$/gm)]
    .filter(([line]) => !line.includes(", ms"))
    .map(([, cells = ""]) => cells.split("|").map((cell) => cell.trim()));

describe("npm run bench:stage", () => {
  it("measures every operation of a running service", async () => {
    const { stdout, stderr } = await benchStage(["--rate", "40"]);
    expect(stderr).toBe("");
    const rows = rowsOf(stdout);
    expect(rows.map((cells) => cells.slice(0, 3))).toEqual([
      ["listPets, all", "10", "0"],
      ["listPets, one status", "10", "0"],
      ["getPet", "10", "0"],
      ["createPet", "10", "0"],
    ]);
    // On a busy machine a latency can be longer than 1,000 ms.
    const latencies = rows.map((cells) => cells.slice(3).map((cell) => Number(cell.replaceAll(",", ""))));
    for (const [p50 = 0, p90 = 0, p99 = 0] of latencies) {
      expect([p50, p90, p99]).toEqual([p50, p90, p99].toSorted((a, b) => a - b));
      expect(p50).toBeGreaterThan(0);
    }
  });

  it("fails when requests fail", async () => {
    await expect(benchStage(["--key", "ask_local_wrong"])).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^bench:stage: POST http\S+\/pets responded with 401\.\n$/),
    });
  });

  it.each(["0", "1.5", "many"])("rejects a rate of %s", async (rate) => {
    const stderr = expect.stringContaining("whole number from 1 to 9999");
    await expect(benchStage(["--rate", rate])).rejects.toMatchObject({ code: 1, stderr });
  });

  it("reads the starts of the functions from the logs of a stack", async () => {
    const aws = await startAws();
    const environment = { AWS_ENDPOINT_URL: aws.url, AWS_REGION: "eu-west-1" };
    const running = benchStage(["--rate", "4", "--stack", "animal-store-staging"], environment);
    const { stdout, stderr } = await running.finally(aws.close);
    expect(stderr).toBe("");
    expect(rowsOf(stdout).slice(4)).toEqual([["CreatePet", "3", "212", "240", "98"]]);
    expect(aws.queries).toEqual([["group-create", "group-list"]]);
  });
});

/** The two services of AWS that are asked, with responses as their documentation shows them. */
async function startAws() {
  const queries: string[][] = [];
  const resource = (id: string, name: string, type = "AWS::Logs::LogGroup") =>
    `<member><LogicalResourceId>${id}</LogicalResourceId><PhysicalResourceId>${name}</PhysicalResourceId><ResourceType>${type}</ResourceType></member>`;
  const resources = `<DescribeStackResourcesResponse><DescribeStackResourcesResult><StackResources>${[
    resource("CreatePetLogs0123456A", "group-create"),
    resource("ListPetsLogs0123456B", "group-list"),
    resource("ApiAccessLog3C", "group-api"),
    resource("GetPet4D", "get-pet", "AWS::Lambda::Function"),
  ].join("")}</StackResources></DescribeStackResourcesResult></DescribeStackResourcesResponse>`;
  const fields = {
    "@log": "000000000000:group-create",
    starts: "3",
    p50: "211.6",
    p99: "240.2",
    memory: "98",
  };
  const results = [Object.entries(fields).map(([field, value]) => ({ field, value }))];
  // of StartQuery, and of GetQueryResults twice
  const outputs = [{ queryId: "1" }, { status: "Running", results: [] }, { status: "Complete", results }];

  const server = createServer(async (request, response) => {
    const body = await text(request);
    const [, operation] = String(request.headers["x-amz-target"]).split(".");
    if (operation === undefined) return response.end(resources);
    if (operation === "StartQuery") queries.push(JSON.parse(body).logGroupNames);
    response.setHeader("content-type", "application/x-amz-json-1.1").end(JSON.stringify(outputs.shift()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    queries,
    close: () => server.close(),
  };
}

describe("openLoop", () => {
  it("starts every request without waiting for earlier responses", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const numbers: number[] = [];
    await openLoop(1000, 20, (n) => {
      numbers.push(n);
      if (n === 19) resolve();
      return promise;
    });
    expect(numbers).toEqual([...Array(20).keys()]);
  });

  it("keeps the times at which requests are due, although one blocks the process", async () => {
    const due: number[] = [];
    const late: boolean[] = [];
    await openLoop(1000, 20, async (n, time) => {
      due.push(time);
      late.push(performance.now() > time + 1);
      if (n === 0) while (performance.now() < time + 10);
    });
    for (const [n, time] of due.entries()) expect(time - (due[0] ?? 0)).toBeCloseTo(n);
    // Requests 1 to 8 were due while the first one blocked.
    expect(late.slice(1, 9)).toEqual(Array(8).fill(true));
  });
});
