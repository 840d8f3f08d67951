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
 * @param since `earlier`: an earlier observation, with which the log is compared. Only what was touched since is read, unless
 *   `isWhole`
 * @throws when the system does not respond until `signal` aborts
 */
export async function observe(
  urls: Urls,
  seen: Seen,
  signal: AbortSignal,
  { earlier, isWhole = false }: { readonly earlier?: Observations | undefined; readonly isWhole?: boolean } = {},
): Promise<Observations> {
  const as = (owner: Owner, origin: string) => readerOf(origin, owner, signal)
  const known = isWhole ? [] : (earlier?.log ?? [])
  const observed_at = Date.now()
  const news = await readLog(urls.eventStore, { from: known.at(-1), signal })
  const log = [...known.slice(0, -1), ...news]
  const listed_since = isWhole || earlier === undefined ? 0 : earlier.observed_at - overlapMs / 2
  const since = new Date(Math.max(0, listed_since - overlapMs / 2)).toISOString()
  const lists = new Map<Owner, readonly ListedPayment[]>()
  const query = `limit=${pageSize}&orderBy=created_at&orderDir=asc&created_at_from=${since}`
  for (const owner of ['user 1', 'user 2', 'guest', 'administrator'] as const) {
    const path = owner === 'administrator' ? '/admin/payments' : '/payments'
    lists.set(owner, await readList(as(owner, urls.query), `${path}?${query}`))
  }
  const ids = touched(news, lists)
  const payments = await readPayments(as('administrator', urls.command[0] ?? ''), [...ids])
  const operator = as('administrator', urls.operator)
  const failed_deliveries = await readFailedDeliveries(operator)
  const exported = await readExport(operator, known.at(-1), news.at(-1))
  return {
    ...{ ...seen, observed_at, log, earlier_log: earlier?.log ?? [], exported, exported_from: known.length },
    ...{ payments, lists, listed_since, failed_deliveries },
  }
}

/** A reader that repeats failed requests; it returns `undefined` for a 404. */
function readerOf(origin: string, owner: Owner, signal: AbortSignal): Read {
  return async (path) => {
    for (let problem: unknown; ; await pause(retryPauseMs)) {
      if (signal.aborted) throw new Error(`GET ${path} fails: ${problem}`, { cause: problem })
      try {
        const options = { headers: credentials[owner], signal: AbortSignal.timeout(requestTimeoutMs) }
        const response = await fetch(`${origin}${path}`, options)
        const text = await response.text()
        if (response.ok) return { text, headers: response.headers }
        if (response.status === 404) return undefined
        problem = `${response.status} ${text}`
      } catch (error) {
        problem = error
      }
    }
  }
}

async function readJson<Body>(read: Read, path: string): Promise<Body | undefined> {
  const response = await read(path)
  return response && JSON.parse(response.text)
}

type Page = {
  readonly data: readonly ListedPayment[]
  readonly meta: { readonly hasMore?: boolean; readonly next_cursor?: string | null }
}

/** @param path with all parameters but the page: a number, or the administrator's cursor */
async function readList(read: Read, path: string): Promise<ListedPayment[]> {
  const found: ListedPayment[] = []
  for (let [page, place] = [1, '']; ; page++) {
    const { data = [], meta } = (await readJson<Page>(read, `${path}${place}`)) ?? {}
    found.push(...data)
    if (!meta?.hasMore && !meta?.next_cursor) return found
    place = meta.next_cursor ? `&cursor=${encodeURIComponent(meta.next_cursor)}` : `&page=${page + 1}`
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
