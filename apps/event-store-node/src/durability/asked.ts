// What whoever runs these tests may ask for: the same chances again, or more of them.
import { randomInt } from 'node:crypto'

/** `PAYLOG_TEST_SEED` repeats a run's choices. */
// biome-ignore lint/style/noProcessEnv: these are tests.
export const seed = Number(process.env.PAYLOG_TEST_SEED ?? randomInt(2 ** 31))

/**
 * How often something is broken: every further time is only another chance to find what the last one did not.
 * @param usual how often when `PAYLOG_TEST_CYCLES` does not say
 */
export function cyclesAsked(usual: number): number {
  // biome-ignore lint/style/noProcessEnv: these are tests.
  return Number(process.env.PAYLOG_TEST_CYCLES ?? usual)
}
