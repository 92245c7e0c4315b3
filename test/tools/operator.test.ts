import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { LIVE_ALIAS, stackName } from "../../infra/names.ts";
import { production } from "../../infra/stages.ts";
import { PETS_KEY } from "../../lib/dynamo/schema.ts";

const cwd = new URL("../../", import.meta.url);

// With an `aws` that prints its arguments.
it.each([
  ["live 7", `--name ${LIVE_ALIAS} --function-version 7 --routing-config AdditionalVersionWeights={}`],
  ["echo $STACK", stackName(production.name)],
  ["output TableName", "?ends_with(OutputKey, 'TableName')]"],
  ["env | grep ^AWS_PAGER", "\nAWS_PAGER=\n"],
  ["flush", "?ResourceType=='AWS::ApiGateway::Stage' "],
  ['resource() { echo "$1"; }; flush', "--stage-name ApiGateway::Stage --rest-api-id ApiGateway::RestApi"],
  ["changes", "AttributeKey=ReadOnly,AttributeValue=false "],
  ["changes --start-time 5", " --output text --start-time 5 "],
  ["alarms", `--alarm-name-prefix ${stackName(production.name)}- `],
  ["aws() { [[ $2 = get-alias || $* = *-items* ]] || seq 10 40; }; versions", "\n40\n"],
  ["pet 7", `{"${PETS_KEY}":{"N":"7"}}`],
  ["serving", `get-alias --function-name f --name ${LIVE_ALIAS} `],
  ["throttle 5 9", "rateLimit,value=5 op=replace,path=/*/*/throttling/burstLimit,value=9"],
])("tools/operator.sh passes on what `%s` means", (call, passed) => {
  const script = `. tools/operator.sh; aws() { echo "$@"; }; FUNCTION=f; ${call}`;
  expect(spawnSync("bash", ["-c", script], { cwd, encoding: "utf8" }).stdout).toContain(passed);
});

it("an alias of the operator does not replace a function of tools/operator.sh", () => {
  const text = readFileSync(new URL("tools/operator.sh", cwd), "utf8");
  const names = [...text.matchAll(/^(\w+)\(\)/gm)].map(([, name = ""]) => name);
  const aliases = names.map((name) => `alias ${name}='echo mine'\n`).join("");
  const script = `shopt -s expand_aliases\n${aliases}. tools/operator.sh\ntype -t ${names.join(" ")}`;
  const { stdout } = spawnSync("bash", ["-c", script], { cwd, encoding: "utf8" });
  expect(stdout.split("\n").slice(1, -1)).toEqual(names.map(() => "function"));
});
