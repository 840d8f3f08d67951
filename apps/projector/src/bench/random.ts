// Chance that comes out the same every time.

export type Random = {
  /** A whole number from 0, below this. */
  below(limit: number): number
  oneIn(count: number): boolean
  hex(length: number): string
  /** An id as those of version 7 are (RFC 9562, section 5.7). */
  idAt(milliseconds: number): string
}

/** Numbers that follow from a seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  const hex = (length: number) => Array.from({ length }, () => below(16).toString(16)).join('')
  return {
    below,
    hex,
    oneIn: (count) => below(count) === 0,
    idAt(milliseconds) {
      const time = milliseconds.toString(16).padStart(12, '0')
      return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${'89ab'[below(4)]}${hex(3)}-${hex(12)}`
    },
  }
}
