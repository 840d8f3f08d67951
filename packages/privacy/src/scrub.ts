// Removes what Postgres keeps on disk of rows that were changed or deleted: old versions of rows, statistics, the write-ahead log.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'

const defaultWaits = {
  /** Longer than a query, shorter than anybody wants to wait: a table is locked while it is rewritten. */
  lockMs: 3_000,
  /** How long to wait for transactions that may still read old versions. */
  snapshotMs: 10_000,
}
const pollMs = 100

/** Everything in them is ours. The log is not among them: it holds personal data sealed only. */
const schemas = ['privacy', 'read_models', 'webhooks', 'operations']
/** Statistics hold frequent values of columns. */
const statistics = ['pg_catalog.pg_statistic', 'pg_catalog.pg_statistic_ext_data']

export type Scrubbed = {
  /** Rewritten without old versions of rows. */
  readonly tables: readonly string[]
  readonly skipped: readonly {
    readonly table: string
    readonly because: 'in use' | 'too large' | 'not allowed' | 'a transaction may read old rows'
  }[]
  /** Whether the write-ahead log begins after all this. The server has then removed its older files, or keeps them for reuse. */
  readonly is_wal_clean: boolean
}

/**
 * Rewrites the tables that hold, or have held, personal data.
 * @param pool of the owner of the tables; it needs `pg_checkpoint` and `pg_read_all_stats` too, or the report says what was not allowed
 * @param options `maxTableBytes`: larger tables are skipped, because theirs take long
 * @throws errors of Postgres
 */
export async function scrub(
  pool: Pool,
  options: {
    readonly maxTableBytes: number
    readonly signal?: AbortSignal
    /** For tests. */
    readonly waits?: typeof defaultWaits
  },
): Promise<Scrubbed> {
  const { lockMs, snapshotMs } = options.waits ?? defaultWaits
  const client = await pool.connect()
  try {
    await client.query(`set statement_timeout = 0; set lock_timeout = ${lockMs}`)
    const isUnread = await oldVersionsAreUnread(client, snapshotMs, options.signal)
    const tables: string[] = []
    const skipped: Scrubbed['skipped'][number][] = []
    for (const { table, bytes } of [...(await tablesOf(client)), ...statistics.map((table) => ({ table, bytes: 0 }))]) {
      options.signal?.throwIfAborted()
      const because = bytes > options.maxTableBytes ? 'too large' : await rewrite(client, table)
      if (because !== undefined) skipped.push({ table, because })
      else if (isUnread) tables.push(table)
      else skipped.push({ table, because: 'a transaction may read old rows' })
    }
    return { tables, skipped, is_wal_clean: await endWal(client) }
  } finally {
    // Closes the connection, because of its changed settings.
    client.release(true)
  }
}

/** A rewrite keeps versions that a transaction may still read. @returns whether there is none any more */
async function oldVersionsAreUnread(
  client: PoolClient,
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { rows } = await client.query<{ now: string }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::xid::text as now',
  )
  const giveUpAt = performance.now() + waitMs
  for (;;) {
    const { rowCount } = await client.query(
      `select from pg_stat_activity
       where pid <> pg_backend_pid() and datname = current_database() and backend_xmin is not null
       and age(backend_xmin) > age($1::xid)`,
      [rows[0]?.now],
    )
    if (rowCount === 0) return true
    if (performance.now() >= giveUpAt) return false
    await sleep(pollMs, undefined, signal && { signal })
  }
}

/** The keys first: they matter most. */
async function tablesOf(client: PoolClient): Promise<readonly { readonly table: string; readonly bytes: number }[]> {
  const { rows } = await client.query<{ table: string; bytes: number }>(
    `select format('%I.%I', nspname, relname) as table, pg_total_relation_size(pg_class.oid)::float8 as bytes
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = any($1) and relkind = 'r'
     order by array_position($1, nspname::text), relname`,
    [schemas],
  )
  return rows
}

const lockNotAvailable = '55P03'
const insufficientPrivilege = '42501'
const undefinedTable = '42P01'

/** @returns why it was not rewritten */
async function rewrite(client: PoolClient, table: string): Promise<Scrubbed['skipped'][number]['because'] | undefined> {
  const isOurs = !statistics.includes(table)
  let refused = false
  const onNotice = ({ message }: { readonly message?: string | undefined }) => {
    // VACUUM only warns when it may not.
    if (message !== undefined && /skip/i.test(message)) refused = true
  }
  client.on('notice', onNotice)
  try {
    await client.query(`vacuum (full${isOurs ? ', analyze' : ''}) ${table}`)
    return refused ? 'not allowed' : undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === lockNotAvailable) return 'in use'
    if (code === insufficientPrivilege) return 'not allowed'
    // A rebuild has dropped it meanwhile.
    if (code === undefinedTable) return undefined
    throw error
  } finally {
    client.off('notice', onNotice)
  }
}

/**
 * Begins another file of the write-ahead log, by filling the present one, which needs no privilege. A checkpoint removes the
 * files before it.
 * @returns whether the checkpoint was allowed
 */
async function endWal(client: PoolClient): Promise<boolean> {
  await client.query(
    `select pg_logical_emit_message(false, 'paylog scrub', repeat('-', pg_size_bytes(current_setting('wal_segment_size'))::int))`,
  )
  try {
    await client.query('checkpoint')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === insufficientPrivilege) return false
    throw error
  }
}
