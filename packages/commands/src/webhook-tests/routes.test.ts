// POST /webhooks/test and POST /webhooks/external/simulate over HTTP, on a real event store.

import { providerNames } from '@paylog/domain/providerEvents'
import { matchList } from '@paylog/testing/assertions'
import t, { type Test } from 'tap'
import { type ApiResponse, ada, adaId, admin, freshKey, guest } from '../testing/commandApiHarness.ts'
import { simulateRoute, testRoute, type WebhookTestData, webhookTestsHarness } from '../testing/webhookTestsHarness.ts'

const { test, simulate, send, eventsOf, recorded, recordsNothing, lastPosition, endpoints } =
  await webhookTestsHarness(t)

const paid = {
  event: 'payment_intent.succeeded',
  provider: 'stripe',
  payload: { id: 'pi_1', amount: 2599, currency: 'eur' },
}

t.test('a webhook test of a canonical name goes only to canonical endpoints [2.7-simulation-result]', async (t) => {
  const response = await test({ event: 'payment.succeeded', test_data: { amount: 2599, currency: 'EUR' } })
  t.equal(response.status, 202, response.text)
  const { id, ...plan } = response.data
  t.strictSame(plan, {
    canonical_events: ['payment.succeeded'],
    deliveries: ['2', '3', '4'].map((node) => ({ node, event: 'payment.succeeded', mode: 'canonical' })),
  })
  t.equal(response.headers['x-event-position'], String(await lastPosition()))
  t.equal(response.headers['idempotent-replayed'], undefined)
  const events = await eventsOf(id)
  matchList(t, events, [
    {
      type: 'WebhookTestRequested',
      data: {
        webhook_test_id: id,
        provider_id: 'sandbox',
        requested_by: { id: adaId, type: 'user', email: 'ada@example.com' },
        canonical_name: 'payment.succeeded',
        amount_cents: 2599,
        currency: 'EUR',
        request_fingerprint: null,
        plan,
      },
      metadata: { actor: `session:${adaId}` },
    },
  ])
})

t.test('a simulation goes to endpoints of every mode, and is recorded with its payload [4.9-models]', async (t) => {
  const { status, data } = await simulate(paid)
  t.equal(status, 202)
  t.strictSame(data.canonical_events, ['payment.succeeded'])
  t.strictSame(
    sorted(data).map(({ node, mode, event }) => `${node} ${mode} ${event}`),
    [
      '1 raw stripe:payment_intent.succeeded',
      '2 canonical payment.succeeded',
      '3 canonical payment.succeeded',
      '3 raw stripe:payment_intent.succeeded',
      '4 canonical payment.succeeded',
      'legacy-1 legacy payment_intent.succeeded',
    ],
  )
  const facts = await recorded(data.id)
  t.match(facts, { provider_id: 'stripe', object_id: 'pi_1', amount_cents: 2599, requested_by: { id: adaId } })
  t.same(JSON.parse(facts.body ?? '').data.object, paid.payload)
  matchList(t, await eventsOf(data.id), [{ type: 'WebhookSimulationRequested' }])
})

t.test('the payload of a simulation is optional, and unknown fields are allowed only in it', async (t) => {
  const { status, data } = await simulate({ event: 'customer.created', provider: 'sandbox' })
  t.equal(status, 202)
  t.match(await recorded(data.id), { object_id: `test_${data.id}`, canonical_name: null })
  t.equal((await simulate({ event: 'customer.created', provider: 'sandbox', further: 'x' })).status, 400)
  t.equal((await test({ event: 'customer.created', test_data: {}, further: 'x' })).status, 400)
  t.equal((await test({ event: 'customer.created', test_data: { further: 'x' } })).status, 202)
})

t.test('an event without a subscribed endpoint is accepted with an empty list of deliveries', async (t) => {
  const { status, data } = await simulate({
    event: 'membership.activated',
    provider: 'stripe',
    payload: { id: 'sub_1' },
  })
  t.equal(status, 202)
  t.equal(data.deliveries.length, 3)
  const none = await webhookTestsHarness(t, {})
  const unconfigured = await none.simulate(paid)
  t.equal(unconfigured.status, 202)
  t.strictSame(unconfigured.data, { id: unconfigured.data.id, canonical_events: ['payment.succeeded'], deliveries: [] })
  const filtered = await webhookTestsHarness(t, {
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: 'https://filtered.example.com/hook',
    WEBHOOK_1_EVENTS: 'subscription.*',
  })
  t.strictSame((await filtered.test({ event: 'payment.succeeded' })).data.deliveries, [])
  t.equal((await filtered.test({ event: 'subscription.updated' })).data.deliveries.length, 1)
})

