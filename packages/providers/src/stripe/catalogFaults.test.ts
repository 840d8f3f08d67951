// Lost answers, too many requests and several at once: each product is there once, with one price of ours.
import { createServer } from 'node:http'
import { listen } from '@paylog/testing/fakeServer'
import type { FakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createPace } from '../pacing.ts'
import type { PutProduct } from '../productCatalog.ts'
import { createStripe } from './stripe.ts'
import {
  assertDefaultPrice,
  callsOf,
  catalogAt,
  catalogHarness,
  firstPut,
  price,
  product,
  product_id,
} from './testing/catalogHarness.ts'

const of = (kind: string, code?: string) => ({ name: 'ProviderError', kind, ...(code ? { code } : {}) })
const dearer: PutProduct = {
  ...firstPut,
  idempotency_key: 'dearer',
  product: { ...product, price: { ...price, amount_cents: 9900 } },
}
const faults = [true, false].flatMap((commits) => [
  { kind: 'drop', commits } as const,
  { kind: 'garbage', commits } as const,
  { kind: 'status', status: 502, commits } as const,
])
const through = (calls: number) => Array.from({ length: calls }, () => undefined)

const writesAt = (fake: FakeStripe) => fake.calls.filter(({ method }) => method === 'POST').length

/** The calls that put a new product, and those that give it another price. */
const stories = [
  { name: 'a new product', writes: 3, prices: 1, begin: async () => firstPut },
  {
    name: 'another price',
    writes: 4,
    prices: 2,
    begin: async (catalog: { putProduct(request: PutProduct): Promise<PutProduct['known']> }) => ({
      ...dearer,
      known: await catalog.putProduct(firstPut),
    }),
  },
]

for (const { name, writes, prices, begin } of stories) {
  for (let call = 0; call < writes; call++) {
    t.test(`${name}: the answer to call ${call + 1} is lost`, async (t) => {
      await Promise.all(
        faults.map(async (fault) => {
          const { fake, catalog } = await catalogHarness(t)
          const request = await begin(catalog)
          fake.faults.next(...through(call), fault)
          const said = `${fault.kind}, ${fault.commits ? 'and it was done' : 'and nothing was done'}`
          assertDefaultPrice(t, fake, await catalog.putProduct(request), said)
          t.equal(fake.pricesOf(product_id).length, prices, said)
        }),
      )
    })

    t.test(`${name}: call ${call + 1} is given up, and all of it is repeated`, async (t) => {
      await Promise.all(
        faults.map(async (fault) => {
          const { fake, catalog } = await catalogHarness(t)
          const request = await begin(catalog)
          fake.faults.next(...through(call), fault, fault, fault)
          const said = `${fault.kind}, ${fault.commits ? 'and it was done' : 'and nothing was done'}`
          await t.rejects(catalog.putProduct(request), of('unknown'), said)
          assertDefaultPrice(t, fake, await catalog.putProduct(request), said)
          t.equal(fake.pricesOf(product_id).length, prices, said)
        }),
      )
    })

    t.test(`${name}: call ${call + 1} is never answered`, async (t) => {
      await Promise.all(
        [true, false].map(async (commits) => {
          const { fake, catalog } = await catalogHarness(t, { timeoutMs: 800 })
          const request = await begin(catalog)
          fake.faults.next(...through(call), { kind: 'hang', commits })
          await t.rejects(catalog.putProduct(request), of('unknown', 'timeout'))
          assertDefaultPrice(t, fake, await catalog.putProduct(request))
          t.equal(fake.pricesOf(product_id).length, prices)
        }),
      )
    })

    t.test(`${name}: call ${call + 1} breaks inside Stripe, which keeps that for the key`, async (t) => {
      await Promise.all(
        [true, false].map(async (commits) => {
          const { fake, catalog } = await catalogHarness(t)
          const request = await begin(catalog)
          const until = writesAt(fake) + call + 1
          fake.faults.next(...through(call), { kind: 'slow', ms: 100 })
          const put = catalog.putProduct(request)
          await waitFor(() => writesAt(fake) === until, { what: 'the call' })
          fake.failInside({ commits })
          assertDefaultPrice(t, fake, await put)
          t.equal(fake.pricesOf(product_id).length, prices)
        }),
      )
    })
  }
}

t.test('the prices that are there cannot be listed', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await catalog.putProduct(firstPut)
  fake.readFaults.next({ kind: 'drop', commits: false })
  assertDefaultPrice(t, fake, await catalog.putProduct({ ...dearer, known }))
  const lost = { kind: 'garbage', commits: false } as const
  fake.readFaults.next(lost, lost, lost)
  await t.rejects(catalog.putProduct({ ...firstPut, idempotency_key: 'third', known }), of('unknown'))
  t.equal(fake.pricesOf(product_id).length, 2)
})

t.test('sixteen at once make one product with one price', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const all = Array.from({ length: 16 }, () => firstPut)
  const [put, ...others] = await Promise.all(all.map((request) => catalog.putProduct(request)))
  if (!put) throw new Error('nothing was put')
  t.same(new Set(others.map(({ provider_price_id }) => provider_price_id)), new Set([put.provider_price_id]))
  assertDefaultPrice(t, fake, put)
  t.equal(fake.pricesOf(product_id).length, 1)
  const changed = await Promise.all(all.map(() => catalog.putProduct({ ...dearer, known: put })))
  t.equal(new Set(changed.map(({ provider_price_id }) => provider_price_id)).size, 1)
  for (const one of changed.slice(0, 1)) assertDefaultPrice(t, fake, one)
  t.equal(fake.pricesOf(product_id).length, 2)
})

