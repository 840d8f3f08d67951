// The generator and the judge, with a small document instead of a system.
import t from 'tap'
import { createRandom } from '../campaign/random.ts'
import { type Route, readDocument, validatorOf } from './document.ts'
import { judge } from './judge.ts'
import { growthOf, isTooMuch } from './memory.ts'
import { hostileJson, hostileText, mutatedBytes, mutatedJson } from './mutations.ts'
import { type PlannedRequest, planRequest } from './plan.ts'
import { createPool } from './pool.ts'
import { rawBytes } from './rawBytes.ts'
import { validValue } from './values.ts'

const text = { type: 'string', minLength: 5, maxLength: 20 }
const thing = {
  type: 'object',
  required: ['id', 'parts'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    currency: { type: 'string', pattern: '^[A-Za-z]{3}$' },
    parts: {
      type: 'array',
      minItems: 1,
      maxItems: 3,
      items: { type: 'object', required: ['name'], properties: { name: { ...text, type: ['string', 'null'] } } },
    },
    amount: { type: 'integer', minimum: 1, maximum: 99 },
    at: { type: 'string', format: 'date-time' },
    email: { type: 'string', format: 'email' },
    kind: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] },
    days: { type: ['integer', 'null'], minimum: 1, maximum: 730 },
    is_new: { type: 'boolean' },
    metadata: { type: 'object', additionalProperties: true },
  },
}
const json = (schema: object) => ({ description: '', content: { 'application/json': { schema } } })
const error = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { const: false },
    error: { type: 'object', required: ['code'], properties: { code: { type: 'string' } } },
  },
}
const { routes, isError } = readDocument({
  components: { schemas: { Thing: thing, ErrorResponse: error } },
  paths: {
    '/addresses/{id}': {
      put: {
        security: [{ session: [] }],
        parameters: [
          { in: 'path', name: 'id', required: true, schema: { type: 'string' } },
          { in: 'query', name: 'limit', schema: { type: 'integer', minimum: 1, maximum: 50 } },
        ],
        requestBody: { required: true, ...json({ $ref: '#/components/schemas/Thing' }) },
        responses: { 200: json({ $ref: '#/components/schemas/Thing' }), 400: json(error) },
      },
    },
  },
})
const [route] = routes as [Route]
const providers = { env: {}, pay: () => undefined, notification: () => undefined, sign: () => ({}) }
const id = '018f0000-0000-7000-8000-000000000001'

t.test('every value made for a schema is valid by it, and most mutated ones are not', async (t) => {
  const isThing = validatorOf(thing)
  let invalid = 0
  for (let seed = 0; seed < 500; seed++) {
    const random = createRandom(seed, 'values')
    const value = validValue(thing, 'body', { random, owner: 'ada', pool: createPool() })
    t.ok(isThing(value), JSON.stringify(value))
    const mutated = mutatedJson(value, random)
    try {
      if (!isThing(JSON.parse(mutated))) invalid++
    } catch {
      t.fail(`not JSON: ${mutated.slice(0, 200)}`)
    }
  }
  t.ok(invalid > 200, `${invalid} of 500`)
})

t.test('mutations of text, bytes and HTTP are made for every seed', async (t) => {
  const parts = { method: 'GET', path: '/', headers: { a: 'b' }, body: undefined }
  for (let seed = 0; seed < 500; seed++) {
    const random = createRandom(seed, 'texts')
    t.type(hostileText(random), 'string')
    t.doesNotThrow(() => JSON.parse(hostileJson(random)))
    t.ok(Buffer.isBuffer(mutatedBytes('{"a":"é"}', random)) && rawBytes(parts, random).length > 0)
  }
})

t.test('a seed and an index repeat a request, which is valid if nothing was changed', async (t) => {
  const plan = (seed: number) =>
    planRequest(routes, { random: createRandom(seed, 'request 1'), pool: createPool(), providers })
  const seen = new Set<string>()
  for (let seed = 0; seed < 300; seed++) {
    const request = plan(seed)
    seen.add(request.mutation)
    if (request.mutation === 'none') t.ok(request.isValid, JSON.stringify(request))
    t.equal(plan(seed).mutation, request.mutation)
  }
  t.equal(seen.size, 8)
})

