// After the faults of a round: how long until everything works again.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { CampaignSystem } from './system/system.ts'

const pollMs = 100
const requestTimeoutMs = 5_000
const client = { 'x-session-id': 'demo-session' }
const administrator = { 'x-session-id': 'demo-admin-session' }

export type Recovery = {
  readonly ms: number
  /** What worked last. */
  readonly last: string
  /** What did not work at the end; empty when everything did. */
  readonly missing: string
}

/**
 * Waits until each app says that it is ready, a new payment is recorded, listed and announced by a webhook, and administrators
 * see the system.
 * @param announced whether a webhook about a payment has arrived
 */
export async function awaitRecovery(
  { urls, healthUrls }: CampaignSystem,
  announced: (paymentId: string) => boolean,
  timeoutMs: number,
): Promise<Recovery> {
  const began = performance.now()
  const elapsed = () => performance.now() - began
  const steps: readonly (readonly [string, () => Promise<string>])[] = [
    ...[...healthUrls].map(
      ([name, url]) => [name, async () => ((await isOk(url)) ? '' : `${name} is not ready`)] as const,
    ),
    ['system page', async () => ((await isOk(`${urls.operator}/admin/system`, administrator)) ? '' : 'no system page')],
    ['payment', payOnce(urls, announced)],
  ]
  let last = ''
  const missing = await Promise.all(
    steps.map(async ([name, step]) => {
      for (;;) {
        const problem = await step().catch((error: unknown) => String(error))
        if (problem === '') last = name
        if (problem === '' || elapsed() > timeoutMs) return problem
        await pause(pollMs)
      }
    }),
  )
  return { ms: elapsed(), last, missing: missing.filter((problem) => problem !== '').join('; ') }
}

/** @returns to be called until it returns '' */
function payOnce(
  { command, query }: CampaignSystem['urls'],
  announced: (paymentId: string) => boolean,
): () => Promise<string> {
  const key = randomUUID()
  let id: string | undefined
  let isListed = false
  return async () => {
    id ??= await createPayment(command, key)
    if (id === undefined) return 'no payment can be created'
    isListed ||= await isOk(`${query}/payments/${id}`, client)
    if (!isListed) return `payment ${id} is not among the read models`
    return announced(id) ? '' : `no webhook about payment ${id}`
  }
}

async function createPayment(origin: string, key: string): Promise<string | undefined> {
  const response = await fetch(`${origin}/payments/intents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key, ...client },
    body: JSON.stringify({ total_cents: 100, currency: 'EUR', provider_id: 'sandbox', reference_code: `probe-${key}` }),
    signal: AbortSignal.timeout(requestTimeoutMs),
  })
  const body = (await response.json()) as { data?: { id: string } }
  return response.status === 201 ? body.data?.id : undefined
}

async function isOk(url: string, headers: Readonly<Record<string, string>> = {}): Promise<boolean> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(requestTimeoutMs) })
  await response.arrayBuffer()
  return response.ok
}
