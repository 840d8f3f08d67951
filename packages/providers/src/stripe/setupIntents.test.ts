// Stripe's setup intents.
import t from 'tap'
import { stripeResponding, stripeWithListener, withCustomer } from './testing/stripeHarness.ts'

t.test('Stripe: a setup intent is created, with the customer if there is one', async (t) => {
  const { fake, stripe, provider_customer_id } = await withCustomer(t)
  const prepared = await stripe.createSetupIntent({ idempotency_key: 'setup', provider_customer_id })
  t.match(prepared, { provider_setup_intent_id: /^seti_/, client_secret: /_secret_/ })
  t.same(fake.calls.at(-1), {
    method: 'POST',
    path: '/v1/setup_intents',
    key: `setup-${provider_customer_id}`,
    params: {
      usage: 'off_session',
      'automatic_payment_methods[enabled]': 'true',
      'automatic_payment_methods[allow_redirects]': 'never',
      customer: provider_customer_id,
    },
  })
  await stripe.createSetupIntent({ idempotency_key: 'anonymous', provider_customer_id: null })
  t.notOk('customer' in (fake.calls.at(-1)?.params ?? {}))
})

t.test('Stripe: a setup intent for a lost customer is created without the customer', async (t) => {
  const { fake, stripe, provider_customer_id } = await withCustomer(t)
  fake.deleteCustomer(provider_customer_id)
  const request = { idempotency_key: 'setup', provider_customer_id }
  const prepared = await stripe.createSetupIntent(request)
  t.same(
    fake.calls.slice(-2).map(({ key, params }) => [key, params.customer]),
    [
      [`setup-${provider_customer_id}`, provider_customer_id],
      ['setup', undefined],
    ],
  )
  t.same(await stripe.createSetupIntent(request), prepared, 'the same key returns the same setup intent')
})

t.test(
  'Stripe: a repeated setup intent succeeds when the user got a customer after the first response was lost',
  async (t) => {
    const { fake, stripe, provider_customer_id } = await withCustomer(t)
    fake.faults.next({ kind: 'drop', commits: true }, { kind: 'drop', commits: true }, { kind: 'drop', commits: true })
    await t.rejects(stripe.createSetupIntent({ idempotency_key: 'lost', provider_customer_id: null }), {
      name: 'ProviderError',
      kind: 'unknown',
    })
    const prepared = await stripe.createSetupIntent({ idempotency_key: 'lost', provider_customer_id })
    t.match(prepared.provider_setup_intent_id, /^seti_/)
  },
)

t.test('Stripe: a setup intent with another missing object is rejected', async (t) => {
  let calls = 0
  const error = { type: 'invalid_request_error', code: 'resource_missing', param: 'payment_method_configuration' }
  const stripe = await stripeWithListener(t, (_request, response) => {
    calls++
    response.writeHead(400).end(JSON.stringify({ error }))
  })
  const created = stripe.createSetupIntent({ idempotency_key: 'setup', provider_customer_id: 'cus_1' })
  await t.rejects(created, { name: 'ProviderError', kind: 'rejected' })
  t.equal(calls, 1)
})

t.test('Stripe: a setup intent whose response lacks client_secret is unknown', async (t) => {
  const { stripe } = await stripeResponding(t, { id: 'seti_1', client_secret: null })
  const created = stripe.createSetupIntent({ idempotency_key: 'setup', provider_customer_id: null })
  await t.rejects(created, { name: 'ProviderError', kind: 'unknown' })
})
