// A log with payments in the states that a test needs.
import { randomUUID } from 'node:crypto'
import { initiatePayment } from '@paylog/commands/payments/initiatePayment'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { type InitiatePayment, priceOf, recordInitiation, recordIntentCreated } from '@paylog/domain/payments/initiate'
import { existingPayment, type Payment, type PaymentState } from '@paylog/domain/payments/payment'
import { recordStatus, type StatusReport } from '@paylog/domain/payments/statusReports'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import { paymentFields } from '@paylog/testing/paymentFields'
import type { Test } from 'tap'
import { opsHarness } from './opsHarness.ts'

const metadata = { correlationId: 'request-1', causationId: 'request-1', actor: 'anonymous' }

const paymentDefaults = {
  ...paymentFields,
  ...priceOf({ total_cents: 2200, currency: 'EUR' }),
  payer: { id: null, type: 'guest', email: null },
}

export async function paymentsHarness(t: Test) {
  const harness = await opsHarness(t)
  return { ...harness, ...paymentsOn(harness.store) }
}

export function paymentsOn(store: EventStore) {
  const decide = (id: string, decision: (state: PaymentState) => PaymentEvent[]) =>
    store.handle({ stream: paymentStream(id), fold: paymentFold, decide: decision, metadata })
  const payment = async (id: string): Promise<Payment> =>
    existingPayment((await store.load(paymentStream(id), paymentFold)).state)

  return {
    payment,
    statusOf: async (id: string) => (await payment(id)).status,
    intentOf: async (id: string) => (await payment(id)).provider_intent_id ?? '',

    /** A payment whose request completes, with any response of the provider. */
    async open(provider: Provider, wanted: Partial<InitiatePayment> = {}): Promise<string> {
      const payment_id = randomUUID()
      const occurred_at = new Date().toISOString()
      const workflow = { store, providers: new Map([[provider.id, provider]]), now: () => new Date() }
      const command = { ...paymentDefaults, occurred_at, payment_id, provider_id: provider.id, ...wanted }
      await initiatePayment(workflow, command, { metadata })
      return payment_id
    },

    /** A payment whose request died before it called the provider, a minute ago. */
    async initiate(provider_id: string): Promise<string> {
      const payment_id = randomUUID()
      const occurred_at = new Date(Date.now() - 60_000).toISOString()
      await decide(payment_id, (state) =>
        recordInitiation({ ...paymentDefaults, occurred_at, payment_id, provider_id }, state),
      )
      return payment_id
    },

    /** A payment with a recorded intent, in one append. */
    async record(provider_id: string, provider_intent_id: string, wanted: Partial<InitiatePayment> = {}) {
      const payment_id = wanted.payment_id ?? randomUUID()
      const occurred_at = new Date().toISOString()
      await decide(payment_id, (state) => {
        const opened = recordInitiation({ ...paymentDefaults, occurred_at, payment_id, provider_id, ...wanted }, state)
        const response = { occurred_at, attempt: 1, provider_intent_id, client_secret: null }
        return [...opened, ...recordIntentCreated(response, opened.reduce(paymentFold.evolve, state))]
      })
      return payment_id
    },

    /** Records a report of the provider about a payment. */
    async notify(id: string, status: StatusReport['status'], provider_payment_id: string | null = null): Promise<void> {
      const { total_cents: amount_cents, currency, provider_intent_id } = await payment(id)
      const time = new Date().toISOString()
      const report = { status, amount_cents, currency, provider_intent_id, provider_payment_id }
      const source = { occurred_at: time, provider_time: time, provider_event_id: randomUUID() }
      await decide(id, (state) => recordStatus({ ...report, ...source, source: 'queryable_notification' }, state))
    },
  }
}