t.test('after two that want different prices, the next one leaves what it wants', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await catalog.putProduct(firstPut)
  const wish = (amount_cents: number) => ({
    ...firstPut,
    idempotency_key: `wish ${amount_cents}`,
    product: { ...product, price: { ...price, amount_cents } },
    known,
  })
  await Promise.all([wish(100), wish(200), wish(300)].map((request) => catalog.putProduct(request)))
  assertDefaultPrice(t, fake, await catalog.putProduct(wish(200)))
})

/** Does something while the next call but so many is on its way. */
async function during(fake: FakeStripe, calls: number, act: () => void) {
  const until = writesAt(fake) + calls + 1
  fake.faults.next(...through(calls), { kind: 'slow', ms: 150 })
  await waitFor(() => writesAt(fake) === until, { what: 'the call' })
  act()
}

t.test('a price that is archived before it is the one to be sold at is made anew', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const put = catalog.putProduct(firstPut)
  await during(fake, 2, () => void fake.archivePrice(fake.pricesOf(product_id)[0]?.id ?? ''))
  assertDefaultPrice(t, fake, await put)
  t.equal(fake.pricesOf(product_id).length, 2)
})

t.test('a price that somebody makes the default again is archived all the same', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await catalog.putProduct(firstPut)
  const put = catalog.putProduct({ ...dearer, known })
  await during(fake, 3, () => void fake.changeProduct(product_id, { default_price: known.provider_price_id }))
  assertDefaultPrice(t, fake, await put)
  t.equal(fake.pricesOf(product_id).length, 2)
})

t.test('a product that goes away under way is a failure, which the next one mends', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const put = catalog.putProduct(firstPut)
  const outcome = t.rejects(put, of('rejected', 'resource_missing'))
  await during(fake, 1, () => void fake.deleteProduct(product_id))
  await outcome
  assertDefaultPrice(t, fake, await catalog.putProduct(firstPut))
})

t.test('is given up when it is never as it should be', async (t) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split('?')[0]}`)
    const replayed = request.url === '/v1/prices' ? { 'idempotent-replayed': 'true' } : {}
    response.writeHead(200, replayed)
    response.end(JSON.stringify({ id: 'x', default_price: null, data: [], has_more: false }))
    request.resume()
  })
  const catalog = catalogAt(t, await listen(t, server))
  await t.rejects(catalog.putProduct(firstPut), of('unknown', 'price_contended'))
  t.equal(asked.filter((call) => call === 'POST /v1/prices').length, 5)
})

t.test('the provider is down', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  fake.shut()
  await t.rejects(catalog.putProduct(firstPut), of('unavailable', 'econnrefused'))
  await fake.open()
  assertDefaultPrice(t, fake, await catalog.putProduct(firstPut))
})

const products = (many: number): PutProduct[] =>
  Array.from({ length: many }, (_, index) => {
    const id = `018f0000-0000-7000-8000-${String(index).padStart(12, '0')}`
    return { ...firstPut, idempotency_key: id, product: { ...product, product_id: id } }
  })

t.test('a call that was turned away is made again', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  for (let call = 0; call < 3; call++) {
    fake.failNext({
      status: 429,
      error: { type: 'invalid_request_error', code: call === 1 ? 'lock_timeout' : 'rate_limit', message: 'Slow down' },
      headers: { 'retry-after': '0' },
    })
    assertDefaultPrice(t, fake, await catalog.putProduct({ ...firstPut, idempotency_key: `${call}` }))
  }
  fake.faults.next({ kind: 'status', status: 429, commits: false })
  assertDefaultPrice(t, fake, await catalog.putProduct(firstPut), 'also by something in front of Stripe')
  t.equal(fake.pricesOf(product_id).length, 1)
})

t.test('a provider that takes less than it says is waited for, and gets everything in the end', async (t) => {
  const pace = createPace({ perSecond: 200 })
  const { fake, catalog } = await catalogHarness(t, { pace })
  fake.rateLimit.set({ perSecond: 40 })
  await Promise.all(products(25).map((request) => catalog.putProduct(request)))
  t.equal(fake.products().length, 25)
  for (const { id, default_price } of fake.products())
    t.same(
      fake.pricesOf(id).map((found) => found.id),
      [default_price],
    )
  t.ok(fake.rateLimit.rejected() > 0 && fake.rateLimit.rejected() < 60, `${fake.rateLimit.rejected()} were turned away`)
})

t.test("a sandbox's limit is never reached", async (t) => {
  const { fake } = await catalogHarness(t)
  const { secretKey, origin: apiBase } = fake
  const stripe = createStripe({
    secretKey,
    apiBase,
    webhookSecrets: ['whsec_example'],
    timeoutMs: 1_000,
    maxPerSecond: 20,
  })
  t.teardown(() => stripe.close())
  fake.rateLimit.set({ perSecond: 25 })
  const { catalog } = stripe
  if (!catalog) throw new Error('Stripe has a catalogue')
  const begun = performance.now()
  await Promise.all(products(14).map((request) => catalog.putProduct(request)))
  t.ok(performance.now() - begun > 1_500, 'which takes longer than a call may take')
  t.equal(fake.rateLimit.rejected(), 0)
  t.equal(fake.products().length, 14)
  t.same(new Set(callsOf(fake).slice(0, 14)), new Set(['POST /v1/products']))
})
