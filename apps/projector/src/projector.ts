// The projector: keeps the read models, and the Merkle tree of the log, up to date with the log.
import { auditVariables, readSigning } from '@paylog/audit-log/config'
import { runRecorder, startingRecorder } from '@paylog/audit-log/recorder'
import { connectionString } from '@paylog/event-store/connection/connectionString'
import { createEventStore } from '@paylog/event-store/eventStore'
import { dataKeyVariables, startDataKeys } from '@paylog/privacy/startDataKeys'
import { projections } from '@paylog/projections/registry'
import { runProjection, startingState } from '@paylog/projections/runProjection'
import { waitingReadsChannel } from '@paylog/projections/waitingReads'
import { loadConfig } from '@paylog/runtime/config/environment'
import { port, text } from '@paylog/runtime/config/kinds'
import { listen } from '@paylog/runtime/postgres/listen'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { Type } from 'typebox'
import { startHealthPage } from './health.ts'
import { watchLags } from './lag.ts'

const ProjectorConfig = Type.Object({
  HOST: text('127.0.0.1'),
  HEALTH_PORT: Type.Optional(port()),
  ...dataKeyVariables,
  EVENTSTORE_URL: connectionString(),
  ...auditVariables,
})

/** One transaction per projection, and some for a rebuild, checkpoints, lag, tree and health page. */
const maxConnections = projections.length + 8
/** A switch to a rebuilt table holds one, makes the projection wait with another one, and needs a third. */
const leastConnections = 4

/**
 * Starts the projector with the variables of the environment.
 * @param app `onStopped` is called when every projection has stopped at a poison event
 * @returns the URL of its health page, if it has one
 * @throws ConfigError; the errors of what it starts
 */
export async function startProjector({
  log,
  lifecycle,
  onStopped,
}: {
  readonly log: Logger
  readonly lifecycle: Lifecycle
  readonly onStopped: (error: Error) => void
}): Promise<{ readonly healthUrl?: string }> {
  const config = loadConfig(ProjectorConfig)
  const signing = readSigning(config)
  const databaseUrl = config.DATABASE_URL
  const sessions = { max: maxConnections, least: leastConnections }
  const pool = createPool({ databaseUrl, applicationName: 'projector', ...sessions, log })
  lifecycle.add('postgres', () => pool.end())
  const keys = await startDataKeys(config, { log, lifecycle })
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys, log })
  lifecycle.add('event store', () => store.close())
  const signal = lifecycle.stopping
  const metrics = createMetrics()
  const countApplied = metrics.counter({
    name: 'projection_events_total',
    help: 'Events applied to the read model',
    labelNames: ['projection'],
  })
  const runners = projections.map((projection) => ({
    projection,
    awaited: new EventTarget(),
    state: startingState(),
    applied: (count: number) => countApplied({ projection: projection.name }, count),
  }))
  const running = runners.map((runner) => runProjection({ ...runner, databaseUrl, pool, store, signal, log }))
  const onReadWaiting = (name: string) => {
    for (const { projection, awaited } of runners)
      if (projection.name === name) awaited.dispatchEvent(new Event('awaited'))
  }
  const listening = listen({ databaseUrl, channel: waitingReadsChannel, onNotification: onReadWaiting, signal, log })
  const recorder = startingRecorder()
  const recording = runRecorder({ databaseUrl, pool, store, signing, state: recorder, signal, log })
  const watching = watchLags({ runners, pool, store, now: () => new Date(), signal, log })
  // A poison event stops only its projection.
  const ended = Promise.allSettled(running)
  void ended.then(() => {
    if (!signal.aborted) onStopped(new Error('every projection has stopped'))
  })
  lifecycle.add('projections', async () => {
    await ended
    await listening
    await recording
    await watching
  })

  const { HOST: host, HEALTH_PORT: healthPort } = config
  if (healthPort === undefined) return {}
  const audit = { state: recorder, isPublishing: signing?.publish !== undefined }
  const page = { host, port: healthPort, pool, store, runners, audit, metrics, lifecycle, log }
  return { healthUrl: await startHealthPage(page) }
}
