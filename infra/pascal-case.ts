/** Returns the form of an operation's or stage's name in construct ids and outputs, as the CDK writes them: `ListPets`. */
export const pascalCase = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
