// Receives notifications from other processes through Postgres.

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { anySignal } from '../anySignal.ts'
import { keepRunning } from '../process/keepRunning.ts'
import type { Logger } from '../telemetry/log.ts'
import { connectSession, createSessionClient } from './session.ts'

const connectTimeoutMs = 5_000
const probeMs = 5_000
const queryTimeoutMs = 3_000
const pauseMs = 1_000

/**
 * Listens on a channel until the signal aborts, on its own connection, and reconnects when it is lost. Notifications in
 * between are lost, so callers must not depend on them.
 * @param options `onNotification` gets the payload of each notification
 */
export async function listen(options: {
  readonly databaseUrl: string
  readonly channel: string
  readonly onNotification: (payload: string) => void
  readonly signal: AbortSignal
  readonly log: Logger
}): Promise<void> {
  const { channel, signal, log } = options
  await keepRunning(() => listenOnce(options), {
    signal,
    pauseMs,
    onError: (error) =>
      log.warn({ err: error, channel, pauseMs }, 'listening on a database channel failed, trying again'),
  })
}

async function listenOnce({
  databaseUrl,
  channel,
  onNotification,
  signal,
}: Parameters<typeof listen>[0]): Promise<void> {
  const client = createSessionClient({
    databaseUrl,
    application_name: `listen ${channel}`.slice(0, 63),
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
  })
  const lost = new AbortController()
  client.on('error', (error) => lost.abort(error))
  client.on('end', () => lost.abort(new Error('The connection was closed')))
  client.on('notification', ({ payload = '' }) => onNotification(payload))
  try {
    await connectSession(client)
    await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    // Detects a dead connection: the query then times out.
    for (;;) {
      await sleep(probeMs, undefined, { signal: anySignal(signal, lost.signal) })
      await client.query('select 1')
    }
  } finally {
    await client.end().catch(() => undefined)
  }
}
