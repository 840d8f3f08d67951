// `npm run bench -- latency`: from the answer of a POST to the list, and to the operator's endpoint, at rest.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { demoSessions } from '@paylog/identity/demoCredentials'
import { table } from '@paylog/ops/table'
import { request } from 'undici'
import { openWebhookEndpoint } from '../demo/webhookEndpoint.ts'
import { createPrivateSystem } from '../privateSystem.ts'

const warmUps = 10
const rounds = 100
/** Longer than everything that follows a payment takes, so that each one finds the system at rest. */
const restMs = 60
const patienceMs = 10_000

const headers = { 'content-type': 'application/json', authorization: `Bearer ${demoSessions[0]?.session_id}` }

/** Starts a private system, times payments one at a time, prints percentiles in milliseconds. */
export async function latency(given: NodeJS.ProcessEnv, say: (text: string) => void): Promise<void> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const endpoint = await openWebhookEndpoint(secret)
  const system = await createPrivateSystem(given, {
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: endpoint.url,
    WEBHOOK_1_SECRET: secret,
  })
  const times = { answer: [] as number[], list: [] as number[], webhook: [] as number[] }
  try {
    const begin = performance.now()
    const { base_url } = await system.start()
    say(`started with an empty DATA_DIR in ${((performance.now() - begin) / 1000).toFixed(1)} s`)
    for (let round = -warmUps; round < rounds; round++) {
      const sent = performance.now()
      const id = await openPayment(base_url)
      const answered = performance.now()
      const listed = await untilListed(base_url, id)
      const arrivals = await endpoint.arrivals(round + warmUps + 1, AbortSignal.timeout(patienceMs))
      const told = arrivals.find(({ webhook }) => webhook.data.payment_id === id)
      if (told === undefined) throw new Error(`The endpoint was not told of ${id}`)
      if (round >= 0) {
        times.answer.push(answered - sent)
        times.list.push(listed - answered)
        times.webhook.push(Math.max(0, told.at.getTime() - performance.timeOrigin - answered))
      }
      await sleep(restMs)
    }
  } finally {
    await system.stop()
    endpoint.close()
  }
  const row = (what: string, values: readonly number[]) => [
    what,
    ...[0.5, 0.9, 0.99, 1].map((q) => quantile(values, q)),
  ]
  say(`${rounds} payments, one at a time, in milliseconds`)
  say(
    table(
      ['', 'p50', 'p90', 'p99', 'max'],
      [row('POST answered', times.answer), row('answer to list', times.list), row('answer to webhook', times.webhook)],
    ),
  )
}

async function openPayment(baseUrl: string): Promise<string> {
  const { statusCode, body } = await request(`${baseUrl}/payments/intents`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ total_cents: 2200, currency: 'EUR' }),
  })
  const answer = await body.text()
  const id = /"id":"([^"]+)"/.exec(answer)?.[1]
  if (statusCode !== 201 || id === undefined) throw new Error(`The payment was answered ${statusCode}: ${answer}`)
  return id
}

/** Asks without the gateway's help, which would make the list wait: when does the read model have it by itself? */
async function untilListed(baseUrl: string, id: string): Promise<number> {
  for (const giveUpAt = performance.now() + patienceMs; performance.now() < giveUpAt; ) {
    const { body } = await request(`${baseUrl}/payments?limit=1`, { headers: { ...headers, 'x-read-after': '0' } })
    if ((await body.text()).includes(id)) return performance.now()
  }
  throw new Error(`The payment ${id} did not reach the list`)
}

function quantile(values: readonly number[], q: number): string {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN).toFixed(1)
}
