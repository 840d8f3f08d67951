// A rebuild, a verification, or the projector of a later program version, as a process that can be killed.

import { createEventStore } from '@paylog/event-store/eventStore'
import { dataKeyVariables, startDataKeys } from '@paylog/privacy/startDataKeys'
import { loadConfig } from '@paylog/runtime/config/environment'
import { text } from '@paylog/runtime/config/kinds'
import { createPool } from '@paylog/runtime/postgres/pool'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { Type } from 'typebox'
import { rebuild } from '../rebuild/rebuild.ts'
import { verify } from '../rebuild/verify.ts'
import { projections } from '../registry.ts'
import { runProjection } from '../runProjection.ts'
import { laterVersionOf } from './laterProjection.ts'

const Config = Type.Object({
  ...dataKeyVariables,
  EVENTSTORE_URL: text(),
  PROJECTION: text(),
  TASK: text(),
})

const print = (line: string) => process.stdout.write(`${line}\n`)

runApp('replay', async ({ log, lifecycle }) => {
  const config = loadConfig(Config)
  const projection = projections.find(({ name }) => name === config.PROJECTION)
  if (projection === undefined) throw new Error(`Unknown projection ${config.PROJECTION}`)
  const databaseUrl = config.DATABASE_URL
  const isLater = config.TASK === 'later'
  const pool = createPool({ databaseUrl, applicationName: isLater ? 'later' : 'replay', max: 4, log })
  if (isLater) lifecycle.add('postgres', () => pool.end())
  const keys = await startDataKeys(config, { log, lifecycle })
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys })
  const parts = { databaseUrl, pool, store, signal: lifecycle.stopping, log }
  if (isLater) {
    lifecycle.add('event store', () => store.close())
    const running = runProjection({ ...parts, projection: laterVersionOf(projection), awaited: new EventTarget() })
    lifecycle.add('projection', () => running)
    return {}
  }
  let last = ''
  const onProgress = ({ step }: { readonly step: string }) => {
    if (step !== last) print(`phase ${step}`)
    last = step
  }
  const onDifference = (difference: object) => void print(`difference ${JSON.stringify(difference)}`)
  const common = { ...parts, projection, onProgress, onDifference }
  const task = config.TASK === 'verify' ? verify(common) : rebuild(common)
  void task
    .then(
      ({ events }) => print(`done with ${events} events`),
      (error: unknown) => print(`failed: ${error}`),
    )
    .then(async () => {
      await store.close()
      await keys.close()
      await pool.end()
      process.disconnect?.()
    })
  return {}
})
