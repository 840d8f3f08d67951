// Percentiles of what was measured.

export type Times = readonly { readonly ms: number; readonly endedAt: number }[]

export type Figures = { readonly p50: number; readonly p99: number; readonly perSecond: number }

/** The beginning of a run, in which plans are made and code is compiled, does not count. */
const warmUpMs = 1_000

/** @param times `endedAt` in milliseconds of any clock */
export function figures(times: Times): Figures {
  const begin = times.reduce((earliest, { endedAt }) => Math.min(earliest, endedAt), Number.POSITIVE_INFINITY)
  const counted = times.filter(({ endedAt }) => endedAt - begin >= warmUpMs)
  if (counted.length === 0) throw new Error('Nothing was measured: a run must be longer than its first second')
  const last = counted.reduce((latest, { endedAt }) => Math.max(latest, endedAt), 0)
  const sorted = counted.map(({ ms }) => ms).sort((a, b) => a - b)
  const quantile = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
  return { p50: quantile(0.5), p99: quantile(0.99), perSecond: (counted.length * 1_000) / (last - begin - warmUpMs) }
}

/** Random numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
