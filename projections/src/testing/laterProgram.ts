// The projector of a later program version, for one projection with another schema version.
import { loadConfig } from '@paylog/config/environment'
import { text } from '@paylog/config/kinds'
import { createEventStore } from '@paylog/event-store/eventStore'
import { dataKeyVariables, startDataKeys } from '@paylog/privacy/startDataKeys'
import { createPool } from '@paylog/runtime/postgres/pool'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { Type } from 'typebox'
import { projections } from '../registry.ts'
import { runProjection } from '../runProjection.ts'
import { laterVersionOf } from './laterProjection.ts'

const Config = Type.Object({ ...dataKeyVariables, EVENTSTORE_URL: text(), PROJECTION: text() })

runApp('later projector', async ({ log, lifecycle }) => {
  const config = loadConfig(Config)
  const projection = projections.find(({ name }) => name === config.PROJECTION)
  if (projection === undefined) throw new Error(`Unknown projection ${config.PROJECTION}`)
  const databaseUrl = config.DATABASE_URL
  const pool = createPool({ databaseUrl, applicationName: 'later', max: 4, log })
  lifecycle.add('postgres', () => pool.end())
  const keys = await startDataKeys(config, { log, lifecycle })
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys })
  lifecycle.add('event store', () => store.close())
  const signal = lifecycle.stopping
  const common = { databaseUrl, pool, store, signal, log }
  const running = runProjection({ ...common, projection: laterVersionOf(projection), awaited: new EventTarget() })
  lifecycle.add('projection', () => running)
  return {}
})