t.test('with WEBHOOK_TESTS_BY=admin webhook tests need the right operate [10.4-tests-by]', async (t) => {
  const limited = await webhookTestsHarness(t, {}, 'admin')
  for (const [route, body] of [
    [testRoute, { event: 'payment_intent.succeeded' }],
    [simulateRoute, paid],
  ] as const) {
    rejected(t, await limited.send<WebhookTestData>('POST', route, ada, body), 403, 'forbidden')
    rejected(t, await limited.send<WebhookTestData>('POST', route, guest, body), 403, 'forbidden')
    rejected(t, await limited.send<WebhookTestData>('POST', route, {}, body), 401, 'unauthenticated')
    const finance = await limited.send<WebhookTestData>('POST', route, { 'x-session-id': 'demo-finance-session' }, body)
    rejected(t, finance, 403, 'forbidden')
    t.equal((await limited.send('POST', route, admin, body)).status, 202)
  }
})

const badNames = ['', 'x'.repeat(256), 17, null, ['payment.succeeded'], {}]

t.test('an invalid webhook test body is 400 and records nothing', async (t) => {
  const bad: readonly unknown[] = [
    {},
    ...badNames.map((event) => ({ event, provider: 'stripe', payload: {} })),
    { event: 'payment suceeded', provider: 'stripe' },
  ]
  for (const body of bad)
    for (const route of [testRoute, simulateRoute]) {
      const response = await recordsNothing(t, () => send<WebhookTestData>('POST', route, ada, body))
      rejected(t, response, 400, 'invalid_request', JSON.stringify(body))
    }
  const objects = [[], 'x', 1, null, true]
  for (const value of objects) {
    rejected(t, await test({ event: 'payment.succeeded', test_data: value }), 400, 'invalid_request', `${value}`)
    rejected(t, await simulate({ ...paid, payload: value }), 400, 'invalid_request', `${value}`)
  }
  for (const provider of [undefined, null, '', 1, 'x'.repeat(256)])
    rejected(t, await simulate({ ...paid, provider }), 400, 'invalid_request', `provider ${provider}`)
})

t.test('webhook tests with an unknown provider or a large body are rejected', async (t) => {
  const unknown = await simulate({ ...paid, provider: 'square' })
  rejected(t, unknown, 422, 'provider_not_enabled')
  t.match(unknown.error, { message: new RegExp(providerNames.join(', ')) })
  t.notMatch(unknown.text, 'square')
  rejected(t, await simulate({ ...paid, event: 'a b', provider: 'square' }), 400, 'invalid_request', '400 before 422')
  const note = 'x'.repeat(32 * 1024)
  rejected(t, await simulate({ ...paid, payload: { note } }), 413, 'body_too_large')
  rejected(t, await test({ event: 'payment.succeeded', test_data: { note } }), 413, 'body_too_large')
})

t.test('the largest accepted webhook test body can be recorded [4.9-payload]', async (t) => {
  // Both characters are escaped again each time the JSON is nested.
  for (const filler of ['"', '\\', '\n', 'ä', '€']) {
    const payload = { ...paid.payload, note: '' }
    const room = 32 * 1024 - JSON.stringify({ ...paid, payload }).length
    const note = filler.repeat(Math.floor(room / Buffer.byteLength(JSON.stringify(filler).slice(1, -1))))
    const { status, data, text } = await simulate({ ...paid, payload: { ...payload, note } })
    t.equal(status, 202, text.slice(0, 200))
    t.equal(JSON.parse((await recorded(data.id)).body ?? '').data.object.note, note)
  }
})

t.test('a replayed webhook test returns the first plan after the endpoints changed', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const first = await test({ event: 'payment.succeeded' }, headers)
  const configured = endpoints.splice(0)
  const again = await test({ event: 'payment.succeeded' }, headers)
  const fresh = await test({ event: 'payment.succeeded' })
  endpoints.push(...configured)
  t.strictSame(again.json, first.json)
  t.same([first.data.deliveries.length, fresh.data.deliveries], [3, []])
})

function sorted({ deliveries }: WebhookTestData) {
  const key = ({ node, mode }: WebhookTestData['deliveries'][number]) => `${node} ${mode}`
  return [...deliveries].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

function rejected(
  t: Test,
  { status, error, text }: ApiResponse<WebhookTestData>,
  expected: number,
  code: string,
  name = code,
): void {
  t.equal(status, expected, `${name}: ${text}`)
  t.equal(error?.code, code, name)
}
