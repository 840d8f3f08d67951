import { matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { commandApiHarness } from '../commandApiHarness.ts'
import { bytesOf, exchange } from '../rawExchange.ts'

const { app, store } = await commandApiHarness(t)
const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)

const json = 'Content-Type: application/json'
const close = 'Connection: close'
/** Callers, one for each kind of credential, with the owner that only their own responses may contain. */
const identities = [
  {
    lines: ['X-Session-ID: demo-session'],
    query: '',
    user_id: '00000000-0000-4000-8000-000000000001',
    guest_email: null,
  },
  {
    lines: ['Authorization: Bearer demo-session-2'],
    query: '',
    user_id: '00000000-0000-4000-8000-000000000002',
    guest_email: null,
  },
  { lines: ['X-Guest-Token: demo-guest-token'], query: '', user_id: null, guest_email: 'guest@example.com' },
  {
    lines: [],
    query: '?session_id=demo-admin-session',
    user_id: '00000000-0000-4000-8000-000000000003',
    guest_email: null,
  },
]
type Identity = (typeof identities)[number]

const addressOf = (alias: string) =>
  JSON.stringify({ address_type: 'shipping', line1: 'Calle 1', city: 'Madrid', country: 'ES', alias })
const adding = ({ lines, query }: Identity, alias: string, ...more: string[]) =>
  bytesOf(`POST /addresses${query}`, [json, ...lines, ...more], addressOf(alias))
const last = bytesOf('GET /nowhere', [close])
const head = async () => (await store.head())?.commit
const shown = async (bytes: string) =>
  (await exchange(port, bytes)).map(({ status, body }) => {
    const { data, error } = JSON.parse(body)
    return error ? [status, error.code] : [status, data.user_id, data.guest_email, data.alias]
  })

t.test('callers that share a connection get their own responses, in order', async (t) => {
  const plan = Array.from({ length: 24 }, (_, n) => ({ n, owner: identities[(n * 7) % 4] ?? identities[0] }))
  const requests = plan.map(({ n, owner }) =>
    n % 6 === 5 || owner === undefined ? bytesOf('POST /addresses', [json], '{}') : adding(owner, `n${n}`),
  )
  const expected = plan.map(({ n, owner }) =>
    n % 6 === 5 || owner === undefined ? [401, 'unauthenticated'] : [201, owner.user_id, owner.guest_email, `n${n}`],
  )
  t.same(await shown(requests.join('') + last), [...expected, [404, 'not_found']])
})

t.test('a caller without a credential inherits none from the previous request on the connection', async (t) => {
  const [ada] = identities
  if (ada === undefined) throw new Error('no caller')
  const anonymous = bytesOf('POST /addresses', [json], addressOf('x'))
  const wrong = bytesOf('POST /addresses', [json, 'X-Session-ID: gone'], addressOf('x'))
  t.same(await shown(`${adding(ada, 'a')}${anonymous}${wrong}${adding(ada, 'b')}${anonymous}${last}`), [
    [201, ada.user_id, null, 'a'],
    [401, 'unauthenticated'],
    [401, 'unauthenticated'],
    [201, ada.user_id, null, 'b'],
    [401, 'unauthenticated'],
    [404, 'not_found'],
  ])
})

t.test('a request inside the body of another is not executed', async (t) => {
  const [ada, grace] = identities
  if (ada === undefined || grace === undefined) throw new Error('no caller')
  const hidden = adding(grace, 'hidden')
  const before = await head()
  const stays = (status: number) => [status, 404]
  const closes = (status: number) => [status]
  const cases: readonly (readonly [name: string, bytes: string, statuses: readonly number[]])[] = [
    ['of a rejected request', bytesOf('POST /addresses', [json], hidden), stays(401)],
    ['of a GET request', bytesOf('GET /addresses', ada.lines, hidden), stays(404)],
    ['of a DELETE request', bytesOf('DELETE /addresses/x', ada.lines, hidden), stays(415)],
    ['of a request that expects JSON', bytesOf('POST /addresses', [json, ...ada.lines], hidden), closes(400)],
    ['of a non-ASCII request', bytesOf('POST /addresses', [json, ...ada.lines], `\xe9${hidden}`), closes(400)],
    ['of a request to an unknown path', bytesOf('POST /nowhere', [json], hidden), closes(400)],
    [
      'of a request that is too large',
      bytesOf('POST /addresses', [json, ...ada.lines], ' '.repeat(3e5) + hidden),
      closes(413),
    ],
    ['of a request with Expect', bytesOf('POST /addresses', [json, 'Expect: 100-continue'], hidden), stays(401)],
  ]
  for (const [name, bytes, statuses] of cases)
    t.same(
      (await shown(bytes + last)).map(([status]) => status),
      statuses,
      name,
    )
  t.equal(await head(), before, 'nothing is recorded')
})

t.test('a malformed request on a connection does not affect the responses before it', async (t) => {
  const [ada] = identities
  if (ada === undefined) throw new Error('no caller')
  const wrong = {
    garbage: 'garbage garbage\r\n\r\n',
    'two lengths': adding(ada, 'x', 'Content-Length: 3'),
    'a length and chunks': adding(ada, 'x', 'Transfer-Encoding: chunked'),
    'a chunk without a size': `${bytesOf('POST /addresses', [json, ...ada.lines, 'Transfer-Encoding: chunked'])}zz\r\n`,
    'a tunnel': bytesOf('CONNECT x:1', []),
    'headers that are too large': adding(ada, 'x', `X-A: ${'a'.repeat(20_000)}`),
  }
  for (const [name, bytes] of Object.entries(wrong)) {
    const responses = await shown(`${adding(ada, 'first')}${adding(ada, 'second')}${bytes}`)
    matchList(
      t,
      responses,
      [
        [201, ada.user_id, null, 'first'],
        [201, ada.user_id, null, 'second'],
        [Number, 'invalid_request'],
      ],
      name,
    )
  }
})
