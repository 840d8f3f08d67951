// PayPal's receiver before a fake PayPal, with what the payer, PayPal and a dying process of ours do.
import type { PaypalEvent } from '@paylog/testing/paypal/events'
import { type FakePaypal, startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import type { Test } from 'tap'
import { providerFromEnv } from './providerBy.ts'
import { type OpenedPayment, receiverHarness } from './receiverUnderTest.ts'

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
