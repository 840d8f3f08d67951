// Random choices of a campaign. Each use has its own sequence, so that one does not shift the others.
import { createHash } from 'node:crypto'
import { seededRandom } from '@paylog/bench/harness/seededRandom'

export type Random = {
  /** A number from 0 to 1. */
  next(): number
  between(least: number, most: number): number
  isIn(share: number): boolean
  pick<const Item>(items: readonly [Item, ...Item[]]): Item
  /** @param shares of each item, relative to each other */
  weighted<Item extends string>(shares: Readonly<Record<Item, number>>): Item
}

/** @param use names the sequence */
export function createRandom(seed: number, use: string): Random {
  const next = seededRandom(createHash('sha256').update(`${seed} ${use}`).digest().readInt32BE())
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    isIn: (share) => next() < share,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
    weighted(shares) {
      const names = Object.keys(shares) as (keyof typeof shares)[]
      let left = next() * names.reduce((sum, name) => sum + shares[name], 0)
      for (const name of names) {
        left -= shares[name]
        if (left < 0) return name
      }
      throw new Error('there is nothing to choose from')
    },
  }
}
