import t from 'tap'
import { ada, admin, grace, guest } from '../testing/commandApiHarness.ts'
import { mug, type ProductResponse, productsHarness } from '../testing/productsHarness.ts'

const { post, put, productOf, recordsNothing, backend } = await productsHarness(t)

const card = '4242 4242 4242 4242'

t.test('only administrators can create and update products [5-products-write]', async (t) => {
  const id = await productOf()
  const callers = [
    { name: 'an anonymous caller', headers: {}, status: 401, code: 'unauthenticated' },
    { name: 'an unknown session', headers: { 'x-session-id': 'unknown' }, status: 401, code: 'unauthenticated' },
    {
      name: 'an expired token',
      headers: { 'x-guest-token': 'expired-guest-token' },
      status: 401,
      code: 'unauthenticated',
    },
    { name: 'a guest', headers: guest, status: 403, code: 'forbidden' },
    { name: 'a session', headers: ada, status: 403, code: 'forbidden' },
    { name: 'another session', headers: grace, status: 403, code: 'forbidden' },
    { name: 'a guest token and a session', headers: { ...guest, ...ada }, status: 403, code: 'forbidden' },
  ]
  await recordsNothing(t, async () => {
    for (const { name, headers, status, code } of callers)
      for (const response of [
        post(mug, headers),
        post('{', headers),
        put(id, { name: 'x' }, headers),
        put('x', {}, headers),
      ])
        t.match(await response, { status, error: { code } }, name)
  })
  t.equal((await post(mug, admin)).status, 201)
  t.equal((await post(mug, { authorization: 'Bearer demo-admin-session' })).status, 201)
  t.equal(
    (await put(id, { name: 'x' }, { ...admin, ...guest })).status,
    200,
    'the session takes precedence over the token',
  )
})

t.test('product writes are 503 while the identity backend is down', async (t) => {
  const id = await productOf()
  backend.breakWith({ status: 500, body: '' })
  t.teardown(() => backend.breakWith(undefined))
  await recordsNothing(t, async () => {
    for (const response of [await post(mug), await put(id, { name: 'x' })])
      t.match(response, { status: 503, error: { code: 'identity_unavailable' } })
  })
})

t.test('a product request with several errors reports the first one in contract order [10.1-order]', async (t) => {
  const id = await productOf()
  const large = { name: 'x'.repeat(300_000) }
  const plain = { ...admin, 'content-type': 'text/plain' }
  const stale = { ...admin, 'if-match': '"9"' }
  const cases: [string, () => Promise<ProductResponse>, number, string][] = [
    ['anonymous, too large', () => put(id, large, {}), 401, 'unauthenticated'],
    ['a session, unknown product', () => put('x', { name: 'x' }, ada), 403, 'forbidden'],
    ['a guest, wrong content type', () => post('x', { ...plain, ...guest, 'x-session-id': '' }), 403, 'forbidden'],
    ['inconsistent, unknown product', () => put('x', { is_recurring: false, trial_days: 1 }), 400, 'invalid_request'],
    ['no price, stale', () => put(id, { total_cents: null, subtotal_cents: null }, stale), 400, 'invalid_request'],
    ['blank name, wrong total', () => post({ ...mug, name: ' ', subtotal_cents: 1 }), 400, 'invalid_request'],
    ['unknown product, recurring', () => put('x', { is_recurring: true }), 404, 'not_found'],
    ['unknown product, wrong total', () => put('x', { subtotal_cents: 1, total_cents: 2 }), 404, 'not_found'],
    ['stale, recurring', () => put(id, { is_recurring: true }, stale), 412, 'precondition_failed'],
    ['stale, wrong total', () => put(id, { discount_cents: 9999 }, stale), 412, 'precondition_failed'],
    ['stale, nothing changes', () => put(id, mug, stale), 412, 'precondition_failed'],
    ['recurring, card', () => put(id, { is_recurring: true, name: card }), 400, 'invalid_request'],
    ['recurring, wrong total', () => put(id, { is_recurring: true, discount_cents: 9999 }), 400, 'invalid_request'],
    ['wrong total', () => put(id, { discount_cents: 9999 }), 422, 'amount_inconsistent'],
    ['card, nothing changes', () => put(id, { ...mug, unknown: card }), 422, 'card_number_rejected'],
  ]
  for (const [name, request, status, code] of cases) {
    const response = await recordsNothing(t, request, `${name}: nothing is recorded`)
    t.equal(response.status, status, name)
    t.match(JSON.parse(response.text), { success: false, error: { code, message: /./, request_id: /./ } }, name)
  }
})
