// Shared by `projections rebuild` and `projections verify`: starts one job after another, each of one projection.
import { projectionRoutes } from '@paylog/administration/projections/routes'
import { DomainError } from '@paylog/domain/errors'
import type { Projection } from '@paylog/projections/projection'
import { replayConnections } from '@paylog/projections/rebuild/replay'
import { projections } from '@paylog/projections/registry'
import { type CliCommand, messageOf, UsageError } from '../command.ts'
import { type Definition, defineCommand, type Result } from '../defineCommand.ts'
import { jobApi } from '../jobApi.ts'
import { flag } from '../options.ts'
import type { Pool, System } from '../system.ts'

export type FailedProjection = {
  readonly projection: string
  readonly outcome: 'failed' | 'interrupted' | 'not begun'
  readonly reason: string
}

type Replay<Report> = Pick<Definition<[], typeof options>, 'summary' | 'json' | 'about'> & {
  readonly kind: 'rebuild' | 'verify'
  readonly textOf: (report: Report) => string
  /** The end of the command after all projections. */
  readonly conclude: (
    reports: readonly Report[],
    failed: readonly FailedProjection[],
    pool: Pool,
  ) => Promise<Result & { readonly json?: object }>
}

const options = { all: flag('every projection, one after the other') }

/**
 * Defines a command that replays the log for one projection after another. A failed one does not stop the others; an unavailable
 * server and an interruption do.
 */
export function replayCommand<Report>({ kind, textOf, conclude, ...definition }: Replay<Report>): CliCommand {
  return defineCommand({
    ...definition,
    args: ['NAME…'],
    options,
    usage: 'NAME… | --all [--reason TEXT] [--json]',
    audited: 'reason',
    onInterrupt: 'finishes',
    async run(run) {
      const { args, isJson, open, print, signal } = run
      const chosen = chosenProjections(args, run.options.all)
      const models = openReadModels(open)
      const store = await open.store(await open.keys())
      const runJob = await jobApi(run, models.pool, (jobs) => projectionRoutes({ ...models, store, jobs }))
      const reports: Report[] = []
      const failed: FailedProjection[] = []
      const all: (Report | FailedProjection)[] = []
      const fail = (projection: string, outcome: FailedProjection['outcome'], reason: string) => {
        failed.push({ projection, outcome, reason })
        all.push({ projection, outcome, reason })
      }
      let isOver = false
      for (const { name } of chosen) {
        if (isOver || signal.aborted) {
          fail(name, 'not begun', 'it was not started')
          continue
        }
        const title = (step: string) => `${name}, ${titles[step] ?? step}`
        try {
          const { status, result, error } = await runJob(`/admin/projections/${name}/${kind}`, undefined, title)
          if (status === 'succeeded') {
            const report = result as Report
            reports.push(report)
            all.push(report)
            if (!isJson) await print(textOf(report))
          } else if (error !== null) fail(name, 'failed', error)
          else fail(name, 'interrupted', 'it was interrupted')
        } catch (error) {
          isOver = !(error instanceof DomainError && error.code === 'job_running')
          fail(name, 'failed', error instanceof DomainError && !isOver ? error.message : messageOf(error))
        }
      }
      const end = await conclude(reports, failed, models.pool)
      return { ...end, json: { complete: failed.length === 0, ...end.json, projections: all } }
    },
  })
}

/** The database of the read models, for work that replays the log. */
export const openReadModels = (open: System) => ({
  databaseUrl: open.databaseUrl(),
  pool: open.pool({ max: replayConnections }),
  log: open.log,
})

/**
 * The projections with these names, in this order.
 * @throws UsageError for an unknown name
 */
export function namedProjections(names: readonly string[]): readonly Projection[] {
  return [...new Set(names)].map((name) => {
    const named = projections.find((projection) => projection.name === name)
    if (named !== undefined) return named
    const known = projections.map((projection) => projection.name).join(', ')
    throw new UsageError(`Unknown projection ${name}. Known projections: ${known}.`)
  })
}

/**
 * The projections with these names, or all.
 * @throws UsageError unless exactly one of both is given
 */
export function chosenProjections(names: readonly string[], isAll: boolean): readonly Projection[] {
  if (isAll && names.length > 0) throw new UsageError('Give names of projections or --all, not both')
  if (!isAll && names.length === 0) throw new UsageError('NAME or --all is missing')
  return isAll ? projections : namedProjections(names)
}

const titles: Readonly<Partial<Record<string, string>>> = {
  filling: 'filling',
  comparing: 'comparing with the live rows',
  indexing: 'creating the indexes',
  'catching up': 'catching up',
  switching: 'switching',
}
