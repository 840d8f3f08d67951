// The log of the demo's system.

import { connectionString } from '@paylog/event-store/connection/connectionString'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { dataKeyVariables, startDataKeys } from '@paylog/privacy/startDataKeys'
import { loadConfig } from '@paylog/runtime/config/environment'
import { createLog } from '@paylog/runtime/telemetry/log'
import { Type } from 'typebox'

const LogConfig = Type.Object({ EVENTSTORE_URL: connectionString(), ...dataKeyVariables })

/** @param onStop called with each step that stops what was started, in the order of the start @throws ConfigError */
export async function openDemoStore(
  environment: NodeJS.ProcessEnv,
  onStop: (step: () => Promise<void> | void) => void,
): Promise<EventStore> {
  const config = loadConfig(LogConfig, environment)
  const log = createLog({ app: 'demo', level: 'warn' })
  const lifecycle = {
    add: (_name: string, stop: () => Promise<void> | void) => onStop(stop),
    stopping: new AbortController().signal,
  }
  const keys = await startDataKeys(config, { log, lifecycle })
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys, log })
  onStop(() => store.close())
  return store
}
