import { receivedOf } from '@paylog/domain/payments/charges'
import { paymentFold } from '@paylog/domain/payments/fold'
import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { createFakeProvider, type FakeIntent } from '../testing/fakeProvider.ts'
import { metadata, workflowHarness } from '../testing/workflowHarness.ts'
import { eventsOf } from './applySnapshot.ts'
import { reconcilePayment } from './reconcilePayment.ts'

const { provider, fake } = createFakeProvider(t, { captures: true })
const { workflow, open, notify, notifyAt, typesOf } = await workflowHarness(t, provider)

/** Opens a payment that the payer has approved. */
async function approved(): Promise<{ id: string; intent: FakeIntent }> {
  const { payment_id: id } = await open()
  const intent = fake.onlyOf(id)
  fake.approve(intent)
  fake.calls.length = 0
  return { id, intent }
}
const reconcile = (paymentId: string) => reconcilePayment(workflow, paymentId, metadata)
const historyOf = async (paymentId: string) => (await typesOf(paymentStream(paymentId))).slice(2)
const captures = () => fake.calls.filter((call) => call.startsWith('capture'))

t.test('an approved payment is captured once, with or without a notification [10.2-capture]', async (t) => {
  for (const isNotified of [true, false]) {
    fake.calls.length = 0
    const { id, intent } = await approved()
    if (isNotified) await notify(intent, 'processing')
    const { finding, payment, snapshot } = await reconcile(id)
    t.same([finding, payment.status, snapshot?.report.status], ['late', 'succeeded', 'succeeded'])
    t.equal((await reconcile(id)).finding, 'same')
    t.same(captures(), [`capture ${intent.id}-capture-1`])
    t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
    t.equal(fake.ledger.charges.filter(({ payment_id }) => payment_id === id).length, 1)
  }
})

t.test('a capture with an unknown outcome is retried with the same key', async (t) => {
  for (const done of [true, false]) {
    fake.calls.length = 0
    const { id, intent } = await approved()
    fake.failures.set('capture', [{ kind: 'unknown', done }])
    t.match(await reconcile(id), { finding: 'unknown', problem: 'capture_unknown', payment: { status: 'processing' } })
    t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
    t.same(new Set(captures()), new Set([`capture ${intent.id}-capture-1`]))
    t.equal(captures().length, done ? 1 : 2, 'an executed capture shows in the snapshot')
    t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
    t.equal(intent.charges.length, 1)
  }
})

t.test('a capture that did not reach the provider is repeated with the same key', async (t) => {
  const { id, intent } = await approved()
  fake.failures.set('capture', [{ kind: 'unavailable' }])
  t.match(await reconcile(id), { finding: 'unreachable', payment: { status: 'processing' } })
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
  t.same(captures(), [`capture ${intent.id}-capture-1`, `capture ${intent.id}-capture-1`])
})

t.test('a declined capture is a failed attempt, and its approval is not captured again', async (t) => {
  const { id, intent } = await approved()
  fake.declines = true
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'failed', failures: 1 } })
  t.equal(intent.approved, true, 'the provider keeps the approval open')
  for (let n = 0; n < 3; n++) t.match(await reconcile(id), { finding: 'approval_waits', payment: { status: 'failed' } })
  t.equal(captures().length, 1)
  t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentAttemptFailed'])
})

t.test('a new approval after a decline is captured with a new key', async (t) => {
  const { id, intent } = await approved()
  fake.declines = true
  await reconcile(id)
  fake.declines = false
  await notify(intent, 'processing')
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded', failures: 1 } })
  t.same(captures(), [`capture ${intent.id}-capture-1`, `capture ${intent.id}-capture-2`])
  t.equal(intent.charges.length, 1)
  t.same(await historyOf(id), [
    'PaymentProcessingStarted',
    'PaymentAttemptFailed',
    'PaymentProcessingStarted',
    'PaymentSucceeded',
  ])
})

