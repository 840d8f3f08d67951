// Payments on a real log, brought by hand to where a test wants them.
import { randomUUID } from 'node:crypto'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { type Evidence, type RecordEvidence, recordEvidence } from '@paylog/domain/payments/evidence'
import { type InitiatePayment, initiatePayment } from '@paylog/domain/payments/initiate'
import { existingPayment, type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import { openPayment } from '@paylog/workflows/payments/openPayment'
import { eventSamples } from './paymentEvents.ts'

const metadata = { correlationId: 'request-1', causationId: 'request-1', actor: 'anonymous' }
const request_fingerprint = 'fingerprint'

/** What a payment has of its own, beside its id and its provider. */
export type PaymentOptions = Partial<Pick<InitiatePayment, 'payment_method_id' | 'provider_method'>>

export function paymentFixture(store: EventStore, now: () => Date) {
  const initiateCommand = (payment_id: string, provider_id: string, order: PaymentOptions) => ({
    ...eventSamples.PaymentInitiated,
    ...order,
    payment_id,
    provider_id,
    request_fingerprint,
    occurred_at: now().toISOString(),
  })
  const decide = (id: string, decision: (state: PaymentState) => PaymentEvent[], actor = 'anonymous') =>
    store.handle({
      stream: paymentStream(id),
      fold: paymentFold,
      decide: decision,
      metadata: { ...metadata, actor },
    })
  const payment = async (id: string): Promise<Payment> =>
    existingPayment((await store.load(paymentStream(id), paymentFold)).state)

  return {
    payment,
    intentOf: async (id: string) => (await payment(id)).provider_intent_id ?? '',
    eventsOf: async (id: string) => (await store.readStream(paymentStream(id))).map(({ type }) => type),

    /** As a request leaves it that dies before it calls the provider. */
    async initiate(provider: Pick<Provider, 'id'>, order: PaymentOptions = {}): Promise<string> {
      const id = randomUUID()
      await decide(id, (state) => initiatePayment(initiateCommand(id, provider.id, order), state))
      return id
    },

    /** As a request leaves it that lives to its end. */
    async open(provider: Provider, order: PaymentOptions = {}): Promise<string> {
      const payment_id = randomUUID()
      const command = async () => initiateCommand(payment_id, provider.id, order)
      const workflow = { store, providers: new Map([[provider.id, provider]]), now }
      await openPayment(workflow, { payment_id, request_fingerprint, command, metadata })
      return payment_id
    },

    /** As a notification of its provider leaves it. */
    async notify(id: string, report: Pick<Evidence, 'status'> & Partial<Evidence>): Promise<void> {
      const time = now().toISOString()
      const evidence: RecordEvidence = {
        occurred_at: time,
        provider_time: time,
        provider_event_id: randomUUID(),
        provider_intent_id: null,
        provider_payment_id: null,
        amount_cents: 2200,
        currency: 'USD',
        source: 'askable_notification',
        ...report,
      }
      await decide(id, (state) => recordEvidence(evidence, state), 'provider')
    },
  }
}
