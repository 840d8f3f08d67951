// Which payments are selected for a check.

import type { PaymentEvent } from '@paylog/domain/payments/events'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { paymentFields } from '@paylog/testing/paymentFields'
import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import { createPaymentSelection } from './reconcile.ts'

const facts = {
  occurred_at: '2026-11-20T12:00:00.000Z',
  provider_id: 'stripe',
  amount_cents: 2200,
  currency: 'EUR',
  payer: { id: null, type: 'guest', email: null },
  project_id: null,
}
const report = { provider_time: facts.occurred_at, provider_event_id: null, provider_payment_id: null }
const amounts = { subtotal_cents: 2200, tax_cents: 0, discount_cents: 0, total_cents: 2200 }
const create = { call: 'create', attempt: 1, refund_id: null } as const
const failure = { failure_code: 'declined', failure_message: 'Declined' }

type Wanted = { readonly occurred_at?: string; readonly provider_id?: string }

/** The events of payments, by payment id. */
const initiated = (payment_id: string, wanted: Wanted = {}): PaymentEvent => ({
  type: 'PaymentInitiated',
  data: { ...facts, ...paymentFields, ...amounts, payment_id, ...wanted },
})
const started = (payment_id: string, wanted: Wanted = {}): PaymentEvent => ({
  type: 'PaymentAttemptStarted',
  data: { ...facts, payment_id, attempt: 2, ...wanted },
})
const rejected = (payment_id: string): PaymentEvent => ({
  type: 'ProviderCallFailed',
  data: { ...facts, ...failure, ...create, payment_id, outcome: 'rejected', error_code: 'provider_unavailable' },
})
const failed = (payment_id: string): PaymentEvent => ({
  type: 'PaymentAttemptFailed',
  data: { ...facts, ...report, ...failure, payment_id },
})
const ended = (type: 'PaymentSucceeded' | 'PaymentCanceled', payment_id: string): PaymentEvent => {
  const data = { ...facts, ...report, payment_id }
  return type === 'PaymentSucceeded'
    ? { type, data: { ...data, received_cents: 2200 } }
    : { type, data: { ...data, reason: null } }
}

function chosen(events: readonly PaymentEvent[], options: { since?: number; all?: boolean } = {}): string[] {
  const { payments, apply } = createPaymentSelection({ since: options.since, all: options.all ?? false })
  events.forEach((event, number) => {
    const position = positionAt(BigInt(number))
    const metadata = { correlationId: 'c', causationId: 'c', actor: 'anonymous', schema: 1 }
    const stream = `payment-${event.data.payment_id}`
    const at = { id: '', stream, revision: 0n, position, created: new Date(), metadata, sealed: {} }
    const recorded: Recorded = { ...event, ...at }
    apply(recorded)
  })
  return [...payments].map(([id, provider]) => `${provider} ${id}`)
}

t.test('payments are selected until they are final, in the order of their creation', async (t) => {
  const events = [
    initiated('a'),
    initiated('b', { provider_id: 'paypal' }),
    initiated('c'),
    initiated('d'),
    failed('a'),
    ended('PaymentSucceeded', 'c'),
    ended('PaymentCanceled', 'd'),
  ]
  t.same(chosen(events), ['stripe a', 'paypal b'])
  t.same(chosen(events, { all: true }), ['stripe a', 'paypal b', 'stripe c', 'stripe d'])
})

t.test('a payment whose call was rejected is not selected until another call starts', async (t) => {
  const events = [initiated('a'), initiated('b'), rejected('a'), rejected('b')]
  t.same(chosen(events), [])
  t.same(chosen(events, { all: true }), [])
  t.same(chosen([...events, started('b'), started('a')]), ['stripe b', 'stripe a'])
})

t.test('--since skips payments created earlier, unless a new attempt started since', async (t) => {
  const before = { occurred_at: '2026-11-20T11:59:59.999Z' }
  const since = Date.parse(facts.occurred_at)
  const events = [initiated('a', before), initiated('b'), initiated('c', before), rejected('c'), started('c')]
  t.same(chosen(events, { since }), ['stripe b', 'stripe c'])
  t.same(chosen([...events, failed('a')], { since, all: true }), ['stripe b', 'stripe c'])
})
