// Random numbers that can be reproduced with SEED in the environment.
import type { Test } from 'tap'

export type SeededRandom = {
  /** An integer from 0 up to the limit, exclusive. */
  below(limit: number): number
  oneOf<Item>(items: readonly [Item, ...Item[]]): Item
}

/** Prints its seed, which reproduces its numbers. */
export function createSeededRandom(t: Test): SeededRandom {
  // biome-ignore lint/style/noProcessEnv: the seed reproduces a failed test.
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.comment(`seed ${seed}`)
  let state = seed
  // Mulberry32.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { below, oneOf: (items) => items[below(items.length)] ?? items[0] }
}
