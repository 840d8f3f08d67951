import { createHttp } from '@paylog/runtime/http/http'
import { createLog } from '@paylog/runtime/telemetry/log'
import t from 'tap'
import { readYourWrites } from './readYourWrites.ts'

const app = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
readYourWrites(app)
let position = 0
app.post('/write', async (_request, reply) => reply.header('x-event-position', String(position)).send({}))
app.get('/read', async (request) => ({ after: request.headers['x-read-after'] ?? null }))
t.teardown(() => app.close())

type Credential = { readonly headers?: Record<string, string>; readonly query?: string }
const write = ({ headers = {}, query = '' }: Credential, at: number) => {
  position = at
  return app.inject({ method: 'POST', url: `/write${query}`, headers, payload: {} })
}
const readAfter = async ({ headers = {}, query = '' }: Credential) =>
  (await app.inject({ method: 'GET', url: `/read${query}`, headers })).json().after

t.test('reads wait for the writes of the same credential, in any header or parameter [10.1-own-writes]', async (t) => {
  await write({ headers: { 'x-session-id': 'ada' } }, 10)
  t.equal(await readAfter({ headers: { 'x-session-id': 'ada' } }), '10')
  t.equal(await readAfter({ headers: { authorization: 'Bearer ada' } }), '10')
  t.equal(await readAfter({ query: '?session_id=ada' }), '10')
  await write({ query: '?token=guest' }, 11)
  t.equal(await readAfter({ headers: { authorization: 'Token guest' } }), '11')
})

t.test('reads do not wait for writes of other credentials', async (t) => {
  await write({ headers: { 'x-session-id': 'ada' } }, 20)
  await write({}, 21)
  t.equal(await readAfter({ headers: { 'x-session-id': 'grace' } }), null)
  t.equal(await readAfter({}), null)
})

t.test('the position of a credential never decreases, and an X-Read-After of the client is kept', async (t) => {
  const headers = { 'x-session-id': 'ada' }
  await write({ headers }, 40)
  await write({ headers }, 30)
  t.equal(await readAfter({ headers }), '40')
  t.equal(await readAfter({ headers: { ...headers, 'x-read-after': '5' } }), '5')
})

t.test('only the 10,000 latest callers are remembered', async (t) => {
  await write({ headers: { 'x-session-id': 'first' } }, 50)
  for (let n = 0; n < 10_000; n++) await write({ headers: { 'x-session-id': `caller-${n}` } }, 51)
  t.equal(await readAfter({ headers: { 'x-session-id': 'first' } }), null)
  t.equal(await readAfter({ headers: { 'x-session-id': 'caller-0' } }), '51')
  t.equal(await readAfter({ headers: { 'x-session-id': 'caller-9999' } }), '51')
})
