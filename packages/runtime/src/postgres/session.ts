// Connections to Postgres, also through a pooler: what a session needs is set by a statement, because poolers refuse it as a
// startup parameter (PgBouncer: `unsupported startup parameter`).
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Logger } from '../telemetry/log.ts'
import { isLoginRefused } from './databaseErrors.ts'

/** Settings of a session by their names in Postgres. Times are in ms. */
export type SessionSettings = Readonly<Record<string, string | number>>

/** DATABASE_URL leads to a pooler that gives one session to several clients. */
export class SharedSessionError extends Error {
  override readonly name = 'SharedSessionError'
  constructor() {
    super(
      'DATABASE_URL leads to a pooler in transaction or statement mode, which loses locks and settings: use its session mode, ' +
        'or Postgres itself',
    )
  }
}

/** The beginning is one of those by which an unavailable database is recognized. */
const noSession = (cause: Error) =>
  new Error('timeout expired: Postgres, or the pooler before it, had no session free within 5 s', { cause })

/**
 * Of every session. Our statements are short, and Postgres compiles what it expects to be expensive: with `enable_seqscan` off, any
 * plan with a scan of a table. That took 800 times as long as the claim of deliveries itself, for each execution.
 */
const ofAll: SessionSettings = { jit: 'off' }

/** Of a client's own session only: a session that another client left has its value. */
const marker = 'paylog.session'
const sessionTimeoutMs = 5_000

/**
 * Prepares the session of a client that has just connected.
 * @param client of a pool's `onConnect`, or connected
 * @throws SharedSessionError when another client has, or had, this session; errors of Postgres
 */
async function prepareSession(client: pg.ClientBase, settings: SessionSettings = {}): Promise<void> {
  const given = Object.entries({ ...ofAll, ...settings, [marker]: randomUUID() })
  const set = given.map(([name, value]) => `set_config('${name}', ${pg.escapeLiteral(String(value))}, false)`)
  // One simple query, which even a pooler in transaction mode sends to one session.
  const text = `select current_setting('${marker}', true) as other; select ${set.join(', ')}`
  // Without a limit it would wait for as long as the pooler has no free session. The types of pg lack it.
  const limited = { text, query_timeout: sessionTimeoutMs }
  const results: unknown = await client.query(limited).catch((error: unknown) => {
    if (error instanceof Error && error.message === 'Query read timeout') throw noSession(error)
    throw error
  })
  // A session that was reset has an empty text.
  const [first] = results as readonly pg.QueryResult<{ other: string | null }>[]
  if (first?.rows[0]?.other) throw new SharedSessionError()
}

/** Of pg. */
const defaultMax = 10
let mostOfPool = Number.POSITIVE_INFINITY

/** Limits the pools that this process opens from now on. @param sessions of each pool */
export function limitPools(sessions: number): void {
  mostOfPool = sessions
}

/**
 * A pool whose sessions have these settings.
 * @param options those of `pg.Pool`; `databaseUrl` is the value of DATABASE_URL; `least`: that many sessions in spite of
 *   `limitPools`, for work that waits for a session while it holds others
 */
export function createSessionPool(
  {
    databaseUrl,
    log,
    least = 1,
    ...options
  }: Omit<pg.PoolConfig, 'connectionString' | 'onConnect' | 'log'> &
    ConnectionOptions & { readonly least?: number | undefined },
  settings: SessionSettings,
): pg.Pool {
  const connectionString = withExplicitSsl(databaseUrl, log)
  const onConnect = async (client: pg.ClientBase) => {
    await prepareSession(client, settings)
    await refusePooler(connectionString)
  }
  const max = Math.max(least, Math.min(options.max ?? defaultMax, mostOfPool))
  return new pg.Pool({ ...options, max, connectionString, onConnect })
}

/** At the start. Another failure shows when the pool is used. @throws SharedSessionError, or that the login is refused */
export async function requireOwnSessions(pool: pg.Pool): Promise<void> {
  await pool.query('select').catch((error: unknown) => {
    if (error instanceof SharedSessionError || isLoginRefused(error)) throw error
  })
}

/** A client that has yet to connect, by `connectSession`. */
export const createSessionClient = ({
  databaseUrl,
  log,
  ...options
}: Omit<pg.ClientConfig, 'connectionString'> & ConnectionOptions): pg.Client =>
  new pg.Client({ ...options, connectionString: withExplicitSsl(databaseUrl, log) })

type ConnectionOptions = { readonly databaseUrl: string; readonly log?: Pick<Logger, 'warn'> | undefined }

/** Connects, and prepares the session. @throws SharedSessionError; errors of Postgres */
export async function connectSession(client: pg.Client, settings: SessionSettings = {}): Promise<void> {
  await client.connect()
  await prepareSession(client, settings)
}

const known = new Map<string, Promise<void>>()

/**
 * The first session of a process looks like its own in any mode. While it is idle, a pooler in transaction mode gives it to
 * the next client.
 */
function refusePooler(connectionString: string): Promise<void> {
  const probe = known.get(connectionString) ?? probeSession(connectionString)
  known.set(connectionString, probe)
  return probe
}

async function probeSession(connectionString: string): Promise<void> {
  const client = new pg.Client({
    connectionString,
    application_name: 'paylog start',
    connectionTimeoutMillis: sessionTimeoutMs,
  })
  client.on('error', () => undefined)
  try {
    await connectSession(client)
  } catch (error) {
    // Without a free session, or Postgres, nothing is known yet.
    if (error instanceof SharedSessionError) throw error
    known.delete(connectionString)
  } finally {
    await client.end().catch(() => undefined)
  }
}

const warned = new Set<string>()

/** The driver checks the certificate in each of these modes, and prints a page about it. */
function withExplicitSsl(databaseUrl: string, log?: Pick<Logger, 'warn'>): string {
  const url = new URL(databaseUrl)
  const mode = url.searchParams.get('sslmode') ?? ''
  if (!['prefer', 'require', 'verify-ca'].includes(mode) || url.searchParams.has('uselibpqcompat')) return databaseUrl
  if (log !== undefined && !warned.has(mode))
    log.warn({ sslmode: mode }, 'DATABASE_URL: the certificate of the server is checked; sslmode=verify-full says so')
  if (log !== undefined) warned.add(mode)
  url.searchParams.set('sslmode', 'verify-full')
  return url.href
}
