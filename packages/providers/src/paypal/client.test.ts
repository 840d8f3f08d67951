// How the PayPal client classifies responses of a scripted server.
import t, { type Test } from 'tap'
import type { ProviderErrorKind } from '../provider.ts'
import { refTo } from '../testing/requests.ts'
import { capture, orderRequest, paypalWithListener } from './testing/paypalHarness.ts'

/** An adapter whose calls all get the same response. */
function respondingWith(t: Test, status: number, body: unknown) {
  const content = typeof body === 'string' ? body : JSON.stringify(body)
  return paypalWithListener(t, (_request, response) => void response.writeHead(status).end(content))
}

const issue = (name: string, field?: string) => ({
  name: 'UNPROCESSABLE_ENTITY',
  details: [{ issue: name, ...(field === undefined ? {} : { field }) }],
  message: 'Card 4111 of Pat Example',
  debug_id: 'f00d',
})

t.test('PayPal: each error response maps to its kind and code, with our own message', async (t) => {
  const rows: readonly [status: number, body: unknown, kind: ProviderErrorKind, code: string][] = [
    [422, issue('CURRENCY_NOT_SUPPORTED'), 'currency', 'currency_not_supported'],
    [422, issue('INVALID_CURRENCY_CODE'), 'currency', 'invalid_currency_code'],
    [422, issue('DECIMALS_NOT_SUPPORTED'), 'currency', 'decimals_not_supported'],
    [422, issue('DECIMAL_PRECISION'), 'currency', 'decimal_precision'],
    [422, issue('MAX_VALUE_EXCEEDED'), 'currency', 'max_value_exceeded'],
    [
      400,
      issue('INVALID_PARAMETER_VALUE', '/purchase_units/0/amount/currency_code'),
      'currency',
      'invalid_parameter_value',
    ],
    [422, issue('INSTRUMENT_DECLINED'), 'declined', 'instrument_declined'],
    [422, issue('TRANSACTION_REFUSED'), 'declined', 'transaction_refused'],
    [422, issue('PAYEE_ACCOUNT_INVALID'), 'rejected', 'payee_account_invalid'],
    [422, issue('DUPLICATE_INVOICE_ID'), 'rejected', 'duplicate_invoice_id'],
    [400, issue('MALFORMED_REQUEST_JSON'), 'rejected', 'malformed_request_json'],
    [400, { name: 'INVALID_REQUEST' }, 'rejected', 'invalid_request'],
    [
      422,
      { name: 'UNPROCESSABLE_ENTITY', details: [{ issue: 'Card 4111 of Pat' }] },
      'rejected',
      'unprocessable_entity',
    ],
    [404, issue('INVALID_RESOURCE_ID'), 'rejected', 'invalid_resource_id'],
    [401, { error: 'invalid_token' }, 'unavailable', 'status_401'],
    [403, { name: 'NOT_AUTHORIZED' }, 'unavailable', 'status_403'],
    [429, { name: 'RATE_LIMIT_REACHED' }, 'unavailable', 'rate_limited'],
    [409, issue('PREVIOUS_REQUEST_IN_PROGRESS'), 'unknown', 'previous_request_in_progress'],
    [409, { name: 'RESOURCE_CONFLICT' }, 'unknown', 'resource_conflict'],
    [422, issue('DUPLICATE_REQUEST_ID'), 'unknown', 'duplicate_request_id'],
    [422, issue('ORDER_COMPLETION_IN_PROGRESS'), 'unknown', 'order_completion_in_progress'],
    [408, { name: 'REQUEST_TIMEOUT' }, 'unknown', 'request_timeout'],
    [500, { name: 'INTERNAL_SERVER_ERROR' }, 'unknown', 'status_500'],
    [502, '<h1>Bad gateway</h1>', 'unknown', 'status_502'],
    [503, { name: 'SERVICE_UNAVAILABLE' }, 'unknown', 'status_503'],
    [422, '<h1>Proxy error</h1>', 'unknown', 'status_422'],
    [404, '', 'unknown', 'status_404'],
    [302, '', 'unknown', 'status_302'],
  ]
  for (const [status, body, kind, code] of rows) {
    const paypal = await respondingWith(t, status, body)
    const error = await paypal.createIntent(orderRequest).catch((error: unknown) => error)
    t.match(error, { name: 'ProviderError', kind, code }, `${status} ${code}`)
    t.notMatch(String(error), /Pat|4111/, 'without PayPal’s own text')
  }
})

