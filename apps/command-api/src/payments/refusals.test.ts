// What the real providers refuse when a payment is opened, each in its own words.
import { createServer } from 'node:http'
import { paymentStream } from '@paylog/event-store/streamName'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { listen } from '@paylog/testing/httpServer'
import { matchList } from '@paylog/testing/matchList'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { commandApiUnderTest } from '../testing/commandApiUnderTest.ts'
import { providerBy } from '../testing/providerBy.ts'

const stripe = await startFakeStripe(t)
const authorizeNet = await startFakeAuthorizeNet(t)

/** PayPal refuses no order that is well-formed, so this one refuses whatever comes, and counts it. */
const paypal = { refusal: { status: 500, body: {} as object }, calls: 0 }
const paypalServer = createServer((request, response) => {
  request.resume()
  const isToken = request.url === '/v1/oauth2/token'
  if (!isToken) paypal.calls++
  const answer = isToken
    ? { status: 200, body: { access_token: 'token', token_type: 'Bearer', expires_in: 32_400 } }
    : paypal.refusal
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
})
const paypalBase = await listen(t, paypalServer)

const { app, store } = await commandApiUnderTest(t, {
  providers: [
    await providerBy(t, stripe.env),
    await providerBy(t, {
      PAYPAL_CLIENT_ID: 'client',
      PAYPAL_CLIENT_SECRET: 'secret',
      PAYPAL_WEBHOOK_ID: 'WH1',
      PAYPAL_API_BASE: paypalBase,
    }),
    await providerBy(t, authorizeNet.env),
  ],
})

/** Words of the providers, which may hold data and are not for callers. */
const words = 'Words of the provider about card 4242'
const stripeRefuses = (status: number, error: { type: string; code?: string; param?: string }) => () =>
  stripe.refuseNext({ status, error: { message: words, ...error } as Parameters<typeof stripe.refuseNext>[0]['error'] })
const paypalRefuses = (status: number, name: string, issue: string, field?: string) => () => {
  const details = [{ issue, description: words, ...(field === undefined ? {} : { field }) }]
  paypal.refusal = { status, body: { name, message: words, debug_id: 'f00d', details, links: [] } }
}
const authorizeNetRefuses =
  (code: string, text = words) =>
  () =>
    authorizeNet.refuse(code, { text })

type Row = {
  readonly provider_id: string
  readonly refuse: () => void
  readonly status: number
  readonly code: string
  /** The provider's code, as it is recorded. */
  readonly failure_code: string
  readonly more?: object
}
const unprocessable = 'UNPROCESSABLE_ENTITY'
const rows: Readonly<Record<string, Row>> = {
  'a declined test card of Stripe': {
    provider_id: 'stripe',
    refuse: () => undefined,
    status: 402,
    code: 'payment_declined',
    failure_code: 'insufficient_funds',
    more: { payment_method_id: 'pm_card_chargeDeclined' },
  },
  'a request that Stripe does not take': {
    provider_id: 'stripe',
    refuse: stripeRefuses(400, { type: 'invalid_request_error', code: 'parameter_unknown', param: 'metadata' }),
    status: 422,
    code: 'provider_rejected',
    failure_code: 'parameter_unknown',
  },
  'a currency that this Stripe account does not take': {
    provider_id: 'stripe',
    refuse: stripeRefuses(400, { type: 'invalid_request_error', param: 'currency' }),
    status: 422,
    code: 'currency_not_supported',
    failure_code: 'invalid_request_error',
  },
  'a payment that PayPal declines': {
    provider_id: 'paypal',
    refuse: paypalRefuses(422, unprocessable, 'PAYEE_BLOCKED_TRANSACTION'),
    status: 402,
    code: 'payment_declined',
    failure_code: 'payee_blocked_transaction',
  },
  'a request that PayPal does not take': {
    provider_id: 'paypal',
    refuse: paypalRefuses(400, 'INVALID_REQUEST', 'INVALID_PARAMETER_SYNTAX', '/purchase_units'),
    status: 422,
    code: 'provider_rejected',
    failure_code: 'invalid_parameter_syntax',
  },
  'a currency that this PayPal account does not take': {
    provider_id: 'paypal',
    refuse: paypalRefuses(422, unprocessable, 'CURRENCY_NOT_SUPPORTED'),
    status: 422,
    code: 'currency_not_supported',
    failure_code: 'currency_not_supported',
  },
  'a payment that Authorize.Net declines': {
    provider_id: 'authorize-net',
    refuse: authorizeNetRefuses('E00027'),
    status: 402,
    code: 'payment_declined',
    failure_code: 'E00027',
  },
  'a request that Authorize.Net does not take': {
    provider_id: 'authorize-net',
    refuse: authorizeNetRefuses('E00013'),
    status: 422,
    code: 'provider_rejected',
    failure_code: 'E00013',
  },
  'a currency that this Authorize.Net account does not take': {
    provider_id: 'authorize-net',
    refuse: authorizeNetRefuses('E00027', 'The currency is not supported by this merchant.'),
    status: 422,
    code: 'currency_not_supported',
    failure_code: 'E00027',
  },
}

