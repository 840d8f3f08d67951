// Tells everybody else that this worker runs, and which nodes it has.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'

const beatEveryMs = 5_000

export type Heartbeat = {
  /** Beats until the signal aborts, and then says goodbye. */
  run(signal: AbortSignal): Promise<void>
}

/**
 * Enters a worker, and makes its nodes the configured ones: during a rolling deploy the last start wins.
 * @param worker its id
 * @throws when the tables are not there
 */
export async function startHeartbeat(options: {
  readonly pool: Pool
  readonly worker: string
  readonly endpoints: readonly string[]
  readonly log: Logger
}): Promise<Heartbeat> {
  const { pool, worker, endpoints, log } = options
  await pool.query(configuredSql, [endpoints])
  await pool.query(beatSql, [worker])
  return {
    async run(signal) {
      while (!signal.aborted) {
        await sleep(beatEveryMs, undefined, { signal }).catch(() => undefined)
        if (signal.aborted) break
        await pool
          .query(beatSql, [worker])
          .catch((error: unknown) => log.warn({ err: error }, 'could not say that this worker runs'))
      }
      await pool
        .query('delete from webhooks.workers where id = $1', [worker])
        .catch((error: unknown) => log.warn({ err: error }, 'could not say that this worker ends'))
    },
  }
}

const configuredSql = `
with configured as (
  insert into webhooks.nodes as n (name) select unnest($1::text[])
  on conflict (name) do update set is_configured = true where not n.is_configured
)
update webhooks.nodes set is_configured = false where is_configured and name <> all($1::text[])`

// By the clock of the database, the only one that all of them share. One that froze for long enters itself anew.
const beatSql = `
with gone as (
  delete from webhooks.workers where id <> $1 and seen_at < now() - interval '5 minutes'
)
insert into webhooks.workers (id, started_at, seen_at) values ($1, now(), now())
on conflict (id) do update set seen_at = now()`