t.test('PayPal: a response of an unexpected shape makes the outcome unknown', async (t) => {
  const money = { currency_code: 'EUR', value: '19.99' }
  const order = (more: object) => ({ id: 'O1', status: 'APPROVED', purchase_units: [{ amount: money }], ...more })
  const withCapture = (more: object) =>
    order({
      status: 'COMPLETED',
      purchase_units: [
        { amount: money, payments: { captures: [{ id: 'C1', status: 'COMPLETED', amount: money, ...more }] } },
      ],
    })
  const bodies: readonly (readonly [what: string, body: unknown])[] = [
    ['incomplete JSON', '{"id":"O1",'],
    ['an empty body', ''],
    ['an array', []],
    ['an id with a control character', order({ id: 'O\u0000' })],
    ['an unknown status', order({ status: 'SOMETHING_NEW' })],
    ['a status from the prototype', order({ status: 'constructor' })],
    ['no purchase unit', order({ purchase_units: [] })],
    ['no amount', order({ purchase_units: [{}] })],
    ['an invalid amount', order({ purchase_units: [{ amount: { currency_code: 'EUR', value: '1.005' } }] })],
    ['a capture of an unknown status', withCapture({ status: 'REWOUND' })],
    ['a capture of an invalid amount', withCapture({ amount: { currency_code: 'EUR', value: 'much' } })],
    ['a capture without an id', withCapture({ id: null })],
  ]
  for (const [what, body] of bodies) {
    const paypal = await respondingWith(t, 200, body)
    const unknown = { name: 'ProviderError', kind: 'unknown' }
    await t.rejects(paypal.retrieveIntent(refTo('O1')), unknown, `${what}, when retrieved`)
    await t.rejects(capture(paypal, refTo('O1'), 'c1'), unknown, `${what}, after a capture`)
  }
  const created = await respondingWith(t, 201, { status: 'CREATED' })
  await t.rejects(created.createIntent(orderRequest), { kind: 'unknown', code: 'unreadable_answer' })
})

t.test('PayPal: the outcome is unknown for an order that was captured before and no longer exists', async (t) => {
  const requested: unknown[] = []
  const paypal = await paypalWithListener(t, ({ method }, response) => {
    requested.push(method)
    const isCapture = method === 'POST'
    const rejection = issue(isCapture ? 'ORDER_ALREADY_CAPTURED' : 'INVALID_RESOURCE_ID')
    response.writeHead(isCapture ? 422 : 404).end(JSON.stringify(rejection))
  })
  await t.rejects(capture(paypal, refTo('O1'), 'c1'), { kind: 'unknown', code: 'order_already_captured' })
  t.same(requested, ['POST', 'GET'])
})

t.test('PayPal: a succeeded capture determines the status, then a pending one, then the last failed one', async (t) => {
  const amount = { currency_code: 'EUR', value: '19.99' }
  const statusReportOf = async (orderStatus: string, ...statuses: readonly string[]) => {
    const captures = statuses.map((status, index) => ({ id: `C${index}`, status, amount }))
    const paypal = await respondingWith(t, 200, {
      id: 'O1',
      status: orderStatus,
      purchase_units: [{ amount, payments: { captures } }],
    })
    const snapshot = await paypal.retrieveIntent(refTo('O1'))
    return [snapshot?.report.status, snapshot?.report.provider_payment_id, snapshot?.awaits_capture]
  }
  t.same(await statusReportOf('COMPLETED', 'DECLINED', 'PENDING', 'COMPLETED'), ['succeeded', 'C2', false])
  t.same(await statusReportOf('COMPLETED', 'PENDING', 'DECLINED'), ['processing', 'C0', false])
  t.same(await statusReportOf('COMPLETED', 'DENIED', 'FAILED'), ['failed', 'C1', false])
  t.same(await statusReportOf('APPROVED', 'DECLINED'), ['processing', null, true], 'approved again')
  t.same(await statusReportOf('APPROVED', 'PENDING'), ['processing', 'C0', false])
})

t.test('PayPal: client_secret is an http(s) link of the order, preferring payer-action', async (t) => {
  const links = async (...given: readonly object[]) => {
    const paypal = await respondingWith(t, 201, { id: 'O1', status: 'CREATED', links: given })
    return (await paypal.createIntent(orderRequest)).client_secret
  }
  const approve = { rel: 'approve', href: 'https://www.paypal.com/a' }
  t.equal(await links({ rel: 'self', href: 'https://api.paypal.com/o' }, approve), approve.href)
  t.equal(await links(approve, { rel: 'payer-action', href: 'https://www.paypal.com/b' }), 'https://www.paypal.com/b')
  t.equal(await links({ rel: 'approve', href: 'javascript:alert(1)' }), null)
  t.equal(await links({ rel: 'approve', href: 'nowhere' }), null)
  t.equal(await links(), null)
})