let keys = 0
const post = (row: Row, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/payments/intents',
    headers,
    payload: { total_cents: 2599, currency: 'USD', provider_id: row.provider_id, ...row.more },
  })
const calls = () => stripe.calls.length + paypal.calls + authorizeNet.calls.length

for (const [name, row] of Object.entries(rows)) {
  t.test(`${name} is told with its code and the payment, recorded, and told again as it was`, async (t) => {
    const headers = { 'idempotency-key': `refused-${keys++}` }
    const before = calls()
    row.refuse()
    const first = await post(row, headers)
    t.equal(first.statusCode, row.status)
    const { error } = first.json()
    t.match(error, { code: row.code, message: String, details: { payment_id: String } })
    t.same(Object.keys(error.details), ['payment_id'])
    t.notMatch(first.body, /card 4242|Words/)
    t.match(first.headers['x-event-position'], /^\d+$/)
    const events = await store.readStream(paymentStream(error.details.payment_id))
    matchList(t, events, [
      { type: 'PaymentInitiated' },
      { type: 'PaymentAttemptFailed', data: { refusal: row.code, failure_code: row.failure_code } },
    ])
    t.notMatch(JSON.stringify(events.map(({ data }) => data)), /Words/)
    t.equal(calls(), before + 1, 'a clear answer is not asked for again')
    const again = await post(row, headers)
    t.equal(again.statusCode, row.status)
    t.equal(again.headers['idempotent-replayed'], 'true')
    const { request_id: _first, ...firstError } = error
    const { request_id: _again, ...againError } = again.json().error
    t.same(againError, firstError)
    t.equal(calls(), before + 1)
  })
}

t.test('a provider that has too much to do was not reached, and is asked again', async (t) => {
  const unavailable = { status: 502, code: 'provider_unavailable' }
  const busy: readonly Row[] = [
    {
      ...unavailable,
      provider_id: 'stripe',
      refuse: stripeRefuses(429, { type: 'invalid_request_error', code: 'rate_limit' }),
      failure_code: 'rate_limit',
    },
    {
      ...unavailable,
      provider_id: 'paypal',
      refuse: paypalRefuses(429, 'RATE_LIMIT_REACHED', 'RATE_LIMIT_REACHED'),
      failure_code: 'rate_limited',
    },
    {
      ...unavailable,
      provider_id: 'authorize-net',
      refuse: authorizeNetRefuses('E00053'),
      failure_code: 'E00053',
    },
  ]
  for (const row of busy) {
    const headers = { 'idempotency-key': `refused-${keys++}` }
    row.refuse()
    const first = await post(row, headers)
    t.equal(first.statusCode, 502, row.provider_id)
    const { payment_id } = first.json().error.details
    matchList(t, await store.readStream(paymentStream(payment_id)), [
      {},
      { data: { refusal: 'provider_unavailable', failure_code: row.failure_code } },
    ])
    const again = await post(row, headers)
    t.equal(again.headers['idempotent-replayed'], undefined)
    t.same(
      (await store.readStream(paymentStream(payment_id))).slice(2).map(({ type }) => type),
      ['PaymentAttemptStarted', row.provider_id === 'paypal' ? 'PaymentAttemptFailed' : 'ProviderIntentCreated'],
      'PayPal is still busy',
    )
  }
})

t.test('what Stripe is told of a payment is its id and nothing of the client', async (t) => {
  const payload = {
    total_cents: 2599,
    currency: 'USD',
    provider_id: 'stripe',
    concept: 'Membership',
    metadata: { order: 'order-of-the-client' },
    guest_data: { email: 'guest@example.com', name: 'Sample Guest', phone: '+1 555 0100' },
  }
  const response = await app.inject({ method: 'POST', url: '/payments/intents', payload })
  const { id } = response.json().data
  const call = stripe.calls.at(-1)
  t.equal(call?.key, id)
  t.same(
    Object.keys(call?.params ?? {}).filter((name) => name.startsWith('metadata')),
    ['metadata[payment_id]'],
  )
  t.equal(call?.params['metadata[payment_id]'], id)
  t.notMatch(JSON.stringify(call), /order-of-the-client|guest@|Sample Guest|555 0100/)
})
