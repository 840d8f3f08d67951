// The figures of a simulation, and how they are printed.
import { createHash } from 'node:crypto'
import type { HistoryResult } from './history.ts'

export type Failure = { readonly rule: string; readonly seed: number | string; readonly story: string }

/** What was done so far. Figures of several threads are added up. */
export type Progress = {
  /** The same for the same histories, in whatever order they ran. */
  digest: number
  histories: number
  orders: number
  races: number
  ends: number
  cutRaces: number
  steps: number
  readonly figures: Record<(typeof figureNames)[number], Map<string, number>>
  readonly failures: Failure[]
}

const figureNames = ['faults', 'events', 'answers', 'codes'] as const

export function noProgress(): Progress {
  const figures = { faults: new Map(), events: new Map(), answers: new Map(), codes: new Map() }
  return { digest: 0, histories: 0, orders: 0, races: 0, ends: 0, cutRaces: 0, steps: 0, figures, failures: [] }
}

export function addHistory(progress: Progress, result: HistoryResult): void {
  progress.histories++
  progress.digest = joined(progress.digest, digestOf(result.story.join('\n')))
  progress.steps += result.steps
  for (const name of figureNames) addCounts(progress.figures[name], result[name])
}

export function addProgress(to: Progress, more: Progress): void {
  to.digest = joined(to.digest, more.digest)
  for (const name of ['histories', 'orders', 'races', 'ends', 'cutRaces', 'steps'] as const) to[name] += more[name]
  for (const name of figureNames) addCounts(to.figures[name], more.figures[name])
  to.failures.push(...more.failures)
}

const joined = (a: number, b: number) => (a + b) % 2 ** 48
const digestOf = (text: string) => createHash('sha256').update(text).digest().readUIntBE(0, 6)

function addCounts(to: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [kind, count] of more) to.set(kind, (to.get(kind) ?? 0) + count)
}

const titles = {
  faults: 'faults',
  events: 'events in the log',
  answers: 'answers of the providers',
  codes: 'answers to clients',
}

export function reportOf(progress: Progress, ms: number): string {
  const { digest, histories, orders, races, ends, cutRaces, steps, figures, failures } = progress
  const all = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0)
  const rows: (readonly [string, string | number])[] = [
    ['random histories', histories],
    ['  digest of them', digest.toString(16)],
    ['races of operations', races],
    ['  not enumerated to the end', cutRaces],
    ['orders of their steps', orders],
    ['  different ends, all judged', ends],
    ['steps', steps],
    ...figureNames.flatMap((name): (readonly [string, string | number])[] => [
      [titles[name], `${all(figures[name])} of ${figures[name].size} kinds`],
      ...[...figures[name]].toSorted(([, a], [, b]) => b - a).map(([kind, count]) => [`  ${kind}`, count] as const),
    ]),
    ['duration', `${Math.round(ms / 1_000)} s`],
    ['violations', failures.length],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
  return [...table, ...failures.map(({ rule, seed, story }) => `\n${rule} (${seed})\n${story}`)].join('\n')
}
