import { securitySchemes } from '@paylog/runtime/openApiParts'
import { startProcess } from '@paylog/testing/processes'
import t from 'tap'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

type Content = {
  readonly schema: TSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}
type Described = {
  readonly description?: string
  readonly headers?: object
  readonly content?: Readonly<Record<string, Content>>
}
type Route = {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly security?: readonly object[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly description?: string
    readonly required?: boolean
    readonly schema: { readonly enum?: readonly string[] }
  }[]
  readonly requestBody?: Described
  readonly responses: Readonly<Record<string, Described>>
}

// Nothing behind the gateway is asked for its documentation.
const env = {
  PORT: '0',
  DATABASE_URL: 'postgres://127.0.0.1:1/paylog',
  EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
  AUTH_URL: 'http://127.0.0.1:1',
}
const { detail } = await startProcess(t, { script: new URL('./main.ts', import.meta.url), env })
const response = await fetch(`${detail.url}/openapi.json`)
const { paths }: { readonly paths: Readonly<Record<string, Readonly<Record<string, Route>>>> } = JSON.parse(
  await response.text(),
)
const routes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, route]) => ({ name: `${method.toUpperCase()} ${path}`, method, route })),
)
const isOperational = ({ name }: { readonly name: string }) => /^GET \/(health|metrics)/.test(name)
const isReceiver = ({ name }: { readonly name: string }) =>
  /^POST \/webhooks\/(stripe|paypal|authorize-net|sandbox)$/.test(name)
const writes = routes.filter((each) => each.method !== 'get' && !isReceiver(each))

/** The same schema, which knows no more fields than it names. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]))
  return 'properties' in schema ? { additionalProperties: false, ...parts } : parts
}

/** A single example stands by itself, several have names. */
function examplesOf({ example, examples = {} }: Content): unknown[] {
  const named = Object.values(examples).map(({ value }) => value)
  return example === undefined ? named : [example, ...named]
}

t.test('every example is what its schema asks for, and has no other field', (t) => {
  let count = 0
  for (const { name, route } of routes) {
    for (const [where, { content = {} }] of Object.entries({ body: route.requestBody ?? {}, ...route.responses })) {
      for (const each of Object.values(content)) {
        const validator = Compile(closed(each.schema) as TSchema)
        for (const example of examplesOf(each)) {
          t.same(validator.Errors(example), [], `${name}, ${where}: ${JSON.stringify(example)}`)
          count += 1
        }
      }
    }
  }
  t.ok(count > 12, `${count} examples`)
  t.end()
})

t.test('every route says what it is, and what it answers when all is well and when not', (t) => {
  for (const { name, route } of routes.filter((each) => !isOperational(each))) {
    t.match(route, { summary: /./, tags: [/./] }, name)
    for (const { in: where, name: parameter, description } of route.parameters ?? [])
      if (where !== 'query') t.ok(description, `${name}: ${parameter}`)
    const statuses = Object.keys(route.responses)
    t.ok(
      statuses.includes('4XX') && statuses.includes('5XX') && statuses.some((status) => /^20[012]$/.test(status)),
      name,
    )
    for (const [status, { description }] of Object.entries(route.responses))
      t.not(description, 'Default Response', `${name}: ${status}`)
  }
  t.end()
})

t.test('every credential that a route asks for is described', (t) => {
  for (const { name, route } of routes) {
    const isOpen = isOperational({ name }) || isReceiver({ name })
    t.equal(route.security === undefined, isOpen, name)
    for (const scheme of (route.security ?? []).flatMap(Object.keys)) t.ok(Object.hasOwn(securitySchemes, scheme), name)
  }
  t.end()
})

t.test('every write has an example of its body, and says how it is repeated, guarded and waited for', (t) => {
  t.ok(writes.length > 5)
  for (const { name, method, route } of writes) {
    const [header] = (route.parameters ?? []).flatMap(({ in: where, name }) => (where === 'header' ? [name] : []))
    t.equal(header, method === 'post' ? 'idempotency-key' : 'if-match', name)
    const examples = Object.values(route.requestBody?.content ?? {}).flatMap(examplesOf)
    t.equal(examples.length > 0, method !== 'delete', name)
    for (const [status, { headers = {} }] of Object.entries(route.responses))
      if (status.startsWith('2')) t.ok('X-Event-Position' in headers, `${name}: ${status}`)
  }
  t.end()
})

t.test('what can be left out of a query is not asked for, and what may be one of several is told as such', (t) => {
  const parameters = routes.flatMap(({ name, route }) =>
    (route.parameters ?? []).map((each) => ({ route: name, ...each })),
  )
  const inQueries = parameters.filter((parameter) => parameter.in === 'query')
  t.same(
    inQueries.filter(({ required }) => required).map(({ route, name }) => `${route} ${name}`),
    [],
  )
  const enums = inQueries.flatMap(({ route, name, schema }) => (schema.enum ? [[route, name, schema.enum]] : []))
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
  ])
  t.end()
})
