import { readFile } from 'node:fs/promises'
import { apiPaths } from '@paylog/runtime/http/apiPaths'
import { startProcess } from '@paylog/testing/processes'
import { canonicalNames } from '@paylog/webhooks/messages/canonicalNames'
import t from 'tap'
import { type Document, examplesOf, routesOf, schemaErrors } from './testing/documentedRoutes.ts'

// Serving the document connects to none of these.
const env = {
  PORT: '0',
  DATABASE_URL: 'postgres://127.0.0.1:1/paylog',
  EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
  AUTH_URL: 'http://127.0.0.1:1',
}
const [api, operatorApi] = await Promise.all([
  startProcess(t, { script: new URL('./main.ts', import.meta.url), env }),
  startProcess(t, { script: new URL('./operatorMain.ts', import.meta.url), env }),
])
const text = await (await fetch(`${api.detail.url}/openapi.json`)).text()
const document: Document = JSON.parse(text)
const routes = routesOf(document)
const isOperational = ({ tags = [] }: { readonly tags?: readonly string[] }) => tags.includes('operations')
const isReceiver = ({ tags = [] }: { readonly tags?: readonly string[] }) => tags.includes('provider webhooks')
const caddyfile = await readFile(new URL('../../../deploy/edge/Caddyfile', import.meta.url), 'utf8')
/** The paths that the edge sends to the operator API. */
const pathsOf = (matcher: RegExp) => matcher.exec(caddyfile)?.[1]?.match(/(?<=\s)\/\S+/g) ?? []
const matching = (paths: readonly string[]) =>
  new RegExp(`^(${paths.map((path) => path.replace('*', '.*')).join('|')})$`)
const isOperator = matching(pathsOf(/@operators \{\n([^}]*)\}/))
/** The lists of the read side, which it sends there for files. */
const isFile = matching(pathsOf(/@files \{\n([^}]*)\}/))
/** What the operator API has of the read side. */
const isList = new RegExp(`${isFile.source}|^/admin/(stats|products/[^/]+)$`)
/** They record an event. */
const writes = routes.filter((each) => each.method !== 'GET' && !isReceiver(each) && !isOperator.test(each.path))

t.test('every example matches its schema and has no extra field', async (t) => {
  for (const { name, requestBody = {}, responses } of routes) {
    for (const [where, { content = {} }] of Object.entries({ body: requestBody, ...responses })) {
      for (const each of Object.values(content)) {
        const examples = examplesOf(each)
        t.ok(examples.length > 0, `${name}, ${where} has an example`)
        for (const example of examples)
          t.same(schemaErrors(each.schema, example), [], `${name}, ${where}: ${JSON.stringify(example)}`)
      }
    }
  }
})

t.test('the bodies of requests are closed at every depth, except for the fields that take anything', async (t) => {
  const open: string[] = []
  for (const { path, requestBody, tags = [] } of routes) {
    if (isReceiver({ tags })) continue
    const { schema = {} } = requestBody?.content?.['application/json'] ?? {}
    JSON.parse(JSON.stringify(schema), (name, part) => {
      if (part?.type === 'object' && part.additionalProperties !== false) open.push(`${path} ${name}`)
      return part
    })
  }
  t.same(open, ['/payments/intents metadata', '/webhooks/test test_data', '/webhooks/external/simulate payload'])
})

t.test('schemaErrors finds an undocumented field at any depth', async (t) => {
  const content = routes.find(({ operationId }) => operationId === 'listPayments')?.responses[200]?.content
  const described = content?.['application/json']
  const text = JSON.stringify(described && examplesOf(described)[0])
  for (const place of ['{"success"', '"data":[{', '"user_context":{']) {
    const more = JSON.parse(text.replace(place, place.endsWith('{') ? `${place}"more":1,` : `{"more":1,"success"`))
    t.equal(described && schemaErrors(described.schema, more).length > 0, true, place)
  }
})

