// Writes many finished payments into the log at once: for pages that show a thousand of them.
import type { Fold } from '@paylog/domain/events'
import { recordDispute } from '@paylog/domain/payments/disputes'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { priceOf, recordInitiation, recordIntentCreated } from '@paylog/domain/payments/initiate'
import { noPayment, type PaymentState, type PaymentStatus } from '@paylog/domain/payments/payment'
import { recordRefund } from '@paylog/domain/payments/refunds'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { createEventStore, newStream } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { patience } from '@paylog/event-store/testing/eventStoreHarness'
import { paymentFields } from '@paylog/testing/paymentFields'
import type { TestSystem } from '@paylog/testing/system'
import { v7 } from 'uuid'

type Decision = (state: PaymentState) => PaymentEvent[]

const inFlight = 128
const dayMs = 86_400_000
const spanMs = 30 * dayMs
const statuses: readonly PaymentStatus[] = ['succeeded', 'succeeded', 'succeeded', 'failed', 'canceled', 'pending']
const currencies = ['EUR', 'EUR', 'USD', 'JPY', 'KWD']
/** The events are decided, so the state of the stream does not matter. */
const fold: Fold<null, PaymentEvent> = { initialState: null, evolve: (state) => state }

/**
 * Appends payments of 30 days, in turn of each status, in several currencies, some refunded, disputed or with
 * another amount than asked.
 * @param until the end of the days, now by default
 * @returns their ids, the oldest first
 */
export async function writePayments(
  { eventStoreUrl, keys }: Pick<TestSystem, 'eventStoreUrl' | 'keys'>,
  count: number,
  until = new Date(),
): Promise<readonly string[]> {
  const store = createEventStore({ connectionString: eventStoreUrl, keys, timing: patience })
  const ids: string[] = []
  const first = until.getTime() - spanMs
  const writer = async () => {
    while (ids.length < count) {
      const number = ids.length
      const at = new Date(first + (number * spanMs) / count)
      const id = v7({ msecs: at.getTime() })
      ids.push(id)
      const metadata = { correlationId: id, causationId: id, actor: 'provider:sandbox', requestId: id }
      const events = paymentEvents(id, number, at.toISOString())
      const subject = paymentFold.subjectOf?.(events.reduce(paymentFold.evolve, noPayment as PaymentState)) ?? null
      const written = { stream: paymentStream(id), subject, metadata, assumed: newStream(fold) }
      await store.handle({ ...written, fold, decide: () => events })
    }
  }
  try {
    await Promise.all(Array.from({ length: inFlight }, writer))
  } finally {
    await store.close()
  }
  return ids
}

function paymentEvents(id: string, number: number, occurred_at: string): PaymentEvent[] {
  const intent = `pi_${id}`
  const charge = `ch_${id}`
  const report = { occurred_at, provider_time: occurred_at, provider_intent_id: intent, provider_payment_id: charge }
  const status = statuses[number % statuses.length] ?? 'succeeded'
  const isDisputed = number % 97 === 0
  const decisions: Decision[] = [
    (state) => recordInitiation(order(id, number, occurred_at), state),
    (state) =>
      recordIntentCreated({ occurred_at, attempt: 1, provider_intent_id: intent, client_secret: `${intent}_x` }, state),
  ]
  if (status !== 'pending')
    decisions.push((state) =>
      recordStatus(
        {
          ...report,
          provider_event_id: `evt_${id}`,
          status,
          // Some providers report another amount than was asked.
          amount_cents: number % 60 === 1 ? 1 : null,
          currency: null,
        },
        state,
      ),
    )
  if (number % 12 === 0)
    decisions.push((state) =>
      recordRefund(
        {
          ...report,
          provider_event_id: `evt_r${id}`,
          refund_id: null,
          provider_refund_id: `re_${id}`,
          amount_cents: 100,
          currency: null,
          status: 'succeeded',
        },
        state,
      ),
    )
  if (isDisputed)
    decisions.push((state) =>
      recordDispute(
        {
          ...report,
          provider_event_id: `evt_d${id}`,
          provider_dispute_id: `dp_${id}`,
          status: 'open',
          provider_status: 'needs_response',
          reason: 'fraudulent',
          evidence_due_by: null,
          amount_cents: 1_000,
          currency: null,
        },
        state,
      ),
    )
  let state: PaymentState = noPayment
  return decisions.flatMap((decide) => {
    const events = decide(state)
    state = events.reduce(paymentFold.evolve, state)
    return events
  })
}

function order(payment_id: string, number: number, occurred_at: string): Parameters<typeof recordInitiation>[0] {
  const email = `customer${number % 1_000}@example.com`
  const isGuest = number % 2 === 0
  return {
    ...paymentFields,
    payment_id,
    occurred_at,
    provider_id: 'sandbox',
    ...priceOf({
      total_cents: 1_000 + (number % 50_000),
      currency: currencies[number % currencies.length] ?? 'EUR',
    }),
    payer: isGuest ? { id: null, type: 'guest', email } : { id: `user-${number % 100}`, type: 'user', email },
    description: `Order ${number}: winter shoes`,
    reference_code: `R-${number}`,
    is_guest_payment: isGuest,
    guest_email: isGuest ? email : null,
    guest_name: isGuest ? `Customer ${number}` : null,
  }
}
