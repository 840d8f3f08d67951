// The address of an event store that runs already, for tests that can be played against any.

/** @returns `TEST_EVENTSTORE_URL`, or undefined when the tests are to start a node of their own */
export function testEventStoreUrl(): string | undefined {
  return process.env.TEST_EVENTSTORE_URL || undefined
}
