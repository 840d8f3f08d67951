// What was measured, as lines for the terminal.
import type { TookBeside } from './task.ts'

/** A figure with what it should be. */
export type Figure = {
  readonly name: string
  readonly measured: number
  readonly target: number
  readonly better: 'higher' | 'lower'
  readonly digits?: number
}

export function figureLine({ name, measured, target, better, digits = 0 }: Figure): string {
  const isMet = better === 'higher' ? measured >= target : measured <= target
  const wanted = `${better === 'higher' ? 'at least' : 'at most'} ${number(target, digits)}`
  return `${isMet ? 'met    ' : 'NOT met'} ${name}: ${number(measured, digits)} (${wanted})`
}

export const perSecond = ({ events, ms }: Pick<TookBeside, 'events' | 'ms'>) => (events * 1_000) / ms

/** The speed, the CPU time that an event took of each process, and their memory. */
export function tookLine(name: string, took: TookBeside): string {
  const { events, node, postgres, phases } = took
  const micros = [took.cpuMicros, node.cpuMicros, postgres.cpuMicros].map((spent) => (spent / events).toFixed(1))
  const each = Object.entries(phases).map(([phase, ms]) => `${phase} ${(ms / 1_000).toFixed(2)} s`)
  return [
    `  ${name.padEnd(18)}${number(perSecond(took)).padStart(8)} events/s in ${(took.ms / 1_000).toFixed(1)} s`,
    `CPU µs/event: itself ${micros[0]}, node ${micros[1]}, Postgres ${micros[2]}`,
    `peak MiB: itself ${number(took.peakMiB)}, node ${number(node.peakMiB)}`,
    ...(each.length > 0 ? [each.join(', ')] : []),
  ].join('; ')
}

export function number(value: number, digits = 0): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
