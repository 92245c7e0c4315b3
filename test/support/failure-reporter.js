/** Tells global-teardown.ts whether a test failed. */
export default class FailureReporter {
  onRunComplete(_contexts, { numFailedTests, numFailedTestSuites }) {
    globalThis.testsFailed = numFailedTests + numFailedTestSuites > 0;
  }
}
