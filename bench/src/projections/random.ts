// Repeatable random values for the generated log.
import { seededRandom } from '../harness/seededRandom.ts'

export type Random = {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number
  oneIn(count: number): boolean
  hex(length: number): string
  /** A UUID of version 7 (RFC 9562, section 5.7). */
  idAt(milliseconds: number): string
}

export function createRandom(seed: number): Random {
  const next = seededRandom(seed)
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
