// Random choices that a seed reproduces. Timing stays random.
import { randomInt } from 'node:crypto'

/** `PAYLOG_TEST_SEED` reproduces a run's choices. */
// biome-ignore lint/style/noProcessEnv: these are tests.
export const seed = Number(process.env.PAYLOG_TEST_SEED ?? randomInt(2 ** 31))

export type SeededRandom = {
  /** An integer from `least` to `most`, inclusive. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  /** An independent generator, so that the order of other choices does not matter. */
  fork(name: string): SeededRandom
}

/** Mulberry32: one 32-bit state, good enough to vary a test. */
export function createRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (probability) => next() < probability,
    fork(name) {
      let hash = seed
      for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
      return createRandom(hash)
    },
  }
}
