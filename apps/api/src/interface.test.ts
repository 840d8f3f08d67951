// Checks every resource, body, parameter and path of the interface against the OpenAPI document.

import { createLog } from '@paylog/runtime/telemetry/log'
import t from 'tap'
import { describeApi } from './describeApi.ts'
import { type Content, type Document, fieldsOf, routesOf, type Schema } from './testing/documentedRoutes.ts'

const document = (await describeApi(createLog({ app: 'docs', level: 'silent' }))) as Document
const routes = routesOf(document)

function route(name: string) {
  const found = routes.find((each) => each.name === name)
  if (!found) throw new Error(`No ${name}`)
  return found
}
const schemaOf = (content: Readonly<Record<string, Content>> = {}): Schema => content['application/json']?.schema ?? {}
const bodyOf = (name: string) => schemaOf(route(name).requestBody?.content)
const responseOf = (name: string, status = 200) => schemaOf(route(name).responses[status]?.content)
/** The schema of a nested field or list entry. */
const schemaAt = (schema: Schema | undefined, ...path: readonly string[]): Schema =>
  path.reduce<Schema>((outer, name) => {
    const schema = outer.properties?.[name] ?? {}
    return (schema.items ?? schema.anyOf?.find(({ type }) => type !== 'null') ?? schema) as Schema
  }, schema ?? {})
/** The query parameters of a route. An enum becomes one string, because t.match compares arrays in part. */
const parametersOf = (name: string) =>
  Object.fromEntries(
    (route(name).parameters ?? []).flatMap(({ in: where, name, schema }) =>
      where === 'query' ? [[name, { ...schema, enum: schema.enum?.join(' ') }] as const] : [],
    ),
  )
const words = (text: string) => text.trim().split(/\s*[,\n]\s*/)

const everywhere = `
  id string, subtotal_cents integer, tax_cents integer, discount_cents integer, total_cents integer, amount_cents integer
  currency string, status string, description string, concept string, reference_code string, category string, tags string
  provider_id string, payment_method_id string, payment_method object, is_guest_payment boolean, guest_email string
  created_at string, updated_at string, completed_at string`
const onlySingle = 'provider_payment_id string, provider_intent_id string, client_secret string, metadata object'
/** Fields that the interface does not name. */
const moreEverywhere = 'amount_received_cents integer, amount_refunded_cents integer'
const moreSingle = `amount_capturable_cents integer, capture_method string, redirect_url string, expires_at string
  dispute_status string`
const summary = `id string, payment_type string, wallet_type string, card_brand string, last_four string
  expiry_month string, expiry_year string, alias string`
const product = `id string, name string, description string, product_type string, is_recurring boolean
  subtotal_cents integer, tax_cents integer, discount_cents integer, total_cents integer, currency string
  billing_interval string, trial_days integer, category_id string, is_active boolean, created_at string, updated_at string`
const address = `address_type string, organization_id string, name string, line1 string, line2 string, city string
  state string, postal_code string, country string, is_partial boolean, is_business boolean, business_name string
  tax_id string, tax_id_type string, phone string, email string, alias string, is_default boolean
  guest_email string, guest_name string`
const entry = `id string, provider string, event_type string, status string, payload object, response object
  created_at string`
const methodBody = `payment_method_token string, type string, wallet_type string, provider_id string, customer_id string
  organization_id string, alias string, billing_address_id string, billing_details object`

t.test('a payment has the fields and types of the interface, alone and in a list [2.1-types]', async (t) => {
  const listed = [...words(everywhere), ...words(moreEverywhere)]
  const one = [...listed, ...words(onlySingle), ...words(moreSingle)].sort()
  t.same(fieldsOf(schemaAt(responseOf('GET /payments/{id}'), 'data')), one)
  t.same(fieldsOf(schemaAt(responseOf('POST /payments/intents', 201), 'data')), one)
  const list = responseOf('GET /payments')
  t.same(fieldsOf(schemaAt(list, 'data')), listed.sort())
  t.notOk(schemaAt(list, 'data').required?.includes('payment_method'), 'payment_method is optional')
  const statuses = ['pending', 'processing', 'succeeded', 'failed', 'canceled']
  t.same(schemaAt(list, 'data', 'status').enum, statuses)
})

t.test('a payment method summary has the fields and types of the interface [2.2-types]', async (t) => {
  for (const name of ['GET /payments', 'GET /payments/{id}'])
    t.same(fieldsOf(schemaAt(responseOf(name), 'data', 'payment_method')), words(summary).sort(), name)
})

