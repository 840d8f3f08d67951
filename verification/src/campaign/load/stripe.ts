// The campaign's Stripe: the fake with its books, payers who pay its intents, other systems' intents, and its notifications.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { valueAt } from '@paylog/testing/fakeServer'
import { type FakeStripe, startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Intent } from '../judge/observations.ts'
import type { Notifier } from './notifier.ts'
import { type CampaignProvider, type ProviderContext, startProvider } from './provider.ts'
import { stripePayer } from './settings.ts'

type StripeEvent = FakeStripe['events'][number]

/** Notifications about customers and setup intents become webhooks that belong to no payment. */
const notified = /^(payment_intent|charge|refund|payment_method)\./
/** The charge of every third payment has no metadata. */
const withoutMetadata = 3

export async function startCampaignStripe(context: ProviderContext): Promise<
  CampaignProvider & {
    /** Another system creates an intent and its payer pays it. @param paymentIds that its metadata may name */
    foreignPayment(paymentIds: readonly string[]): void
  }
> {
  // Other systems' payments may name a payment of ours, which the fake would take for a second charge.
  const { stack, random, notifier } = context
  const fake = await startFakeStripe({ teardown: (stop) => void stack.defer(stop) }, { allowDouble: true })
  const foreign = new Set<string>()
  const isWrite = ({ method }: { readonly method: string }) => method === 'POST'
  const { origin, common, payLater } = await startProvider(context, { origin: fake.origin, isWrite })
  const send = createSender(fake, notifier, foreign)
  let seen = 0

  function pay(intentId: string, outcome: 'succeeded' | 'failed' | 'canceled'): void {
    if (['requires_capture', 'succeeded', 'canceled'].includes(fake.intent(intentId).status)) return
    fake.pay(intentId, outcome)
  }

  async function payAsPlanned(intentId: string): Promise<void> {
    const plan = random.weighted(stripePayer)
    if (plan === 'fail' || plan === 'retry') pay(intentId, 'failed')
    if (plan === 'retry') await pause(random.between(100, 2_500))
    if (plan === 'succeed' || plan === 'retry') pay(intentId, 'succeeded')
    if (plan === 'cancel') pay(intentId, 'canceled')
  }

  return {
    ...common,
    env: { ...fake.env, STRIPE_API_BASE: origin },
    books: () => booksOf(fake, foreign),
    // Its payers act as soon as there is an intent, also when its response is lost.
    pay: () => undefined,
    look() {
      for (const event of fake.events.slice(seen)) {
        seen++
        if (notified.test(event.type)) send(event)
        const intentId = String(valueAt(event.data.object, 'id'))
        const isNew = event.type === 'payment_intent.created' && !foreign.has(intentId)
        if (isNew) payLater(() => payAsPlanned(intentId))
      }
    },
    foreignPayment(paymentIds) {
      const named = random.weighted({ none: 3, unknown: 1, ours: 1 })
      const ours = paymentIds[random.between(0, paymentIds.length - 1)]
      const payment_id = named === 'ours' ? ours : named === 'unknown' ? randomUUID() : undefined
      const metadata = payment_id === undefined ? {} : { payment_id }
      const { id } = fake.openIntent({ amount: random.between(100, 9_999), currency: 'eur', metadata })
      foreign.add(id)
      pay(id, random.isIn(0.8) ? 'succeeded' : 'failed')
    },
  }
}

function booksOf(fake: FakeStripe, foreign: ReadonlySet<string>): Intent[] {
  const eventsOf = (type: string, path: string) =>
    Map.groupBy(
      fake.events.filter((event) => event.type === type),
      ({ data }) => String(valueAt(data.object, path)),
    )
  const created = eventsOf('payment_intent.created', 'id')
  const failed = eventsOf('payment_intent.payment_failed', 'id')
  const refunds = eventsOf('refund.created', 'payment_intent')
  const charges = Map.groupBy(fake.ledger.charges, ({ intent_id }) => intent_id)
  return fake.intents().map(({ id, metadata, amount, amount_received, currency, status }) => {
    const returned = (refunds.get(id) ?? []).reduce((sum, { data }) => sum + Number(valueAt(data.object, 'amount')), 0)
    return {
      provider: 'stripe',
      id,
      payment_id: metadata.payment_id ?? null,
      key: created.get(id)?.[0]?.request.idempotency_key ?? null,
      amount_cents: amount,
      currency: currency.toUpperCase(),
      status: statuses.get(status) ?? 'open',
      failures: failed.get(id)?.length ?? 0,
      charges: charges.get(id)?.length ?? 0,
      received_cents: amount_received,
      // What is released instead of captured is a refund, too.
      refunded_cents: amount_received === 0 ? 0 : returned - (amount - amount_received),
      is_foreign: foreign.has(id),
    }
  })
}

const statuses: ReadonlyMap<string, Intent['status']> = new Map([
  ['succeeded', 'succeeded'],
  ['canceled', 'canceled'],
  ['requires_capture', 'authorized'],
])

/** @returns sends the notification of an event, and those that follow from it */
function createSender(
  fake: FakeStripe,
  notifier: Notifier,
  foreign: ReadonlySet<string>,
): (event: StripeEvent) => void {
  const charged = new Map<string, number>()
  /** Of what a payer has paid. A capture has its response instead. */
  const canBeLost = ({ type, request, data }: StripeEvent) =>
    type === 'payment_intent.succeeded' &&
    request.idempotency_key === null &&
    !foreign.has(String(valueAt(data.object, 'id')))
  const send = (event: StripeEvent) =>
    notifier.send({ id: event.id, provider: 'stripe', type: event.type, canBeLost: canBeLost(event) }, () =>
      fake.signed(event),
    )
  return (event) => {
    if (!event.type.startsWith('charge.')) return send(event)
    const intentId = String(valueAt(event.data.object, 'payment_intent'))
    const number = charged.get(intentId) ?? charged.size
    charged.set(intentId, number)
    const isBare = number % withoutMetadata === 0
    const object = isBare ? { ...event.data.object, metadata: {} } : event.data.object
    send({ ...event, data: { ...event.data, object } })
    if (event.type !== 'charge.succeeded') return
    const previous = { balance_transaction: null }
    send(fake.event('charge.updated', { ...object, balance_transaction: `txn_${event.id.slice(4)}` }, { previous }))
  }
}
