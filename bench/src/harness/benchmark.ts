// Options, results and statistics of all benchmarks.

export type Print = (text: string) => void

export type BenchmarkOptions = {
  /** Options of the individual benchmark. */
  readonly args: readonly string[]
  /** Little data and short runs, to check that the benchmark works. The figures are meaningless. */
  readonly isQuick: boolean
  readonly env: NodeJS.ProcessEnv
  /** For information that is not a row. */
  readonly print: Print
  /** Stops everything that was started, also after an interruption. */
  readonly stack: AsyncDisposableStack
}

export type BenchmarkResult = {
  /** Version and settings of Postgres. */
  readonly postgres: string
  readonly rows: readonly BenchmarkRow[]
}

export type Benchmark = (options: BenchmarkOptions) => Promise<BenchmarkResult>

/** A figure with its bound: a simpler operation with the same result, measured in the same run. */
export type BenchmarkRow = {
  readonly name: string
  readonly figure: number
  readonly unit: '/s' | 'ms' | 'µs' | 'MiB' | '%' | 'payments' | 'pauses'
  readonly bound?: { readonly name: string; readonly figure: number }
  /** When it is not simply figure / bound. */
  readonly ratio?: number
  readonly target?: BenchmarkTarget
}

/** The target of the figure, of its ratio to the bound, or of the difference between both. */
export type BenchmarkTarget = { readonly of: 'figure' | 'ratio' | 'difference' } & (
  | { readonly atLeast: number }
  | { readonly atMost: number }
)

export type RoundPair = { readonly ours: number; readonly bare: number }

/** The medians of the rounds, and the median of their ratios, which is the least sensitive to noise. */
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

/**
 * Measures both, swapping the order in every second round (A B, B A, …), so that other load on the machine affects
 * both.
 */
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

/** With thousands separators. */
export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export type Times = readonly { readonly ms: number; readonly endedAt: number }[]

export type Figures = { readonly p50: number; readonly p99: number; readonly perSecond: number }

/** The start of a run is not counted: query plans are made and code is compiled. */
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

export type Rate = {
  readonly perSecond: number
  /** Duration of each operation, in milliseconds. */
  readonly times: readonly number[]
}

/** Keeps `inFlight` operations running for the given time. */
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
