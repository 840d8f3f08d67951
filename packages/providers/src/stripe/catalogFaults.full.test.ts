// Product sync with Stripe under faults and in parallel: each product exists once, with one price of ours.
import type { RequestListener } from 'node:http'
import type { Fault } from '@paylog/testing/fakeServer'
import type { FakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import type { ProductCatalog, ProviderProduct, PutProduct } from '../productCatalog.ts'
import {
  assertDefaultPrice,
  catalogHarness,
  firstPut,
  price,
  product,
  product_id,
  withProduct,
} from './testing/catalogHarness.ts'
import { stripeWithListener } from './testing/stripeHarness.ts'

// They wait for most of their time, each at its own provider.
t.jobs = 4

const providerError = (kind: string, code?: string) => ({ name: 'ProviderError', kind, ...(code ? { code } : {}) })
const higherPrice: PutProduct = {
  ...firstPut,
  idempotency_key: 'higher price',
  product: { ...product, price: { ...price, amount_cents: 9900 } },
}
const faults = [true, false].flatMap((commits): Fault[] => [
  { kind: 'drop', commits },
  { kind: 'garbage', commits },
  { kind: 'status', status: 502, commits },
])
const silent = [true, false].map((commits): Fault => ({ kind: 'hang', commits }))
const noFaults = (calls: number) => Array.from({ length: calls }, () => undefined)

const writesAt = (fake: FakeStripe) => fake.calls.filter(({ method }) => method === 'POST').length

/** The writing calls for a new product, and for a new price. */
const scenarios = [
  { name: 'a new product', writes: 3, prices: 1, begin: async () => firstPut },
  {
    name: 'another price',
    writes: 4,
    prices: 2,
    begin: async (catalog: ProductCatalog) => ({ ...higherPrice, known: await catalog.putProduct(firstPut) }),
  },
]

type Started = { readonly fake: FakeStripe; readonly put: () => Promise<ProviderProduct>; readonly label: string }

for (const { name, writes, prices, begin } of scenarios)
  for (let call = 0; call < writes; call++) {
    /** Runs the scenario for each fault, at the same time. @param act returns the result of the last sync */
    const forEach = (t: Test, given: readonly Fault[], act: (it: Started, fault: Fault) => Promise<ProviderProduct>) =>
      Promise.all(
        given.map(async (fault) => {
          const { fake, catalog } = await catalogHarness(t, { timeoutMs: fault.kind === 'hang' ? 800 : undefined })
          const request = await begin(catalog)
          const label = JSON.stringify(fault)
          const result = await act({ fake, label, put: () => catalog.putProduct(request) }, fault)
          assertDefaultPrice(t, fake, result, label)
          t.equal(fake.pricesOf(product_id).length, prices, label)
        }),
      )

    t.test(`Stripe: a product sync succeeds when the response to call ${call + 1} is lost: ${name}`, (t) =>
      forEach(t, faults, ({ fake, put }, fault) => {
        fake.faults.next(...noFaults(call), fault)
        return put()
      }),
    )

    t.test(`Stripe: a repeated product sync succeeds after call ${call + 1} failed: ${name}`, (t) =>
      forEach(t, faults, async ({ fake, put, label }, fault) => {
        fake.faults.next(...noFaults(call), fault, fault, fault)
        await t.rejects(put(), providerError('unknown'), label)
        return put()
      }),
    )

    t.test(`Stripe: a product sync times out when call ${call + 1} gets no response: ${name}`, (t) =>
      forEach(t, silent, async ({ fake, put }, fault) => {
        fake.faults.next(...noFaults(call), fault)
        await t.rejects(put(), providerError('unknown', 'timeout'))
        return put()
      }),
    )

    for (const commits of [true, false])
      t.test(`Stripe: a product sync succeeds after call ${call + 1} got a stored 500 (${commits}): ${name}`, (t) =>
        forEach(t, [{ kind: 'slow', ms: 100 }], async ({ fake, put }) => {
          const result = put()
          await during(fake, call, () => fake.failInside({ commits }))
          return result
        }),
      )
  }

t.test('Stripe: a product sync is unknown when prices cannot be listed', async (t) => {
  const { fake, catalog, known } = await withProduct(t)
  fake.readFaults.next({ kind: 'drop', commits: false })
  assertDefaultPrice(t, fake, await catalog.putProduct({ ...higherPrice, known }))
  const lost = { kind: 'garbage', commits: false } as const
  fake.readFaults.next(lost, lost, lost)
  await t.rejects(catalog.putProduct({ ...firstPut, idempotency_key: 'third', known }), providerError('unknown'))
  t.equal(fake.pricesOf(product_id).length, 2)
})

t.test('Stripe: sixteen parallel calls create one product with one price', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const all = Array.from({ length: 16 }, () => firstPut)
  const [put, ...others] = await Promise.all(all.map((request) => catalog.putProduct(request)))
  if (!put) throw new Error('no call succeeded')
  t.same(new Set(others.map(({ provider_price_id }) => provider_price_id)), new Set([put.provider_price_id]))
  assertDefaultPrice(t, fake, put)
  t.equal(fake.pricesOf(product_id).length, 1)
  const changed = await Promise.all(all.map(() => catalog.putProduct({ ...higherPrice, known: put })))
  t.equal(new Set(changed.map(({ provider_price_id }) => provider_price_id)).size, 1)
  for (const one of changed.slice(0, 1)) assertDefaultPrice(t, fake, one)
  t.equal(fake.pricesOf(product_id).length, 2)
})

