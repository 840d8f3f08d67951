import { mapFields } from '@paylog/domain/fields'
import { clientTexts } from '@paylog/domain/payments/clientTexts'
import { guestTokenStream, paymentStream } from '@paylog/event-store/streamName'
import { hashToken } from '@paylog/identity/identity'
import t from 'tap'
import { commandApiHarness } from '../testing/commandApiHarness.ts'

const { app, store, lastPosition } = await commandApiHarness(t, {
  // Recorded tokens persist, so each test has its own token.
  guestTokens: ['crowd-token', 'paying-token'].map((token) => ({
    token,
    email: 'guest@example.com',
    name: 'Guest',
    expires_at: null,
  })),
})

const guestBody = { total_cents: 2599, currency: 'eur', guest_data: { email: 'guest@example.com', name: 'Guest' } }
const post = (payload: object, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/payments/intents', headers, payload })

t.test('every text of a payment request is recorded and returned unchanged', async (t) => {
  const texts = mapFields(clientTexts, (_, name) => `the ${name}`)
  const { data } = (await post({ ...guestBody, provider_id: 'sandbox', ...texts })).json()
  t.match(data, texts)
  const [initiated] = await store.readStream(paymentStream(data.id))
  t.match(initiated, { type: 'PaymentInitiated', data: texts })
})

t.test('the payer of a payment is the session user, the guest, or anonymous [1-callers]', async (t) => {
  const body = { total_cents: 100, currency: 'USD' }
  const payer = async (payload: object, headers: Record<string, string>) => {
    const { data } = (await post(payload, headers)).json()
    const [initiated] = await store.readStream(paymentStream(data.id))
    t.ok(initiated && 'payer' in initiated.data)
    return { guest: data.is_guest_payment, email: data.guest_email, ...(initiated?.data as { payer: object }) }
  }
  t.match(await payer(body, { 'x-session-id': 'demo-session' }), {
    guest: false,
    email: null,
    payer: { id: '00000000-0000-4000-8000-000000000001', type: 'user', email: 'ada@example.com' },
  })
  t.match(await payer(guestBody, { authorization: 'Bearer demo-session' }), {
    guest: false,
    email: 'guest@example.com',
    payer: { type: 'user' },
  })
  t.match(await payer(body, {}), { guest: true, email: null, payer: { id: null, type: 'guest', email: null } })
  t.match(await payer(guestBody, { 'x-guest-token': 'demo-guest-token' }), {
    guest: true,
    email: 'guest@example.com',
    payer: { id: null, type: 'guest', email: 'guest@example.com' },
  })
})

t.test('a guest token that creates a payment is recorded as a hash [5-history-hash]', async (t) => {
  await post({ ...guestBody, guest_data: { email: 'GUEST@example.com' } }, { authorization: 'Token paying-token' })
  const seen = []
  for await (const { event } of store.client.readAll()) if (event) seen.push(event)
  const remembered = seen.find(({ streamId }) => streamId === guestTokenStream(hashToken('paying-token')))
  t.match(remembered, { type: 'GuestTokenSeen', streamId: /^guestToken-[0-9a-f]{64}$/ })
  t.notOk(JSON.stringify(seen.map(({ data, metadata }) => [data, metadata])).includes('paying-token'))
})

t.test(
  'an invalid payment body is rejected with its code, and nothing is recorded [2.1-amounts 10.1-input]',
  async (t) => {
    const before = await lastPosition()
    const rejected = async (body: object, status: number, code: string) => {
      const response = await post(body)
      const name = JSON.stringify(body).slice(0, 80)
      t.equal(response.statusCode, status, name)
      t.match(response.json(), { success: false, error: { code, request_id: String } }, name)
    }
    const wrongShapes = [
      { ...guestBody, total_cents: '2599' },
      { ...guestBody, total_cents: 25.99 },
      { ...guestBody, total_cents: 0 },
      { ...guestBody, total_cents: -1 },
      { ...guestBody, total_cents: 1_000_000_000_000 },
      { ...guestBody, currency: 'EURO' },
      { ...guestBody, currency: 'ABC' },
      { ...guestBody, currency: 978 },
      { total_cents: 100 },
      { currency: 'EUR' },
      { ...guestBody, guest_data: { email: 'no address' } },
      { ...guestBody, concept: 'x'.repeat(256) },
      { ...guestBody, description: 'x'.repeat(2001) },
      { ...guestBody, metadata: [] },
      { ...guestBody, metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, n])) },
      { ...guestBody, metadata: { large: 'x'.repeat(16 * 1024) } },
    ]
    for (const body of wrongShapes) await rejected(body, 400, 'invalid_request')
    await rejected({ ...guestBody, subtotal_cents: 1 }, 422, 'amount_inconsistent')
    await rejected({ ...guestBody, provider_id: 'stripe' }, 422, 'provider_not_enabled')
    await rejected(
      { ...guestBody, payment_method_id: 'b9a1f7a4-0000-4000-8000-000000000000' },
      422,
      'reference_not_found',
    )
    t.equal(await lastPosition(), before, 'nothing was recorded')
  },
)

