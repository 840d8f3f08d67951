// Postgres connection pools with limits.
import { Socket } from 'node:net'
import pg from 'pg'
import type { Logger } from '../telemetry/log.ts'
import { createSessionPool, type SessionSettings } from './session.ts'

const connectTimeoutMs = 5_000
const statementTimeoutMs = 15_000
const idleTimeoutMs = 30_000

// Not set globally, because other users of pg in the process, such as BullMQ, share the global parsers.
const columnTypes = new pg.TypeOverrides()
columnTypes.setTypeParser(pg.types.builtins.INT8, BigInt)

/**
 * A pool with every limit set. `int8` columns are returned as `bigint`, because positions do not fit a JavaScript number.
 *
 * @param options `max` is the number of connections, which `limitPools` lowers to `least`; `applicationName` appears in `pg_stat_activity`; `queryTimeoutMs`
 *   fails a query when the server hangs or is unreachable, which the server's `statement_timeout` cannot detect;
 *   `settings` are settings of its sessions
 */
export function createPool({
  databaseUrl,
  applicationName,
  max,
  least,
  queryTimeoutMs,
  settings,
  log,
}: {
  databaseUrl: string
  applicationName: string
  max: number
  least?: number
  queryTimeoutMs?: number
  settings?: SessionSettings
  log: Logger
}): pg.Pool {
  const pool = createSessionPool(
    {
      ...{ databaseUrl, log },
      application_name: applicationName,
      ...{ max, least },
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: idleTimeoutMs,
      keepAlive: true,
      types: columnTypes,
    },
    {
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
      ...settings,
    },
  )
  // Without a listener, a lost idle connection (a restarted server) would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'))
  // The pool removes its own listener from a connection in use, and one that is lost between two statements of a transaction
  // would end the process. The next statement fails in any case.
  pool.on('connect', (client) => client.on('error', (error) => log.debug({ err: error }, 'a connection was lost')))
  if (queryTimeoutMs !== undefined) pool.on('connect', (client) => endWhenSilent(client, queryTimeoutMs))
  return pool
}

/**
 * Fails a query and ends its connection when the server sends nothing for this long. pg's own `query_timeout` has a timer
 * for each query, by which V8 keeps the rows of each query until the next full garbage collection: at 200 lists a second
 * the pauses took 8 ms instead of 1.
 */
function endWhenSilent(client: pg.PoolClient, timeoutMs: number): void {
  if (!(client instanceof pg.Client)) return
  const { connection } = client
  const { stream } = connection
  if (!(stream instanceof Socket)) return
  let writtenWhenReady = stream.bytesWritten
  // Before pg's own listener, which may send the next query.
  connection.prependListener('readyForQuery', () => {
    writtenWhenReady = stream.bytesWritten
  })
  stream.setTimeout(timeoutMs)
  stream.on('timeout', () => {
    const isBusy = stream.bytesWritten > writtenWhenReady
    if (isBusy) stream.destroy(new Error('Query read timeout'))
  })
}
