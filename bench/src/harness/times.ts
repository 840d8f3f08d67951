// Percentiles of what was measured.
import { quantile } from './benchmark.ts'

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
  const all = counted.map(({ ms }) => ms)
  return {
    p50: quantile(all, 0.5),
    p99: quantile(all, 0.99),
    perSecond: (counted.length * 1_000) / (last - begin - warmUpMs),
  }
}
