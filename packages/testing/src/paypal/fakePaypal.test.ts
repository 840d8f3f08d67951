// The fake PayPal is as strict as PayPal where other tests depend on it.
import t from 'tap'
import { type FakePaypal, startFakePaypal } from './fakePaypal.ts'
import { textAt } from './responses.ts'

async function token(fake: FakePaypal): Promise<string> {
  const credentials = Buffer.from(`${fake.clientId}:${fake.clientSecret}`).toString('base64')
  const response = await fetch(`${fake.apiBase}/v1/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${credentials}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials',
  })
  return textAt(await response.json(), /^A21AA/, 'access_token') ?? ''
}

type PaypalRequest = { readonly path: string; readonly key?: string; readonly body?: unknown; readonly whole?: boolean }

async function post(fake: FakePaypal, { path, key, body = {}, whole = false }: PaypalRequest) {
  const response = await fetch(`${fake.apiBase}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await token(fake)}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'paypal-request-id': key }),
      ...(whole ? { prefer: 'return=representation' } : {}),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const json = await response.json()
  return { status: response.status, json, id: textAt(json, /./, 'id') ?? '' }
}

const orders = '/v2/checkout/orders'
const order = (more: object = {}) => ({
  intent: 'CAPTURE',
  purchase_units: [{ amount: { currency_code: 'EUR', value: '19.99' }, invoice_id: 'inv-1', ...more }],
})

t.test('fake PayPal: a repeated key returns the current state of what the first call created', async (t) => {
  const fake = await startFakePaypal(t)
  const first = await post(fake, { path: orders, key: 'k1', body: order() })
  t.match(first, { status: 201, json: { status: 'CREATED' } })
  fake.approve(first.id)
  t.match(await post(fake, { path: orders, key: 'k1', body: order() }), {
    status: 200,
    json: { id: first.id, status: 'APPROVED' },
  })
  t.equal((await post(fake, { path: orders, key: 'k2', body: order() })).status, 201)
  t.equal((await post(fake, { path: orders, body: order() })).status, 201, 'without a key a new order')
  fake.forgetRequestIds()
  t.equal((await post(fake, { path: orders, key: 'k1', body: order() })).status, 201)
  t.equal(fake.orders.size, 4)
})

t.test('fake PayPal: the second of two parallel calls with one key fails', async (t) => {
  const fake = await startFakePaypal(t)
  fake.faults.next({ kind: 'slow', ms: 1_000 })
  const both = [
    post(fake, { path: orders, key: 'k1', body: order() }),
    post(fake, { path: orders, key: 'k1', body: order() }),
  ]
  const statuses = (await Promise.all(both)).map(({ status }) => status)
  t.same(statuses.toSorted(), [201, 409])
  t.equal((await post(fake, { path: orders, key: 'k1', body: order() })).status, 200)
})

t.test('fake PayPal: an order and an invoice number are captured only once', async (t) => {
  const fake = await startFakePaypal(t)
  const first = await post(fake, { path: orders, body: order() })
  const second = await post(fake, { path: orders, body: order() })
  const capture = (id: string, key?: string) =>
    post(fake, { path: `${orders}/${id}/capture`, ...(key === undefined ? {} : { key }) })
  t.match(await capture(first.id, 'c1'), { status: 422, json: { details: [{ issue: 'ORDER_NOT_APPROVED' }] } })
  fake.approve(first.id)
  fake.approve(second.id)
  const captured = await capture(first.id, 'c1')
  t.match(captured, { status: 201, json: { purchase_units: [{ payments: { captures: [{ status: 'COMPLETED' }] } }] } })
  t.match(await capture(first.id, 'c1'), { status: 200, json: captured.json })
  t.match(await capture(first.id, 'c2'), { status: 422, json: { details: [{ issue: 'ORDER_ALREADY_CAPTURED' }] } })
  t.match(await capture(second.id), { status: 422, json: { details: [{ issue: 'DUPLICATE_INVOICE_ID' }] } })
  t.match(await post(fake, { path: orders, body: order() }), { json: { details: [{ issue: 'DUPLICATE_INVOICE_ID' }] } })
  t.equal(fake.charges.length, 1)
  const types = fake.events.map(({ event_type }) => event_type)
  t.same(types.slice(-2), ['CHECKOUT.ORDER.COMPLETED', 'PAYMENT.CAPTURE.COMPLETED'])
})

t.test('fake PayPal: an invalid order request gets PayPal’s issue', async (t) => {
  const fake = await startFakePaypal(t)
  const amount = (currency_code: string, value: string) => order({ amount: { currency_code, value } })
  const rows: readonly [body: unknown, status: number, issue: string][] = [
    ['nonsense', 400, 'MALFORMED_REQUEST_JSON'],
    [{ intent: 'AUTHORIZE' }, 400, 'INVALID_PARAMETER_SYNTAX'],
    [order({ amount: {} }), 400, 'MISSING_REQUIRED_PARAMETER'],
    [order({ description: 'x'.repeat(128) }), 400, 'INVALID_STRING_LENGTH'],
    [order({ custom_id: '' }), 400, 'INVALID_STRING_LENGTH'],
    [amount('KWD', '1.000'), 422, 'CURRENCY_NOT_SUPPORTED'],
    [amount('euro', '1.00'), 422, 'INVALID_CURRENCY_CODE'],
    [amount('HUF', '1500.00'), 422, 'DECIMALS_NOT_SUPPORTED'],
    [amount('EUR', '1.005'), 422, 'DECIMAL_PRECISION'],
    [amount('EUR', '0.00'), 422, 'CANNOT_BE_ZERO_OR_NEGATIVE'],
    [amount('EUR', '1000000000000000.00'), 422, 'MAX_VALUE_EXCEEDED'],
  ]
  for (const [body, status, issue] of rows)
    t.match(await post(fake, { path: orders, body }), { status, json: { details: [{ issue }] } }, issue)
  t.equal((await post(fake, { path: orders, key: 'x'.repeat(109), body: order() })).status, 400)
  t.equal(fake.orders.size, 0)
})
