// What the demo tells: one payment, from the guest who makes it to the webhook about its end.
import { PaymentResource } from '@paylog/domain/payments/resource'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { demoGuestTokens } from '@paylog/identity/sandboxIdentity'
import { table } from '@paylog/runtime/process/table'
import { settlePayment } from '@paylog/workflows/payments/settlement'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { request } from 'undici'
import { StartError } from '../terminal.ts'
import type { WebhookEndpoint } from './webhookEndpoint.ts'

/** Every step is a matter of milliseconds; whatever takes this long has failed. */
const patienceMs = 15_000

const PaymentResponse = Type.Object({ data: PaymentResource })

export async function runDemoSteps(scene: {
  readonly say: (text: string) => void
  readonly baseUrl: string
  readonly store: EventStore
  readonly sandboxSecret: string
  readonly endpoint: WebhookEndpoint
}): Promise<void> {
  const { say, baseUrl, store, endpoint } = scene
  const guest = demoGuestTokens[0]
  if (guest === undefined) throw new StartError('There is no demo guest.')

  const created = await timed(() =>
    callForPayment('POST', `${baseUrl}/payments/intents`, {
      total_cents: 2200,
      currency: 'EUR',
      provider_id: 'sandbox',
      concept: 'Two tickets',
      guest_data: { email: guest.email, name: guest.name, phone: '+34600000000' },
    }),
  )
  const { id } = created.result
  say(`\n2. A guest starts a payment: POST /payments/intents answered in ${created.ms}.\n`)
  say(paymentTable(created.result))

  const settled = await timed(() =>
    settlePayment({ store, baseUrl, secret: scene.sandboxSecret, paymentId: id, outcome: 'succeeded' }),
  )
  say(`\n3. The sandbox provider reports success to POST /webhooks/sandbox, signed; accepted in ${settled.ms}.`)

  const seen = await timed(() => succeededPayment(`${baseUrl}/payments/${id}?token=${guest.token}`))
  say(`\n4. The guest looks at the payment, with their token; the read model had it after ${seen.ms}.\n`)
  say(paymentTable(seen.result))

  const events = await store.readStream(paymentStream(id))
  say(`\n5. What the log keeps of it, for ever: stream ${paymentStream(id)}.\n`)
  say(
    table(
      ['revision', 'event', 'recorded', 'by'],
      events.map(({ revision, type, created: at, metadata }) => [
        revision.toString(),
        type,
        at.toISOString(),
        metadata.actor,
      ]),
    ),
  )

  const arrivals = await endpoint.arrivals(2, AbortSignal.timeout(patienceMs))
  say(`\n6. What the operator's endpoint ${endpoint.url} was told.\n`)
  say(
    table(
      ['event', 'status', 'amount', 'signature', 'since it was recorded'],
      arrivals.map(({ webhook, signatureIsValid, at }) => [
        webhook.event,
        webhook.data.status,
        money(webhook.data.amount, webhook.data.currency),
        signatureIsValid ? 'verified' : 'WRONG',
        milliseconds(at.getTime() - recordedAt(events, webhook.event)),
      ]),
    ),
  )
  if (arrivals.some(({ signatureIsValid }) => !signatureIsValid)) throw new StartError('A webhook was not signed.')
  if (!arrivals.some(({ webhook }) => webhook.event === 'payment.succeeded' && webhook.data.payment_id === id))
    throw new StartError('The webhook payment.succeeded did not arrive.')
}

async function callForPayment(method: 'GET' | 'POST', url: string, body?: object): Promise<PaymentResource> {
  const response = await request(url, {
    method,
    ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(patienceMs),
  })
  const content: unknown = await response.body.json()
  if (!Value.Check(PaymentResponse, content))
    throw new StartError(`${method} ${url} answered ${response.statusCode}: ${JSON.stringify(content)}`)
  return content.data
}

/** The read model follows the log: it has the payment's end in a moment. */
async function succeededPayment(url: string): Promise<PaymentResource> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const payment = await callForPayment('GET', url)
    if (payment.status === 'succeeded') return payment
    if (performance.now() > giveUpAt) throw new StartError(`The payment stayed ${payment.status}.`)
  }
}

async function timed<Result>(work: () => Promise<Result>) {
  const begin = performance.now()
  const result = await work()
  return { result, ms: milliseconds(performance.now() - begin) }
}

const milliseconds = (ms: number) => `${Math.round(ms)} ms`

function paymentTable(payment: PaymentResource): string {
  const { id, status, total_cents, currency, concept, guest_email, provider_intent_id, completed_at } = payment
  return table(
    ['field', 'value'],
    Object.entries({ id, status, total_cents, currency, concept, guest_email, provider_intent_id, completed_at }).map(
      ([field, value]) => [field, String(value ?? '-')],
    ),
  )
}

/** When the log got the event that a canonical webhook is about (design, section 7). */
function recordedAt(events: readonly Recorded[], canonical: string): number {
  const cause = canonical === 'payment.created' ? 'ProviderIntentCreated' : 'PaymentSucceeded'
  return events.find(({ type }) => type === cause)?.created.getTime() ?? Number.NaN
}

/** Minor units with as many decimals as the currency has. */
function money(cents: number, currency: string): string {
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
  return `${(cents / 10 ** maximumFractionDigits).toFixed(maximumFractionDigits)} ${currency}`
}
