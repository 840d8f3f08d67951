// `privacy replay`: the erasures after a restore.
import { setTimeout as sleep } from 'node:timers/promises'
import { readersBehind } from '@paylog/administration/privacy/readersBehind'
import { closedKeys } from '@paylog/event-store/codec/dataKeys'
import { openLookupHash } from '@paylog/privacy/lookupSecret'
import { masterKeysOf } from '@paylog/privacy/masterKeys'
import { replayErasures } from '@paylog/privacy/replayErasures'
import { dataKeyVariables } from '@paylog/privacy/startDataKeys'
import { loadConfig } from '@paylog/runtime/config/environment'
import { emptyDeliveries } from '@paylog/webhooks/deliveries/tables/erasure'
import { Type } from 'typebox'
import { defineCommand } from '../defineCommand.ts'
import { count, withDefault } from '../options.ts'
import { logVariable } from '../variables.ts'

const Config = Type.Object({ ...logVariable, ...dataKeyVariables })
const pollMs = 500

export const privacyReplay = defineCommand({
  summary: 'Apply the erasures in the log again, after a restore',
  options: { wait: withDefault(count('SECONDS', 'for the projector and the worker', { min: 0 }), 600) },
  json: 'one object: destroyed, behind, is_complete',
  about: [
    'Destroys the keys that an older backup has brought back, empties the webhook deliveries of them, and waits until the',
    'read models and the webhooks have handled all erasures in the log, for which the projector and the worker must run.',
    'Run it with --wait 0 before any process starts, and again before query-api does.',
    'Exits with 1 when one is still behind.',
  ],
  onInterrupt: 'finishes',
  async run({ options, environment, open, signal }) {
    const config = loadConfig(Config, environment)
    const pool = open.pool()
    const store = await open.store(closedKeys)
    await openLookupHash(pool, masterKeysOf(config.PII_MASTER_KEY))
    const head = await store.head()
    const destroyed = await replayErasures(pool, store)
    // The worker must not send what the backup has brought back.
    if (destroyed.length > 0) await emptyDeliveries(pool, destroyed)
    const giveUpAt = performance.now() + options.wait * 1_000
    const stillBehind = async () => (head === undefined ? [] : await readersBehind(pool, store, head))
    let behind = await stillBehind()
    while (behind.length > 0 && !signal.aborted && performance.now() < giveUpAt) {
      await sleep(pollMs)
      behind = await stillBehind()
    }
    const is_complete = behind.length === 0
    return {
      json: { destroyed: destroyed.length, behind, is_complete },
      text: `${destroyed.length} erased keys existed, and were destroyed. ${behindText(behind)}`,
      problem: is_complete ? undefined : 'Start the projector and the worker, and run the command again.',
    }
  },
})

const behindText = (behind: readonly string[]) =>
  behind.length === 0 ? 'Read models and webhooks have handled all erasures.' : `Still behind: ${behind.join(', ')}.`