t.test('ids of responses are used again, mostly by who got them', async (t) => {
  const pool = createPool()
  const random = createRandom(1, 'pool')
  t.equal(pool.pick('addresses', { random, owner: 'ada' }), undefined)
  pool.learn('/addresses', 'ada', { etag: '"1"' }, { data: [{ id: 'first' }, { id: 'second' }] })
  pool.learn('/addresses/x', 'grace', {}, { data: { id: 'third' } })
  const picked = new Set(Array.from({ length: 99 }, () => pool.pick('addresses', { random, owner: 'ada' })))
  t.same(picked, new Set(['first', 'second', 'third']))
  t.equal(pool.pick('etags', { random, owner: 'grace' }), '"1"')
})

const request: PlannedRequest = {
  ...{ route, mutation: 'none', owners: ['ada'], method: 'PUT', path: '/addresses/1', headers: {}, body: undefined },
  isValid: true,
}
const headers = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': id }
const good = { id, parts: [{ name: 'canary.ada.1' }] }

/** The rules that a response breaks. */
function rules(status: number, body: unknown, changes: Partial<PlannedRequest> = {}, more = {}): string[] {
  const response = { status, headers: { ...headers, ...more }, text: JSON.stringify(body) }
  return judge({ ...request, ...changes }, response, isError).map(({ rule }) => rule)
}

t.test('the judge accepts documented responses', async (t) => {
  const badRequest = { success: false, error: { code: 'invalid_request' } }
  t.same(rules(200, good), [])
  t.same(rules(400, badRequest, { isValid: false }), [])
  t.same(rules(404, badRequest, { route: undefined }), [])
  t.same(rules(431, badRequest), [])
})

t.test('the judge finds each planted fault', async (t) => {
  const planted: readonly (readonly [string, string[], string[]])[] = [
    ['an undocumented field', rules(200, { ...good, secret: 1 }), ['not as documented']],
    ['one further down', rules(200, { id, parts: [{ name: null, secret: 1 }] }), ['not as documented']],
    ['a missing field', rules(200, { id }), ['not as documented']],
    ['a wrong type', rules(200, { ...good, amount: '1' }), ['not as documented']],
    ['an undocumented status', rules(409, { success: false, error: { code: 'a' } }), ['not as documented']],
    ['another content type', rules(200, good, {}, { 'content-type': 'text/html' }), ['not as documented']],
    ['a server error', rules(500, {}, { route: undefined }), ['server error', 'odd error']],
    ['an error in another form', rules(404, { error: 'x' }, { route: undefined }), ['odd error']],
    ['an accepted invalid request', rules(200, good, { isValid: false }), ['invalid request accepted']],
    ['data of another owner', rules(200, { id, parts: [{ name: 'canary.grace.1' }] }), ['data of another owner']],
    ['a card number', rules(200, { id, parts: [{ name: '4242 4242 4242 4242' }] }), ['card number in a response']],
    ['no request id', rules(200, good, {}, { 'x-request-id': undefined }), ['no request id']],
    ['no response', rules(0, ''), ['no response']],
  ]
  for (const [what, found, expected] of planted) t.same(found, expected, what)
})

t.test('memory that grows by more than a fifth is found, a plateau after the warm-up is not', async (t) => {
  const samples = (heapOf: (index: number) => number) =>
    Array.from({ length: 25 }, (_, index) => ({ heapMiB: heapOf(index), residentMiB: 200, handles: 9, files: 40 }))
  const grown = (heapOf: (index: number) => number) =>
    growthOf('api', samples(heapOf))
      .filter(isTooMuch)
      .map(({ measure }) => measure)
  t.same(
    grown((index) => 60 + 3 * index),
    ['heapMiB'],
  )
  t.same(
    grown((index) => 60 + Math.min(index, 4) * 10),
    [],
  )
})
