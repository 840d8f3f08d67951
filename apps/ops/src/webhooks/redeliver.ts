// `webhooks redeliver`: sends deliveries again, single ones by id or all of a node that failed.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { Type } from 'typebox'
import { type CliCommand, readList, UsageError } from '../command.ts'
import { createReportWriter } from '../progress.ts'
import { readSince } from '../since.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { withDeliveries } from './database.ts'
import { redeliverAllFailed, redeliverIds } from './redelivering.ts'
import { createRedeliverProgress } from './redeliverProgress.ts'

const Config = Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) })

export const webhooksRedeliver: CliCommand = {
  usage: 'ID… | --node N --failed [--since T] [--dry-run] [--json]',
  summary: 'Send deliveries again, with the same id and body',
  details: [
    '  ID…        ids of the webhook log, whatever became of them; one that is pending is tried now',
    '  --node N   with --failed: all of a node that ended as failed, its retries used up',
    '  --since T  only those that failed since then: 2026-11-01T00:00:00Z, or so long ago: 90m, 24h, 7d',
    '  --dry-run  only says which there are',
    '',
    'The worker sends them within seconds, and the schedule of retries begins anew. While a node is disabled, or not',
    'configured, its deliveries wait. Exits with 1 when an id is unknown (the others are sent again) or the node is,',
    'or when it was interrupted. It may be interrupted and repeated at any time.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values, positionals: ids } = readList(args, {
      node: { type: 'string' },
      failed: { type: 'boolean' },
      since: { type: 'string' },
      'dry-run': { type: 'boolean' },
      json: { type: 'boolean' },
    })
    const bulk = readBulk(values, ids)
    const { DATABASE_URL } = loadConfig(Config, environment)
    const progress = createRedeliverProgress(errors)
    const options = { isDryRun: values['dry-run'] === true, isJson: values.json === true }
    try {
      await withDeliveries(DATABASE_URL, errors, (pool) =>
        withInterrupt(errors, (signal) => {
          const run = { ...options, ...createReportWriter(progress, print), onProgress: progress.show, signal }
          return bulk === undefined ? redeliverIds(pool, ids, run) : redeliverAllFailed(pool, bulk, run)
        }),
      )
    } finally {
      progress.end()
    }
  },
}

type Values = {
  readonly node?: string | undefined
  readonly failed?: boolean | undefined
  readonly since?: string | undefined
}

function readBulk({ node, failed, since }: Values, ids: readonly string[]) {
  if (node === undefined && failed === undefined && since === undefined) {
    if (ids.length === 0) throw new UsageError('ID is missing')
    return undefined
  }
  if (ids.length > 0) throw new UsageError('Give either ids or --node and --failed')
  if (node === undefined) throw new UsageError('--node is missing')
  if (failed !== true) throw new UsageError('--failed is missing: without ids only what failed is sent again')
  return { node, since: since === undefined ? undefined : new Date(readSince(since, Date.now())) }
}
