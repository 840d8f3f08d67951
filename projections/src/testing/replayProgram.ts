// A rebuild or verification as a process that can be killed.
import { loadConfig } from '@paylog/config/environment'
import { text } from '@paylog/config/kinds'
import { createEventStore } from '@paylog/event-store/eventStore'
import { dataKeyVariables, startDataKeys } from '@paylog/privacy/startDataKeys'
import { createPool } from '@paylog/runtime/postgres/pool'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { Type } from 'typebox'
import { rebuild } from '../rebuild/rebuild.ts'
import { verify } from '../rebuild/verify.ts'
import { projections } from '../registry.ts'

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
  const pool = createPool({ databaseUrl, applicationName: 'replay', max: 4, log })
  const keys = await startDataKeys(config, { log, lifecycle })
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys })
  let last = ''
  const onProgress = ({ step }: { readonly step: string }) => {
    if (step !== last) print(`phase ${step}`)
    last = step
  }
  const onDifference = (difference: object) => void print(`difference ${JSON.stringify(difference)}`)
  const common = { databaseUrl, pool, store, projection, signal: lifecycle.stopping, log, onProgress, onDifference }
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