t.test('a payment request with several errors reports the first one in contract order [10.1-order]', async (t) => {
  const card = { concept: '4242424242424242' }
  const guest = { 'x-guest-token': 'demo-guest-token' }
  const large = { metadata: { large: 'x'.repeat(17_000) } }
  const body = { total_cents: 1, currency: 'EUR' }
  const cases: [object, Record<string, string>, number][] = [
    [{ ...body, currency: 'ABC', provider_id: 'unknown' }, {}, 400],
    [{ ...body, provider_id: 'unknown' }, { 'idempotency-key': 'x'.repeat(256) }, 400],
    [{ currency: 'EUR', subtotal_cents: 1, discount_cents: 1, provider_id: 'unknown' }, {}, 400],
    [{ ...body, ...large, payment_method_id: 'unknown' }, {}, 400],
    [{ ...body, ...card, currency: 'ABC' }, {}, 400],
    [{ ...body, ...card }, { 'idempotency-key': '' }, 400],
    [{ ...body, ...card }, guest, 403],
    [{ total_cents: 'x' }, guest, 403],
    [{ total_cents: 'x', guest_data: { email: 'other@example.com' } }, guest, 403],
    [{ ...body, ...card, currency: 'ABC' }, { 'x-session-id': 'unknown' }, 401],
  ]
  for (const [payload, headers, status] of cases)
    t.equal((await post(payload, headers)).statusCode, status, JSON.stringify(payload).slice(0, 90))
})

t.test('32 concurrent payments of one guest token all succeed, and the token is recorded once', async (t) => {
  const headers = { 'x-guest-token': 'crowd-token' }
  const responses = await Promise.all(Array.from({ length: 32 }, () => post(guestBody, headers)))
  t.same([...new Set(responses.map(({ statusCode }) => statusCode))], [201])
  t.equal((await store.readStream(guestTokenStream(hashToken('crowd-token')))).length, 1)
})

t.test('payment metadata is stored unchanged', async (t) => {
  const metadata = {
    constructor: 1,
    prototype: { constructor: [null] },
    'a\nb': 'x',
    '\u2028': 0,
    toString: false,
    '': {},
  }
  const { data } = (await post({ ...guestBody, metadata })).json()
  t.same(data.metadata, metadata)
  const [initiated] = await store.readStream(paymentStream(data.id))
  t.same(initiated?.data, { ...initiated?.data, metadata })
  t.equal((await post({ ...guestBody, metadata: { ['k'.repeat(256)]: 1 } })).statusCode, 400)
})

t.test('unknown fields of a payment body are 400, nested ones too', async (t) => {
  const guest_data = { email: 'guest@example.com', firstName: 'Sample' }
  for (const [more, field] of [
    [{ status: 'succeeded' }, 'status'],
    [{ amount_cents: 5 }, 'amount_cents'],
    [{ guest_data }, 'guest_data.firstName'],
  ] as const) {
    const refused = await post({ ...guestBody, ...more })
    t.equal(refused.statusCode, 400)
    t.match(refused.json().error, {
      code: 'invalid_request',
      details: { fields: [{ field, message: /is unknown here/ }] },
    })
  }
})
