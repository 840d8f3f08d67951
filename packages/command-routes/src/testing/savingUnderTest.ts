// Saving methods at Stripe's fake, with the sandbox beside it, as a test sees it.
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'
import type { Headers } from './commandApiUnderTest.ts'
import { methodsHarness } from './methodsUnderTest.ts'
import { providerFromEnv } from './providerBy.ts'

/** A test may take a provider out of `providers`; before the next one both are back. */
export async function savedMethodsHarness(t: Test) {
  const fake = await startFakeStripe(t)
  const stripe = await providerFromEnv(t, fake.env)
  const sandbox = createSandbox({ webhookSecrets: ['secret'] })
  const api = await methodsHarness(t, [stripe, sandbox])
  const { app, providers } = api
  t.beforeEach(() => {
    for (const each of [stripe, sandbox]) providers.set(each.id, each)
  })
  const freshToken = () => fake.addMethod({ brand: 'visa', last4: '4242', exp_month: 8, exp_year: 2034 }).id
  return {
    ...api,
    fake,
    stripe,
    sandbox,
    freshToken,
    bodyOf: (more: object = {}) => ({ payment_method_token: freshToken(), provider_id: 'stripe', ...more }),
    async addressOf(headers: Headers): Promise<string> {
      const payload = { address_type: 'billing', line1: '1 Sample Street', city: 'Berlin', country: 'DE' }
      return (await app.inject({ method: 'POST', url: '/addresses', headers, payload })).json().data.id
    },
  }
}
