// Random histories of payments at Stripe: what is recorded here equals Stripe's books, to the cent.
import { randomUUIDv7 } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import { disputeStatusOf, receivedOf, refundedOf } from '@paylog/domain/payments/money'
import type { Payment } from '@paylog/domain/payments/payment'
import { openCallsOf } from '@paylog/domain/payments/payment'
import { createEventStore } from '@paylog/event-store/eventStore'
import { createStripe } from '@paylog/providers/stripe/stripe'
import { startEventStore } from '@paylog/testing/eventStore'
import type { Fault } from '@paylog/testing/fakeServer'
import { paymentFields } from '@paylog/testing/paymentFields'
import { type FakeStripe, startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { testCycles } from '@paylog/testing/testEnvironment'
import type { Workflow } from '@paylog/workflows/context'
import { receiveNotification } from '@paylog/workflows/notifications'
import { cancelPayment, capturePayment, expirePayment } from '@paylog/workflows/payments/intentCalls'
import { openPayment } from '@paylog/workflows/payments/openPayment'
import { reconcilePayment } from '@paylog/workflows/payments/reconcilePayment'
import { refundPayment } from '@paylog/workflows/payments/refundPayment'
import t from 'tap'

const histories = testCycles(30)
const maxSteps = 14
const concurrency = 6
const totalCents = 2599
const metadata = { correlationId: 'test', causationId: 'test', actor: 'worker' }

const log = await startEventStore(t)
const store = createEventStore({ connectionString: log.connectionString, keys: log.keys })
t.teardown(() => store.close())

/** Always the same numbers for a seed. */
function seededRandom(seed: number) {
  let state = Math.imul(seed, 2_654_435_761) >>> 0
  const below = (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  return {
    below,
    chance: (percent: number) => below(100) < percent,
    pick: <Item>(items: readonly [Item, ...Item[]]): Item => items[below(items.length)] ?? items[0],
  }
}
type Random = ReturnType<typeof seededRandom>

/** A payment at a separate fake Stripe, whose clock is also ours. */
async function stripePayment() {
  const payment_id = randomUUIDv7()
  let offsetMs = 0
  const now = () => new Date(Date.now() + offsetMs)
  const fake = await startFakeStripe(t, { now })
  const adapter = (timeoutMs: number) => {
    const { secretKey, webhookSecret, origin: apiBase } = fake
    const stripe = createStripe({ secretKey, webhookSecrets: [webhookSecret], apiBase, timeoutMs, maxPerSecond: 0 })
    t.teardown(() => stripe.close())
    return stripe
  }
  const workflowOf = (timeoutMs: number): Workflow => ({
    store,
    now,
    providers: new Map([['stripe', adapter(timeoutMs)]]),
  })
  return {
    payment_id,
    fake,
    now,
    /** Too short for a second attempt. */
    hasty: workflowOf(440),
    patient: workflowOf(20_000),
    ofPayment: () => fake.intents().filter((intent) => intent.metadata.payment_id === payment_id),
    advance(ms: number) {
      offsetMs += ms
    },
  }
}
type StripePayment = Awaited<ReturnType<typeof stripePayment>>

/** Some calls fail, and some are made although their responses are lost. */
async function attempt({ fake }: StripePayment, { chance, pick }: Random, act: () => Promise<unknown>): Promise<void> {
  const commits = chance(50)
  const faults: readonly [Fault, ...Fault[]] = [
    { kind: 'drop', commits },
    { kind: 'garbage', commits },
    { kind: 'status', status: 502, commits },
  ]
  if (chance(30)) (chance(70) ? fake.faults : fake.readFaults).always(pick(faults))
  else if (chance(10)) fake.failInside({ commits })
  await act().catch((error: unknown) => {
    if (!(error instanceof DomainError)) throw error
  })
  fake.faults.always(undefined)
  fake.readFaults.always(undefined)
  fake.failInside(null)
}

/** Stripe's notifications, of both kinds: out of order, repeated, and some lost. */
function notifier(payment: StripePayment, random: Random) {
  const { fake, now } = payment
  const mailbox: object[] = []
  let read = 0
  return {
    collect() {
      for (const event of fake.events.slice(read)) {
        const isKept = event.type.startsWith('charge.dispute.')
        if (isKept || random.chance(75)) mailbox.push(random.chance(30) ? fake.thin(event) : event)
      }
      read = fake.events.length
    },
    pending: () => mailbox.length,
    async deliver(on: Workflow): Promise<void> {
      const [event] = mailbox.splice(random.below(Math.max(1, mailbox.length)), 1)
      const provider = on.providers.get('stripe')
      if (!event || !provider) return
      if (random.chance(20)) mailbox.push(event)
      const { body, headers } = fake.signed(event, { at: now() })
      const { postponed } = await receiveNotification(on, {
        ...{ provider, headers, requestId: 'request' },
        body: Buffer.from(body),
      })
      // Stripe could not be asked; the reconciler would apply it later.
      if (postponed) mailbox.push({ ...event, id: `evt_${randomUUIDv7()}` })
    },
  }
}

function payer({ ofPayment, fake }: StripePayment, { pick }: Random): void {
  for (const { id, status } of ofPayment())
    if (status.startsWith('requires_') && status !== 'requires_capture')
      fake.pay(id, pick(['succeeded', 'succeeded', 'failed', 'requires_action']))
    else if (status === 'processing') fake.pay(id, 'succeeded')
}

function dashboard({ ofPayment, fake }: StripePayment, { below, chance, pick }: Random): void {
  for (const intent of ofPayment()) {
    const { id, status } = intent
    const refund = fake.refundsOf(id).find((each) => each.status === 'pending' || each.status === 'succeeded')
    const { received, refunded } = fake.balanceOf(id)
    const open = fake.events.findLast(({ type }) => type === 'charge.dispute.created')
    if (refund && received > 0 && refund.amount !== intent.amount - received && chance(40))
      fake.changeRefund(refund.id, refund.status === 'pending' ? pick(['succeeded', 'failed', 'canceled']) : 'failed')
    else if (received > refunded && fake.refundsOf(id).every((each) => each.status !== 'pending') && chance(60))
      fake.refund(id, 1 + below(received - refunded))
    else if (status === 'succeeded' && !open && chance(30)) fake.dispute(id, received)
    else if (open && chance(50)) fake.closeDispute(String(Reflect.get(open.data.object, 'id')), pick(['won', 'lost']))
    else if (status === 'requires_capture' && chance(50)) fake.pay(id, pick(['succeeded', 'canceled']))
  }
}

async function history(payment: StripePayment, random: Random) {
  const { payment_id, now, hasty } = payment
  const { below, chance, pick } = random
  const events = notifier(payment, random)
  const onPayment = { payment_id, metadata }
  const amount = () => (chance(40) ? undefined : 1 + below(totalCents))
  const ours = (act: () => Promise<unknown>) => attempt(payment, random, act)
  const refund = () => {
    if (chance(30)) payment.fake.nextRefunds(pick(['pending', 'requires_action', 'failed']))
    const about = { refund_id: randomUUIDv7(), reason: 'other', note: null, request_fingerprint: null } as const
    return refundPayment(hasty, { ...onPayment, ...about, amount_cents: amount() })
  }
  const administrator = [
    () => cancelPayment(hasty, { ...onPayment, reason: null }),
    () => capturePayment(hasty, { ...onPayment, amount_cents: amount() }),
    refund,
    refund,
    refund,
  ] as const
  const steps = [
    async () => payer(payment, random),
    async () => dashboard(payment, random),
    () => ours(() => Promise.allSettled([pick(administrator)(), pick(administrator)()])),
    () => ours(pick(administrator)),
    () => ours(() => events.deliver(hasty)),
    () => ours(() => events.deliver(hasty)),
    () => ours(() => reconcilePayment(hasty, payment_id, metadata)),
    () => ours(() => expirePayment(hasty, onPayment)),
  ] as const
  const capture_method = chance(40) ? 'manual' : 'automatic'
  const command = {
    ...{ ...paymentFields, payment_id, provider_id: 'stripe', request_fingerprint: 'first', currency: 'EUR' },
    ...({ total_cents: totalCents, payer: { id: null, type: 'guest', email: null }, capture_method } as const),
  }
  const expires_at = new Date(now().getTime() + below(2_000_000)).toISOString()
  const opened = { ...command, occurred_at: now().toISOString(), expires_at }
  const earlier = { payment_id, request_fingerprint: 'first' }
  await ours(() => openPayment(hasty, { earlier, metadata, command: async () => opened }))
  for (let step = 0; step < maxSteps; step++) {
    await pick(steps)()
    events.collect()
    // After a day Stripe has forgotten the keys.
    payment.advance(chance(5) ? 90_000_000 : below(25_000))
  }
  return events
}

/** Does everything that is left to do. @returns what differs */
async function differences(seed: number): Promise<string[]> {
  const [payment, random] = [await stripePayment(), seededRandom(seed)]
  const events = await history(payment, random)
  const { patient, payment_id, fake, ofPayment, advance } = payment
  let reconciled: Payment | undefined
  for (let rounds = 0; rounds < 3; rounds++) {
    advance(90_000_000)
    ;({ payment: reconciled } = await reconcilePayment(patient, payment_id, metadata))
    events.collect()
    for (let delivered = 0; events.pending() > 0 && delivered < 200; delivered++) await events.deliver(patient)
  }
  if (!reconciled) return [`seed ${seed}: not reconciled`]
  const sum = (amounts: readonly number[]) => amounts.reduce((total, each) => total + each, 0)
  const books = ofPayment().map(({ id }) => fake.balanceOf(id))
  // A refund may be reported before the failure that made room for it.
  const isReordered = reconciled.refunds.some(({ status }) => status === 'failed')
  const checks = {
    received: [receivedOf(reconciled), sum(books.map(({ received }) => received))],
    refunded: [refundedOf(reconciled), sum(books.map(({ refunded }) => refunded))],
    'pending refunds': [pendingOf(reconciled), pendingAt(fake)],
    'open calls': [openCallsOf(reconciled).length, 0],
    'taken by disputes': [
      ['open', 'lost'].includes(disputeStatusOf(reconciled) ?? ''),
      books.some(({ disputed }) => disputed > 0),
    ],
    attention: [isReordered ? '' : reconciled.attention.map(({ code }) => code).join(), ''],
  }
  return Object.entries(checks).flatMap(([what, [ours, theirs]]) =>
    ours === theirs ? [] : [`seed ${seed}: ${what} is ${ours} here, ${theirs} at Stripe`],
  )
}

const pendingOf = ({ refunds }: Payment) => refunds.filter(({ status }) => status === 'pending').length

const pendingAt = (fake: FakeStripe) =>
  fake
    .intents()
    .flatMap(({ id, latest_charge }) => (latest_charge === null ? [] : fake.refundsOf(id)))
    .filter(({ status }) => status === 'pending' || status === 'requires_action').length

t.test(`the money of ${histories} random payments equals Stripe’s books`, { timeout: 3_600_000 }, async (t) => {
  const first = Number(process.env.PAYLOG_TEST_SEED ?? 1)
  let next = first
  const found: string[] = []
  const lane = async () => {
    for (let seed = next++; seed < first + histories; seed = next++) found.push(...(await differences(seed)))
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
  t.same(found, [])
})
