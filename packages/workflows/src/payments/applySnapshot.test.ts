import { paymentStream, providerIntentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { createFakeProvider, type FakeIntent } from '../testing/fakeProvider.ts'
import { metadata, workflowHarness } from '../testing/workflowHarness.ts'
import { reconcilePayment } from './reconcilePayment.ts'

const { provider, stage } = createFakeProvider(t, { captures: true })
const { workflow, open, notify, notifyAt: tellAt, typesOf } = await workflowHarness(t, provider)

t.beforeEach(() => {
  stage.calls.length = 0
  stage.failures.clear()
  stage.meanwhile = undefined
  stage.declines = false
})

/** A payment whose payer has approved it. */
async function approved(): Promise<{ id: string; intent: FakeIntent }> {
  const { payment_id: id } = await open()
  const intent = stage.onlyOf(id)
  stage.approve(intent)
  stage.calls.length = 0
  return { id, intent }
}
const reconcile = (paymentId: string) => reconcilePayment(workflow, paymentId, metadata)
const historyOf = async (paymentId: string) => (await typesOf(paymentStream(paymentId))).slice(2)
const captures = () => stage.calls.filter((call) => call.startsWith('capture'))

t.test('what the payer approved is taken once, whether we were told of it or not', async (t) => {
  for (const isTold of [true, false]) {
    stage.calls.length = 0
    const { id, intent } = await approved()
    if (isTold) await notify(intent, 'processing')
    const { finding, payment, snapshot } = await reconcile(id)
    t.same([finding, payment.status, snapshot?.evidence.status], ['late', 'succeeded', 'succeeded'])
    t.equal((await reconcile(id)).finding, 'same')
    t.same(captures(), [`capture ${intent.id}-capture-1`])
    t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
    t.equal(stage.ledger.charges.filter(({ payment_id }) => payment_id === id).length, 1)
    t.same(await typesOf(providerIntentStream(provider.id, String(intent.charges[0]))), ['ProviderIntentOwned'])
  }
})

t.test('a capture whose answer was lost is made again with the same key', async (t) => {
  for (const done of [true, false]) {
    stage.calls.length = 0
    const { id, intent } = await approved()
    stage.failures.set('capture', [{ kind: 'unknown', done }])
    t.match(await reconcile(id), { finding: 'unknown', problem: 'capture_unknown', payment: { status: 'processing' } })
    t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
    t.same(new Set(captures()), new Set([`capture ${intent.id}-capture-1`]))
    t.equal(captures().length, done ? 1 : 2, 'the intent tells by itself that it was captured')
    t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
    t.equal(intent.charges.length, 1)
  }
})

t.test('a capture that did not reach the provider is made again with the same key', async (t) => {
  const { id, intent } = await approved()
  stage.failures.set('capture', [{ kind: 'unavailable' }])
  t.match(await reconcile(id), { finding: 'unreachable', payment: { status: 'processing' } })
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
  t.same(captures(), [`capture ${intent.id}-capture-1`, `capture ${intent.id}-capture-1`])
})

t.test('a declined capture is a failed attempt, and the approval that is left is not taken again', async (t) => {
  const { id, intent } = await approved()
  stage.declines = true
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'failed', failures: 1 } })
  t.equal(intent.approved, true, 'the provider leaves the approval as it is')
  for (let n = 0; n < 3; n++) t.match(await reconcile(id), { finding: 'approval_waits', payment: { status: 'failed' } })
  t.equal(captures().length, 1)
  t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentAttemptFailed'])
})

t.test('a payer who approves anew is charged by a capture with a key of its own', async (t) => {
  const { id, intent } = await approved()
  stage.declines = true
  await reconcile(id)
  stage.declines = false
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

/** Times of a statement that do not tell whether it came after another one. */
const unclear = {
  'in the same second': (time: string) => `${time.slice(0, 19)}.000Z`,
  'by a clock that is slow': (time: string) => new Date(Date.parse(time) - 2_000).toISOString(),
}
for (const [when, at] of Object.entries(unclear)) {
  t.test(`an approval that is told after the decline, ${when}, is tried once`, async (t) => {
    for (const declinesAgain of [false, true]) {
      const { id, intent } = await approved()
      await notify(intent, 'processing')
      stage.declines = true
      const { payment } = await reconcile(id)
      await tellAt(intent, 'processing', at(payment.evidence_time ?? ''))
      stage.declines = declinesAgain
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

  t.test(`the approval that was declined, when it is told late and ${when}, is not tried again`, async (t) => {
    const { id, intent } = await approved()
    stage.declines = true
    const { payment } = await reconcile(id)
    await tellAt(intent, 'processing', at(payment.evidence_time ?? ''))
    t.match(await reconcile(id), { finding: 'approval_waits', payment: { status: 'failed' } })
    t.equal(captures().length, 1)
  })
}

t.test('a decline of which the provider tells first is one decline, and not captured again at once', async (t) => {
  const { id, intent } = await approved()
  stage.declines = true
  stage.meanwhile = async (call) => {
    if (call.startsWith('capture')) await notify(intent, 'failed', 'ch_declined')
  }
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'failed', failures: 1 } })
  t.equal(captures().length, 1)
  t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentAttemptFailed'])
})

t.test('a success of which the provider tells first is recorded once', async (t) => {
  const { id, intent } = await approved()
  stage.meanwhile = async (call) => {
    if (call.startsWith('capture')) await notify(intent, 'succeeded', intent.charges[0])
  }
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
  t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
})

t.test('what a capture did is recorded even if the payment changed meanwhile', async (t) => {
  for (const declines of [false, true]) {
    const { id, intent } = await approved()
    stage.declines = declines
    stage.meanwhile = async (call) => {
      if (!call.startsWith('capture')) return
      stage.meanwhile = undefined
      await notify(intent, 'processing')
    }
    const { finding, payment } = await reconcile(id)
    t.same([finding, payment.status], ['late', declines ? 'failed' : 'succeeded'])
    t.equal(new Set(captures().filter((call) => call.includes(intent.id))).size, 1, 'always the same key')
  }
})

t.test('another amount or currency is not taken', async (t) => {
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

t.test('for a payment that is at its end nothing is taken', async (t) => {
  const { id, intent } = await approved()
  await notify(intent, 'canceled')
  t.match(await reconcile(id), { finding: 'conflict', payment: { status: 'canceled' } })
  t.same(captures(), [])
  t.equal(intent.charges.length, 0)
})

t.test('many that reconcile one payment at once take its money once', async (t) => {
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
