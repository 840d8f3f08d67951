// What an order of PayPal's says about the payment behind it.
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { respondedAt, unreadableResponse } from '../answers.ts'
import { Code } from '../fields.ts'
import { type HttpResponse, readResponse } from '../http.ts'
import type { IntentSnapshot } from '../provider.ts'
import { Money } from './amounts.ts'
import { amountOf, statusIn } from './answers.ts'
import { Capture, captureEvidence, statusOfCapture } from './captures.ts'

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

/**
 * Reads an order as PayPal shows it, with all that was captured of it.
 * @throws ProviderError `unknown` when it cannot be read
 */
export function snapshotOf(answer: HttpResponse): IntentSnapshot {
  const read = readResponse(order, answer)
  const captures = read.purchase_units.flatMap(({ payments }) => payments?.captures ?? [])
  const taken = captures.filter((capture) => statusOfCapture(capture) === 'succeeded')
  const [capture, ...further] = taken
  const onItsWay = captures.find(({ status }) => status === 'PENDING')
  const status = statusIn(orderStatuses, read)
  const lastFailed = read.status === 'COMPLETED' ? captures.at(-1) : undefined
  const decisive = capture ?? onItsWay ?? lastFailed
  const provider_time = respondedAt(answer.headers)
  if (!decisive) return fromOrder(read, status, provider_time)
  return {
    evidence: { ...captureEvidence(decisive), provider_time, provider_event_id: null, provider_intent_id: read.id },
    further_charges: further.map(({ id }) => id),
    awaits_capture: false,
  }
}

/** The payer's approval came to nothing: PayPal would not take the money. */
export function declinedSnapshot(orderId: string, failure_code: string, answer: HttpResponse): IntentSnapshot {
  return {
    evidence: {
      status: 'failed',
      provider_time: respondedAt(answer.headers),
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
  if (!amount) throw unreadableResponse('unreadable_answer')
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
