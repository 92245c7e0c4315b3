/** Tells global-teardown.ts whether a test failed. */
export default class FailureReporter {
  onRunComplete(_contexts, { success }) {
    globalThis.testsFailed = !success;
  }
}