t.test('every route has a summary, an operationId, and descriptions of its parameters and responses', async (t) => {
  for (const { name, responses, parameters = [], ...route } of routes) {
    t.match(route, { operationId: /^[a-z]+[A-Z][A-Za-z]+$/, summary: /./, description: /./, tags: [/./] }, name)
    for (const { name: parameter, description } of parameters) t.ok(description, `${name}: ${parameter}`)
    for (const [status, { description, headers = {} }] of Object.entries(responses)) {
      t.match(status, /^[2-5]\d\d$/, `${name}: a concrete status`)
      t.not(description, 'Default Response', `${name}: ${status}`)
      t.ok('X-Request-Id' in headers, `${name}: ${status}`)
    }
  }
  const names = routes.map(({ operationId }) => operationId)
  t.equal(new Set(names).size, names.length)
  t.match(
    document.tags.map(({ description }) => description),
    document.tags.map(() => /./),
  )
  t.same(document.servers, [{ url: '/', description: 'The server of this document' }])
  t.match(text, '"openapi":"3.1.0"')
})

t.test('resources, errors and messages are named schemas', async (t) => {
  const { schemas } = document.components
  for (const name of ['Payment', 'ListedPayment', 'Refund', 'PaymentMethod', 'Address', 'Product', 'WebhookLogEntry'])
    t.ok(text.includes(`{"$ref":"#/components/schemas/${name}"}`), name)
  for (const name of [
    'Dispute',
    'Statistics',
    'HistoryEntry',
    'WebhookTest',
    'SetupIntent',
    'Error',
    'ErrorCode',
    'AuditTrailEntry',
  ])
    t.ok(Object.hasOwn(schemas, name), name)
  const unused = Object.keys(schemas).filter((name) => !text.includes(`"$ref":"#/components/schemas/${name}"`))
  t.same(unused, [])
})

t.test('the outgoing webhooks are documented: canonical ones by name, raw and legacy ones', async (t) => {
  t.same(Object.keys(document.webhooks), [...canonicalNames, 'raw', 'legacy'])
  for (const [name, { post }] of Object.entries(document.webhooks)) {
    const headers = post?.parameters?.map(({ name }) => name) ?? []
    const isSigned = headers.includes('webhook-signature')
    t.equal(isSigned, name !== 'legacy', name)
    for (const header of ['webhook-id', 'webhook-timestamp', 'webhook-sequence', 'webhook-test'])
      t.ok(headers.includes(header), `${name}: ${header}`)
  }
})

t.test('every route documents the errors that it can return [7-described]', async (t) => {
  const statuses = (name: string) => Object.keys(routes.find((route) => route.operationId === name)?.responses ?? {})
  t.same(statuses('getLiveness'), ['200', '400', '500'])
  t.same(statuses('receiveStripeWebhook'), ['200', '400', '404', '409', '413', '500', '502', '503'])
  t.same(statuses('listPayments'), ['200', '400', '401', '403', '429', '500', '503'])
  t.same(statuses('getAddress'), ['200', '400', '401', '404', '429', '500', '503'])
  t.same(statuses('updateAddress'), [
    '200',
    '400',
    '401',
    '404',
    '409',
    '412',
    '413',
    '415',
    '422',
    '429',
    '500',
    '503',
  ])
  t.same(statuses('createRefund'), [
    ...['201', '400', '401', '402', '403', '404', '409', '413', '415', '422', '429', '500', '502', '503', '504'],
  ])
  t.same(statuses('createPaymentIntent'), [
    '201',
    '400',
    '401',
    '402',
    '403',
    '409',
    '413',
    '415',
    '422',
    '429',
    '500',
    '502',
    '503',
    '504',
  ])
  for (const { name, responses } of routes) {
    t.equal('Retry-After' in (responses[429]?.headers ?? {}), '429' in responses, name)
    for (const [status, { content = {} }] of Object.entries(responses))
      if (Number(status) >= 400 && !name.endsWith('/ready'))
        t.match(content['application/json']?.schema, {
          allOf: [
            { properties: { success: { const: false } } },
            { properties: { error: { properties: { code: { enum: [/./] } } } } },
          ],
        })
  }
})

const accepts = ({ security }: (typeof routes)[number], scheme: string) => security.some((way) => scheme in way)

t.test('every security scheme that a route uses is documented', async (t) => {
  for (const route of routes) {
    t.equal(route.security.length === 0, isOperational(route) || isReceiver(route), route.name)
    t.equal(accepts(route, 'bearer'), accepts(route, 'session'), `${route.name} takes a session as a bearer token`)
    for (const scheme of route.security.flatMap(Object.keys))
      t.ok(Object.hasOwn(document.components.securitySchemes, scheme), route.name)
  }
})

