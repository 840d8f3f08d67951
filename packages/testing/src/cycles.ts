// How much of what is drawn by chance is drawn: kills, faults, histories, orders.

/** @returns what a plain run does, or more of it when `PAYLOG_TEST_CYCLES` asks for more */
export function testCycles(usual: number): number {
  return Math.max(usual, Number(process.env.PAYLOG_TEST_CYCLES ?? 0))
}
