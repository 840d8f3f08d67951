// What was measured, against what was to be reached.

export type Figure = {
  readonly name: string
  /** What is compared: a share, a change, or milliseconds. */
  readonly measured: number
  readonly target: number
  readonly better: 'higher' | 'lower'
  readonly unit: 'ratio' | 'ms'
  /** The numbers behind it. */
  readonly details: Readonly<Record<string, number>>
}

export function isMet({ measured, target, better }: Figure): boolean {
  return better === 'higher' ? measured >= target : measured <= target
}

/** One line for the terminal. */
export function line(figure: Figure): string {
  const { name, measured, target, better, unit, details } = figure
  const digits = unit === 'ms' ? 1 : 2
  const suffix = unit === 'ms' ? ' ms' : ''
  const wanted = `${better === 'higher' ? 'at least' : 'at most'} ${target.toFixed(digits)}${suffix}`
  const behind = Object.entries(details).map(([what, value]) => `${what} ${value.toFixed(value < 100 ? 1 : 0)}`)
  return `${isMet(figure) ? 'met    ' : 'NOT met'} ${name}: ${measured.toFixed(digits)}${suffix} (${wanted}; ${behind.join(', ')})`
}

/** @param q from 0 to 1 */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}
