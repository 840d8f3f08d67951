// Sends every example of the OpenAPI document to a running system. No response may contain anything undocumented.
import { randomUUID } from 'node:crypto'
import { signSandboxEvent } from '@paylog/providers/sandbox/notifications'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { startSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { admin, anonymous, documentedErrors, guest } from './testing/documentedErrors.ts'
import {
  assertAsDocumented,
  bodiesOf,
  type Caller,
  type Document,
  idOf,
  isFor,
  queriesOf,
  type Route,
  repeatable,
  routesOf,
  type Sent,
  sender,
  shown,
} from './testing/documentedRoutes.ts'
import { ofAuthorized, requiredQuery, resourceOf, scenarioOf } from './testing/exampleScenario.ts'
import { endpointVariables } from './testing/roundTripHarness.ts'

const [stripe, paypal, authorizeNet, endpoint] = await Promise.all([
  startFakeStripe(t),
  startFakePaypal(t),
  startFakeAuthorizeNet(t),
  startFakeEndpoint(t),
])
const maxAnonymous = 30
const system = await startSystem(t, {
  ...stripe.env,
  ...paypal.env,
  ...authorizeNet.env,
  ...endpointVariables(endpoint.url, endpoint.url),
  RATE_LIMIT_PER_MINUTE: '100000',
  RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE: '0',
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: String(maxAnonymous),
})
const document: Document = JSON.parse(await (await fetch(`${system.baseUrl}/openapi.json`)).text())
const routes = routesOf(document)
const scenario = scenarioOf(routes)
const send = sender(system.baseUrl)

const otherIntent = JSON.stringify({ total_cents: 777, currency: 'EUR', provider_id: 'sandbox' })

function route(operationId: string): Route {
  const found = routes.find((each) => each.operationId === operationId)
  if (!found) throw new Error(`No ${operationId}`)
  return found
}

/** The receivers' examples signed as their providers do. Other examples unchanged. */
function signed({ path }: Route, body: string | undefined): Sent {
  if (body === undefined) return {}
  switch (path) {
    case '/webhooks/stripe':
      return stripe.signed(JSON.parse(body))
    case '/webhooks/paypal':
      return paypal.signed({ body })
    case '/webhooks/authorize-net':
      return authorizeNet.signed({ body })
    case '/webhooks/sandbox': {
      const time = Math.floor(Date.now() / 1000)
      return { body, headers: { 'sandbox-signature': signSandboxEvent(system.sandboxSecret, body, time) } }
    }
    default:
      return { body }
  }
}

type Request = { readonly caller: Caller; readonly id: string | undefined; readonly sent: Sent }

/** Sends a request that must succeed, and once more if it has an Idempotency-Key. @returns the response */
async function succeed(t: Test, each: Route, { caller, id, sent: { headers, ...sent } }: Request) {
  const request = { ...sent, headers: { ...repeatable(each), ...headers } }
  const response = await send(each, caller, id, request)
  t.ok(response.status < 300, `${each.name} by ${caller.name}: ${response.status} ${shown(response.body)}`)
  assertAsDocumented(t, each, response)
  if (!('idempotency-key' in request.headers)) return response
  const repeated = await send(each, caller, id, request)
  t.same([repeated.status, repeated.body], [response.status, response.body], `${each.name}, repeated`)
  assertAsDocumented(t, each, repeated)
  return response
}

/** Sends a request that must get this documented error. */
async function fail(t: Test, each: Route, { caller, id, sent }: Request, [status, code]: readonly [number, string]) {
  const response = await send(each, caller, id, sent)
  t.match(response, { status, body: { success: false, error: { code } } }, `${each.name}, ${code}`)
  assertAsDocumented(t, each, response)
  return response
}

async function play(t: Test, caller: Caller): Promise<void> {
  const made = new Map([['/admin/providers', 'stripe']])
  for (const each of scenario.map(route).filter((each) => isFor(each, caller))) {
    const id = made.get(resourceOf(each))
    for (const example of bodiesOf(each)) {
      const response = await succeed(t, each, {
        caller,
        id,
        sent: { ...requiredQuery(each), ...signed(each, example) },
      })
      const createdId = idOf(response)
      if (each.method === 'POST' && createdId !== undefined) made.set(resourceOf(each), createdId)
    }
    for (const query of queriesOf(each)) assertAsDocumented(t, each, await send(each, caller, id, { query }))
    if (each.operationId !== 'simulateWebhook') continue
    const delivery = await firstLogEntry()
    for (const resource of ['/webhooks/logs', '/admin/webhook-deliveries']) made.set(resource, delivery)
  }
}

/** @returns the id of a log entry, once there is one */
const firstLogEntry = () =>
  waitFor(
    async () => {
      const { body } = await send(route('listWebhookLogs'), admin, undefined)
      return Array.isArray(body) && typeof body[0]?.id === 'string' && body[0].id
    },
    { what: 'a log entry' },
  )

t.test('the scenario covers every documented route', async (t) => {
  t.same(routes.map(({ operationId }) => operationId).sort(), [...scenario, ...ofAuthorized].sort())
})

for (const caller of [admin, guest, anonymous])
  t.test(`every example request of ${caller.name} succeeds with a documented response [4-envelope]`, (t) =>
    play(t, caller),
  )

/** A payment of the administrator that is authorized at Stripe. */
async function authorizedPayment(): Promise<string | undefined> {
  const body = { total_cents: 2599, currency: 'EUR', provider_id: 'stripe', capture_method: 'manual' }
  const opened = await send(route('createPaymentIntent'), admin, undefined, { body: JSON.stringify(body) })
  const id = idOf(opened)
  const { data } = Object(opened.body)
  stripe.pay(data.provider_intent_id, 'requires_capture')
  await send(route('refreshPayment'), admin, id)
  return id
}

async function refundable(): Promise<string | undefined> {
  const id = await authorizedPayment()
  await send(route('capturePayment'), admin, id)
  return id
}

t.test('the example requests of capturing and refunding succeed with documented responses', async (t) => {
  const id = await authorizedPayment()
  let refundId = 'no-id'
  for (const documented of ofAuthorized.map(route))
    for (const body of bodiesOf(documented)) {
      const each = { ...documented, path: documented.path.replace('{refund_id}', refundId) }
      const response = await succeed(t, each, { caller: admin, id, sent: { body } })
      if (each.operationId === 'createRefund') refundId = idOf(response) ?? refundId
    }
})

t.test('a change that the payment does not allow gets the documented error', async (t) => {
  const id = await authorizedPayment()
  const refused = (operationId: string, status: number, code: string, body: object) =>
    fail(t, route(operationId), { caller: admin, id, sent: { body: JSON.stringify(body) } }, [status, code])
  await refused('createRefund', 409, 'payment_not_refundable', {})
  await refused('capturePayment', 422, 'capture_exceeds_authorization', { amount_cents: 2600 })
  await send(route('capturePayment'), admin, id, { body: JSON.stringify({ amount_cents: 2000 }) })
  await refused('capturePayment', 409, 'payment_not_capturable', {})
  await refused('cancelPayment', 409, 'payment_not_cancelable', {})
  await refused('createRefund', 422, 'refund_exceeds_payment', { amount_cents: 2001 })
})

t.test('syncing an existing product returns the documented response', async (t) => {
  const product = await send(route('createProduct'), admin, undefined, { body: bodiesOf(route('createProduct'))[0] })
  const body = (provider_id: string) => JSON.stringify({ product_ids: [idOf(product)], provider_id })
  for (const provider of ['sandbox', 'stripe', 'authorize-net']) {
    const response = await send(route('syncProducts'), admin, undefined, { body: body(provider) })
    t.match(response.body, { data: { successful: 1 } })
    assertAsDocumented(t, route('syncProducts'), response)
  }
})

for (const { status, code, caller, of, sent } of documentedErrors)
  t.test(`a bad request of ${caller.name} gets the documented error ${status} ${code} [7-as-described]`, async (t) => {
    const concerned = routes.filter(of)
    t.ok(concerned.length > 0)
    for (const each of concerned) await fail(t, each, { caller, id: undefined, sent: sent(each) }, [status, code])
  })

t.test('a change with a stale If-Match gets the documented error 412 [7-precondition]', async (t) => {
  for (const [create, ...changes] of [
    ['createAddress', 'updateAddress', 'deleteAddress'],
    ['createPaymentMethod', 'updatePaymentMethod', 'deletePaymentMethod'],
    ['createProduct', 'updateProduct'],
    ['createPaymentIntent', 'cancelPayment'],
  ] as const) {
    const id = idOf(await send(route(create), admin, undefined, { body: bodiesOf(route(create))[0] }))
    for (const each of changes.map(route)) {
      const sent = { body: bodiesOf(each)[0], headers: { 'if-match': '"99"' } }
      await fail(t, each, { caller: admin, id, sent }, [412, 'precondition_failed'])
    }
  }
})

t.test('a valid body that cannot be fulfilled gets the documented error [7-rejected]', async (t) => {
  const intent = { total_cents: 2599, currency: 'EUR', provider_id: 'sandbox' }
  const method = { payment_method_token: 'pm_card_declined', provider_id: 'sandbox' }
  const product = { name: 'Example', product_type: 'digital', currency: 'EUR', total_cents: 1 }
  const nowhere = { provider_id: 'nowhere' }
  for (const [operationId, status, code, body] of [
    ['createPaymentIntent', 402, 'payment_declined', { ...intent, payment_method_id: 'pm_card_declined' }],
    ['createPaymentIntent', 422, 'amount_inconsistent', { ...intent, subtotal_cents: 1 }],
    ['createPaymentIntent', 422, 'provider_not_enabled', { ...intent, ...nowhere }],
    ['createPaymentIntent', 422, 'reference_not_found', { ...intent, payment_method_id: randomUUID() }],
    ['createPaymentIntent', 422, 'currency_not_supported', { ...intent, currency: 'BHD', provider_id: 'paypal' }],
    ['createPaymentMethod', 402, 'payment_declined', method],
    ['createPaymentMethod', 422, 'reference_not_found', { ...method, billing_address_id: randomUUID() }],
    ['createPaymentMethod', 422, 'provider_not_enabled', { ...method, ...nowhere }],
    ['createSetupIntent', 422, 'provider_not_enabled', nowhere],
    ['createProduct', 422, 'amount_inconsistent', { ...product, subtotal_cents: 2 }],
    ['syncProducts', 422, 'provider_not_enabled', { product_ids: ['x'], ...nowhere }],
    ['simulateWebhook', 422, 'provider_not_enabled', { event: 'payment.succeeded', provider: 'nowhere' }],
  ] as const) {
    const sent = { headers: { 'idempotency-key': randomUUID() }, body: JSON.stringify(body) }
    for (let times = 0; times < 2; times++)
      await fail(t, route(operationId), { caller: admin, id: undefined, sent }, [status, code])
  }
})

t.test('an Idempotency-Key reused with another body gets the documented error 422', async (t) => {
  for (const each of routes.filter(({ parameters = [] }) =>
    parameters.some(({ name }) => name === 'idempotency-key'),
  )) {
    const headers = { 'idempotency-key': randomUUID() }
    const id = each.operationId === 'createRefund' ? await refundable() : undefined
    // The only example of a setup intent equals an empty body.
    const otherBody =
      bodiesOf(each)[1] ?? (each.operationId === 'createSetupIntent' ? '{"provider_id":"stripe"}' : otherIntent)
    await send(each, admin, id, { headers, body: bodiesOf(each)[0] })
    await fail(t, each, { caller: admin, id, sent: { headers, body: otherBody } }, [422, 'idempotency_key_reused'])
  }
})

t.test('a caller over the rate limit gets the documented error 429 [7-rate-limited]', async (t) => {
  const each = route('createPaymentIntent')
  const responses = await Promise.all(
    Array.from({ length: maxAnonymous }, () => send(each, anonymous, undefined, { body: '{}' })),
  )
  for (const response of responses) assertAsDocumented(t, each, response)
  const request = { caller: anonymous, id: undefined, sent: { body: '{}' } }
  t.ok((await fail(t, each, request, [429, 'rate_limited'])).headers.has('retry-after'))
})

t.test('without the event store, writes get the documented error 503 [7-unavailable]', async (t) => {
  await system.services['embedded-event-store'].kill()
  const rejected = ['createAddress', 'getPaymentHistory', 'receiveSandboxWebhook'].map(route)
  await Promise.all(
    rejected.map((each) => {
      const caller = each.security.length > 0 ? admin : anonymous
      const request = { caller, id: randomUUID(), sent: signed(each, bodiesOf(each)[0]) }
      return fail(t, each, request, [503, 'event_store_unavailable'])
    }),
  )
  const readiness = await send(route('getReadiness'), anonymous, undefined)
  t.equal(readiness.status, 503)
  assertAsDocumented(t, route('getReadiness'), readiness)
})