t.test(
  'a payment method has the fields and types of the interface, in requests and responses [2.3-types 2.7-method]',
  async (t) => {
    const body = bodyOf('POST /payment-methods')
    t.same(fieldsOf(body), [...words(methodBody), 'guest_email string', 'is_default boolean'].sort())
    for (const details of [body, schemaAt(responseOf('GET /payment-methods/{id}'), 'data')]) {
      t.same(
        fieldsOf(schemaAt(details, 'billing_details')),
        words('address object, email string, name string, phone string'),
      )
      t.same(
        fieldsOf(schemaAt(details, 'billing_details', 'address')),
        words('city string, country string, line1 string, line2 string, postal_code string, state string'),
      )
    }
    // Fields that are only sent back have no type.
    const changeable = fieldsOf(bodyOf('PUT /payment-methods/{id}')).filter((field) => !field.endsWith(' '))
    t.same(changeable, ['alias string', 'is_default boolean'])
    const added = 'is_default boolean, guest_email string, created_at string, updated_at string'
    const kept = words(methodBody).filter((field) => !field.startsWith('payment_method_token'))
    const record = [...new Set([...words(summary), ...kept, ...words(added)])].sort()
    for (const name of ['GET /payment-methods', 'GET /payment-methods/{id}', 'PUT /payment-methods/{id}'])
      t.same(fieldsOf(schemaAt(responseOf(name), 'data')), record, name)
  },
)

t.test('a product has the fields and types of the interface [2.4-types]', async (t) => {
  for (const name of ['GET /admin/products', 'GET /admin/products/{id}', 'PUT /admin/products/{id}']) {
    t.same(fieldsOf(schemaAt(responseOf(name), 'data')), words(product).sort(), name)
    const types = ['physical', 'digital', 'service', 'subscription']
    t.same(schemaAt(responseOf(name), 'data', 'product_type').enum, types, name)
  }
})

t.test('an address has the fields and types of the interface, in requests and responses [2.5-types]', async (t) => {
  t.same(fieldsOf(bodyOf('POST /addresses')), words(address).sort())
  t.same(schemaAt(bodyOf('POST /addresses'), 'address_type').enum, ['billing', 'shipping'])
  t.same(bodyOf('POST /addresses').required, ['address_type'])
  const record = [...words(address), ...words('id string, user_id string, created_at string, updated_at string')].sort()
  for (const name of ['GET /addresses', 'GET /addresses/{id}', 'PUT /addresses/{id}'])
    t.same(fieldsOf(schemaAt(responseOf(name), 'data')), record, name)
})

t.test('a webhook log entry has the fields and types of the interface [2.6-types]', async (t) => {
  const list = responseOf('GET /webhooks/logs')
  t.equal(list.type, 'array')
  for (const one of [list.items as Schema, schemaAt(responseOf('GET /webhooks/logs/{id}'), 'data')]) {
    t.same(fieldsOf(one), words(entry).sort())
    t.same(schemaAt(one, 'status').enum, ['success', 'failed'])
  }
})

const anyone = '{} session guest'
const known = 'session guest'
/** Every endpoint with its callers and success statuses. */
const endpoints = [
  ['POST /payments/intents', anyone, '201'],
  ['GET /payments', known, '200'],
  ['GET /payments/{id}', known, '200'],
  ['GET /payment-methods', known, '200'],
  ['GET /payment-methods/{id}', known, '200'],
  ['POST /payment-methods', known, '200 201'],
  ['PUT /payment-methods/{id}', known, '200'],
  ['DELETE /payment-methods/{id}', known, '200'],
  ['POST /payment-methods/setup-intent', 'session', '201'],
  ['GET /addresses', known, '200'],
  ['GET /addresses/{id}', known, '200'],
  ['POST /addresses', known, '201'],
  ['PUT /addresses/{id}', known, '200'],
  ['DELETE /addresses/{id}', known, '200'],
  ['GET /admin/products', 'session', '200'],
  ['POST /admin/sync/products', 'session', '200'],
  ['POST /webhooks/external/simulate', 'session', '202'],
  ['POST /webhooks/test', 'session', '202'],
  ['POST /webhooks/stripe', '', '200'],
  ['POST /webhooks/paypal', '', '200'],
  ['POST /webhooks/authorize-net', '', '200'],
  ['GET /webhooks/logs', 'session', '200'],
  ['GET /webhooks/logs/{id}', 'session', '200'],
] as const

t.test('every endpoint of the interface exists and takes the documented callers [4-routes]', async (t) => {
  for (const [name, callers] of endpoints) {
    const ways = route(name).security.map((way) => Object.keys(way)[0] ?? '{}')
    // A session as a bearer token is the same caller.
    t.equal(ways.filter((way) => way !== 'bearer').join(' '), callers, name)
  }
})

t.test('creation returns 201, webhook tests 202, and every other success 200 [4.12-statuses]', async (t) => {
  for (const [name, , success] of endpoints) {
    const statuses = Object.keys(route(name).responses).filter((status) => status.startsWith('2'))
    t.equal(statuses.join(' '), success, name)
  }
})

