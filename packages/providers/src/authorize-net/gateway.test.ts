// The account's currency, which the gateway is asked for once.
import type { FakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import t, { type Test } from 'tap'
import { authorizeNetHarness, connectTo, openHostedPage, retrieve, sampleRef } from './testing/authorizeNetHarness.ts'

/** A payment that was made, and how the currency of its snapshot is found. */
async function paid(t: Test, options: Parameters<typeof authorizeNetHarness>[1] = {}) {
  const { fake, provider } = await authorizeNetHarness(t, options)
  const { transId } = fake.pay(await openHostedPage(provider))
  const ref = sampleRef(Date.now() - 1000, { provider_payment_id: transId })
  return { fake, currency: async (by = provider) => (await retrieve(by, ref)).evidence.currency }
}
const questions = (fake: FakeAuthorizeNet) => fake.calls.filter(({ method }) => method === 'getMerchantDetails').length

t.test('the one currency of the account is asked for once, however many want it at the same time', async (t) => {
  const { fake, currency } = await paid(t, { currencies: ['CAD'] })
  t.equal(questions(fake), 0)
  t.same(await Promise.all(Array.from({ length: 10 }, () => currency())), Array(10).fill('CAD'))
  t.equal(await currency(), 'CAD')
  t.equal(questions(fake), 1)
})

t.test(
  'an account with several currencies, or none, has none that could be told, and is not asked again',
  async (t) => {
    for (const currencies of [['USD', 'CAD'], []]) {
      const { fake, currency } = await paid(t, { currencies })
      t.equal(await currency(), null)
      t.equal(await currency(), null)
      t.equal(questions(fake), 1)
    }
  },
)

t.test('that it is not told fails nothing, and it is asked again', async (t) => {
  const { fake, currency } = await paid(t)
  fake.failNext('E00007', { method: 'getMerchantDetails' })
  t.equal(await currency(), null, 'refused')
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
    t.ok(performance.now() - startedAt < 3000, 'it is not worth the whole time of a request')
  }
  t.equal(await currency(), 'USD')
  t.equal(await currency(), 'USD')
  t.equal(questions(fake), faults.length + 2)
})

t.test('nobody waits for it longer than for everything else', async (t) => {
  const { fake, currency } = await paid(t, { timeoutMs: 400 })
  fake.readFaults.next(undefined, { kind: 'hang', commits: false })
  const startedAt = performance.now()
  t.equal(await currency(), null)
  t.ok(performance.now() - startedAt < 1200)
})

t.test('an answer that names no currency is none', async (t) => {
  const { fake, currency } = await paid(t, { currencies: ['dollars'] })
  t.equal(await currency(), null)
  t.equal(await currency(connectTo(t, fake)), null)
})

t.test('a payment that nobody has made has no currency to be asked for', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  await retrieve(provider, sampleRef(Date.now() - 1000))
  t.equal(questions(fake), 0)
})
