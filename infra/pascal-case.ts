/** Returns the form of an operation's or stage's name in construct ids and outputs, as the CDK writes them: `ListPets`. */
export const pascalCase = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** The output that names a function, by the id of its operation or `authorize`: `ListPetsFunctionName`. */
export const functionOutput = (id: string) => `${pascalCase(id)}FunctionName`;
