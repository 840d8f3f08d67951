// The campaign's Stripe: the fake with its books, payers who pay its intents, other systems' intents, and its notifications.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type FakeStripe, startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Intent } from '../judge/observations.ts'
import { createRandom } from '../random.ts'
import type { Notifier } from './notifier.ts'
import { type StripeFaults, startStripeProxy } from './providerProxy.ts'

type StripeEvent = FakeStripe['events'][number]

export type CampaignStripe = {
  readonly env: Readonly<Record<string, string>>
  readonly faults: Readonly<StripeFaults>
  books(): Intent[]
  /** Begins to send the notifications of all events, also of earlier ones. */
  notify(notifier: Notifier): void
  /** Another system creates an intent and its payer pays it. @param paymentIds that its metadata may name */
  foreignPayment(paymentIds: readonly string[]): void
  /** No further faults, and nobody begins to pay. */
  stopFaults(): void
  resumeFaults(): void
  /** Payments under way. */
  payersBusy(): number
}

const pollMs = 20
/** The charge of every third payment has no metadata. */
const withoutMetadata = 3

export async function startCampaignStripe(stack: AsyncDisposableStack, seed: number): Promise<CampaignStripe> {
  const teardown = (stop: () => unknown) => void stack.defer(async () => void stop())
  // Other systems' payments may name a payment of ours, which the fake would take for a second charge.
  const fake = await startFakeStripe({ teardown }, { allowDouble: true })
  const foreign = new Set<string>()
  const failures = new Map<string, number>()
  const random = createRandom(seed, 'payers')
  let isOver = false
  let busy = 0

  async function pay(intentId: string, isEarly: boolean): Promise<void> {
    busy++
    const plan = random.weighted({ succeed: 66, fail: 12, retry: 8, cancel: 8, nothing: 6 })
    await pause(isEarly && random.isIn(0.6) ? 0 : random.between(50, 2_000))
    const isOpen = () => !['succeeded', 'canceled'].includes(fake.intent(intentId).status)
    if (plan === 'fail' || plan === 'retry') {
      if (isOpen()) fail(intentId)
      await pause(random.between(100, 2_500))
    }
    if ((plan === 'succeed' || plan === 'retry') && isOpen()) fake.pay(intentId, 'succeeded')
    if (plan === 'cancel' && isOpen()) fake.pay(intentId, 'canceled')
    busy--
  }

  function fail(intentId: string): void {
    fake.pay(intentId, 'failed')
    failures.set(intentId, (failures.get(intentId) ?? 0) + 1)
  }

  const proxy = await startStripeProxy(stack, {
    origin: fake.origin,
    random: createRandom(seed, 'stripe'),
    onCreated(intentId, isEarly) {
      if (!isOver) void pay(intentId, isEarly)
    },
  })
  return {
    env: { ...fake.env, STRIPE_API_BASE: proxy.origin },
    faults: proxy.faults,
    books: () => booksOf(fake, { foreign, failures }),
    notify: (notifier) => notifyOfEvents(stack, fake, notifier),
    foreignPayment(paymentIds) {
      const named = random.weighted({ none: 3, unknown: 1, ours: 1 })
      const ours = paymentIds[random.between(0, paymentIds.length - 1)]
      const payment_id = named === 'ours' ? ours : named === 'unknown' ? randomUUID() : undefined
      const metadata = payment_id === undefined ? {} : { payment_id }
      const { id } = fake.openIntent({ amount: random.between(100, 9_999), currency: 'eur', metadata })
      foreign.add(id)
      if (random.isIn(0.8)) fake.pay(id, 'succeeded')
      else fail(id)
    },
    stopFaults() {
      isOver = true
      proxy.setFaulty(false)
    },
    resumeFaults() {
      isOver = false
      proxy.setFaulty(true)
    },
    payersBusy: () => busy,
  }
}

function booksOf(
  fake: FakeStripe,
  marks: { readonly foreign: ReadonlySet<string>; readonly failures: ReadonlyMap<string, number> },
): Intent[] {
  const keys = new Map(
    fake.events
      .filter(({ type }) => type === 'payment_intent.created')
      .map(({ data, request }) => [Reflect.get(data.object, 'id'), request.idempotency_key]),
  )
  return fake.intents().map(({ id, metadata, amount, currency, status }) => ({
    provider: 'stripe',
    id,
    payment_id: metadata.payment_id ?? null,
    key: keys.get(id) ?? null,
    amount_cents: amount,
    currency: currency.toUpperCase(),
    status: status === 'succeeded' || status === 'canceled' ? status : 'open',
    failures: marks.failures.get(id) ?? 0,
    is_foreign: marks.foreign.has(id),
  }))
}

function notifyOfEvents(stack: AsyncDisposableStack, fake: FakeStripe, notifier: Notifier): void {
  let seen = 0
  const charged: string[] = []
  const send = (event: StripeEvent) => {
    const { object } = event.data
    const intentId = String(Reflect.get(object, event.type.startsWith('charge.') ? 'payment_intent' : 'id'))
    const about = { id: event.id, provider: 'stripe' as const, type: event.type, intent_id: intentId }
    notifier.send(about, () => fake.signed(event))
  }
  const sendAboutCharge = (event: StripeEvent) => {
    const intentId = String(Reflect.get(event.data.object, 'payment_intent'))
    if (!charged.includes(intentId)) charged.push(intentId)
    const isBare = charged.indexOf(intentId) % withoutMetadata === 0
    const object = isBare ? { ...event.data.object, metadata: {} } : event.data.object
    send({ ...event, data: { ...event.data, object } })
    if (event.type !== 'charge.succeeded') return
    const previous = { balance_transaction: null }
    send(fake.event('charge.updated', { ...object, balance_transaction: `txn_${event.id.slice(4)}` }, { previous }))
  }
  const poll = setInterval(() => {
    for (const event of fake.events.slice(seen)) {
      seen++
      if (event.type.startsWith('charge.')) sendAboutCharge(event)
      else if (event.type.startsWith('payment_intent.')) send(event)
    }
  }, pollMs)
  stack.defer(async () => clearInterval(poll))
}
