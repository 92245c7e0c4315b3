// What two places must agree on: the names of stacks, outputs, files of functions, and sections of documents.

/** The branch that GitHub deploys, and whose documents the mails of the alarms link to. */
export const DEPLOYED_BRANCH = "main";

/** The name of a stage's stack. */
export const stackName = (stage: string) => `animal-store-${stage}`;

/** The stack of what the stages share in an account and region. */
export const accountStackName = "animal-store-account";

/** Returns the form of an operation's or stage's name in construct ids and outputs, as the CDK writes them: `ListPets`. */
export const pascalCase = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** The output that names a function, by the id of its operation or `authorize`: `ListPetsFunctionName`. */
export const functionOutput = (id: string) => `${pascalCase(id)}FunctionName`;

/** The output that names a table, by its construct id. */
export const tableOutput = (id: string) => `${id}TableName`;

/** The alias of a function that callers invoke. */
export const LIVE_ALIAS = "live";

/** The construct ids of the tables. */
export const petsTableId = "Pets";
export const keysTableId = "ApiKeys";

/** The name of a function's file in functions/, without its extension: `list-pets` for listPets or ListPets. */
export const entryName = (name: string) => name.replaceAll(/\B[A-Z]/g, "-$&").toLowerCase();

/** The name of a function's file, by the output that names the function. */
export const entryOfOutput = (output: string) => entryName(output.replace(/FunctionName$/, ""));

/** The anchor of an ASCII heading in a Markdown document, as GitHub makes it. */
export const anchorOf = (heading: string) =>
  heading.toLowerCase().replaceAll(/[^\w-]/g, (sign) => (sign === " " ? "-" : ""));
