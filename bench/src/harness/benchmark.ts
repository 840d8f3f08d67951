// What every benchmark is given, and what it gives back: rows as data, which are printed in one place (bench/src/harness/benchTable.ts).

export type Print = (text: string) => void

export type BenchmarkOptions = {
  /** Further options, each benchmark's own. */
  readonly args: readonly string[]
  /** Only to try it out: little data, short runs, figures that mean nothing. */
  readonly isQuick: boolean
  readonly env: NodeJS.ProcessEnv
  /** For what is worth knowing beside the rows. */
  readonly print: Print
  /** Whatever is started is stopped with it, also when the benchmark is interrupted. */
  readonly stack: AsyncDisposableStack
}

export type BenchmarkResult = {
  /** Version and settings of the Postgres that it ran on. */
  readonly postgres: string
  readonly rows: readonly BenchmarkRow[]
}

export type Benchmark = (asked: BenchmarkOptions) => Promise<BenchmarkResult>

/** A figure, with what bounds it: something barer that needs the same, measured in the same run. */
export type BenchmarkRow = {
  readonly name: string
  readonly figure: number
  readonly unit: '/s' | 'ms' | 'µs' | 'MiB' | 'payments'
  readonly bound?: { readonly name: string; readonly figure: number }
  /** Where it is not simply the one figure by the other. */
  readonly ratio?: number
  readonly target?: BenchmarkTarget
}

/** What is demanded: of the figure, of its ratio to the bound, or of the difference between the two. */
export type BenchmarkTarget = { readonly of: 'figure' | 'ratio' | 'difference' } & (
  | { readonly atLeast: number }
  | { readonly atMost: number }
)

export type RoundPair = { readonly ours: number; readonly bare: number }

/** Of rounds the medians, and the median of the rounds' own ratios, which noise changes least. */
export function summarizeRounds(
  rounds: readonly RoundPair[],
  boundName: string,
): Pick<BenchmarkRow, 'figure' | 'bound' | 'ratio'> {
  return {
    figure: median(rounds.map(({ ours }) => ours)),
    bound: { name: boundName, figure: median(rounds.map(({ bare }) => bare)) },
    ratio: median(rounds.map(({ ours, bare }) => ours / bare)),
  }
}

/** Measures both, every second round the other way about (A B, B A, …), so that what else the machine does meets both. */
export async function alternateRounds<Ours, Bare>(
  rounds: number,
  ours: () => Promise<Ours>,
  bare: () => Promise<Bare>,
): Promise<{ readonly ours: Ours; readonly bare: Bare }[]> {
  const measured: { ours: Ours; bare: Bare }[] = []
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) measured.push({ ours: await ours(), bare: await bare() })
    else measured.push({ bare: await bare(), ours: await ours() })
  }
  return measured
}

/** @param q from 0 to 1 */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** For texts: with thousands separated. */
export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

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
  const all = counted.map(({ ms }) => ms)
  return {
    p50: quantile(all, 0.5),
    p99: quantile(all, 0.99),
    perSecond: (counted.length * 1_000) / (last - begin - warmUpMs),
  }
}

// The same thing again and again, as fast as it is done.

export type Rate = {
  readonly perSecond: number
  /** How long each one took, in milliseconds. */
  readonly times: readonly number[]
}

/** Always has `inFlight` of it under way. */
export async function measureRate(
  work: () => Promise<unknown>,
  { inFlight, durationMs }: { readonly inFlight: number; readonly durationMs: number },
): Promise<Rate> {
  const times: number[] = []
  const begin = performance.now()
  const until = begin + durationMs
  const worker = async () => {
    for (let sent = performance.now(); sent < until; sent = performance.now()) {
      await work()
      times.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return { perSecond: (times.length * 1_000) / (performance.now() - begin), times }
}
