import { setTimeout as pause } from 'node:timers/promises'
import { waitFor } from '@paylog/testing/waitFor'

const asUser = { 'x-session-id': 'demo-session' }
const payment = JSON.stringify({ total_cents: 1500, currency: 'EUR', provider_id: 'sandbox' })
/** Longer than any response takes while a backend is down. */
const responseTimeoutMs = 30_000

export type ApiResponse = { readonly status: number; readonly body: string }

/** Creates one payment. Rejects when there is no response. */
export async function pay(baseUrl: string): Promise<ApiResponse> {
  const response = await fetch(`${baseUrl}/payments/intents`, {
    method: 'POST',
    headers: { ...asUser, 'content-type': 'application/json' },
    body: payment,
    signal: AbortSignal.timeout(responseTimeoutMs),
  })
  return { status: response.status, body: await response.text() }
}

export const idOf = ({ body }: ApiResponse) => (JSON.parse(body) as { data: { id: string } }).data.id

/** Creates payments until `stop`, which returns the ids of the acknowledged ones. Failures are ignored. */
export function keepPaying(baseUrl: string, callers: number) {
  const acknowledged: string[] = []
  let isStopped = false
  const calling = Array.from({ length: callers }, async () => {
    while (!isStopped) {
      const response = await pay(baseUrl).catch(() => undefined)
      if (response?.status === 201) acknowledged.push(idOf(response))
      else await pause(20)
    }
  })
  return {
    async stop(): Promise<readonly string[]> {
      isStopped = true
      await Promise.all(calling)
      return acknowledged
    },
  }
}

/** Resolves when every payment can be read. */
export async function waitForPayments(baseUrl: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const isThere = async () => (await fetch(`${baseUrl}/payments/${id}`, { headers: asUser })).status === 200
    await waitFor(isThere, { what: `the acknowledged payment ${id}` })
  }
}
