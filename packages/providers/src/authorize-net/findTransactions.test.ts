// Searching the gateway's lists for the transactions of a payment.
import type { FakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import t from 'tap'
import {
  authorizeNetHarness,
  openHostedPage,
  retrieve,
  sampleInvoice,
  sampleRef,
} from './testing/authorizeNetHarness.ts'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs
/** A creation time in the past. The fake's transactions have the current time. */
const ago = (ms: number) => Date.now() - ms

t.test('Authorize.Net: a transaction is found in any batch settled within days of the payment', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.advance(-10 * dayMs)
  const createdAt = fake.now()
  fake.settle()
  const token = await openHostedPage(provider)
  fake.advance(60_000)
  const { transId } = fake.pay(token)
  for (let day = 1; day <= 9; day++) {
    fake.advance(dayMs - 60_000)
    fake.pay({ invoiceNumber: `other-${day}`, amount_cents: 100 })
    if (day > 3) fake.settle()
  }
  const { report } = await retrieve(provider, sampleRef(createdAt))
  t.match(report, { status: 'succeeded', provider_payment_id: transId })
  t.same(daysRead(fake, createdAt), [0, 4])
})

/** The batches that were read, as the day of settlement since the payment was created. */
function daysRead(fake: FakeAuthorizeNet, createdAt: number): readonly number[] {
  const read = fake.calls.filter(({ method }) => method === 'getTransactionList').map(({ request }) => request.batchId)
  return fake.batches
    .filter(({ batchId }) => read.includes(batchId))
    .map(({ settledAt }) => Math.round((settledAt - createdAt) / dayMs))
}

t.test('Authorize.Net: late batches are searched only for a recorded transaction, until it is found', async (t) => {
  for (const [known, status, days] of [
    ['declined', 'succeeded', [0, 28]],
    ['succeeded', 'succeeded', [0, 28]],
    [null, 'failed', [0]],
  ] as const) {
    const { fake, provider } = await authorizeNetHarness(t)
    fake.advance(-100 * dayMs)
    const createdAt = fake.now()
    const token = await openHostedPage(provider)
    const declined = fake.pay(token, { card: 'card-1', outcome: 'declined' }).transId
    fake.settle()
    const succeeded = fake.pay(token, { card: 'card-2', authOnly: true }).transId
    fake.advance(28 * dayMs)
    fake.capture(succeeded)
    fake.settle()
    fake.advance(60 * dayMs)
    const provider_payment_id = known && { declined, succeeded }[known]
    const { report } = await retrieve(provider, sampleRef(createdAt, { provider_payment_id }))
    t.match(report, { status, provider_payment_id: status === 'failed' ? declined : succeeded }, `${known}`)
    t.same(daysRead(fake, createdAt), days, `${known}`)
  }
})

t.test('Authorize.Net: the search ends at the first paid transaction', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.advance(-20 * dayMs)
  const createdAt = fake.now()
  const { transId } = fake.pay(await openHostedPage(provider))
  for (let day = 0; day < 20; day += 10) {
    fake.settle()
    fake.advance(10 * dayMs)
  }
  await retrieve(provider, sampleRef(createdAt, { provider_payment_id: transId }))
  t.same(daysRead(fake, createdAt), [0])
})

t.test('Authorize.Net: checking an unpaid payment of any age reads only the batches of a few days', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.advance(-60 * dayMs)
  const createdAt = fake.now()
  fake.advance(hourMs)
  for (let day = 0; day < 60; day++) {
    fake.settle()
    fake.advance(dayMs)
  }
  const { report } = await retrieve(provider, sampleRef(createdAt))
  t.equal(report.status, 'pending')
  t.same(daysRead(fake, createdAt), [0, 1, 2, 3])
  t.ok(fake.calls.length <= 7, 'the unsettled list, the batch lists of at most two months, and four batches')
})

t.test('Authorize.Net: an unpaid payment whose creation time is in the future is pending', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.settle()
  const createdAt = ago(-3 * hourMs)
  const { report } = await retrieve(provider, sampleRef(createdAt))
  t.equal(report.status, 'pending')
})

t.test('Authorize.Net: a refund with our invoice number does not end the search for the payment', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.advance(-40 * dayMs)
  const createdAt = fake.now()
  const theirs = fake.pay({ invoiceNumber: 'another system 1', amount_cents: 100 })
  fake.settle()
  fake.refund(theirs.transId, 100, { invoiceNumber: sampleInvoice })
  fake.settle()
  const { transId } = fake.pay(await openHostedPage(provider), { authOnly: true })
  fake.advance(20 * dayMs)
  fake.capture(transId)
  fake.settle()
  fake.advance(10 * dayMs)
  t.match((await retrieve(provider, sampleRef(createdAt, { provider_payment_id: '1' }))).report, {
    provider_payment_id: transId,
  })
})

t.test('Authorize.Net: lists are read page by page, and no further than needed', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.advance(-dayMs)
  for (let n = 0; n < 1500; n++) fake.pay({ invoiceNumber: `older-${n}`, amount_cents: 100 })
  fake.advance(dayMs / 2)
  const since = fake.now()
  const { transId } = fake.pay(await openHostedPage(provider))
  for (let n = 0; n < 1500; n++) fake.pay({ invoiceNumber: `newer-${n}`, amount_cents: 100 })
  const pages = () => fake.calls.filter(({ method }) => method === 'getUnsettledTransactionList')
  t.match((await retrieve(provider, sampleRef(since))).report, { provider_payment_id: transId })
  t.same(
    pages().map(({ request }) => request.paging),
    [1, 2].map((offset) => ({ limit: 1000, offset })),
  )
})

t.test('Authorize.Net: a failed search sends no more calls', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  for (let n = 0; n < 40; n++) fake.settle()
  const notFaulty = [undefined, undefined]
  fake.readFaults.next(...notFaulty, { kind: 'status', status: 403, commits: false })
  await t.rejects(retrieve(provider, sampleRef(ago(1000))), { kind: 'unavailable', code: 'http_403' })
  await retrieve(provider, sampleRef(ago(1000)))
  const lists = fake.calls.filter(({ method }) => method === 'getTransactionList').length
  t.ok(lists <= 50, `${lists} lists were read`)
})
