// Reading a payment's state by its transaction or its invoice number.
import t from 'tap'
import type { ProviderError } from '../provider.ts'
import {
  authorizeNetHarness,
  openHostedPage,
  paidGateway,
  retrieve,
  sampleInvoice,
  sampleRef,
} from './testing/authorizeNetHarness.ts'

const dayMs = 24 * 60 * 60 * 1000
/** A creation time in the past. The fake's transactions have the current time. */
const ago = (ms: number) => Date.now() - ms

t.test('Authorize.Net: a payment without a transaction is pending, not missing', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  await openHostedPage(provider)
  fake.pay({ invoiceNumber: 'another system 1', amount_cents: 100 })
  const { report, ...rest } = await retrieve(provider, sampleRef(ago(1000)))
  t.same(rest, { further_charges: [], awaits_capture: false })
  t.match(report, {
    status: 'pending',
    provider_event_id: null,
    provider_intent_id: sampleInvoice,
    provider_payment_id: null,
    amount_cents: null,
    currency: null,
  })
})

t.test('Authorize.Net: a snapshot has the time of the gateway’s clock', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.advance(-dayMs)
  const since = fake.now()
  const { transId } = fake.pay(await openHostedPage(provider))
  for (const provider_payment_id of [null, transId]) {
    const { report } = await retrieve(provider, sampleRef(since, { provider_payment_id }))
    t.ok(Math.abs(Date.parse(report.provider_time) - fake.now()) < 5000, report.provider_time)
  }
  fake.advance(dayMs / 2)
  const unpaid = await retrieve(provider, sampleRef(since, { provider_intent_id: '0123456789abcdef0123' }))
  t.equal(unpaid.report.status, 'pending')
  t.ok(Math.abs(Date.parse(unpaid.report.provider_time) - fake.now()) < 5000)
})

t.test('Authorize.Net: each outcome is found by invoice number and by transaction id', async (t) => {
  const outcomes = [
    ['approved', 'succeeded'],
    ['held', 'processing'],
    ['declined', 'failed'],
    ['error', 'failed'],
  ] as const
  for (const [outcome, status] of outcomes) {
    const { provider, transId } = await paidGateway(t, { outcome })
    for (const provider_payment_id of [null, transId]) {
      const { report } = await retrieve(provider, sampleRef(ago(1000), { provider_payment_id }))
      t.match(report, { status, provider_payment_id: transId, amount_cents: 2599, currency: 'USD' }, outcome)
    }
  }
})

t.test('Authorize.Net: a declined attempt has a failure code and message', async (t) => {
  const { provider } = await paidGateway(t, { outcome: 'declined' })
  const { report } = await retrieve(provider, sampleRef(ago(1000)))
  t.match(report, { failure_code: '2', failure_message: 'The payment was declined' })
})

t.test('Authorize.Net: a recorded transaction does not hide another paid one', async (t) => {
  for (const [outcome, further] of [
    ['held', 0],
    ['approved', 1],
  ] as const) {
    const { fake, provider } = await authorizeNetHarness(t, { allowDouble: true })
    const token = await openHostedPage(provider)
    const known = fake.pay(token, { card: 'card-1', outcome }).transId
    const other = fake.pay(token, { card: 'card-2' }).transId
    for (const settles of [false, true]) {
      if (settles) fake.settle()
      const ref = sampleRef(ago(1000), { provider_payment_id: known })
      const { report, further_charges } = await retrieve(provider, ref)
      t.match(report, { status: 'succeeded', provider_payment_id: further ? known : other }, outcome)
      t.match(further_charges, further ? [{ provider_payment_id: other, amount_cents: Number }] : [], outcome)
      t.equal(further_charges.length, further ? 1 : 0)
    }
  }
})

t.test('Authorize.Net: a paid or held transaction is returned even when the search for others fails', async (t) => {
  for (const [outcome, status] of [
    ['approved', 'succeeded'],
    ['held', 'processing'],
    ['declined', null],
  ] as const) {
    const { fake, provider } = await authorizeNetHarness(t, { timeoutMs: 1500 })
    const { transId } = fake.pay(await openHostedPage(provider), { outcome })
    const ref = sampleRef(ago(1000), { provider_payment_id: transId })
    const check = async (code: string) => {
      if (status === null) return t.rejects(retrieve(provider, ref), { kind: 'unknown', code }, outcome)
      const { report } = await retrieve(provider, ref)
      return t.match(report, { status, provider_payment_id: transId, currency: 'USD' }, outcome)
    }
    const never = { kind: 'hang', commits: false } as const
    fake.readFaults.next(undefined, undefined, never)
    await check('timeout')
    for (let n = 0; n < 201; n++) fake.settle()
    await check('search_too_large')
  }
})

t.test('Authorize.Net: an approved transaction with an unknown status is unreadable', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  for (const transaction of fake.transactions) transaction.transactionStatus = 'somethingNew'
  for (const provider_payment_id of [null, transId]) {
    const retrieval = retrieve(provider, sampleRef(ago(1000), { provider_payment_id }))
    await t.rejects(retrieval, { kind: 'unknown', code: 'unknown_status' })
  }
})

t.test('Authorize.Net: a recorded transaction that cannot be found gives null, not pending', async (t) => {
  const { provider } = await authorizeNetHarness(t)
  t.equal(await provider.retrieveIntent(sampleRef(ago(1000), { provider_payment_id: '1' })), null)
})

