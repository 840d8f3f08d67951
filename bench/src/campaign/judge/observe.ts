// Reads what the API shows: every payment that anything names, its history, and the lists of all owners.
import { setTimeout as pause } from 'node:timers/promises'
import { credentials } from '../load/clients.ts'
import type { HistoryEntry, ListedPayment, Observations, Owner, Payment, Seen, Urls } from './observations.ts'

const owners = ['user 1', 'user 2', 'guest'] as const
const admin = { 'x-session-id': 'demo-admin-session' }
const pageSize = 50
const readersAtOnce = 6
const retryPauseMs = 200
const requestTimeoutMs = 10_000

type Read = (url: string, headers: Readonly<Record<string, string>>) => Promise<unknown>

/**
 * @param seen what the load recorded itself
 * @param signal ends repeated requests
 * @throws when the API does not respond until then
 */
export async function observe(urls: Urls, seen: Seen, signal: AbortSignal): Promise<Observations> {
  const read = readerUntil(signal)
  const [command = ''] = urls.command
  const lists = new Map<Owner, readonly ListedPayment[]>()
  for (const owner of owners) lists.set(owner, await readList(read, urls.query, owner))
  const ids = [...namedIds(seen, lists)]
  const payments = new Map<string, Payment>()
  const reader = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const payment = await readPayment(read, command, id)
      if (payment !== undefined) payments.set(id, payment)
    }
  }
  await Promise.all(Array.from({ length: readersAtOnce }, reader))
  return { ...seen, lists, payments }
}

function namedIds({ requests, intents, webhooks }: Seen, lists: Observations['lists']): Set<string> {
  const named = [
    ...requests.flatMap(({ answers }) => answers.map(({ payment_id }) => payment_id)),
    ...intents.flatMap(({ id, payment_id }) => [id, payment_id]),
    ...webhooks.map(({ payment_id }) => payment_id),
    ...[...lists.values()].flat().map(({ id }) => id),
  ]
  return new Set(named.filter((id) => id !== null))
}

/** A reader that repeats failed requests; it returns `undefined` for a 404. */
function readerUntil(over: AbortSignal): Read {
  return async (url, headers) => {
    for (;;) {
      over.throwIfAborted()
      try {
        const response = await fetch(url, { headers, signal: AbortSignal.timeout(requestTimeoutMs) })
        const body = await response.json()
        if (response.ok) return body
        if (response.status === 404) return undefined
      } catch {
        // The process may be starting.
      }
      await pause(retryPauseMs)
    }
  }
}

async function readList(read: Read, origin: string, owner: Owner): Promise<ListedPayment[]> {
  const found: ListedPayment[] = []
  for (let page = 1; ; page++) {
    const url = `${origin}/payments?page=${page}&limit=${pageSize}&orderBy=created_at&orderDir=asc`
    const { data, meta } = (await read(url, credentials[owner])) as {
      data: ListedPayment[]
      meta: { hasMore: boolean }
    }
    found.push(...data)
    if (!meta.hasMore) return found
  }
}

async function readPayment(read: Read, origin: string, id: string): Promise<Payment | undefined> {
  const url = `${origin}/admin/payments/${encodeURIComponent(id)}`
  const payment = (await read(url, admin)) as { data: Omit<Payment, 'history'> } | undefined
  if (payment === undefined) return undefined
  const history = (await read(`${url}/history`, admin)) as { data: HistoryEntry[] } | undefined
  return { ...payment.data, history: history?.data ?? [] }
}
