// What an order of PayPal's says about the payment behind it.
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type HttpAnswer, readAnswer } from '../http.ts'
import { type IntentSnapshot, ProviderError } from '../provider.ts'
import { Money, toCents } from './amounts.ts'
import { Code } from './code.ts'

const Capture = Type.Object({
  id: Code,
  status: Type.String(),
  amount: Money,
  status_details: Type.Optional(Type.Object({ reason: Type.Optional(Code) })),
})
type Capture = Static<typeof Capture>

const order = Compile(
  Type.Object({
    id: Code,
    status: Type.String(),
    purchase_units: Type.Array(
      Type.Object({
        amount: Type.Optional(Money),
        payments: Type.Optional(Type.Object({ captures: Type.Optional(Type.Array(Capture)) })),
      }),
      { minItems: 1 },
    ),
  }),
)
type Order = ReturnType<typeof order.Parse>

const orderStatuses: Readonly<Record<string, PaymentStatus>> = {
  CREATED: 'pending',
  SAVED: 'pending',
  PAYER_ACTION_REQUIRED: 'pending',
  APPROVED: 'processing',
  // Without a capture that came or may come, all there is to see is that the payer has done their part.
  COMPLETED: 'processing',
  VOIDED: 'canceled',
}

const captureStatuses: Readonly<Record<string, 'succeeded' | 'processing' | 'failed'>> = {
  COMPLETED: 'succeeded',
  // What went back later does not undo that the payment succeeded.
  PARTIALLY_REFUNDED: 'succeeded',
  REFUNDED: 'succeeded',
  PENDING: 'processing',
  DECLINED: 'failed',
  DENIED: 'failed',
  FAILED: 'failed',
}

/**
 * Reads an order as PayPal shows it, with all that was captured of it.
 * @throws ProviderError `unknown` when it cannot be read
 */
export function snapshotOf(answer: HttpAnswer): IntentSnapshot {
  const read = readAnswer(order, answer)
  const captures = read.purchase_units.flatMap(({ payments }) => payments?.captures ?? [])
  const taken = captures.filter((capture) => statusIn(captureStatuses, capture) === 'succeeded')
  const [capture, ...further] = taken
  const onItsWay = captures.find(({ status }) => status === 'PENDING')
  const status = statusIn(orderStatuses, read)
  const lastFailed = read.status === 'COMPLETED' ? captures.at(-1) : undefined
  const decisive = capture ?? onItsWay ?? lastFailed
  const provider_time = answeredAt(answer)
  if (!decisive) return fromOrder(read, status, provider_time)
  return {
    evidence: {
      ...fromCapture(decisive),
      provider_time,
      provider_event_id: null,
      provider_intent_id: read.id,
      provider_payment_id: decisive.id,
    },
    further_charges: further.map(({ id }) => id),
    awaits_capture: false,
  }
}

/** The payer's approval came to nothing: PayPal would not take the money. */
export function declinedSnapshot(orderId: string, failure_code: string, answer: HttpAnswer): IntentSnapshot {
  return {
    evidence: {
      status: 'failed',
      provider_time: answeredAt(answer),
      provider_event_id: null,
      provider_intent_id: orderId,
      provider_payment_id: null,
      amount_cents: null,
      currency: null,
      failure_code,
      failure_message: 'PayPal declined the payment',
    },
    further_charges: [],
    awaits_capture: false,
  }
}

function fromOrder(read: Order, status: PaymentStatus, provider_time: string): IntentSnapshot {
  const amount = read.purchase_units[0]?.amount
  if (!amount) throw unreadable()
  return {
    evidence: {
      status,
      provider_time,
      provider_event_id: null,
      provider_intent_id: read.id,
      provider_payment_id: null,
      ...amountOf(amount),
    },
    further_charges: [],
    awaits_capture: read.status === 'APPROVED',
  }
}

function fromCapture(capture: Capture) {
  const status = statusIn(captureStatuses, capture)
  const amount = amountOf(capture.amount)
  if (status !== 'failed') return { status, ...amount }
  return {
    status,
    ...amount,
    failure_code: capture.status_details?.reason?.toLowerCase() ?? 'capture_declined',
    failure_message: 'PayPal could not take the payment',
  }
}

function amountOf(money: Money) {
  const amount_cents = toCents(money)
  if (amount_cents === null) throw unreadable()
  return { amount_cents, currency: money.currency_code }
}

function statusIn<Status>(statuses: Readonly<Record<string, Status>>, { status }: { readonly status: string }): Status {
  const ours = Object.hasOwn(statuses, status) ? statuses[status] : undefined
  if (ours === undefined) throw unreadable()
  return ours
}

/** PayPal's clock, to the second; ours when it does not tell the time. */
function answeredAt({ headers }: HttpAnswer): string {
  const told = Date.parse(headers.date ?? '')
  return new Date(Number.isNaN(told) ? Date.now() : told).toISOString()
}

function unreadable(): ProviderError {
  return new ProviderError('unknown', 'unreadable_answer', 'PayPal answered something that cannot be read')
}