t.test('Authorize.Net: a listed transaction without details fails with an unknown outcome', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.pay(await openHostedPage(provider))
  fake.failNext('E00040', { method: 'getTransactionDetails' })
  await t.rejects(retrieve(provider, sampleRef(ago(1000))), { kind: 'unknown', code: 'transaction_not_found' })
})

t.test('Authorize.Net: the best of several attempts determines the status', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const token = await openHostedPage(provider)
  const status = async () => (await retrieve(provider, sampleRef(ago(1000)))).report.status
  const voided = fake.pay(token, { card: 'card-1', authOnly: true })
  fake.voidTransaction(voided.transId)
  t.equal(await status(), 'canceled')
  fake.pay(token, { card: 'card-2', outcome: 'declined' })
  t.equal(await status(), 'failed')
  fake.pay(token, { card: 'card-3', outcome: 'held' })
  t.equal(await status(), 'processing')
  fake.pay(token, { card: 'card-4' })
  t.equal(await status(), 'succeeded')
})

t.test('Authorize.Net: a second charge of a payment is listed in further_charges', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t, { allowDouble: true })
  const token = await openHostedPage(provider)
  fake.pay(token, { outcome: 'declined', card: 'card-0' })
  const [first, second, third] = [1, 2, 3].map((n) => fake.pay(token, { card: `card-${n}` }).transId)
  fake.settle()
  const { report, further_charges } = await retrieve(provider, sampleRef(ago(1000)))
  t.match(report, { status: 'succeeded', provider_payment_id: first })
  const further = further_charges.map(({ provider_payment_id }) => provider_payment_id)
  t.same(further, [second, third])
})

t.test('Authorize.Net: a refund does not count as the payment', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.settle()
  const refund = fake.refund(transId, 2599, { invoiceNumber: sampleInvoice })
  t.match(await retrieve(provider, sampleRef(ago(1000))), {
    report: { status: 'succeeded', provider_payment_id: transId, amount_cents: 2599 },
    further_charges: [],
    refunds: [{ provider_payment_id: transId, provider_refund_id: refund.transId, amount_cents: 2599 }],
  })
})

t.test('Authorize.Net: a voided refund does not count as the payment', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const { transId } = fake.pay({ invoiceNumber: 'another system 1', amount_cents: 100 })
  fake.settle()
  fake.voidTransaction(fake.refund(transId, 100, { invoiceNumber: sampleInvoice }).transId)
  t.equal((await retrieve(provider, sampleRef(ago(1000)))).report.status, 'pending')
})

t.test('Authorize.Net: the amount is the captured one, not the authorized one', async (t) => {
  const { fake, provider, transId } = await paidGateway(t, { authOnly: true })
  t.match((await retrieve(provider, sampleRef(ago(1000)))).report, { status: 'processing', amount_cents: 2599 })
  fake.capture(transId, 1999)
  t.match((await retrieve(provider, sampleRef(ago(1000)))).report, { status: 'succeeded', amount_cents: 1999 })
})

t.test('Authorize.Net: many declined attempts do not hide a successful one', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const token = await openHostedPage(provider)
  for (let n = 0; n < 30; n++) fake.pay(token, { outcome: 'declined', card: `card-${n}` })
  const { transId } = fake.pay(token, { card: 'card-30' })
  for (let n = 31; n < 60; n++) fake.pay(token, { outcome: 'declined', card: `card-${n}` })
  t.match((await retrieve(provider, sampleRef(ago(1000)))).report, {
    status: 'succeeded',
    provider_payment_id: transId,
  })
  t.ok(fake.calls.filter(({ method }) => method === 'getTransactionDetails').length <= 8)
})

t.test('Authorize.Net: each call of a search is retried after a lost response', async (t) => {
  for (const kind of ['drop', 'garbage'] as const)
    for (let successes = 0; successes < 4; successes++) {
      const { fake, provider, transId } = await paidGateway(t)
      fake.settle()
      fake.readFaults.next(...Array.from({ length: successes }, () => undefined), { kind, commits: false })
      const { report } = await retrieve(provider, sampleRef(ago(1000)))
      t.match(report, { status: 'succeeded', provider_payment_id: transId }, `${kind} after ${successes}`)
    }
})

t.test('Authorize.Net: all calls of a search share one time limit', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t, { timeoutMs: 800 })
  fake.pay(await openHostedPage(provider))
  for (let n = 0; n < 40; n++) fake.settle()
  for (const fault of [
    { kind: 'slow', ms: 150 },
    { kind: 'hang', commits: false },
    { kind: 'status', status: 500, commits: false },
  ] as const) {
    fake.readFaults.always(fault)
    const startedAt = performance.now()
    const retrieval = retrieve(provider, sampleRef(ago(1000)))
    await t.rejects(retrieval, { name: 'ProviderError', kind: 'unknown' } satisfies Partial<ProviderError>, fault.kind)
    t.ok(performance.now() - startedAt < 5_000, `${fault.kind} ends in time`)
  }
})

t.test('Authorize.Net: rejected credentials make a read of a payment unavailable', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  for (const provider_payment_id of [null, '1']) {
    fake.failNext('E00007')
    const retrieval = retrieve(provider, sampleRef(ago(1000), { provider_payment_id }))
    await t.rejects(retrieval, { kind: 'unavailable', code: 'E00007' })
  }
})