t.test('every write documents a body example, Idempotency-Key or If-Match, and X-Event-Position', async (t) => {
  t.ok(writes.length > 5)
  for (const { name, method, parameters = [], requestBody, responses } of writes) {
    const headers = parameters.flatMap(({ in: where, name }) => (where === 'header' ? [name] : []))
    const [header] = headers.filter((name) => name !== 'x-reason')
    const isRefresh = name.endsWith('/refresh')
    const changes = method !== 'POST' || name.endsWith('/cancel') || name.endsWith('/capture')
    t.equal(header, isRefresh ? undefined : changes ? 'if-match' : 'idempotency-key', name)
    const examples = Object.values(requestBody?.content ?? {}).flatMap(examplesOf)
    const hasBody = method !== 'DELETE' && !isRefresh
    const isOptional = /\/(setup-intent|cancel|capture|refunds)$/.test(name)
    t.equal(examples.length > 0, hasBody, name)
    t.equal(requestBody?.required, hasBody ? !isOptional : undefined, name)
    for (const [status, { headers = {} }] of Object.entries(responses))
      if (status.startsWith('2')) t.ok('X-Event-Position' in headers, `${name}: ${status}`)
  }
})

t.test('query parameters are optional with six exceptions, and enums have a type', async (t) => {
  const parameters = routes.flatMap(({ name, parameters = [] }) => parameters.map((each) => ({ route: name, ...each })))
  const queryParameters = parameters.filter((parameter) => parameter.in === 'query')
  t.same(
    queryParameters.filter(({ required }) => required).map(({ route, name }) => `${route} ${name}`),
    [
      'GET /admin/stats from',
      'GET /admin/stats to',
      'GET /admin/reports from',
      'GET /admin/reports to',
      'GET /admin/events/checkpoint last_position',
      'GET /admin/events/checkpoint count',
    ],
  )
  const enums = queryParameters.flatMap(({ route, name, schema }) => (schema.enum ? [[route, name, schema.enum]] : []))
  t.same(enums, [
    ['GET /addresses', 'address_type', ['billing', 'shipping']],
    ['GET /admin/products', 'product_type', ['physical', 'digital', 'service', 'subscription']],
    ['GET /admin/products', 'is_recurring', ['true', 'false']],
    ['GET /admin/products', 'is_active', ['true', 'false']],
    ['GET /admin/products', 'orderBy', ['name', 'subtotal_cents', 'created_at', 'updated_at']],
    ['GET /admin/products', 'orderDir', ['asc', 'desc']],
    ['GET /payments', 'status', ['pending', 'processing', 'succeeded', 'failed', 'canceled']],
    ['GET /payments', 'orderBy', ['created_at', 'amount_cents', 'status', 'updated_at']],
    ['GET /payments', 'orderDir', ['asc', 'desc']],
    ['GET /webhooks/logs', 'status', ['success', 'failed']],
    ['GET /admin/payments', 'status', ['pending', 'processing', 'succeeded', 'failed', 'canceled']],
    ['GET /admin/payments', 'refunded', ['true', 'false']],
    ['GET /admin/payments', 'disputed', ['true', 'false']],
    ['GET /admin/payments', 'attention', ['true', 'false']],
    ['GET /admin/payments', 'orderBy', ['created_at', 'updated_at', 'amount_cents']],
    ['GET /admin/payments', 'orderDir', ['asc', 'desc']],
    ['GET /admin/refunds', 'status', ['pending', 'succeeded', 'failed']],
    ['GET /admin/refunds', 'orderBy', ['created_at', 'updated_at']],
    ['GET /admin/refunds', 'orderDir', ['asc', 'desc']],
    ['GET /admin/disputes', 'status', ['open', 'won', 'lost']],
    ['GET /admin/disputes', 'orderBy', ['created_at', 'updated_at']],
    ['GET /admin/disputes', 'orderDir', ['asc', 'desc']],
    ['GET /admin/addresses', 'address_type', ['billing', 'shipping']],
    ['GET /admin/stats', 'interval', ['hour', 'day']],
    ['GET /admin/webhook-deliveries', 'status', ['pending', 'held', 'succeeded', 'failed']],
    ['GET /admin/webhook-deliveries', 'test', ['true', 'false']],
  ])
  const waiting = parameters.filter(({ name }) => name === 'x-read-after').map(({ route }) => route)
  // All reads of read models: the others read the log or the tables of deliveries.
  const others = /^\/(webhooks\/logs.*|admin\/payments\/\{id\}.*)$/
  const reads = routes.filter((each) => each.method === 'GET' && !isOperational(each) && !isOperator.test(each.path))
  t.same(
    waiting.sort(),
    reads.flatMap(({ name, path }) => (others.test(path) ? [] : [name])).sort(),
    'reads with X-Read-After',
  )
  const schemas = text.match(/\{[^{}]*"enum":\[[^\]]*\][^{}]*\}/g) ?? []
  t.ok(schemas.length > 0)
  for (const schema of schemas) t.match(schema, /"type":"/, 'an enum has a type')
})

