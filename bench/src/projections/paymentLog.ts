// Generates a repeatable log like that of a busy payment service, with interleaved payments.
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { recordInitiation, recordIntentCreated } from '@paylog/domain/payments/initiate'
import { noPayment, type PaymentState } from '@paylog/domain/payments/payment'
import { recordRefund } from '@paylog/domain/payments/refunds'
import { recordStatus, type StatusReport } from '@paylog/domain/payments/statusReports'
import { paymentStream } from '@paylog/event-store/streamName'
import { paymentFields } from '@paylog/testing/paymentFields'
import { type Appending, notification } from './otherStreams.ts'
import { createRandom, type Random } from './random.ts'

type Step = 'initiate' | 'intent' | StatusReport['status'] | 'refund'
type Payment = { readonly id: string; state: PaymentState; revision: bigint; readonly steps: Step[] }

/** Concurrent payments. */
const maxOpen = 300
const firstMoment = Date.parse('2026-01-01T00:00:00.000Z')
const millisecondsApart = 35

/**
 * Payments of three to five events each; some are refunded long after.
 * @param options `mixed`: events of other streams per payment event
 */
export function* paymentLog({ mixed }: { readonly mixed: number }): Generator<Appending, never> {
  const random = createRandom(20_260_101)
  const open: Payment[] = []
  const toRefund: Payment[] = []
  let others = 0
  for (let moment = firstMoment; ; moment += millisecondsApart) {
    if (open.length < maxOpen) open.push(newPayment(moment, random))
    if (toRefund.length > maxOpen && random.oneIn(2)) open.push(...toRefund.splice(random.below(toRefund.length), 1))
    const index = random.below(open.length)
    const payment = open[index]
    if (payment === undefined) throw new Error('No payment is open')
    const appending = nextOf(payment, new Date(moment).toISOString(), random)
    yield appending
    for (others += mixed * appending.events.length; others >= 1; ) {
      const other = notification(moment, random)
      others -= other.events.length
      yield other
    }
    if (payment.steps.length > 0 && payment.steps[0] !== 'refund') continue
    open.splice(index, 1)
    if (payment.steps.length > 0) toRefund.push(payment)
  }
}

/** The next step of a payment. Sometimes two events at once, which makes writing the log faster. */
function nextOf(payment: Payment, occurred_at: string, random: Random): Appending {
  const events: PaymentEvent[] = []
  const after = payment.revision < 0n ? 'no_stream' : payment.revision
  do {
    const step = payment.steps.shift()
    if (step === undefined) throw new Error('A finished payment is still in progress')
    const decided = decide(step, payment, occurred_at, random)
    payment.state = decided.reduce(paymentFold.evolve, payment.state)
    payment.revision += BigInt(decided.length)
    events.push(...decided)
  } while (
    payment.steps[0] === 'intent' ||
    (payment.steps.length > 0 && payment.steps[0] !== 'refund' && random.oneIn(2))
  )
  return { stream: paymentStream(payment.id), after, events, subject: paymentFold.subjectOf?.(payment.state) ?? null }
}

function newPayment(moment: number, random: Random): Payment {
  const detours: Step[][] = [[], ['processing'], ['pending', 'processing']]
  const ends: Step[] = ['succeeded', 'succeeded', 'succeeded', 'succeeded', 'failed', 'canceled']
  const end = ends[random.below(ends.length)] ?? 'succeeded'
  const steps: Step[] = ['initiate', 'intent', ...(detours[random.below(detours.length)] ?? []), end]
  if (end === 'succeeded' && random.oneIn(15)) steps.push('refund')
  return { id: random.idAt(moment), state: noPayment, revision: -1n, steps }
}

function decide(step: Step, { id, state }: Payment, occurred_at: string, random: Random): readonly PaymentEvent[] {
  const provider_intent_id = `pi_${id.replaceAll('-', '')}`
  const reported = {
    occurred_at,
    provider_time: occurred_at,
    provider_event_id: `evt_${random.hex(24)}`,
    provider_intent_id,
    provider_payment_id: `ch_${id.slice(0, 24)}`,
  }
  switch (step) {
    case 'initiate':
      return recordInitiation(order(id, occurred_at, random), state)
    case 'intent': {
      const client_secret = `${provider_intent_id}_secret_${random.hex(24)}`
      return recordIntentCreated({ occurred_at, attempt: 1, provider_intent_id, client_secret }, state)
    }
    case 'refund':
      return recordRefund(
        {
          ...reported,
          refund_id: null,
          provider_refund_id: `re_${random.hex(24)}`,
          amount_cents: 1_000,
          currency: null,
          status: 'succeeded',
        },
        state,
      )
    default:
      return recordStatus(
        { ...reported, status: step, source: 'notification', amount_cents: null, currency: null },
        state,
      )
  }
}

function order(payment_id: string, occurred_at: string, random: Random): Parameters<typeof recordInitiation>[0] {
  const number = random.below(100_000)
  const isGuest = random.oneIn(4)
  const email = `customer${number}@example.com`
  return {
    ...paymentFields,
    payment_id,
    occurred_at,
    provider_id: 'sandbox',
    subtotal_cents: 1_000 + number,
    tax_cents: 200,
    discount_cents: 0,
    total_cents: 1_200 + number,
    currency: 'EUR',
    payer: isGuest ? { id: null, type: 'guest', email } : { id: `customer-${number}`, type: 'user', email },
    concept: 'Winter shoes',
    description: `Order ${number} of winter shoes, size ${36 + (number % 12)}, delivered to the door`,
    reference_code: `R-2026-${number}`,
    category: 'shoes',
    tags: 'winter,shoes,online',
    payment_method_id: isGuest ? null : random.idAt(firstMoment),
    is_guest_payment: isGuest,
    guest_email: isGuest ? email : null,
    guest_name: isGuest ? `Customer ${number}` : null,
    guest_phone: isGuest && random.oneIn(3) ? `+43 1 ${number}` : null,
    metadata: { order_id: `order-${number}`, channel: 'web', campaign: { name: 'winter', variant: number % 3 } },
    request_fingerprint: random.oneIn(2) ? random.hex(64) : null,
  }
}
