// The results as lines for the terminal and rows for the table.
import { type BenchmarkRow, type Figures, formatNumber, median, summarizeRounds } from '../harness/benchmark.ts'
import type { BenchQuery } from './benchQueries.ts'
import type { Round, Rounds } from './measure.ts'

const bareRoute = 'a bare route, session and the same SQL'
/** The accepted difference between the p99 of the API and of its SQL. */
const targetMs = 5

/** The rate of every query; the CPU time only of those with a target. */
export function roundRows({ name, hasTarget = false }: BenchQuery, rounds: Rounds): BenchmarkRow[] {
  const compared = (of: (round: Round) => number) =>
    summarizeRounds(
      rounds.map(({ ours, bare }) => ({ ours: of(ours), bare: of(bare) })),
      bareRoute,
    )
  const rate = { name, unit: '/s', ...compared(({ perSecond }) => perSecond) } as const
  if (!hasTarget) return [rate]
  return [
    { ...rate, target: { of: 'ratio', atLeast: 0.7 } },
    { name: `${name}, CPU time of the API process`, unit: 'µs', ...compared(({ apiMicros }) => apiMicros) },
    { name: `${name}, CPU time of all processes`, unit: 'µs', ...compared(({ allMicros }) => allMicros) },
  ]
}

export function roundLine({ name }: BenchQuery, rounds: Rounds): string {
  const ratios = rounds.map(({ ours, bare }) => formatNumber(ours.perSecond / bare.perSecond, 2)).join(' ')
  const [ours, bare] = (['ours', 'bare'] as const).map((side) => {
    const of = (figure: keyof Round) => formatNumber(median(rounds.map((round) => round[side][figure])))
    return `${of('perSecond')}/s, ${of('apiMicros')} µs of ${of('allMicros')}`
  })
  return `${name}: ${ours}; bare: ${bare}; ratios ${ratios}`
}

export function timesRow(
  { name }: BenchQuery,
  { service, sql }: { readonly service: Figures; readonly sql: Figures },
  rate: number,
): BenchmarkRow {
  return {
    name: `${name}, p99, ${rate} requests/s`,
    figure: service.p99,
    unit: 'ms',
    bound: { name: 'its SQL by pgbench', figure: sql.p99 },
    target: { of: 'difference', atMost: targetMs },
  }
}

export function pausesRow(pauses: number, rate: number): BenchmarkRow {
  return {
    name: `garbage collections over 5 ms, all queries, ${rate} requests/s`,
    figure: pauses,
    unit: 'pauses',
    target: { of: 'figure', atMost: 0 },
  }
}
