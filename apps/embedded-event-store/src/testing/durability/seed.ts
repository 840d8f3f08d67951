// The chances that these tests take, which whoever runs them may ask for again.
import { randomInt } from 'node:crypto'

/** `PAYLOG_TEST_SEED` repeats a run's choices. */
// biome-ignore lint/style/noProcessEnv: these are tests.
export const seed = Number(process.env.PAYLOG_TEST_SEED ?? randomInt(2 ** 31))
