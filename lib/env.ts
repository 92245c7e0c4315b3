function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

/**
 * The only reader of process.env in the functions. `infra/` sets each value for the functions that need it.
 *
 * @throws Error when a value that a function reads is not set
 */
export const env = {
  /** the stage whose keys are valid here: one of infra/stages.ts, or a personal one */
  get stage() {
    return required("STAGE");
  },
  get petsTable() {
    return required("PETS_TABLE");
  },
  /** set by Lambda: the number of a published version, or $LATEST; undefined elsewhere */
  get functionVersion() {
    return process.env.AWS_LAMBDA_FUNCTION_VERSION;
  },
  get apiKeysTable() {
    return required("API_KEYS_TABLE");
  },
};
