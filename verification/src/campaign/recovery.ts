// After the faults of a round: how long until everything works again.
import { setTimeout as pause } from 'node:timers/promises'
import type { Load } from './load/load.ts'
import { credentials } from './load/owners.ts'
import type { CampaignSystem } from './system/system.ts'

const pollMs = 100
const requestTimeoutMs = 5_000

export type Recovery = {
  readonly ms: number
  /** What worked last, and what was wrong with it before. */
  readonly last: string
  /** What did not work at the end; empty when everything did. */
  readonly missing: string
}

/**
 * Waits until each app says that it is ready, a new payment is recorded, listed and announced by a webhook, and administrators
 * see the system.
 */
export async function awaitRecovery(
  { urls, healthUrls }: CampaignSystem,
  load: Load,
  timeoutMs: number,
): Promise<Recovery> {
  const startedAt = performance.now()
  const elapsed = () => performance.now() - startedAt
  const steps: readonly (readonly [string, () => Promise<string>])[] = [
    ...[...healthUrls].map(([name, url]) => [name, () => notReady(name, url)] as const),
    [
      'system page',
      async () => ((await isOk(`${urls.operator}/admin/system`, credentials.administrator)) ? '' : 'no system page'),
    ],
    ['payment', payOnce(urls, load)],
  ]
  let last = ''
  const missing = await Promise.all(
    steps.map(async ([name, step]) => {
      for (let before = ''; ; ) {
        const problem = await step().catch((error: unknown) => String(error))
        if (problem === '') last = before === '' ? name : `${name} (${before})`
        before = problem
        if (problem === '' || elapsed() > timeoutMs) return problem
        await pause(pollMs)
      }
    }),
  )
  return { ms: elapsed(), last, missing: missing.filter((problem) => problem !== '').join('; ') }
}

/** @returns to be called until it returns '' */
function payOnce({ query }: CampaignSystem['urls'], load: Load): () => Promise<string> {
  let id: string | undefined
  let isListed = false
  void load.probe().then((paid) => {
    id = paid
  })
  return async () => {
    if (id === undefined) return 'no payment can be created'
    isListed ||= await isOk(`${query}/payments/${id}`, credentials['user 1'])
    if (!isListed) return `payment ${id} is not among the read models`
    return load.isAnnounced(id) ? '' : `no webhook about payment ${id}`
  }
}

async function isOk(url: string, headers: Readonly<Record<string, string>> = {}): Promise<boolean> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(requestTimeoutMs) })
  await response.arrayBuffer()
  return response.ok
}

/** @returns which checks of an app fail */
async function notReady(name: string, url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(requestTimeoutMs) })
  const { checks = {} } = (await response.json()) as { checks?: Record<string, { readonly ok?: boolean }> }
  if (response.ok) return ''
  const failing = Object.entries(checks).filter(([, { ok }]) => ok === false)
  return `${name} is not ready: ${failing
    .map(([check, detail]) => `${check} ${JSON.stringify(detail)}`)
    .join(', ')
    .slice(0, 600)}`
}
