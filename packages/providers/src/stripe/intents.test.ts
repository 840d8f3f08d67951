// Creating, retrieving and searching payment intents at Stripe.
import { matchList } from '@paylog/testing/assertions'
import t from 'tap'
import type { CreateIntent, Provider } from '../provider.ts'
import { createIntentRequest, payment_id, refOf, stripeHarness, stripeWithListener } from './testing/stripeHarness.ts'

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
    ...createIntentRequest,
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
  const request = { ...createIntentRequest, capture_method: 'manual', statement_descriptor: 'ORDER 17' } as const
  const { provider_intent_id } = await stripe.createIntent({ ...request, ...urls })
  const { params } = fake.calls[0] ?? {}
  t.match(params, { capture_method: 'manual', statement_descriptor_suffix: 'ORDER 17' })
  t.notOk(Object.keys(params ?? {}).some((name) => name.endsWith('_url')))
  t.match(fake.intent(provider_intent_id), { capture_method: 'manual', statement_descriptor_suffix: 'ORDER 17' })
})

t.test('Stripe: empty fields are left out of the create call', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  await stripe.createIntent({ ...createIntentRequest, description: '' })
  t.notOk('description' in (fake.calls[0]?.params ?? {}))
  t.notOk('payment_method' in (fake.calls[0]?.params ?? {}))
})

t.test('Stripe: a long description is cut to Stripe’s limit', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  await stripe.createIntent({ ...createIntentRequest, description: '😀'.repeat(1_500) })
  t.equal(fake.calls[0]?.params.description, '😀'.repeat(1_000))
})

t.test('Stripe: an intent’s amount is in Stripe’s units and checked in the response', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const { provider_intent_id } = await stripe.createIntent({ ...createIntentRequest, amount_cents: 5, currency: 'ISK' })
  t.equal(fake.intent(provider_intent_id).amount, 500)
  fake.pay(provider_intent_id, 'succeeded')
  t.match(await stripe.retrieveIntent(refOf(provider_intent_id)), { evidence: { amount_cents: 5, currency: 'ISK' } })
  const fraction = { ...createIntentRequest, amount_cents: 5124, currency: 'KWD' }
  await t.rejects(stripe.createIntent(fraction), { kind: 'currency', code: 'amount_not_writable' })
  t.equal(fake.calls.length, 2, 'an amount that cannot be expressed is not sent')
})

t.test('Stripe: the same key returns the same intent, another key another one', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const first = await stripe.createIntent(createIntentRequest)
  t.same(await stripe.createIntent(createIntentRequest), first)
  t.equal(fake.intents().length, 1)
  const other = await stripe.createIntent({ ...createIntentRequest, idempotency_key: `${payment_id}-2` })
  t.not(other.provider_intent_id, first.provider_intent_id)
})

t.test('Stripe: parallel create calls with the same key create one intent', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const created = await Promise.all(Array.from({ length: 16 }, () => stripe.createIntent(createIntentRequest)))
  t.equal(new Set(created.map(({ provider_intent_id }) => provider_intent_id)).size, 1)
  t.equal(fake.intents().length, 1)
})

t.test('Stripe: a create response about another payment or amount is unknown', async (t) => {
  let body: unknown
  const stripe = await stripeWithListener(t, (_request, response) => void response.end(JSON.stringify(body)), {
    timeoutMs: 440,
  })
  body = intent
  t.same(await stripe.createIntent(createIntentRequest), { provider_intent_id: 'pi_1', client_secret: 'pi_1_secret_1' })
  body = { ...intent, metadata: {} }
  t.match(await stripe.createIntent(createIntentRequest), { provider_intent_id: 'pi_1' }, 'without a payment id')
  body = { ...intent, capture_method: 'automatic_async' }
  await t.rejects(stripe.createIntent({ ...createIntentRequest, capture_method: 'manual' }), {
    ...unknown,
    code: 'another_intent',
  })
  const others: readonly [string, object][] = [
    ['amount', { amount: 25990 }],
    ['currency', { currency: 'usd' }],
    ['payment', { metadata: { payment_id: '018f0000-0000-7000-8000-000000000002' } }],
  ]
  for (const [what, difference] of others) {
    body = { ...intent, ...difference }
    await t.rejects(stripe.createIntent(createIntentRequest), { ...unknown, code: 'another_intent' }, what)
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
    'pi_1',
  ]
  for (const other of unreadable) {
    body = other
    await t.rejects(
      stripe.createIntent(createIntentRequest),
      { ...unknown, code: 'unreadable_answer' },
      JSON.stringify(other),
    )
  }
})

