// Synchronising at the fakes of the providers that keep a catalogue.
import { startFakePaypalCatalog, startFakeStripeCatalog } from '@paylog/testing/catalogFakes'
import type { Test } from 'tap'
import { providerFromEnv } from './providerBy.ts'
import { syncHarness } from './syncRoutesUnderTest.ts'

/** Each of them keeps a price of it. */
export const membership = {
  name: 'Membership',
  description: 'Everything, every month',
  product_type: 'subscription',
  is_recurring: true,
  billing_interval: 'month',
  total_cents: 900,
}

export async function syncProvidersHarness(t: Test) {
  const fakes = await Promise.all([startFakeStripeCatalog(t), startFakePaypalCatalog(t)])
  const providers = await Promise.all(fakes.map(({ env }) => providerFromEnv(t, env)))
  const api = await syncHarness(t, { providers })
  const productOf = (more: object = {}) => api.productOf({ ...membership, ...more })
  return {
    ...api,
    productOf,
    productsOf: (count: number) => Promise.all(Array.from({ length: count }, () => productOf())),
    /** What there is to know of each provider. */
    at: fakes.map((fake) => ({
      fake,
      provider_id: fake.id,
      syncOne: (id: string, more: object = {}) => api.syncOne(id, { provider_id: fake.id, ...more }),
      isOnce: (id: string) => fake.products().filter((each) => each === id).length === 1,
    })),
  }
}