t.test('every list of administrators is a file too, which the edge sends to the operator API', async (t) => {
  /** A stream of lines, and figures for a chart. */
  const others = ['GET /admin/events', 'GET /admin/stats']
  for (const { name, method, path, parameters = [], responses } of routes) {
    const { content = {}, headers = {} } = responses[200] ?? {}
    const { schema } = content['application/json'] ?? {}
    const isListed = JSON.stringify(schema ?? {}).includes('"data":{"type":"array"')
    const hasFile = 'text/csv' in content
    const isAdministrators = method === 'GET' && /^\/admin\/[^{]*$/.test(path)
    const isReport = path.startsWith('/admin/reports')
    t.equal(hasFile, isReport || (isAdministrators && isListed && !others.includes(name)), name)
    if (!hasFile) continue
    t.ok(isOperator.test(path) || isFile.test(path), `${name} at the edge`)
    t.ok('X-Row-Count' in headers, name)
    const names = parameters.map((parameter) => parameter.name)
    t.ok(names.includes('time_zone') && names.includes('x-reason'), name)
    t.match(content['text/csv']?.example, /^[a-z_0-9.,() A-Z]+\r\n.*\r\n$/, name)
  }
})

t.test('integers of more than 32 bits say so, amounts among them, and null is beside a plain type', async (t) => {
  const [unsized, inAnyOf]: [string[], string[]] = [[], []]
  JSON.parse(text, (name, part) => {
    const isLarge = [part?.type].flat().includes('integer') && !(part.maximum < 2 ** 31)
    if (isLarge && part.format !== 'int64') unsized.push(`${name} ${JSON.stringify(part)}`)
    const [first, second] = part?.anyOf ?? []
    if (second?.type === 'null' && first.type && !first.enum) inAnyOf.push(name)
    return part
  })
  t.same([unsized, inAnyOf], [[], []])
  const { Payment } = document.components.schemas
  t.match(Payment, { properties: { amount_cents: { format: 'int64' }, concept: { type: ['string', 'null'] } } })
})

t.test('the table of paths for 405 has exactly the routes of the document', async (t) => {
  const described = routes.filter((route) => !isOperational(route) && !isReceiver(route))
  const listed = Object.entries(apiPaths).flatMap(([path, methods]) => methods.map((method) => `${method} ${path}`))
  t.same(listed.toSorted(), described.map(({ method, path }) => `${method} ${path}`).toSorted())
})

t.test('the operator API on its own serves the same document, and the routes that the edge sends to it', async (t) => {
  const { url } = operatorApi.detail
  t.equal(await (await fetch(`${url}/openapi.json`)).text(), text)
  for (const { method, path } of routes.filter((route) => !isOperational(route))) {
    const isSent = isOperator.test(path) || (method === 'GET' && isList.test(path))
    const status = isSent ? 401 : 404
    t.equal((await fetch(`${url}${path}`, { method })).status, status, `${method} ${path}`)
  }
})

t.test('only the docs page has the relaxed Content-Security-Policy that it needs', async (t) => {
  for (const { detail } of [api, operatorApi]) {
    const policyOf = async (path: string) =>
      (await fetch(`${detail.url}${path}`)).headers.get('content-security-policy') ?? ''
    const page = await (await fetch(`${detail.url}/docs`)).text()
    const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, file]) => new URL(file ?? '', `${detail.url}/docs`),
    )
    t.ok(files.length >= 5)
    for (const file of files) t.equal((await fetch(file)).status, 200, file.href)
    t.notMatch(page, /<script>|onload=/, 'no script in the page itself')
    t.match(await policyOf('/docs'), /^default-src 'self'; .*frame-ancestors 'none';$/)
    t.match(await policyOf('/openapi.json'), /^default-src 'none'/)
  }
})
