// Settings of the test run from the environment.

/** How many random cases a test runs: `usual`, or more if `PAYLOG_TEST_CYCLES` is higher. */
export function testCycles(usual: number): number {
  return Math.max(usual, Number(process.env.PAYLOG_TEST_CYCLES ?? 0))
}

/** @returns the URL of a running event store (`TEST_EVENTSTORE_URL`), or `undefined` when tests start their own */
export function testEventStoreUrl(): string | undefined {
  return process.env.TEST_EVENTSTORE_URL || undefined
}

const { NODE_COMPILE_CACHE, TEST_BUNDLED_LIBRARIES } = process.env

/** Lets the processes that a test starts use the compile cache and the bundled libraries of the test run. */
export const moduleLoading: Readonly<Record<string, string>> = {
  ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
  ...(TEST_BUNDLED_LIBRARIES !== undefined && { NODE_OPTIONS: TEST_BUNDLED_LIBRARIES }),
}
