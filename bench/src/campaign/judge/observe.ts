// Reads what the system shows: the log, an export of it, the lists of all owners, and every payment that anything names.
import { setTimeout as pause } from 'node:timers/promises'
import { credentials } from '../load/owners.ts'
import type { ListedPayment, LogEvent, Observations, Owner, Payment, Seen, Urls } from './observations.ts'
import { leafOfLine, readLog } from './readLog.ts'

const pageSize = 50
const exportPageSize = 2_000
const readersAtOnce = 6
const retryPauseMs = 200
const requestTimeoutMs = 10_000
/** Lists begin this much before the earlier observation, because clocks may differ. */
const overlapMs = 120_000

type Read = (path: string) => Promise<{ readonly text: string; readonly headers: Headers } | undefined>

/**
 * @param seen what the load recorded itself
 * @param signal ends repeated requests
 * @param earlier an earlier observation: then only what was touched since is read from the APIs
 * @throws when the system does not respond until `signal` aborts
 */
export async function observe(
  urls: Urls,
  seen: Seen,
  signal: AbortSignal,
  earlier?: Observations,
): Promise<Observations> {
  const as = (owner: Owner, origin: string) => readerOf(origin, owner, signal)
  const earlier_log = earlier?.log ?? []
  const observed_at = Date.now()
  const news = await readLog(urls.eventStore, { from: earlier_log.at(-1), signal })
  const log = [...earlier_log.slice(0, -1), ...news]
  const listed_since = earlier === undefined ? 0 : earlier.observed_at - overlapMs / 2
  const since = new Date(Math.max(0, listed_since - overlapMs / 2)).toISOString()
  const lists = new Map<Owner, readonly ListedPayment[]>()
  for (const owner of ['user 1', 'user 2', 'guest'] as const)
    lists.set(owner, await readList(as(owner, urls.query), since))
  lists.set('administrator', await readWholeList(as('administrator', urls.query), since))
  const ids = touched(news, lists)
  const payments = await readPayments(as('administrator', urls.command[0] ?? ''), [...ids])
  const operator = as('administrator', urls.operator)
  const failed_deliveries = await readFailedDeliveries(operator)
  const exported = await readExport(operator, earlier_log.at(-1), news.at(-1))
  const exported_from = earlier_log.length
  return {
    ...{ ...seen, observed_at, log, earlier_log, exported, exported_from },
    ...{ payments, lists, listed_since, failed_deliveries },
  }
}

/** A reader that repeats failed requests; it returns `undefined` for a 404. */
function readerOf(origin: string, owner: Owner, signal: AbortSignal): Read {
  return async (path) => {
    for (;;) {
      signal.throwIfAborted()
      try {
        const options = { headers: credentials[owner], signal: AbortSignal.timeout(requestTimeoutMs) }
        const response = await fetch(`${origin}${path}`, options)
        const text = await response.text()
        if (response.ok) return { text, headers: response.headers }
        if (response.status === 404) return undefined
      } catch {
        // The process may be starting.
      }
      await pause(retryPauseMs)
    }
  }
}

async function readJson<Body>(read: Read, path: string): Promise<Body | undefined> {
  const response = await read(path)
  return response && JSON.parse(response.text)
}

async function readList(read: Read, since: string): Promise<ListedPayment[]> {
  const found: ListedPayment[] = []
  for (let page = 1; ; page++) {
    const query = `page=${page}&limit=${pageSize}&orderBy=created_at&orderDir=asc&created_at_from=${since}`
    const body = await readJson<{ data: ListedPayment[]; meta: { hasMore: boolean } }>(read, `/payments?${query}`)
    found.push(...(body?.data ?? []))
    if (!body?.meta.hasMore) return found
  }
}

async function readWholeList(read: Read, since: string): Promise<ListedPayment[]> {
  const found: ListedPayment[] = []
  for (let cursor = ''; ; ) {
    const query = `limit=100&orderDir=asc&created_at_from=${since}${cursor}`
    const body = await readJson<{ data: ListedPayment[]; meta: { next_cursor: string | null } }>(
      read,
      `/admin/payments?${query}`,
    )
    found.push(...(body?.data ?? []))
    if (!body?.meta.next_cursor) return found
    cursor = `&cursor=${encodeURIComponent(body.meta.next_cursor)}`
  }
}

/** The ids of all payments that something new names. */
function touched(news: readonly LogEvent[], lists: Observations['lists']): Set<string> {
  const inLog = news.filter(({ stream }) => stream.startsWith('payment-')).map(({ stream }) => stream.slice(8))
  const listed = [...lists.values()].flat().map(({ id }) => id)
  return new Set([...inLog, ...listed])
}

async function readPayments(read: Read, ids: string[]): Promise<Map<string, Payment | undefined>> {
  const payments = new Map<string, Payment | undefined>()
  const reader = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop())
      payments.set(id, (await readJson<{ data: Payment }>(read, `/admin/payments/${id}`))?.data)
  }
  await Promise.all(Array.from({ length: readersAtOnce }, reader))
  return payments
}

/** @returns the leaves of the lines after one event, up to another one */
async function readExport(read: Read, after: LogEvent | undefined, last: LogEvent | undefined): Promise<string[]> {
  const leaves: string[] = []
  if (last === undefined) return leaves
  for (let position = after?.position; ; ) {
    const place = position === undefined ? '' : `&after=${position}`
    const page = await read(`/admin/events?limit=${exportPageSize}&head=${last.position}${place}`)
    leaves.push(...(page?.text ?? '').split('\n').filter(Boolean).map(leafOfLine))
    position = page?.headers.get('x-next-position') ?? undefined
    if (position === undefined) return leaves
  }
}

type Delivery = { readonly endpoint: string; readonly event: string; readonly source: { readonly stream: string } }

async function readFailedDeliveries(read: Read): Promise<string[]> {
  const body = await readJson<{ data: Delivery[] }>(read, '/admin/webhook-deliveries?status=failed&limit=100')
  return (body?.data ?? []).map(({ endpoint, event, source }) => `${endpoint} ${event} ${source.stream}`)
}
