// Creating, retrieving and searching payment intents at Stripe.
import { matchList } from '@paylog/testing/assertions'
import t from 'tap'
import type { Provider } from '../provider.ts'
import { createRequest, payment_id, refTo } from '../testing/requests.ts'
import { stripeHarness, stripeResponding, stripeWithListener } from './testing/stripeHarness.ts'

const unknown = { name: 'ProviderError', kind: 'unknown' }

const intent = {
  id: 'pi_1',
  object: 'payment_intent',
  amount: 2599,
  amount_received: 0,
  currency: 'eur',
  status: 'requires_payment_method',
  client_secret: 'pi_1_secret_1',
  metadata: { payment_id },
  latest_charge: null,
  last_payment_error: null,
}

t.test('Stripe: an intent is created with the payment id as its only metadata', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const { id } = fake.addMethod()
  const created = await stripe.createIntent({
    ...createRequest,
    description: 'Tea & cake = 100 %',
    provider_method_id: id,
  })
  const [call] = fake.calls
  t.same(call, {
    method: 'POST',
    path: '/v1/payment_intents',
    key: payment_id,
    params: {
      amount: '2599',
      currency: 'eur',
      'automatic_payment_methods[enabled]': 'true',
      'metadata[payment_id]': payment_id,
      description: 'Tea & cake = 100 %',
      payment_method: id,
    },
  })
  const stored = fake.intent(created.provider_intent_id)
  t.match(stored, { amount: 2599, currency: 'eur', metadata: { payment_id }, status: 'requires_confirmation' })
  t.equal(created.client_secret, stored.client_secret)
})

t.test('Stripe: manual capture and a statement descriptor are sent, the addresses of the return are not', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const urls = { return_url: 'https://shop.example.com/done', cancel_url: 'https://shop.example.com/cart' }
  const request = { ...createRequest, capture_method: 'manual', statement_descriptor: 'ORDER 17' } as const
  const { provider_intent_id } = await stripe.createIntent({ ...request, ...urls })
  const { params } = fake.calls[0] ?? {}
  t.match(params, { capture_method: 'manual', statement_descriptor_suffix: 'ORDER 17' })
  t.notOk(Object.keys(params ?? {}).some((name) => name.endsWith('_url')))
  t.match(fake.intent(provider_intent_id), { capture_method: 'manual', statement_descriptor_suffix: 'ORDER 17' })
})

t.test('Stripe: empty fields are left out of the create call', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  await stripe.createIntent({ ...createRequest, description: '' })
  t.notOk('description' in (fake.calls[0]?.params ?? {}))
  t.notOk('payment_method' in (fake.calls[0]?.params ?? {}))
})

t.test('Stripe: a long description is cut to Stripe’s limit', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  await stripe.createIntent({ ...createRequest, description: '😀'.repeat(1_500) })
  t.equal(fake.calls[0]?.params.description, '😀'.repeat(1_000))
})

t.test('Stripe: an intent’s amount is in Stripe’s units and checked in the response', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const { provider_intent_id } = await stripe.createIntent({ ...createRequest, amount_cents: 5, currency: 'ISK' })
  t.equal(fake.intent(provider_intent_id).amount, 500)
  fake.pay(provider_intent_id, 'succeeded')
  t.match(await stripe.retrieveIntent(refTo(provider_intent_id)), { report: { amount_cents: 5, currency: 'ISK' } })
  const fraction = { ...createRequest, amount_cents: 5124, currency: 'KWD' }
  await t.rejects(stripe.createIntent(fraction), { kind: 'currency', code: 'amount_not_writable' })
  t.equal(fake.calls.length, 2, 'an amount that cannot be expressed is not sent')
})

t.test('Stripe: a create response about another payment or amount is unknown', async (t) => {
  const { stripe, respond } = await stripeResponding(t)
  respond(intent)
  t.same(await stripe.createIntent(createRequest), { provider_intent_id: 'pi_1', client_secret: 'pi_1_secret_1' })
  respond({ ...intent, metadata: {} })
  t.match(await stripe.createIntent(createRequest), { provider_intent_id: 'pi_1' }, 'without a payment id')
  respond({ ...intent, capture_method: 'automatic_async' })
  await t.rejects(stripe.createIntent({ ...createRequest, capture_method: 'manual' }), {
    ...unknown,
    code: 'another_intent',
  })
  const others: readonly [string, object][] = [
    ['amount', { amount: 25990 }],
    ['currency', { currency: 'usd' }],
    ['payment', { metadata: { payment_id: '018f0000-0000-7000-8000-000000000002' } }],
  ]
  for (const [what, difference] of others) {
    respond({ ...intent, ...difference })
    await t.rejects(stripe.createIntent(createRequest), { ...unknown, code: 'another_intent' }, what)
  }
  const unreadable = [
    { ...intent, id: 'pi_\n1' },
    { ...intent, id: undefined },
    { ...intent, amount: '2599' },
    { ...intent, amount: 2599.5 },
    { object: 'list', data: [intent] },
    {},
    [intent],
    null,
    '"pi_1"',
  ]
  for (const other of unreadable) {
    respond(other)
    await t.rejects(
      stripe.createIntent(createRequest),
      { ...unknown, code: 'unreadable_answer' },
      JSON.stringify(other),
    )
  }
})

