// Keeps the read models up with the log.
import { createEventStore } from '@paylog/event-store/eventStore'
import { awaitedReads } from '@paylog/projections/awaitedReads'
import { projections } from '@paylog/projections/registry'
import { loadConfig, url } from '@paylog/runtime/config'
import { runApp } from '@paylog/runtime/lifecycle'
import { listen } from '@paylog/runtime/listen'
import { createPool } from '@paylog/runtime/postgres'
import { Type } from 'typebox'
import { runProjection } from './runProjection.ts'

const Config = Type.Object({
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
})

runApp('projector', async ({ log, lifecycle }) => {
  const config = loadConfig(Config)
  const databaseUrl = config.DATABASE_URL
  // A projection has one transaction at a time; the spare connections are for claiming a checkpoint and for notes.
  const pool = createPool({ databaseUrl, applicationName: 'projector', max: projections.length + 2, log })
  lifecycle.add('postgres', () => pool.end())
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL })
  lifecycle.add('event store', () => store.close())
  const signal = lifecycle.stopping
  const runners = projections.map((projection) => ({ projection, awaited: new EventTarget() }))
  const running = runners.map((runner) => runProjection({ ...runner, databaseUrl, pool, store, signal, log }))
  const heard = (name: string) => {
    for (const { projection, awaited } of runners)
      if (projection.name === name) awaited.dispatchEvent(new Event('awaited'))
  }
  const listening = listen({ databaseUrl, channel: awaitedReads, heard, signal, log })
  // A poison event stops its projection alone. When it was the last one there is nothing left to do here.
  const ended = Promise.allSettled(running)
  void ended.then(() => {
    if (!signal.aborted) lifecycle.fail(new Error('every projection has stopped'))
  })
  lifecycle.add('projections', async () => {
    await ended
    await listening
  })
})
