// Prints what clients saw of faults of the event store's nodes, by kind.
import type { PastRound } from './campaign.ts'

const heads = [
  'fault of nodes (alone/all)',
  'leader again',
  'first accepted write after it',
  '503',
  'after',
  'log lines per app',
]

/** @returns lines: a row for each kind; times are median and worst. None without such a fault */
export function outageTable(rounds: readonly PastRound[]): string[] {
  const seen = rounds.flatMap(({ outage, unavailable }) => (outage === undefined ? [] : [{ ...outage, unavailable }]))
  if (seen.length === 0) return []
  const rows = [...Map.groupBy(seen, ({ kind }) => kind)].map(([kind, all]) => {
    // What clients see is the event store's doing only if nothing else was broken.
    const alone = all.filter(({ is_alone }) => is_alone)
    const unavailable = alone.flatMap((each) => each.unavailable)
    return [
      `${kind} (${alone.length}/${all.length})`,
      medianAndWorst(all.map(({ leader_ms }) => leader_ms)),
      medianAndWorst(alone.map(({ write_ms }) => write_ms)),
      String(unavailable.length),
      medianAndWorst(unavailable.filter(({ calls_provider }) => !calls_provider).map(({ ms }) => ms)),
      medianAndWorst(
        alone.flatMap(({ log_lines }) => Object.values(log_lines)),
        String,
      ),
    ]
  })
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)))
  return [heads, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function medianAndWorst(values: readonly (number | null)[], show: (value: number) => string = seconds): string {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b)
  const [median, worst] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted.at(-1)]
  return median === undefined || worst === undefined ? '–' : `${show(median)}, ${show(worst)}`
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
