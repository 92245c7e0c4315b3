/** Ends a request with one of the template's gateway responses. */
export class Refusal extends Error {
  readonly type: string;

  /** @param type of the gateway response, such as THROTTLED */
  constructor(type: string) {
    super(type);
    this.type = type;
  }
}

/** An invocation failed: the function threw, crashed, ran out of time or returned an invalid result. */
export class FunctionError extends Error {}
