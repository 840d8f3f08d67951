// How much of what is drawn by chance is drawn: kills, faults, histories, orders.

/** @returns what a plain run does, or more of it when `PAYLOG_TEST_CYCLES` asks for more */
export function testCycles(usual: number): number {
  return Math.max(usual, Number(process.env.PAYLOG_TEST_CYCLES ?? 0))
}

// The address of an event store that runs already, for tests that can be played against any.

/** @returns `TEST_EVENTSTORE_URL`, or undefined when the tests are to start a node of their own */
export function testEventStoreUrl(): string | undefined {
  return process.env.TEST_EVENTSTORE_URL || undefined
}

// What lets the processes that a test starts share what Node has compiled, where the run of the tests has a place for it.

const { NODE_COMPILE_CACHE } = process.env

/** Part of the environment of a process that would otherwise be given all of its environment by the test. */
export const compileCache: Readonly<Record<string, string>> =
  NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
