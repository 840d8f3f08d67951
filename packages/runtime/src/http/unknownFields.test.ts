import type { FastifyInstance, InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { createLog } from '../telemetry/log.ts'
import { createHttp } from './http.ts'

const Body = Type.Object({
  total_cents: Type.Integer({ minimum: 1 }),
  guest: Type.Optional(Type.Object({ email: Type.String() })),
  // As in a body whose fields may be null.
  address: Type.Optional(
    Type.Union([
      Type.Object({ line1: Type.Optional(Type.String()), dry_run: Type.Optional(Type.Null()) }),
      Type.Null(),
    ]),
  ),
  items: Type.Optional(Type.Array(Type.Object({ dryRun: Type.Boolean() }))),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

function testServer(t: Test): { http: FastifyInstance; logged: string[] } {
  const logged: string[] = []
  const log = createLog({ app: 'test', level: 'debug' }, { write: (line) => void logged.push(line) })
  const http = createHttp({ log })
  http.post('/payments', { schema: { body: Body } }, async ({ body }) => body)
  const dryRun = { querystring: Type.Object({ dry_run: Type.Optional(Type.Boolean()) }) }
  http.route({ method: ['POST', 'DELETE'], url: '/bare', schema: dryRun, handler: async () => ({}) })
  t.teardown(() => http.close())
  return { http, logged }
}

const post = (payload: object): InjectOptions => ({ method: 'POST', url: '/payments', payload })

async function errorOf(http: FastifyInstance, request: InjectOptions) {
  const response = await http.inject(request)
  return { status: response.statusCode, ...response.json().error }
}

t.test(
  'unknown fields of a body are 400 at every depth, with the nearest known field [10.1-unknown-fields]',
  async (t) => {
    const { http } = testServer(t)
    const cases: [body: object, field: string, meant?: string][] = [
      [{ amount_cents: 1 }, 'amount_cents', 'total_cents'],
      [{ totalCents: 1 }, 'totalCents', 'total_cents'],
      [{ TOTAL_CENTS: 1 }, 'TOTAL_CENTS', 'total_cents'],
      [{ total_cent: 1 }, 'total_cent', 'total_cents'],
      [{ total: 1 }, 'total', 'total_cents'],
      [{ metadatas: {} }, 'metadatas', 'metadata'],
      [{ itmes: [] }, 'itmes', 'items'],
      [{ is_admin: true }, 'is_admin'],
      [{ constructor: 1 }, 'constructor'],
      [{ '': 1 }, ''],
      [{ guest: { email: 'e', eMail: 'e' } }, 'guest.eMail', 'email'],
      [{ address: { dryRun: null } }, 'address.dryRun', 'dry_run'],
      [{ items: [{ dryRun: true }, { dryRun: true, dry_run: true }] }, 'items.1.dry_run', 'dryRun'],
      [{ ['x'.repeat(100)]: 1 }, 'x'.repeat(64)],
    ]
    for (const [body, field, meant] of cases) {
      const { status, details } = await errorOf(http, post({ total_cents: 1, ...body }))
      const message = `is unknown here${meant === undefined ? '' : `; did you mean \`${meant}\`?`}`
      t.strictSame([status, details.fields], [400, [{ field, message }]], field)
    }
    const both = await errorOf(http, post({ amount_cents: 1 }))
    t.equal(both.message, 'The body is invalid: amount_cents is unknown here; did you mean `total_cents`?')
    t.match(both.details.fields, [{ field: 'amount_cents' }, { field: 'total_cents', message: 'is required' }])
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field${index}`, 1]))
    t.equal((await errorOf(http, post({ total_cents: 1, ...many }))).details.fields.length, 20)
  },
)

t.test(
  'a route that changes something refuses fields and parameters that it has not [10.1-no-fields 10.1-unknown-parameters]',
  async (t) => {
    const { http } = testServer(t)
    const send = (method: 'POST' | 'DELETE', url: string, payload?: unknown) =>
      http.inject({
        ...{ method, url },
        ...(payload !== undefined && {
          headers: { 'content-type': 'application/json' },
          payload: JSON.stringify(payload),
        }),
      })
    for (const [method, url] of [
      ['POST', '/bare'],
      ['DELETE', '/bare?token=a&session_id=b'],
    ] as const) {
      for (const payload of [undefined, {}, null]) t.equal((await send(method, url, payload)).statusCode, 200)
      for (const payload of [{ dry_run: true }, [1], 'text'])
        t.equal((await send(method, url, payload)).statusCode, 400, JSON.stringify(payload))
      const refused = await send(method, `${url}${url.includes('?') ? '&' : '?'}dryRun=true`)
      t.match(refused.json().error, {
        code: 'invalid_request',
        message: 'The query is invalid: dryRun is unknown here; did you mean `dry_run`?',
        details: { fields: [{ field: 'dryRun' }] },
      })
    }
  },
)

t.test('a card number in an unknown field, or in its name, gets into no response and no log line', async (t) => {
  const { http, logged } = testServer(t)
  const card = '4242424242424242'
  const sent = async (body: object) => errorOf(http, post({ total_cents: 1, ...body }))
  const responses = [
    await sent({ card_number: card }),
    await sent({ [card]: 1 }),
    await sent({ other: 1, metadata: { note: card } }),
    await sent({ guest: { email: 'e', cvc: '123' } }),
  ]
  for (const response of responses) t.match(response, { status: 422, code: 'card_number_rejected' })
  const invalid = [
    await errorOf(http, post({ guest: { [card]: card } })),
    await errorOf(http, { method: 'POST', url: `/bare?${card}=${card}` }),
  ]
  for (const response of invalid) t.match(response, { status: 400, code: 'invalid_request' })
  t.notMatch([...responses, ...invalid].map((each) => JSON.stringify(each)).join() + logged.join(), card)
})
