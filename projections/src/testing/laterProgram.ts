// The projector of a later program version, with another schema version of payments.
import { loadConfig } from '@paylog/config/environment'
import { text } from '@paylog/config/kinds'
import { createEventStore } from '@paylog/event-store/eventStore'
import { createPool } from '@paylog/runtime/postgres/pool'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { Type } from 'typebox'
import { runProjection } from '../runProjection.ts'
import { laterPayments } from './laterPayments.ts'

const Config = Type.Object({ DATABASE_URL: text(), EVENTSTORE_URL: text() })

runApp('later projector', async ({ log, lifecycle }) => {
  const config = loadConfig(Config)
  const databaseUrl = config.DATABASE_URL
  const pool = createPool({ databaseUrl, applicationName: 'later projector', max: 4, log })
  lifecycle.add('postgres', () => pool.end())
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL })
  lifecycle.add('event store', () => store.close())
  const signal = lifecycle.stopping
  const common = { databaseUrl, pool, store, signal, log }
  const running = runProjection({ ...common, projection: laterPayments, awaited: new EventTarget() })
  lifecycle.add('projection', () => running)
  return {}
})
