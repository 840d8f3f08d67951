// The log and the keys of its personal data, for commands that decode events.
import type { Writable } from 'node:stream'
import { url } from '@paylog/config/kinds'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { createDataKeys, type PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { masterKeysOf } from '@paylog/privacy/masterKeys'
import { replayErasuresOf } from '@paylog/privacy/replayErasures'
import { dataKeyVariables } from '@paylog/privacy/startDataKeys'
import { createLog } from '@paylog/runtime/telemetry/log'
import { type StaticDecode, Type } from 'typebox'

export const eventLogVariables = { EVENTSTORE_URL: url(['esdb', 'esdb+discover']), ...dataKeyVariables }

const EventLogConfig = Type.Object(eventLogVariables)
type EventLogConfig = Readonly<StaticDecode<typeof EventLogConfig>>

/**
 * Opens the keys of personal data, after the erasures in the log have been applied to them.
 * @param errors receives log lines
 * @throws MasterKeyError; errors of Postgres and of the log
 */
export async function openKeys(config: EventLogConfig, errors: Writable): Promise<PersonalDataKeys> {
  const log = createLog({ app: 'ops', level: 'warn' }, errors)
  const masterKeys = masterKeysOf(config.PII_MASTER_KEY)
  const keys = createDataKeys({ databaseUrl: config.DATABASE_URL, masterKeys, log })
  try {
    await keys.start()
    await replayErasuresOf(config, { log })
    return keys
  } catch (error) {
    await keys.close()
    throw error
  }
}

/**
 * Connects to the log.
 * @returns `close` ends the connections
 * @throws MasterKeyError; errors of Postgres
 */
export async function openEventLog(
  config: EventLogConfig,
  errors: Writable,
): Promise<{ readonly store: EventStore; readonly keys: PersonalDataKeys; close(): Promise<void> }> {
  const keys = await openKeys(config, errors)
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys })
  return {
    store,
    keys,
    async close() {
      await store.close()
      await keys.close()
    },
  }
}