/** Notification times that do not show whether the approval came after the decline. */
const ambiguousTimes = {
  'in the same second': (time: string) => `${time.slice(0, 19)}.000Z`,
  'from a slow clock': (time: string) => new Date(Date.parse(time) - 2_000).toISOString(),
}
for (const [when, at] of Object.entries(ambiguousTimes)) {
  t.test(`a new approval after a decline, dated ${when}, is captured once`, async (t) => {
    for (const declinesAgain of [false, true]) {
      const { id, intent } = await approved()
      await notify(intent, 'processing')
      fake.declines = true
      const { payment } = await reconcile(id)
      await notifyAt(intent, 'processing', at(payment.report_time ?? ''))
      fake.declines = declinesAgain
      const status = declinesAgain ? 'failed' : 'succeeded'
      t.match(await reconcile(id), { finding: 'late', payment: { status, failures: declinesAgain ? 2 : 1 } })
      t.match(await reconcile(id), { finding: declinesAgain ? 'approval_waits' : 'same' })
      t.same(
        captures().filter((call) => call.includes(intent.id)),
        [1, 2].map((attempt) => `capture ${intent.id}-capture-${attempt}`),
      )
      t.same(await historyOf(id), [
        'PaymentProcessingStarted',
        'PaymentAttemptFailed',
        'ProviderEventIgnored',
        'PaymentProcessingStarted',
        declinesAgain ? 'PaymentAttemptFailed' : 'PaymentSucceeded',
      ])
    }
  })

  t.test(`a declined approval that is notified late, dated ${when}, is not captured again`, async (t) => {
    const { id, intent } = await approved()
    fake.declines = true
    const { payment } = await reconcile(id)
    await notifyAt(intent, 'processing', at(payment.report_time ?? ''))
    t.match(await reconcile(id), { finding: 'approval_waits', payment: { status: 'failed' } })
    t.equal(captures().length, 1)
  })
}

t.test('a declined capture whose notification arrives first is recorded once and not repeated', async (t) => {
  const { id, intent } = await approved()
  fake.declines = true
  fake.meanwhile = async (call) => {
    if (call.startsWith('capture')) await notify(intent, 'failed', 'ch_declined')
  }
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'failed', failures: 1 } })
  t.equal(captures().length, 1)
  t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentAttemptFailed'])
})

t.test('a successful capture whose notification arrives first is recorded once', async (t) => {
  const { id, intent } = await approved()
  fake.meanwhile = async (call) => {
    if (call.startsWith('capture')) await notify(intent, 'succeeded', intent.charges[0])
  }
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
  t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
})

t.test('the result of a capture is recorded even if the payment changes during the capture', async (t) => {
  for (const declines of [false, true]) {
    const { id, intent } = await approved()
    fake.declines = declines
    fake.meanwhile = async (call) => {
      if (!call.startsWith('capture')) return
      fake.meanwhile = undefined
      await notify(intent, 'processing')
    }
    const { finding, payment } = await reconcile(id)
    t.same([finding, payment.status], ['late', declines ? 'failed' : 'succeeded'])
    t.equal(new Set(captures().filter((call) => call.includes(intent.id))).size, 1, 'always the same key')
  }
})

t.test('an approval with another amount or currency is not captured', async (t) => {
  const { id, intent } = await approved()
  intent.amount_cents = 2600
  t.match(await reconcile(id), { finding: 'amount_differs', payment: { status: 'processing' } })
  intent.amount_cents = 2599
  intent.currency = 'USD'
  t.equal((await reconcile(id)).finding, 'amount_differs')
  t.same(captures(), [])
  intent.currency = 'EUR'
  t.match(await reconcile(id), { payment: { status: 'succeeded' } })
})

t.test('a canceled payment is not captured', async (t) => {
  const { id, intent } = await approved()
  await notify(intent, 'canceled')
  t.match(await reconcile(id), { finding: 'conflict', payment: { status: 'canceled' } })
  t.same(captures(), [])
  t.equal(intent.charges.length, 0)
})

t.test('concurrent reconciliations capture a payment once', async (t) => {
  const { id, intent } = await approved()
  const findings = await Promise.all(
    Array.from({ length: 8 }, () =>
      reconcile(id).catch((error: Error & { code?: string }) => error.code ?? error.message),
    ),
  )
  t.ok(findings.every((each) => each === 'concurrent_modification' || typeof each !== 'string'))
  t.equal((await reconcile(id)).payment.status, 'succeeded')
  t.equal(intent.charges.length, 1)
  t.same(new Set(captures()), new Set([`capture ${intent.id}-capture-1`]))
  t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
})

t.test('a further charge counts with its own amount', async (t) => {
  const { id, intent } = await approved()
  const { snapshot, payment } = await reconcile(id)
  if (!snapshot) throw new Error('no snapshot')
  const further_charges = [{ provider_payment_id: 'ch_more', amount_cents: 100, currency: 'EUR' }]
  const found = { ...snapshot, further_charges }
  const [more] = eventsOf(found, payment, new Date().toISOString())
  t.match(more, {
    type: 'PaymentConflictDetected',
    data: { reported_amount_cents: 100, attention: 'unrequested_charge' },
  })
  const charged = more ? paymentFold.evolve(payment, more) : payment
  t.equal(charged.status === 'none' ? 0 : receivedOf(charged), intent.amount_cents + 100)
})
