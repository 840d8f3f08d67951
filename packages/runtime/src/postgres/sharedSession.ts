// One session of a process for its locks and the channels that it listens on: with one for each, a projector would have ten.
import pg from 'pg'
import { connectSession, createSessionClient } from './session.ts'

const connectTimeoutMs = 5_000
const queryTimeoutMs = 3_000
const probeMs = 2_000

type OnNotification = (payload: string) => void

/** The part of the session that one caller has, until it leaves. */
export type SessionShare = {
  /** Aborts when the session is lost, and with it all locks and channels. */
  readonly lost: AbortSignal
  /** @returns whether this caller has the lock now: neither another process nor another caller in this one does */
  tryLock(key: string): Promise<boolean>
  listen(channel: string, onNotification: OnNotification): Promise<void>
  /** Gives up the locks and channels of this caller. */
  leave(): Promise<void>
}

type Shared = ReturnType<typeof createShared>
const sessions = new Map<string, Promise<Shared>>()

/** @param databaseUrl callers with the same one share a session @throws the errors of the connection */
export async function shareSession(databaseUrl: string): Promise<SessionShare> {
  for (;;) {
    const shared = await (sessions.get(databaseUrl) ?? open(databaseUrl))
    // The last of the others may just have left it.
    if (shared.isOpen()) return shared.share()
  }
}

function open(databaseUrl: string): Promise<Shared> {
  const forget = () => {
    if (sessions.get(databaseUrl) === opening) sessions.delete(databaseUrl)
  }
  const shared = createShared(databaseUrl, forget)
  const opening = shared.connect().then(
    () => shared,
    (error: unknown) => {
      forget()
      throw error
    },
  )
  sessions.set(databaseUrl, opening)
  return opening
}

/** pg 9 refuses a query while another is in progress. Each has its time from when it is sent. */
function oneAtATime(client: pg.Client) {
  let previous: Promise<unknown> = Promise.resolve()
  return <Row extends pg.QueryResultRow>(text: string, values: readonly string[] = []) => {
    const next = previous.then(() => client.query<Row>(text, [...values]))
    previous = next.catch(() => undefined)
    return next
  }
}

/** @param forget is called when nobody else may join the session */
function createShared(databaseUrl: string, forget: () => void) {
  const client = createSessionClient({
    databaseUrl,
    application_name: 'locks and channels',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
  })
  const query = oneAtATime(client)
  const lost = new AbortController()
  const locked = new Set<string>()
  const listeners = new Map<string, Set<OnNotification>>()
  let shares = 0
  let isEnded = false
  // A held connection that is disconnected must be noticed when a standby takes over.
  const probe = setInterval(() => void query('select 1').catch(lose), probeMs)

  function end(): Promise<void> {
    isEnded = true
    clearInterval(probe)
    forget()
    // If the server still has the session, this releases its locks.
    return client.end().catch(() => undefined)
  }
  function lose(error: unknown): void {
    // pg closes the connection at once when a query is in flight, and fails the query.
    if (isEnded) return
    void end()
    lost.abort(error)
  }
  client.on('error', lose)
  client.on('end', () => lose(new Error('The connection was closed')))
  client.on('notification', ({ channel, payload = '' }) => {
    for (const onNotification of listeners.get(channel) ?? []) onNotification(payload)
  })

  function share(): SessionShare {
    shares += 1
    const own = new Set<string>()
    const heard = new Map<string, OnNotification>()
    return {
      lost: lost.signal,
      async tryLock(key) {
        // Postgres would give it to the same session again.
        if (locked.has(key)) return false
        locked.add(key)
        try {
          const { rows } = await query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [key])
          if (rows[0]?.held === true) own.add(key)
        } finally {
          if (!own.has(key)) locked.delete(key)
        }
        return own.has(key)
      },
      async listen(channel, onNotification) {
        heard.set(channel, onNotification)
        const all = listeners.get(channel)
        listeners.set(channel, (all ?? new Set()).add(onNotification))
        // Again for the second one too, so that each is answered when it is heard.
        await query(`listen ${pg.escapeIdentifier(channel)}`)
      },
      async leave() {
        shares -= 1
        for (const [channel, onNotification] of heard) listeners.get(channel)?.delete(onNotification)
        if (isEnded) return
        if (shares === 0) return await end()
        for (const key of own) {
          await query('select pg_advisory_unlock($1)', [key]).catch(lose)
          locked.delete(key)
        }
      },
    }
  }
  async function connect(): Promise<void> {
    await connectSession(client).catch(async (error: unknown) => {
      await end()
      throw error
    })
  }
  return { share, isOpen: () => !isEnded, connect }
}
