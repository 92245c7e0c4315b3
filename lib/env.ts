/**
 * The only reader of process.env in the functions. Each value is set by `infra/` for the functions
 * that need it.
 */
function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

/** @throws Error when the value that is asked for is not set */
export const env = {
  /** the deployment whose keys are valid here: staging, production or local */
  get stage() {
    return required("STAGE");
  },
  get petsTable() {
    return required("PETS_TABLE");
  },
  get claimsTable() {
    return required("CLAIMS_TABLE");
  },
  /** over how many partitions of the index each status is spread: those to read, or those to write */
  get statusShards() {
    return Number(required("STATUS_SHARDS"));
  },
  get keysTable() {
    return required("KEYS_TABLE");
  },
};
