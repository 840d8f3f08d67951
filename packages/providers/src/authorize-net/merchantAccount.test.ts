// Reading and caching the account's currency.
import type { FakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import t, { type Test } from 'tap'
import { authorizeNetHarness, openHostedPage, retrieve, sampleRef } from './testing/authorizeNetHarness.ts'

/** A paid payment, and a function that reads the currency of its snapshot. */
async function paid(t: Test, options: Parameters<typeof authorizeNetHarness>[1] = {}) {
  const { fake, provider } = await authorizeNetHarness(t, options)
  const { transId } = fake.pay(await openHostedPage(provider))
  const ref = sampleRef(Date.now() - 1000, { provider_payment_id: transId })
  return { fake, currency: async (by = provider) => (await retrieve(by, ref)).report.currency }
}
const merchantDetailCalls = (fake: FakeAuthorizeNet) =>
  fake.calls.filter(({ method }) => method === 'getMerchantDetails').length

t.test('Authorize.Net: parallel reads of the account’s currency send one call', async (t) => {
  const { fake, currency } = await paid(t, { currencies: ['CAD'] })
  t.equal(merchantDetailCalls(fake), 0)
  t.same(await Promise.all(Array.from({ length: 10 }, () => currency())), Array(10).fill('CAD'))
  t.equal(await currency(), 'CAD')
  t.equal(merchantDetailCalls(fake), 1)
})

t.test('Authorize.Net: several, no or unreadable currencies give null, which is cached if readable', async (t) => {
  for (const [currencies, calls] of [
    [['USD', 'CAD'], 1],
    [[], 1],
    [['dollars'], 2],
  ] as const) {
    const { fake, currency } = await paid(t, { currencies })
    t.equal(await currency(), null)
    t.equal(await currency(), null)
    t.equal(merchantDetailCalls(fake), calls, `${currencies}`)
  }
})

t.test('Authorize.Net: a failed read of the currency gives null and is repeated next time', async (t) => {
  const { fake, currency } = await paid(t)
  fake.failNext('E00007', { method: 'getMerchantDetails' })
  t.equal(await currency(), null, 'rejected')
  const faults = [
    { kind: 'drop', commits: false },
    { kind: 'garbage', commits: false },
    { kind: 'status', status: 500, commits: false },
    { kind: 'hang', commits: false },
  ] as const
  for (const fault of faults) {
    fake.readFaults.next(undefined, fault)
    const startedAt = performance.now()
    t.equal(await currency(), null, fault.kind)
    t.ok(performance.now() - startedAt < 3000, 'the read has its own shorter time limit')
  }
  t.equal(await currency(), 'USD')
  t.equal(await currency(), 'USD')
  t.equal(merchantDetailCalls(fake), faults.length + 2)
})

t.test('Authorize.Net: the read of the currency stays within the call’s time limit', async (t) => {
  const { fake, currency } = await paid(t, { timeoutMs: 400 })
  fake.readFaults.next(undefined, { kind: 'hang', commits: false })
  const startedAt = performance.now()
  t.equal(await currency(), null)
  t.ok(performance.now() - startedAt < 1200)
})

t.test('Authorize.Net: the currency of an unpaid payment is not read', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  await retrieve(provider, sampleRef(Date.now() - 1000))
  t.equal(merchantDetailCalls(fake), 0)
})
