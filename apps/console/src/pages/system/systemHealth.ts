// Whether everything runs, in words.
import type { ProcessReport, ProjectionReport, SystemState } from '../../api/apiTypes.ts'
import { readModelName, readModelState } from './readModels.ts'

const duties: Readonly<Record<string, string>> = {
  api: 'answers requests, and serves this console',
  'command-api': 'records payments and their changes',
  'query-api': 'answers reads',
  'operator-api': 'serves administrators and this console',
  projector: 'keeps the read models up to date, and signs the log',
  worker: 'sends webhooks, and asks providers about open payments',
}

/** What a process does; undefined for an unknown one. */
export const dutyOf = (name: string): string | undefined => duties[name.replace(/[-_]?\d+$/, '')] ?? duties[name]

const checkTexts: Readonly<Record<string, string>> = {
  postgres: 'Postgres does not respond',
  event_store: 'the event store does not respond',
  'event store': 'the event store does not respond',
  queue: 'the queue of wake-ups does not respond',
  clock: 'its clock differs from others',
  deliveries: 'webhooks are sent late',
  webhooks: 'the figures of webhooks are missing',
  'audit log': 'the tree of the log is not kept up to date',
}

function checkText(name: string): string {
  const [, projection] = /^projection (.*)$/.exec(name) ?? []
  if (projection !== undefined) return `the read model ${readModelName(projection)} is behind or stopped`
  return checkTexts[name] ?? `the check “${name}” fails`
}

/** What is wrong with a process; empty when nothing is. */
export function problemsOf({ status, checks }: ProcessReport): readonly string[] {
  if (status === 'unreachable') return ['it does not respond: it has ended, hangs, or its address is wrong']
  if (status === 'stopping') return ['it is stopping']
  return Object.entries(checks).flatMap(([name, { ok }]) => (ok ? [] : [checkText(name)]))
}

/** One sentence for each thing that is wrong. */
export function systemProblems(system: SystemState, reports: readonly ProjectionReport[]): readonly string[] {
  const processes = system.processes.flatMap((process) =>
    problemsOf(process).map((problem) => `${process.name}: ${problem}`),
  )
  const models = reports.flatMap((report) => {
    const { word, tone } = readModelState(report)
    return tone === 'bad' || tone === 'warn' ? [`The read model ${readModelName(report.projection)} is ${word}`] : []
  })
  const log = system.log?.stopped_because
  return [...processes, ...models, ...(log ? [`The log does not verify: ${log}`] : [])]
}