t.test('Stripe: each intent status maps to a payment status', async (t) => {
  let body: object = intent
  const date = 'Thu, 01 Jan 2026 12:00:07 GMT'
  const stripe = await stripeWithListener(
    t,
    (_request, response) => void response.writeHead(200, { date }).end(JSON.stringify(body)),
    { timeoutMs: 440 },
  )
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
    body = { ...intent, latest_charge: 'ch_1', ...difference }
    const snapshot = await stripe.retrieveIntent(refOf('pi_1'))
    t.same(snapshot?.further_charges, [])
    t.match(
      snapshot,
      {
        evidence: {
          status,
          amount_cents: 2599,
          currency: 'EUR',
          provider_intent_id: 'pi_1',
          provider_payment_id: status === 'failed' ? 'ch_2' : 'ch_1',
          provider_event_id: null,
          provider_time: '2026-01-01T12:00:07.000Z',
        },
        awaits_capture: false,
      },
      JSON.stringify(difference),
    )
  }
  body = { ...intent, status: 'requires_payment_method', last_payment_error: error }
  const failed = await stripe.retrieveIntent(refOf('pi_1'))
  t.match(failed, { evidence: { failure_code: 'insufficient_funds', failure_message: 'The payment was declined' } })
  body = { ...intent, status: 'canceled', cancellation_reason: 'abandoned' }
  t.match(await stripe.retrieveIntent(refOf('pi_1')), { evidence: { reason: 'abandoned' } })
  for (const status of ['requires_luck', '', null]) {
    body = { ...intent, status }
    await t.rejects(stripe.retrieveIntent(refOf('pi_1')), unknown, `unknown status: ${status}`)
  }
})

t.test('Stripe: a succeeded intent has the received amount and the charge, expanded or not', async (t) => {
  let body: object = intent
  const stripe = await stripeWithListener(t, (_request, response) => void response.end(JSON.stringify(body)), {
    timeoutMs: 440,
  })
  const refunds = { data: [], has_more: false }
  body = { ...intent, status: 'succeeded', amount_received: 1000, latest_charge: { id: 'ch_1', amount: 2599, refunds } }
  t.match(await stripe.retrieveIntent(refOf('pi_1')), {
    evidence: { amount_cents: 1000, provider_payment_id: 'ch_1' },
  })
  body = { ...intent, status: 'succeeded', currency: 'isk', amount: 1050, amount_received: 1050 }
  await t.rejects(stripe.retrieveIntent(refOf('pi_1')), { ...unknown, code: 'another_amount' })
  body = { ...intent, id: 'pi_2' }
  await t.rejects(stripe.retrieveIntent(refOf('pi_1')), { ...unknown, code: 'another_intent' })
})

t.test('Stripe: provider_time is our time when the response has no valid date', async (t) => {
  const before = Date.now()
  for (const date of [undefined, 'yesterday']) {
    const stripe = await stripeWithListener(t, (_request, response) => {
      response.sendDate = false
      if (date) response.setHeader('date', date)
      response.end(JSON.stringify(intent))
    })
    const snapshot = await stripe.retrieveIntent(refOf('pi_1'))
    const time = Date.parse(snapshot?.evidence.provider_time ?? '')
    t.ok(time >= before && time <= Date.now(), `date: ${date}`)
  }
})

t.test('Stripe: an unknown intent is null, and any other 404 is an error', async (t) => {
  const { stripe } = await stripeHarness(t)
  t.equal(await stripe.retrieveIntent(refOf('pi_missing')), null)
  const proxy = await stripeWithListener(
    t,
    (_request, response) => void response.writeHead(404).end('<h1>Not Found</h1>'),
    {
      timeoutMs: 440,
    },
  )
  await t.rejects(proxy.retrieveIntent(refOf('pi_missing')), unknown)
  const gateway = await stripeWithListener(
    t,
    (_request, response) => void response.writeHead(404).end('{"error":{"message":"no route"}}'),
    { timeoutMs: 440 },
  )
  await t.rejects(gateway.retrieveIntent(refOf('pi_missing')), unknown)
})

t.test('Stripe: the intents of a payment are found once they are in the search index', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  fake.openIntent({ amount: 100, currency: 'eur', metadata: { payment_id: '018f0000-0000-7000-8000-000000000002' } })
  fake.delaySearch()
  const created = await stripe.createIntent(createIntentRequest)
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
  const stripe = await stripeWithListener(
    t,
    (_request, response) => void response.end(JSON.stringify({ data: found, has_more: false })),
  )
  matchList(t, await stripe.findIntents(payment_id), [{ provider_intent_id: 'pi_1' }])
})

t.test('Stripe: test methods are recognised with a test key only', async (t) => {
  const { stripe } = await stripeHarness(t)
  const restricted = (await stripeHarness(t, { secretKey: 'rk_test_example' })).stripe
  const live = (await stripeHarness(t, { secretKey: 'sk_live_example' })).stripe
  const ids: CreateIntent['provider_method_id'][] = ['pm_card_visa', 'pm_1NxYz', 'pm_card_', 'xpm_card_visa']
  const results = (provider: Provider) => ids.map((id) => provider.isTestMethod(id ?? ''))
  t.same(results(stripe), [true, false, false, false])
  t.same(results(restricted), [true, false, false, false])
  t.same(results(live), [false, false, false, false])
})
