// The steps of the demo: one payment, from the guest's request to the last webhook.

import { settlePayment } from '@paylog/commands/payments/sandboxReports'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { table } from '@paylog/runtime/process/table'
import { StartError } from '../terminal.ts'
import { startPayment, stepTimeoutMs, succeededPayment } from './payment.ts'
import type { WebhookEndpoint } from './webhookEndpoint.ts'

export async function runDemoSteps(options: {
  readonly print: (text: string) => void
  readonly baseUrl: string
  readonly store: EventStore
  readonly sandboxSecret: string
  readonly endpoint: WebhookEndpoint
}): Promise<void> {
  const { print, baseUrl, store, endpoint } = options
  const created = await timed(() => startPayment(baseUrl))
  const { id } = created.result
  print(`\n2. A guest starts a payment. POST /payments/intents responded in ${created.ms}.\n`)
  print(paymentTable(created.result))

  const settled = await timed(() =>
    settlePayment({ store, baseUrl, secret: options.sandboxSecret, paymentId: id, outcome: 'succeeded' }),
  )
  print(`\n3. The sandbox provider reports success with a signed POST /webhooks/sandbox, accepted in ${settled.ms}.`)

  const read = await timed(() => succeededPayment(baseUrl, id))
  print(`\n4. The guest reads the payment with their token. The read model was up to date after ${read.ms}.\n`)
  print(paymentTable(read.result))

  const events = await store.readStream(paymentStream(id))
  print(`\n5. The log keeps every step. Stream ${paymentStream(id)}:\n`)
  print(
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

  const arrivals = await endpoint.arrivals(2, AbortSignal.timeout(stepTimeoutMs))
  print(`\n6. The webhooks that the endpoint ${endpoint.url} received:\n`)
  print(
    table(
      ['event', 'status', 'amount', 'signature', 'after the event'],
      arrivals.map(({ webhook, at }) => [
        webhook.event,
        webhook.data.status ?? '-',
        money(webhook.data.amount, webhook.data.currency),
        // The endpoint rejects any other.
        'verified',
        milliseconds(at.getTime() - recordedAt(events, webhook.event)),
      ]),
    ),
  )
  if (!arrivals.some(({ webhook }) => webhook.event === 'payment.succeeded' && webhook.data.payment_id === id))
    throw new StartError('The webhook payment.succeeded did not arrive.')
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

/** When the event behind a canonical webhook was recorded (design, section 7). */
function recordedAt(events: readonly Recorded[], canonical: string): number {
  const cause = canonical === 'payment.created' ? 'ProviderIntentCreated' : 'PaymentSucceeded'
  return events.find(({ type }) => type === cause)?.created.getTime() ?? Number.NaN
}

/** Formats minor units with the decimals of the currency. */
function money(cents: number | null, currency: string | null): string {
  if (cents === null || currency === null) return '-'
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
  return `${(cents / 10 ** maximumFractionDigits).toFixed(maximumFractionDigits)} ${currency}`
}