t.test('POST /payments/intents takes the fields and types of the interface [4.1-body]', async (t) => {
  const body = bodyOf('POST /payments/intents')
  const shown = words('total_cents integer, currency string, provider_id string, concept string, guest_data object')
  const fields = fieldsOf(body)
  for (const field of shown) t.ok(fields.includes(field), field)
  t.same(fieldsOf(schemaAt(body, 'guest_data')), words('email string, name string, phone string'))
})

t.test(
  'GET /payments takes the parameters, limits and defaults of the interface [4.2-page 4.2-limit 4.3-token]',
  async (t) => {
    t.hasStrict(parametersOf('GET /payments'), {
      page: { type: 'integer', minimum: 1, default: 1 },
      limit: { type: 'integer', minimum: 1, maximum: 50, default: 20 },
      status: { type: 'string', enum: 'pending processing succeeded failed canceled' },
      search: { type: 'string' },
      created_at_from: { type: 'string' },
      created_at_to: { type: 'string' },
      orderBy: { type: 'string', default: 'created_at', enum: 'created_at amount_cents status updated_at' },
      orderDir: { type: 'string', default: 'desc', enum: 'asc desc' },
      include: { type: 'string' },
      token: { type: 'string' },
    })
    for (const name of ['GET /payments/{id}', 'GET /payment-methods/{id}', 'GET /addresses/{id}'])
      t.same(Object.keys(parametersOf(name)), ['token'], name)
  },
)

t.test('a list of payments has the meta and user_context of the interface [4.2-response-types]', async (t) => {
  const list = responseOf('GET /payments')
  t.same(fieldsOf(list), words('data array, meta object, success boolean, user_context object'))
  t.same(
    fieldsOf(schemaAt(list, 'meta')),
    words('hasMore boolean, limit integer, orderBy string, orderDir string, page integer, total integer'),
  )
  t.same(
    fieldsOf(schemaAt(list, 'user_context')),
    words('authenticated boolean, search_method string, user_email string, user_id string, user_type string'),
  )
})

t.test('a setup intent has the request and response fields of the interface [4.4-types]', async (t) => {
  t.same(fieldsOf(bodyOf('POST /payment-methods/setup-intent')), ['provider_id string'])
  t.same(
    fieldsOf(responseOf('POST /payment-methods/setup-intent', 201)),
    words('client_secret string, setup_intent_id string, success boolean'),
  )
})

t.test('GET /admin/products takes the parameters, limits and defaults of the interface [4.7-parameters]', async (t) => {
  t.hasStrict(parametersOf('GET /admin/products'), {
    page: { type: 'integer', minimum: 1 },
    limit: { type: 'integer', default: 20 },
    offset: { type: 'integer', default: 0 },
    category_id: { type: 'string' },
    product_type: { type: 'string', enum: 'physical digital service subscription' },
    is_recurring: { type: 'string', enum: 'true false' },
    is_active: { type: 'string', enum: 'true false' },
    search: { type: 'string' },
    orderBy: { type: 'string', default: 'created_at', enum: 'name subtotal_cents created_at updated_at' },
    orderDir: { type: 'string', default: 'desc', enum: 'asc desc' },
  })
  const list = responseOf('GET /admin/products')
  t.same(fieldsOf(list), words('data array, meta object, pagination object, success boolean'))
  t.same(
    fieldsOf(schemaAt(list, 'pagination')),
    words('limit integer, offset integer, page integer, pages integer, total integer'),
  )
})

t.test('a product sync has the request and response fields of the interface [4.8-types]', async (t) => {
  t.same(
    fieldsOf(bodyOf('POST /admin/sync/products')),
    words('dryRun boolean, force boolean, product_ids array, provider_id string, updatePrices boolean'),
  )
  t.equal(schemaAt(bodyOf('POST /admin/sync/products'), 'product_ids').type, 'string')
  const data = schemaAt(responseOf('POST /admin/sync/products'), 'data')
  t.same(fieldsOf(data), words('failed integer, results array, successful integer, summary object, total integer'))
  t.equal(schemaAt(data, 'results').type, 'object')
  t.same(
    fieldsOf(schemaAt(data, 'summary')),
    words('created integer, failed integer, skipped integer, updated integer'),
  )
})

t.test('webhook tests and simulations take the fields of the interface [4.9-types]', async (t) => {
  t.same(fieldsOf(bodyOf('POST /webhooks/test')), words('event string, test_data object'))
  t.same(fieldsOf(bodyOf('POST /webhooks/external/simulate')), words('event string, payload object, provider string'))
})

t.test('GET /webhooks/logs takes the parameters, limits and defaults of the interface [4.11-parameters]', async (t) => {
  t.hasStrict(parametersOf('GET /webhooks/logs'), {
    provider: { type: 'string' },
    event_type: { type: 'string' },
    status: { type: 'string', enum: 'success failed' },
    limit: { type: 'integer', default: 100 },
    offset: { type: 'integer' },
  })
})
