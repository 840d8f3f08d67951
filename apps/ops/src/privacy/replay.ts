// `privacy replay`: the erasures after a restore.
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from '@paylog/config/environment'
import { emptyDeliveries } from '@paylog/deliveries/tables/erasure'
import { closedKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore } from '@paylog/event-store/eventStore'
import { readersBehind } from '@paylog/operator-routes/privacy/readersBehind'
import { openLookupHash } from '@paylog/privacy/lookupSecret'
import { masterKeysOf } from '@paylog/privacy/masterKeys'
import { replayErasures } from '@paylog/privacy/replayErasures'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readArguments, readCount } from '../command.ts'
import { opsPool } from '../database.ts'
import { eventLogVariables } from '../eventLog.ts'
import { withInterrupt } from '../withInterrupt.ts'

const Config = Type.Object(eventLogVariables)
const defaultWaitSeconds = 600
const pollMs = 500

export const privacyReplay: CliCommand = {
  usage: '[--wait SECONDS] [--json]',
  summary: 'Apply the erasures in the log again, after a restore',
  details: [
    `  --wait SECONDS  for the projector and the worker (default ${defaultWaitSeconds})`,
    '  --json          one object: destroyed, behind, is_complete',
    '',
    'Destroys the keys that an older backup has brought back, empties the webhook deliveries of them, and waits until the',
    'read models and the webhooks have handled all erasures in the log, for which the projector and the worker must run.',
    'Run it with --wait 0 before any process starts, and again before query-api does.',
    'Exits with 1 when one is still behind.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], { wait: { type: 'string' }, json: { type: 'boolean' } })
    const waitSeconds = readCount('--wait', values.wait, 0) ?? defaultWaitSeconds
    const config = loadConfig(Config, environment)
    const { pool } = opsPool(config.DATABASE_URL, { max: 2, errors })
    const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys: closedKeys })
    try {
      await openLookupHash(pool, masterKeysOf(config.PII_MASTER_KEY))
      const head = await store.head()
      const destroyed = await replayErasures(pool, store)
      // The worker must not send what the backup has brought back.
      if (destroyed.length > 0) await emptyDeliveries(pool, destroyed)
      const giveUpAt = performance.now() + waitSeconds * 1_000
      const behind = await withInterrupt(errors, async (signal) => {
        for (;;) {
          const names = head === undefined ? [] : await readersBehind(pool, store, head)
          if (names.length === 0 || signal.aborted || performance.now() >= giveUpAt) return names
          await sleep(pollMs)
        }
      })
      const report = { destroyed: destroyed.length, behind, is_complete: behind.length === 0 }
      const text = `${destroyed.length} erased keys existed, and were destroyed. ${behindText(behind)}`
      await print(values.json ? JSON.stringify(report) : text)
      if (behind.length > 0) throw new OpsError('Start the projector and the worker, and run the command again.')
    } finally {
      await store.close()
      await pool.end()
    }
  },
}

const behindText = (behind: readonly string[]) =>
  behind.length === 0 ? 'Read models and webhooks have handled all erasures.' : `Still behind: ${behind.join(', ')}.`
