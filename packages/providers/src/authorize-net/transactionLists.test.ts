// The number of calls for a round of payment checks, and the age of cached pages.
import type { FakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import t from 'tap'
import { withPriority } from '../pacing.ts'
import type { IntentRef } from '../provider.ts'
import { type ConnectedProvider, connect } from '../testing/providerHarness.ts'
import { authorizeNetHarness, retrieve, sampleRef } from './testing/authorizeNetHarness.ts'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** Adds foreign transactions evenly over the last day; those of its first half are settled. */
function busyDay(fake: FakeAuthorizeNet, transactions: number): void {
  fake.advance(-dayMs)
  for (let n = 0; n < transactions; n++) {
    if (n === Math.floor(transactions / 2)) fake.settle()
    const outcome = n % (transactions / 100) === 0 ? 'approved' : 'declined'
    fake.pay({ invoiceNumber: `${outcome}-${n}`, amount_cents: 100 }, { outcome })
    fake.advance(dayMs / transactions)
  }
}

/** Payments of the last day; every tenth was paid soon after its creation. */
function waitingPayments(fake: FakeAuthorizeNet, count: number): readonly (IntentRef & { isPaid: boolean })[] {
  const paid = fake.transactions.filter(({ invoiceNumber }) => invoiceNumber?.startsWith('approved'))
  return Array.from({ length: count }, (_, n) => {
    const transaction = paid[Math.floor((n * paid.length) / count)]
    const isPaid = n % 10 === 0
    const provider_intent_id = isPaid ? (transaction?.invoiceNumber ?? '') : `waits-${n}`
    return { ...sampleRef((transaction?.submittedAt ?? 0) - 60_000, { provider_intent_id }), isPaid }
  })
}

const listCalls = (fake: FakeAuthorizeNet) =>
  fake.calls.filter(({ method }) => method.endsWith('List')).map(({ method }) => method)

async function readAll(
  provider: ConnectedProvider,
  waiting: readonly (IntentRef & { isPaid: boolean })[],
  as_of: string,
) {
  const found = await withPriority('reconciler', () =>
    Promise.all(waiting.map((intent) => retrieve(provider, { ...intent, as_of }))),
  )
  return found.filter(({ report }) => report.status === 'succeeded').length
}

t.test('Authorize.Net: a round of many payments reads each page of a busy day once [10.2-lists]', async (t) => {
  const transactions = 10_000
  const { fake } = await authorizeNetHarness(t)
  busyDay(fake, transactions)
  const calls: number[] = []
  for (const count of [10, 50]) {
    const provider = await connect(t, fake.env)
    const before = listCalls(fake).length
    const waiting = waitingPayments(fake, count)
    const as_of = new Date().toISOString()
    t.equal(await readAll(provider, waiting, as_of), count / 10, 'all paid payments are found')
    calls.push(listCalls(fake).length - before)
    t.equal(await readAll(provider, waiting, as_of), count / 10)
    t.equal(listCalls(fake).length - before, calls.at(-1), 'a repetition in the same round needs no calls')
  }
  const pages = transactions / 1_000
  // The batch list is read again after each further page of the unsettled list, which holds half of the
  // transactions.
  t.ok(Math.max(...calls) <= 1.5 * pages + 5, `${calls} calls for ${pages} pages`)
})

t.test('Authorize.Net: a payment paid after the lists were read is found with a newer as_of', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const ref = sampleRef(fake.now() - hourMs, { provider_intent_id: 'invoice-1' })
  const before = new Date().toISOString()
  const statusAsOf = async (as_of: string) => (await retrieve(provider, { ...ref, as_of })).report.status
  t.equal(await statusAsOf(before), 'pending')
  fake.pay({ invoiceNumber: 'invoice-1', amount_cents: 100 })
  await new Promise((resolve) => setTimeout(resolve, 5))
  t.equal(await statusAsOf(before), 'pending', 'from the cached pages')
  t.equal(await statusAsOf(new Date().toISOString()), 'succeeded')
})

t.test('Authorize.Net: a snapshot has the time of the oldest list that was used', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const ref = sampleRef(fake.now() - hourMs)
  const as_of = new Date().toISOString()
  const first = (await retrieve(provider, { ...ref, as_of })).report.provider_time
  fake.advance(10 * 60_000)
  t.equal((await retrieve(provider, { ...ref, as_of })).report.provider_time, first)
})

t.test('Authorize.Net: a transaction that settles during a round is found', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.advance(-2 * hourMs)
  for (let n = 0; n < 1_500; n++) fake.pay({ invoiceNumber: `other-${n}`, amount_cents: 100 })
  const early = sampleRef(fake.now() - 30 * hourMs, { provider_intent_id: 'other-1' })
  fake.advance(1.5 * hourMs)
  const as_of = new Date().toISOString()
  const late = sampleRef(fake.now(), { provider_intent_id: 'unpaid', as_of })
  fake.pay({ invoiceNumber: 'newer', amount_cents: 100 })
  t.equal((await retrieve(provider, late)).report.status, 'pending', 'reads only the newest page')
  fake.settle()
  t.equal((await retrieve(provider, { ...early, as_of })).report.status, 'succeeded')
})

t.test('Authorize.Net: a page whose read failed is read again by the next search', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t, { timeoutMs: 500 })
  const ref = sampleRef(fake.now() - hourMs)
  const as_of = new Date().toISOString()
  fake.readFaults.always({ kind: 'drop', commits: false })
  await t.rejects(retrieve(provider, { ...ref, as_of }), { name: 'ProviderError' })
  fake.readFaults.always(undefined)
  t.equal((await retrieve(provider, { ...ref, as_of })).report.status, 'pending')
})