t.test('Stripe: after two parallel syncs with different prices, the next sync sets its own price', async (t) => {
  const { fake, catalog, known } = await withProduct(t)
  const putAt = (amount_cents: number) => ({
    ...firstPut,
    idempotency_key: `price ${amount_cents}`,
    product: { ...product, price: { ...price, amount_cents } },
    known,
  })
  await Promise.all([putAt(100), putAt(200), putAt(300)].map((request) => catalog.putProduct(request)))
  assertDefaultPrice(t, fake, await catalog.putProduct(putAt(200)))
})

/** Runs `act` while the call after the next `calls` ones is in flight. */
async function during(fake: FakeStripe, calls: number, act: () => void) {
  const until = writesAt(fake) + calls + 1
  fake.faults.next(...noFaults(calls), { kind: 'slow', ms: 150 })
  await waitFor(() => writesAt(fake) === until, { what: 'the call' })
  act()
}

t.test('Stripe: a price that is archived before it becomes the default is created again', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const put = catalog.putProduct(firstPut)
  await during(fake, 2, () => void fake.archivePrice(fake.pricesOf(product_id)[0]?.id ?? ''))
  assertDefaultPrice(t, fake, await put)
  t.equal(fake.pricesOf(product_id).length, 2)
})

t.test('Stripe: a former price is archived even when someone makes it the default again', async (t) => {
  const { fake, catalog, known } = await withProduct(t)
  const put = catalog.putProduct({ ...higherPrice, known })
  await during(fake, 3, () => void fake.changeProduct(product_id, { default_price: known.provider_price_id }))
  assertDefaultPrice(t, fake, await put)
  t.equal(fake.pricesOf(product_id).length, 2)
})

t.test('Stripe: a sync fails when the product is deleted meanwhile, and the next sync succeeds', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const put = catalog.putProduct(firstPut)
  const outcome = t.rejects(put, providerError('rejected', 'resource_missing'))
  await during(fake, 1, () => void fake.deleteProduct(product_id))
  await outcome
  assertDefaultPrice(t, fake, await catalog.putProduct(firstPut))
})

t.test('Stripe: a sync gives up after five rounds of replayed responses', async (t) => {
  const requested: string[] = []
  const listener: RequestListener = (request, response) => {
    requested.push(`${request.method} ${request.url?.split('?')[0]}`)
    const replayed = request.url === '/v1/prices' ? { 'idempotent-replayed': 'true' } : {}
    response.writeHead(200, replayed)
    response.end(JSON.stringify({ id: 'x', default_price: null, data: [], has_more: false }))
    request.resume()
  }
  const { catalog } = await stripeWithListener(t, listener, { timeoutMs: 5_000 })
  await t.rejects(catalog.putProduct(firstPut), providerError('unknown', 'price_contended'))
  t.equal(requested.filter((call) => call === 'POST /v1/prices').length, 5)
})
