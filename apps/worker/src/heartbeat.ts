// Records in the database that this worker runs, and which endpoints are configured.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'

/** After five seconds without one, others take what the worker has claimed. */
const heartbeatMs = 1_000

/**
 * Registers a worker and its endpoints. During a rolling deployment the endpoints of the last started worker win.
 * @param worker its id
 * @throws when the tables are missing
 */
export async function startHeartbeat(options: {
  readonly pool: Pool
  readonly worker: string
  readonly endpoints: readonly string[]
  readonly log: Logger
}) {
  const { pool, worker, endpoints, log } = options
  const heartbeat = { name: 'heartbeat', text: heartbeatSql, values: [worker] }
  await pool.query(configuredSql, [endpoints])
  await pool.query(heartbeat)
  return {
    /** Updates the heartbeat until the signal aborts, then removes the worker. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await sleep(heartbeatMs, undefined, { signal }).catch(() => undefined)
        if (signal.aborted) break
        await pool.query(heartbeat).catch((error: unknown) => log.warn({ err: error }, 'heartbeat failed'))
      }
      await pool
        .query('delete from webhooks.workers where id = $1', [worker])
        .catch((error: unknown) => log.warn({ err: error }, 'could not remove the heartbeat'))
    },
  }
}

const configuredSql = `
with configured as (
  insert into webhooks.nodes as n (name) select unnest($1::text[])
  on conflict (name) do update set is_configured = true where not n.is_configured
)
update webhooks.nodes set is_configured = false where is_configured and name <> all($1::text[])`

// Uses the clock of the database, which all workers share. A worker that was frozen for long is inserted again.
const heartbeatSql = `
with gone as (
  delete from webhooks.workers where id <> $1 and seen_at < now() - interval '5 minutes'
)
insert into webhooks.workers (id, started_at, seen_at) values ($1, now(), now())
on conflict (id) do update set seen_at = now()`
