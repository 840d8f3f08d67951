// Hearing what other processes tell through Postgres.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { keepRunning } from '../process/keepRunning.ts'
import type { Logger } from '../telemetry/log.ts'

const connectTimeoutMs = 5_000
const probeMs = 5_000
const queryTimeoutMs = 3_000
const pauseMs = 1_000

/**
 * Listens on a channel until the signal aborts, over a connection of its own that is made anew when it is lost. What is
 * told meanwhile is not heard, so it may only be told what can do without.
 * @param options `heard` gets what came with each notification
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
      log.warn({ err: error, channel, pauseMs }, 'a channel of the database is not heard, trying again'),
  })
}

async function listenOnce({
  databaseUrl,
  channel,
  onNotification,
  signal,
}: Parameters<typeof listen>[0]): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl,
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
    await client.connect()
    await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    // A connection can be cut off without a word: then the question is not answered.
    for (;;) {
      await sleep(probeMs, undefined, { signal: AbortSignal.any([signal, lost.signal]) })
      await client.query('select 1')
    }
  } finally {
    await client.end().catch(() => undefined)
  }
}
