// The receiver of one provider as a test sees it: over the wire, with a payment to send notifications about.
import { paymentStream, providerEventStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import { type Reconciliation, reconcilePayment } from '@paylog/workflows/payments/reconcilePayment'
import type { Test } from 'tap'
import { commandApiHarness } from './commandApiUnderTest.ts'

export type SignedNotification = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

export type OpenedPayment = { readonly id: string; readonly intent: string; readonly secret: string }

export async function receiverHarness(t: Test, provider: Provider) {
  const parts = await commandApiHarness(t, { providers: [provider] })
  const { app, store, workflow } = parts
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `${origin}/webhooks/${provider.id}`
  const typesOf = async (stream: string) => (await store.readStream(stream)).map(({ type }) => type)
  const historyOf = async (paymentId: string) => (await typesOf(paymentStream(paymentId))).slice(2)
  const reconcile = (paymentId: string): Promise<Reconciliation> =>
    reconcilePayment(workflow, paymentId, { correlationId: 'test', causationId: 'test', actor: 'worker' })
  return {
    ...parts,
    url,
    /** Opens a payment of 25.99. */
    async open(): Promise<OpenedPayment> {
      const payload = { total_cents: 2599, currency: 'USD' }
      const { data } = (await app.inject({ method: 'POST', url: '/payments/intents', payload })).json()
      return { id: data.id, intent: data.provider_intent_id, secret: data.client_secret }
    },
    /** @returns the status and the code of the answer, when it is a refusal */
    async send({ headers, body }: SignedNotification): Promise<readonly [status: number, code: string | undefined]> {
      const response = await fetch(url, { method: 'POST', headers, body })
      const answer: unknown = await response.json()
      return [response.status, (answer as { error?: { code: string } }).error?.code]
    },
    /** What happened to a payment after it was opened. */
    historyOf,
    inboxOf: (eventId: string) => store.readStream(providerEventStream(provider.id, eventId)),
    typesOf,
    reconcile,
    /**
     * After all was told of a payment it has the status that is true, and nothing contradicts it.
     * @param expected `facts` is how often events of a type are on record, `name` that of the case
     */
    async assertSettlesAs(
      t: Test,
      paymentId: string,
      expected: {
        readonly truth: string
        readonly facts: Readonly<Record<string, number>>
        readonly name: string
      },
    ): Promise<void> {
      const { truth, facts, name } = expected
      const { finding, payment } = await reconcile(paymentId)
      t.equal(payment.status, truth, name)
      t.ok(finding === 'same' || finding === 'late', `${name}: ${finding}`)
      t.equal((await reconcile(paymentId)).finding, 'same', name)
      const history = await historyOf(paymentId)
      for (const [type, times] of Object.entries(facts))
        t.equal(history.filter((each) => each === type).length, times, `${type}: ${name}`)
      t.notOk(history.includes('PaymentConflictDetected') || history.includes('PaymentAmountMismatch'), name)
    },
  }
}

/** The same JSON with other bytes. */
export function reformatted({ headers, body }: SignedNotification): SignedNotification {
  const other = JSON.stringify(JSON.parse(body))
  if (other === body) throw new Error('It has the same bytes')
  return { headers, body: other }
}

/**
 * Orders of some things in which each of them comes at every place, and any two of them both ways round. What each order
 * means is decided by the domain, whose tests play them all.
 */
export function ordersOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const rotations = items.map((_, n) => [...items.slice(n), ...items.slice(0, n)])
  return items.length < 3 ? rotations : [...rotations, ...rotations.map((order) => order.toReversed())]
}
