/** Why an invocation failed, as Lambda's runtime logs it. What ends a thread from outside has only a message. */
export interface Failure {
  errorMessage: string;
  errorType?: string;
  stackTrace?: string[];
}

/** Describes what a function threw. */
export function failureOf(thrown: unknown): Failure {
  // Not instanceof: an error of another thread is no instance of this one's Error.
  const error = (thrown as Error | undefined)?.stack ? (thrown as Error) : new Error(String(thrown));
  const { message, stack = "" } = error;
  return { errorType: error.constructor.name, errorMessage: message, stackTrace: stack.split("\n") };
}
