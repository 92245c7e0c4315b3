/** The name of a function's file in functions/, without its extension: `list-pets` for listPets. */
export const functionFile = (id: string) => id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
