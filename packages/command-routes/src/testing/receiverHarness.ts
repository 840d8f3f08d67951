// The receiver of one provider as a test sees it: over the wire, with a payment to send notifications about.
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

// Authorize.Net's receiver before a fake gateway, with what payers and merchants do at it.

export async function authorizeNetHarness(t: Test) {
  const fake = await startFakeAuthorizeNet(t)
  const oldKey = 'F0E1D2C3B4A59687'.repeat(8)
  const provider = await providerFromEnv(t, {
    ...fake.env,
    AUTHORIZE_NET_SIGNATURE_KEY: `${oldKey},${fake.signatureKey}`,
  })
  const receiver = await receiverHarness(t, provider)
  /** What the gateway tells of what somebody does. */
  function notificationOf(act: () => unknown): FakeEvent {
    const before = fake.events.length
    act()
    const told = fake.events[before]
    if (!told) throw new Error('There is no notification')
    return told
  }
  return {
    ...receiver,
    fake,
    /** Still good, during the rotation. */
    oldKey,
    notificationOf,
    /** The gateway sends what it has signed, and it is taken in. */
    async deliver(...events: readonly FakeEvent[]): Promise<void> {
      for (const told of events) {
        const [status, code] = await receiver.send(fake.signed(told))
        if (status !== 200) throw new Error(`${told.eventType} was answered ${status} ${code}`)
      }
    },
    /** The payer submits the hosted form. */
    pay({ secret }: OpenedPayment, outcome: 'approved' | 'held' = 'approved') {
      let transId = ''
      const told = notificationOf(() => {
        transId = fake.pay({ token: secret }, { outcome }).transId
      })
      return { told, transId }
    },
  }
}

// PayPal's receiver before a fake PayPal, with what the payer, PayPal and a dying process of ours do.

export async function paypalHarness(t: Test) {
  const fake = await startFakePaypal(t, { webhookIds: ['8PT597110X687430L', '5GP028458E2496506'] })
  const provider = await providerFromEnv(t, fake.env)
  const receiver = await receiverHarness(t, provider)
  return {
    ...receiver,
    fake,
    /** PayPal sends what it has signed, and it is taken in. */
    async deliver(...events: readonly PaypalEvent[]): Promise<void> {
      for (const told of events) {
        const [status, code] = await receiver.send(fake.signed(told))
        if (status !== 200) throw new Error(`${told.event_type} was answered ${status} ${code}`)
      }
    },
    notificationOf: (intent: string, type: string) => notificationOf(fake, intent, type),
    captureOf: (intent: string) => captureOf(fake, intent),
    /** How often we have asked for an order to be captured. */
    captures: (intent: string) => fake.callsTo(new RegExp(`/${intent}/capture$`)).length,
    /** Captures as a process does that dies before it can record anything. @returns the capture's id */
    async captureUnrecorded({ id, intent }: Pick<OpenedPayment, 'id' | 'intent'>): Promise<string> {
      await provider.captureIntent?.({
        payment_id: id,
        provider_intent_id: intent,
        provider_payment_id: null,
        currency: 'USD',
        created_at: new Date().toISOString(),
        idempotency_key: `${intent}-capture-1`,
      })
      return captureOf(fake, intent).id
    },
  }
}

/** What PayPal has to tell of an order of its own accord. */
function notificationOf(fake: FakePaypal, intent: string, type: string): PaypalEvent {
  const told = fake.events.find(({ event_type, body }) => event_type === type && body.includes(intent))
  if (!told) throw new Error(`PayPal has no ${type} to tell`)
  return told
}

function captureOf(fake: FakePaypal, intent: string) {
  const capture = fake.orders.get(intent)?.captures[0]
  if (!capture) throw new Error('PayPal has captured nothing')
  return capture
}
