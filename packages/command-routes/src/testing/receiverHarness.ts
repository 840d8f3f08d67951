// A provider's receiver under test, over HTTP, with payments to send notifications about.
import { paymentStream, providerEventStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { FakeEvent } from '@paylog/testing/authorize-net/notifications'
import type { PaypalEvent } from '@paylog/testing/paypal/events'
import { type FakePaypal, startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { type Reconciliation, reconcilePayment } from '@paylog/workflows/payments/reconcilePayment'
import type { Test } from 'tap'
import { commandApiHarness } from './commandApiHarness.ts'
import { providerFromEnv } from './fakeProviders.ts'

export type SignedNotification = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

export type OpenedPayment = { readonly id: string; readonly intent: string; readonly secret: string }

export async function receiverHarness(t: Test, provider: Provider) {
  const api = await commandApiHarness(t, { providers: [provider] })
  const { app, store, workflow } = api
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `${origin}/webhooks/${provider.id}`
  const typesOf = async (stream: string) => (await store.readStream(stream)).map(({ type }) => type)
  const historyOf = async (paymentId: string) =>
    (await typesOf(paymentStream(paymentId))).slice(2).filter((type) => type !== 'ProviderNotificationReceived')
  const reconcile = (paymentId: string): Promise<Reconciliation> =>
    reconcilePayment(workflow, paymentId, { correlationId: 'test', causationId: 'test', actor: 'worker' })
  return {
    ...api,
    url,
    /** Opens a payment of 25.99. */
    async open(): Promise<OpenedPayment> {
      const payload = { total_cents: 2599, currency: 'USD' }
      const { data } = (await app.inject({ method: 'POST', url: '/payments/intents', payload })).json()
      return { id: data.id, intent: data.provider_intent_id, secret: data.client_secret }
    },
    /** @returns the status and the error code, if any */
    async send({ headers, body }: SignedNotification): Promise<readonly [status: number, code: string | undefined]> {
      const response = await fetch(url, { method: 'POST', headers, body })
      const json: unknown = await response.json()
      return [response.status, (json as { error?: { code: string } }).error?.code]
    },
    /** The event types after the opening of a payment, without the received notifications. */
    historyOf,
    /** The received notifications of a payment with an id. */
    receivedBy: async (paymentId: string, eventId: string) =>
      (await store.readStream(paymentStream(paymentId))).filter(
        ({ type, data }) =>
          type === 'ProviderNotificationReceived' && 'provider_event_id' in data && data.provider_event_id === eventId,
      ),
    inboxOf: (eventId: string) => store.readStream(providerEventStream(provider.id, eventId)),
    typesOf,
    reconcile,
    /**
     * Asserts that the payment has its final status and no conflict.
     * @param expected `facts` is the number of recorded events by type, `name` that of the case
     */
    async assertSettlesAs(
      t: Test,
      paymentId: string,
      expected: {
        readonly status: string
        readonly facts: Readonly<Record<string, number>>
        readonly name: string
      },
    ): Promise<void> {
      const { status, facts, name } = expected
      const { finding, payment } = await reconcile(paymentId)
      t.equal(payment.status, status, name)
      t.ok(finding === 'same' || finding === 'late', `${name}: ${finding}`)
      t.equal((await reconcile(paymentId)).finding, 'same', name)
      const history = await historyOf(paymentId)
      for (const [type, times] of Object.entries(facts))
        t.equal(history.filter((each) => each === type).length, times, `${type}: ${name}`)
      t.notOk(history.includes('PaymentConflictDetected') || history.includes('PaymentAmountMismatch'), name)
    },
  }
}

/** Reserializes the JSON, which changes its bytes. */
export function reformatted({ headers, body }: SignedNotification): SignedNotification {
  const other = JSON.stringify(JSON.parse(body))
  if (other === body) throw new Error('the bytes are the same')
  return { headers, body: other }
}

/**
 * Orders in which each item takes every position, and any two items occur in both orders. The domain's tests cover all
 * permutations.
 */
export function ordersOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const rotations = items.map((_, n) => [...items.slice(n), ...items.slice(0, n)])
  return items.length < 3 ? rotations : [...rotations, ...rotations.map((order) => order.toReversed())]
}

/** Authorize.Net's receiver with a fake gateway. */
export async function authorizeNetHarness(t: Test) {
  const fake = await startFakeAuthorizeNet(t)
  const oldKey = 'F0E1D2C3B4A59687'.repeat(8)
  const provider = await providerFromEnv(t, {
    ...fake.env,
    AUTHORIZE_NET_SIGNATURE_KEY: `${oldKey},${fake.signatureKey}`,
  })
  const receiver = await receiverHarness(t, provider)
  /** Runs an action at the gateway. @returns its notification */
  function notificationOf(act: () => unknown): FakeEvent {
    const before = fake.events.length
    act()
    const event = fake.events[before]
    if (!event) throw new Error('no notification')
    return event
  }
  return {
    ...receiver,
    fake,
    /** Still valid during the rotation. */
    oldKey,
    notificationOf,
    /** Sends signed notifications. @throws unless they are accepted */
    async deliver(...events: readonly FakeEvent[]): Promise<void> {
      for (const event of events) {
        const [status, code] = await receiver.send(fake.signed(event))
        if (status !== 200) throw new Error(`${event.eventType}: ${status} ${code}`)
      }
    },
    /** The payer submits the hosted form. */
    pay({ secret }: OpenedPayment, outcome: 'approved' | 'held' = 'approved') {
      let transId = ''
      const event = notificationOf(() => {
        transId = fake.pay({ token: secret }, { outcome }).transId
      })
      return { event, transId }
    },
  }
}

/** PayPal's receiver with a fake PayPal. */
export async function paypalHarness(t: Test) {
  const fake = await startFakePaypal(t, { webhookIds: ['8PT597110X687430L', '5GP028458E2496506'] })
  const provider = await providerFromEnv(t, fake.env)
  const receiver = await receiverHarness(t, provider)
  return {
    ...receiver,
    fake,
    provider,
    /** Sends signed notifications. @throws unless they are accepted */
    async deliver(...events: readonly PaypalEvent[]): Promise<void> {
      for (const event of events) {
        const [status, code] = await receiver.send(fake.signed(event))
        if (status !== 200) throw new Error(`${event.event_type}: ${status} ${code}`)
      }
    },
    notificationOf: (intent: string, type: string) => notificationOf(fake, intent, type),
    captureOf: (intent: string) => captureOf(fake, intent),
    /** How many capture calls arrived for an order. */
    captures: (intent: string) => fake.callsTo(new RegExp(`/${intent}/capture$`)).length,
    /** Captures without recording it, as a crashed process does. @returns the capture's id */
    async captureUnrecorded({ id, intent }: Pick<OpenedPayment, 'id' | 'intent'>): Promise<string> {
      await provider.captureIntent?.({
        payment_id: id,
        provider_intent_id: intent,
        provider_payment_id: null,
        currency: 'USD',
        capture_method: 'automatic',
        created_at: new Date().toISOString(),
        idempotency_key: `${intent}-capture-1`,
      })
      return captureOf(fake, intent).id
    },
  }
}

/** PayPal's notification of this type about an order. */
function notificationOf(fake: FakePaypal, intent: string, type: string): PaypalEvent {
  const event = fake.events.find(({ event_type, body }) => event_type === type && body.includes(intent))
  if (!event) throw new Error(`no ${type} notification`)
  return event
}

function captureOf(fake: FakePaypal, intent: string) {
  const capture = fake.orders.get(intent)?.captures[0]
  if (!capture) throw new Error('no capture')
  return capture
}