t.test('Stripe: each intent status maps to a payment status', async (t) => {
  const { stripe, respond } = await stripeResponding(t)
  const error = { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds', charge: 'ch_2' }
  const statuses: readonly [object, string][] = [
    [{ status: 'requires_payment_method' }, 'pending'],
    [{ status: 'requires_payment_method', last_payment_error: error }, 'failed'],
    [{ status: 'requires_confirmation', last_payment_error: error }, 'pending'],
    [{ status: 'requires_action' }, 'pending'],
    [{ status: 'processing' }, 'processing'],
    [{ status: 'requires_capture' }, 'processing'],
    [{ status: 'succeeded', amount_received: 2599 }, 'succeeded'],
    [{ status: 'canceled', cancellation_reason: 'abandoned' }, 'canceled'],
  ]
  for (const [difference, status] of statuses) {
    respond({ ...intent, latest_charge: 'ch_1', ...difference })
    const snapshot = await stripe.retrieveIntent(refTo('pi_1'))
    t.same(snapshot?.further_charges, [])
    t.match(
      snapshot,
      {
        report: {
          status,
          amount_cents: 2599,
          currency: 'EUR',
          provider_intent_id: 'pi_1',
          provider_payment_id: status === 'failed' ? 'ch_2' : 'ch_1',
          provider_event_id: null,
          provider_time: /\.000Z$/,
        },
        awaits_capture: false,
      },
      JSON.stringify(difference),
    )
  }
  respond({ ...intent, status: 'requires_payment_method', last_payment_error: error })
  const failed = await stripe.retrieveIntent(refTo('pi_1'))
  t.match(failed, { report: { failure_code: 'insufficient_funds', failure_message: 'The payment was declined' } })
  respond({ ...intent, status: 'canceled', cancellation_reason: 'abandoned' })
  t.match(await stripe.retrieveIntent(refTo('pi_1')), { report: { reason: 'abandoned' } })
  for (const status of ['requires_luck', '', null]) {
    respond({ ...intent, status })
    await t.rejects(stripe.retrieveIntent(refTo('pi_1')), unknown, `unknown status: ${status}`)
  }
})

t.test('Stripe: a succeeded intent has the received amount and the charge, expanded or not', async (t) => {
  const { stripe, respond } = await stripeResponding(t)
  const refunds = { data: [], has_more: false }
  respond({
    ...intent,
    status: 'succeeded',
    amount_received: 1000,
    latest_charge: { id: 'ch_1', amount: 2599, refunds },
  })
  t.match(await stripe.retrieveIntent(refTo('pi_1')), {
    report: { amount_cents: 1000, provider_payment_id: 'ch_1' },
  })
  respond({ ...intent, status: 'succeeded', currency: 'isk', amount: 1050, amount_received: 1050 })
  await t.rejects(stripe.retrieveIntent(refTo('pi_1')), { ...unknown, code: 'another_amount' })
  respond({ ...intent, id: 'pi_2' })
  await t.rejects(stripe.retrieveIntent(refTo('pi_1')), { ...unknown, code: 'another_intent' })
})

t.test('Stripe: an unknown intent is null, and any other 404 is an error', async (t) => {
  const { stripe } = await stripeHarness(t)
  t.equal(await stripe.retrieveIntent(refTo('pi_missing')), null)
  for (const body of ['<h1>Not Found</h1>', '{"error":{"message":"no route"}}']) {
    const gateway = await stripeResponding(t, body, 404)
    await t.rejects(gateway.stripe.retrieveIntent(refTo('pi_missing')), unknown, body)
  }
})

t.test('Stripe: the intents of a payment are found once they are in the search index', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  fake.openIntent({ amount: 100, currency: 'eur', metadata: { payment_id: '018f0000-0000-7000-8000-000000000002' } })
  fake.delaySearch()
  const created = await stripe.createIntent(createRequest)
  t.same(await stripe.findIntents(payment_id), [])
  fake.catchUpSearch()
  t.same(await stripe.findIntents(payment_id), [{ ...created, status: 'pending' }])
  fake.pay(created.provider_intent_id, 'succeeded')
  matchList(t, await stripe.findIntents(payment_id), [{ status: 'succeeded' }])
})

t.test('Stripe: a search reads page by page, up to a limit', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  for (let count = 0; count < 120; count++) fake.openIntent({ amount: 100, currency: 'eur', metadata: { payment_id } })
  t.equal((await stripe.findIntents(payment_id)).length, 120)
  t.same(
    fake.calls.map(({ params }) => params),
    [
      { query: `metadata['payment_id']:'${payment_id}'`, limit: '100' },
      { query: `metadata['payment_id']:'${payment_id}'`, limit: '100', page: '100' },
    ],
  )
  let pages = 0
  const endless = await stripeWithListener(t, (_request, response) => {
    pages++
    response.end(JSON.stringify({ object: 'search_result', data: [intent], has_more: true, next_page: 'more' }))
  })
  t.equal((await endless.findIntents(payment_id)).length, pages)
  t.ok(pages <= 5, `${pages} pages`)
})

t.test('Stripe: a search ignores intents of other payments', async (t) => {
  const found = [
    intent,
    { ...intent, id: 'pi_2', metadata: { payment_id: 'another' } },
    { ...intent, id: 'pi_3', metadata: {} },
  ]
  const { stripe } = await stripeResponding(t, { data: found, has_more: false })
  matchList(t, await stripe.findIntents(payment_id), [{ provider_intent_id: 'pi_1' }])
})

t.test('Stripe: test methods are recognised with a test key only', async (t) => {
  const { stripe } = await stripeHarness(t)
  const restricted = (await stripeHarness(t, { secretKey: 'rk_test_example' })).stripe
  const live = (await stripeHarness(t, { secretKey: 'sk_live_example' })).stripe
  const ids = ['pm_card_visa', 'pm_1NxYz', 'pm_card_', 'xpm_card_visa']
  const results = (provider: Provider) => ids.map((id) => provider.isTestMethod(id))
  t.same(results(stripe), [true, false, false, false])
  t.same(results(restricted), [true, false, false, false])
  t.same(results(live), [false, false, false, false])
})
