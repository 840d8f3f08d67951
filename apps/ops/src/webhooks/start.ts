// `webhooks start`: decides where the worker goes on when it cannot know that itself.
import { loadConfig } from '@paylog/config/environment'
import { restartWorker } from '@paylog/deliveries/subscriptions/restart'
import { deliveryVariables } from '@paylog/deliveries/variables'
import type { LogCheckpoint } from '@paylog/domain/events'
import { noDataKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { Type } from 'typebox'
import { auditOn, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, OpsError, readArguments, readCount, UsageError } from '../command.ts'
import { withDeliveries } from '../database.ts'

const { DATABASE_URL, EVENTSTORE_URL } = deliveryVariables
const Config = Type.Object({ DATABASE_URL, EVENTSTORE_URL })

export const webhooksStart: CliCommand = {
  usage: '--from POSITION|now [--reason TEXT] [--json]',
  summary: 'Decide from which event on webhooks are created, after the log or the database was restored',
  details: [
    '  --from POSITION  position of the first event, as shown by `streams read --json`; 0 is the start of the log',
    '  --from now       only what is recorded from now on',
    reasonHelp.replace('TEXT', 'TEXT  '),
    '  --json           one object: the position and event after which webhooks start',
    '',
    'The worker stops when the log is not the one of its checkpoint, and waits when it has no checkpoint although the log is',
    'not empty. It looks again every second, so it need not be restarted. A delivery that exists already is not created',
    'again, as long as WEBHOOK_LOG_RETENTION keeps it. The reconciler reads the log again if its checkpoint is of another log',
    'too; it sends nothing.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], {
      from: { type: 'string' },
      ...reasonOption,
      json: { type: 'boolean' },
    })
    if (values.from === undefined) throw new UsageError('--from is missing')
    const first = values.from === 'now' ? 'now' : BigInt(readCount('--from', values.from, 0) ?? 0)
    const reason = readAuditReason(values.reason)
    const config = loadConfig(Config, environment)
    const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys: noDataKeys })
    try {
      const to = await checkpointBefore(store, first)
      const details = { from: String(first), after: to?.commit.toString() ?? null }
      await auditOn(store, reason, { action: 'start_webhooks', target: null, details })
      const followUps = await withDeliveries(config.DATABASE_URL, errors, (pool) =>
        restartWorker({ pool, store }, to, new Date()),
      )
      await print(values.json ? startJson(to, followUps) : startText(to, followUps))
    } finally {
      await store.close()
    }
  },
}

async function checkpointBefore(store: EventStore, first: bigint | 'now'): Promise<LogCheckpoint | undefined> {
  if (first === 'now') return await store.checkpointBefore(undefined)
  if (first === 0n) return undefined
  const end = (await store.head())?.commit ?? 0n
  if (first > end) throw new OpsError(`Position ${first} is after the end of the log, ${end}.`)
  return await store.checkpointBefore({ commit: first, prepare: first })
}

const startJson = (to: LogCheckpoint | undefined, reads_follow_ups_again: boolean) =>
  JSON.stringify({ after: to?.commit.toString() ?? null, event_id: to?.eventId ?? null, reads_follow_ups_again })

function startText(to: LogCheckpoint | undefined, readsAgain: boolean): string {
  const from = to === undefined ? 'from the start of the log on' : `after position ${to.commit}, event ${to.eventId}`
  return `Webhooks are created ${from}.${readsAgain ? ' The reconciler reads the log again.' : ''}`
}
