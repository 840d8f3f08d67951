// Random histories of payments: what is recorded here equals the provider's books, to the cent.
import { randomUUIDv7 } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import { receivedOf, refundedOf } from '@paylog/domain/payments/money'
import { openCallsOf } from '@paylog/domain/payments/payment'
import { createEventStore } from '@paylog/event-store/eventStore'
import type { Provider, ProviderErrorKind, ProviderNotification, ProviderReport } from '@paylog/providers/provider'
import { startEventStore } from '@paylog/testing/eventStore'
import { paymentFields } from '@paylog/testing/paymentFields'
import { testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'
import type { Workflow } from '../context.ts'
import { receiveNotification } from '../notifications.ts'
import { createFakeProvider, type FakeIntent, type FakeRefund, refundReport } from '../testing/fakeProvider.ts'
import { crashAfter, metadata, seededRandom } from '../testing/workflowHarness.ts'
import { cancelPayment, capturePayment, expirePayment } from './intentCalls.ts'
import { openPayment } from './openPayment.ts'
import { reconcilePayment } from './reconcilePayment.ts'
import { refundPayment } from './refundPayment.ts'

const histories = testCycles(100)
const maxSteps = 14
const concurrency = 12
const totalCents = 2599

const log = await startEventStore(t)
const store = createEventStore({ connectionString: log.connectionString, keys: log.keys })
t.teardown(() => store.close())

/** One payment, its payer, its administrator, and the provider with its dashboard and its notifications. */
async function history(seed: number) {
  const below = seededRandom(seed)
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item => items[below(items.length)] ?? items[0]
  const chance = (percent: number) => below(100) < percent
  const { fake, provider: fakeProvider } = createFakeProvider(t)
  const provider: Provider = {
    ...fakeProvider,
    verifyNotification: async () => undefined,
    readNotification: (body) => JSON.parse(body.toString()),
  }
  let offsetMs = 0
  const now = () => new Date(Date.now() + offsetMs)
  const workflow: Workflow = { store, providers: new Map([[provider.id, provider]]), now }
  const payment_id = randomUUIDv7()
  const mailbox: ProviderNotification[] = []

  /** Some processes die, and some calls fail. */
  async function attempt(act: (on: Workflow) => Promise<unknown>): Promise<void> {
    const verbs = ['create', 'refund', 'cancel', 'capture', 'retrieve'] as const
    if (chance(30)) {
      const kind = pick<ProviderErrorKind>(['unknown', 'unknown', 'unavailable', 'rejected'])
      const verb = pick(verbs)
      // A provider that has created the intent does not reject a repetition with its key.
      const isPossible = verb !== 'create' || kind !== 'rejected' || fake.of(payment_id).length === 0
      if (isPossible) fake.failures.set(verb, [{ kind, done: kind === 'unknown' && chance(50) }])
    }
    const on = chance(15) ? crashAfter(below(3), workflow) : workflow
    await act(on).catch((error: unknown) => {
      if (!(error instanceof DomainError) && !(error instanceof Error && /died here/.test(error.message))) throw error
    })
    fake.failures.clear()
  }

  let events = 0
  function notify(intent: FakeIntent, report: Partial<ProviderReport>): void {
    if (chance(20)) return
    const provider_event_id = `evt_${seed}_${events++}`
    const occurred_at = new Date(now().getTime() + events).toISOString()
    const source = { provider_event_id, provider_time: occurred_at, provider_intent_id: intent.id }
    const full = { provider_payment_id: intent.charges[0] ?? null, ...report, ...source }
    const empty = { generic_type: null, object_id: null, amount_cents: null, currency: null, status: null }
    const nobody = { customer_id: null, customer_email: null, subscription: null }
    const about = { provider_event_id, provider_type: 'changed', occurred_at, referenced_payment_id: payment_id }
    mailbox.push({ ...about, ...empty, ...nobody, report: full as ProviderReport })
  }
  const notifyStatus = (intent: FakeIntent) => {
    const { status, capturable_cents, amount_cents } = intent
    notify(intent, { about: 'status', status, amount_cents, currency: 'EUR', capturable_cents })
  }
  const notifyRefund = (intent: FakeIntent, refund: FakeRefund) =>
    notify(intent, { about: 'refund', ...refundReport(intent, refund) })

  async function deliver(): Promise<void> {
    const [notification] = mailbox.splice(below(Math.max(1, mailbox.length)), 1)
    if (!notification) return
    if (chance(25)) mailbox.push(notification)
    const body = Buffer.from(JSON.stringify(notification))
    await attempt((on) => receiveNotification(on, { provider, body, headers: {}, requestId: 'request' }))
  }

  const isManual = chance(30)
  await attempt((on) =>
    openPayment(on, {
      earlier: { payment_id, request_fingerprint: 'first' },
      metadata,
      command: async () => ({
        ...paymentFields,
        ...{ payment_id, provider_id: provider.id, request_fingerprint: 'first', currency: 'EUR' },
        occurred_at: now().toISOString(),
        total_cents: totalCents,
        payer: { id: null, type: 'guest', email: null },
        expires_at: new Date(now().getTime() + below(200_000)).toISOString(),
        ...(isManual && { capture_method: 'manual' as const }),
      }),
    }),
  )

  const payer = (intent: FakeIntent) => {
    if (intent.status !== 'pending' && intent.status !== 'failed') return
    if (chance(25)) intent.status = 'failed'
    else if (isManual) fake.authorize(intent)
    else fake.charge(intent)
    notifyStatus(intent)
  }
  const dashboard = (intent: FakeIntent) => {
    const pending = intent.refunds.find(({ status }) => status !== 'failed')
    if (pending && chance(30)) {
      pending.status = 'failed'
      return notifyRefund(intent, pending)
    }
    if (intent.status === 'succeeded') {
      const about = { provider_intent_id: intent.id, provider_payment_id: intent.charges[0] ?? null }
      try {
        fake.refund({ ...about, amount_cents: 1 + below(totalCents), status: pick(['pending', 'succeeded']) })
      } catch {
        return
      }
      const made = intent.refunds.at(-1)
      if (made) notifyRefund(intent, made)
    } else if (intent.status === 'pending') {
      intent.status = 'canceled'
      notifyStatus(intent)
    }
  }
  const onPayment = { payment_id, metadata }
  const amount = () => (chance(40) ? undefined : 1 + below(totalCents))
  const administrator = [
    (on: Workflow) => cancelPayment(on, { ...onPayment, reason: null }),
    (on: Workflow) => capturePayment(on, { ...onPayment, amount_cents: amount() }),
    ...Array(3).fill((on: Workflow) => {
      const refund = { refund_id: randomUUIDv7(), reason: 'other', note: null, request_fingerprint: null } as const
      return refundPayment(on, { ...onPayment, ...refund, amount_cents: amount() })
    }),
  ] as const
  const steps = [
    async () => fake.of(payment_id).forEach(payer),
    async () => fake.of(payment_id).forEach(dashboard),
    async () => void (await Promise.all([attempt(pick(administrator)), attempt(pick(administrator))])),
    () => attempt(pick(administrator)),
    deliver,
    deliver,
    () => attempt((on) => reconcilePayment(on, payment_id, metadata)),
    () => attempt((on) => expirePayment(on, onPayment)),
  ] as const
  for (let step = 0; step < maxSteps; step++) {
    await pick(steps)()
    offsetMs += below(25_000)
  }
  const advance = (ms: number) => {
    offsetMs += ms
  }
  return { payment_id, fake, workflow, deliver, mailbox, advance }
}

/** Everything that is left to do is done. @returns what differs */
async function differences(seed: number): Promise<string[]> {
  const { payment_id, fake, workflow, deliver, mailbox, advance } = await history(seed)
  for (let rounds = 0; mailbox.length > 0 && rounds < 100; rounds++) await deliver()
  for (let rounds = 0; rounds < 3; rounds++) {
    advance(60_000)
    await reconcilePayment(workflow, payment_id, metadata).catch((error: unknown) => {
      // The process that opened it died before it recorded anything.
      if (!(error instanceof DomainError && error.code === 'not_found')) throw error
    })
  }
  const events = await store.readStream(`payment-${payment_id}`)
  if (events.length === 0) return fake.intents.size === 0 ? [] : [`seed ${seed}: an intent without a payment`]
  const { payment } = await reconcilePayment(workflow, payment_id, metadata)
  const intents = fake.of(payment_id)
  const charged = fake.ledger.charges.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  const refunds = intents.flatMap((intent) => intent.refunds)
  const sumOf = (status: string) =>
    refunds.filter((refund) => refund.status === status).reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  const reserved = payment.refunds.filter(({ status }) => status === 'pending')
  const checks = {
    received: [receivedOf(payment), charged],
    refunded: [refundedOf(payment), sumOf('succeeded')],
    pending: [reserved.reduce((sum, { amount_cents }) => sum + amount_cents, 0), sumOf('pending')],
    'open calls': [openCallsOf(payment).length, 0],
    'paid intents': [Math.min(intents.filter(({ status }) => status === 'succeeded').length, 2) < 2, true],
    'more than received': [sumOf('succeeded') + sumOf('pending') <= charged, true],
  }
  return Object.entries(checks).flatMap(([what, [ours, theirs]]) =>
    ours === theirs ? [] : [`seed ${seed}: ${what} is ${ours} here, ${theirs} at the provider`],
  )
}

t.test(`the money of ${histories} random payments equals the provider's books`, { timeout: 3_600_000 }, async (t) => {
  const first = Number(process.env.PAYLOG_TEST_SEED ?? 1)
  let next = first
  const found: string[] = []
  const lane = async () => {
    for (let seed = next++; seed < first + histories; seed = next++) found.push(...(await differences(seed)))
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
  t.same(found, [])
})
