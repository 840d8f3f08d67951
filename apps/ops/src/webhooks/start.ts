// `webhooks start`: decides where the worker goes on when it cannot know that itself.

import type { LogCheckpoint } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import { restartWorker } from '@paylog/webhooks/deliveries/subscriptions/restart'
import { OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { readNumber, required, value } from '../options.ts'

export const webhooksStart = defineCommand({
  summary: 'Decide from which event on webhooks are created, after the log or the database was restored',
  usage: '--from POSITION|now [--reason TEXT] [--json]',
  options: {
    from: required(
      value(
        'POSITION',
        'position of the first event, as shown by `streams read --json`; 0 is the start of the log, now its end',
        (text, name) => (text === 'now' ? text : BigInt(readNumber(text, name, 0))),
      ),
    ),
  },
  audited: 'reason',
  json: 'one object: the position and event after which webhooks start',
  about: [
    'The worker stops when the log is not the one of its checkpoint, and waits when it has no checkpoint although the log is',
    'not empty. It looks again every second, so it need not be restarted. A delivery that exists already is not created',
    'again, as long as WEBHOOK_LOG_RETENTION keeps it. The reconciler reads the log again if its checkpoint is of another log',
    'too; it sends nothing.',
  ],
  async run({ options: { from }, open, audit }) {
    const pool = open.pool()
    const store = await open.store()
    const to = await checkpointBefore(store, from)
    const after = to?.commit.toString() ?? null
    await audit({ action: 'start_webhooks', target: null, details: { from: String(from), after } })
    const reads_follow_ups_again = await restartWorker({ pool, store }, to, new Date())
    return {
      json: { after, event_id: to?.eventId ?? null, reads_follow_ups_again },
      text: startText(to, reads_follow_ups_again),
    }
  },
})

async function checkpointBefore(store: EventStore, first: bigint | 'now'): Promise<LogCheckpoint | undefined> {
  if (first === 'now') return await store.checkpointBefore(undefined)
  if (first === 0n) return undefined
  const end = (await store.head())?.commit ?? 0n
  if (first > end) throw new OpsError(`Position ${first} is after the end of the log, ${end}.`)
  return await store.checkpointBefore({ commit: first, prepare: first })
}

function startText(to: LogCheckpoint | undefined, readsAgain: boolean): string {
  const from = to === undefined ? 'from the start of the log on' : `after position ${to.commit}, event ${to.eventId}`
  return `Webhooks are created ${from}.${readsAgain ? ' The reconciler reads the log again.' : ''}`
}
