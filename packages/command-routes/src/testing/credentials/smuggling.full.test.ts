import t, { type Test } from 'tap'
import { commandApiHarness } from '../commandApiHarness.ts'
import { bytesOf, exchange, type RawResponse } from '../rawExchange.ts'

const { app, store, logged } = await commandApiHarness(t)
const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)

const ada = 'X-Session-ID: demo-session'
const grace = 'X-Session-ID: demo-session-2'
const guest = 'X-Guest-Token: demo-guest-token'
const json = 'Content-Type: application/json'
const close = 'Connection: close'
const users = { ada: '00000000-0000-4000-8000-000000000001', grace: '00000000-0000-4000-8000-000000000002' }
const address = JSON.stringify({ address_type: 'shipping', line1: 'Calle 1', city: 'Madrid', country: 'ES' })

/** Adds an address with the credentials in the lines, and closes the connection. */
const adding = (...lines: string[]) => bytesOf('POST /addresses', [json, close, ...lines], address)
const addingAt = (target: string, ...lines: string[]) => bytesOf(`POST ${target}`, [json, close, ...lines], address)
/** Must never be executed as a separate request. */
const hidden = adding(grace)
/** Ada's request with these framing headers, followed by bytes that look like another caller's request. */
const ending = (lines: readonly string[], body: string, version = '1.1') =>
  `POST /addresses HTTP/${version}\r\nHost: x\r\n${[ada, json, ...lines].join('\r\n')}\r\n\r\n${body}${hidden}`

const head = async () => (await store.head())?.commit
const codeOf = ({ body }: RawResponse) => JSON.parse(body).error?.code
const ownerOf = ({ body }: RawResponse) => JSON.parse(body).data?.user_id

/** Asserts a single enveloped response, and that nothing is recorded. */
async function rejects(t: Test, cases: Readonly<Record<string, string>>, status: number, code: string) {
  for (const [name, bytes] of Object.entries(cases)) {
    const before = await head()
    const responses = await exchange(port, bytes)
    t.same(
      responses.map((response) => [response.status, codeOf(response)]),
      [[status, code]],
      name,
    )
    for (const { head, body } of responses) {
      t.match(head, /^content-type: application\/json; charset=utf-8$/im)
      t.match(JSON.parse(body), { success: false, error: { message: String, request_id: /^[-0-9a-f]{36}$/ } })
      t.notMatch(body, /demo-|Madrid|nonsense/)
    }
    t.equal(await head(), before, `${name}: nothing is recorded`)
  }
}

t.test('the unmodified raw requests of these tests succeed', async (t) => {
  t.same((await exchange(port, adding(ada))).map(ownerOf), [users.ada])
  t.same((await exchange(port, hidden)).map(ownerOf), [users.grace])
  t.same((await exchange(port, ending(['Content-Length: 2'], '{}'))).map(codeOf), ['invalid_request', undefined])
})

t.test('a repeated credential header is rejected', (t) =>
  rejects(
    t,
    {
      'Authorization repeated': adding('Authorization: Bearer demo-session', 'Authorization: Bearer demo-session'),
      'two Authorization values': adding('Authorization: Bearer demo-session', 'authorization: Bearer demo-session-2'),
      'Authorization with both schemes': adding(
        'Authorization: Bearer demo-session',
        'Authorization: Token demo-guest-token',
      ),
      'X-Session-ID repeated': adding(ada, ada),
      'two X-Session-ID values': adding(ada, grace),
      'X-Session-ID in upper and lower case': adding(ada, grace.toLowerCase()),
      'X-Session-ID with and without a value': adding(ada, 'X-Session-ID:'),
      'X-Guest-Token': adding(guest, guest),
      session_id: addingAt('/addresses?session_id=demo-session&session_id=demo-session-2'),
      'session_id, one of them encoded': addingAt('/addresses?session_id=demo-session&%73ession_id=demo-session-2'),
      token: addingAt('/addresses?token=demo-guest-token&token=demo-guest-token'),
      'Authorization twice on a payment request': bytesOf(
        'POST /payments/intents',
        [json, close, 'Authorization: Bearer x', 'Authorization: Bearer y'],
        '{"total_cents":1,"currency":"EUR"}',
      ),
    },
    401,
    'unauthenticated',
  ),
)

t.test('a malformed credential header is rejected', (t) =>
  rejects(
    t,
    {
      'a header with underscores': adding('X_Session_ID: demo-session'),
      'bytes that are not ASCII': adding('X-Session-ID: demo-sessi\xf3n'),
      'a header that comes with the last chunk': `${bytesOf('POST /addresses', [json, close, 'Transfer-Encoding: chunked'])}2\r\n{}\r\n0\r\n${ada}\r\n\r\n`,
      'a parameter in another case': addingAt('/addresses?Session_ID=demo-session'),
      'a parameter that is a list': addingAt('/addresses?session_id[]=demo-session'),
      'a parameter that is an encoded list': addingAt('/addresses?session_id%5B%5D=demo-session'),
      'a parameter with an index': addingAt('/addresses?session_id[0]=demo-session'),
      'parameters named like prototypes': addingAt(
        '/addresses?__proto__[session_id]=demo-session&__proto__=demo-session&constructor=x',
      ),
      'headers named like prototypes': adding('__proto__: x', 'constructor: y', 'toString: z', 'hasOwnProperty: a'),
      'a parameter behind a semicolon': addingAt('/addresses?a=1;session_id=demo-session'),
      'a parameter behind a hash': addingAt('/addresses#?session_id=demo-session'),
      'a parameter in the body': bytesOf(
        'POST /addresses',
        [json, close],
        '{"session_id":"demo-session","token":"demo-guest-token"}',
      ),
      'a value with a broken encoding': addingAt('/addresses?session_id=demo-session%zz'),
      'only a broken encoding': addingAt('/addresses?session_id=%zz'),
      'bytes that are not UTF-8': addingAt('/addresses?session_id=%ff'),
      'an encoded NUL': addingAt('/addresses?session_id=demo-session%00'),
      'an encoded line break': addingAt('/addresses?token=demo-guest-token%0d%0a'),
      'a plus': addingAt('/addresses?session_id=demo+session'),
      'the name and password of a URL': addingAt('http://demo-session:x@paylog.example/addresses'),
      'a cookie': adding('Cookie: session_id=demo-session'),
    },
    401,
    'unauthenticated',
  ),
)

t.test('malformed headers are rejected by the HTTP parser', (t) =>
  rejects(
    t,
    {
      'a folded value': adding('X-Session-ID:\r\n demo-session'),
      'a header in the fold of another': adding(`X-A: b\r\n ${ada}`),
      'a fold with a tab': adding(`X-A: b\r\n\t${ada}`),
      'a space before the colon': adding('X-Session-ID : demo-session'),
      'a space before the name': adding(` ${ada}`),
      'a space in the name': adding('X-Session ID: demo-session'),
      'no name': adding(': demo-session', ada),
      'no colon': adding('X-Session-ID', ada),
      'a NUL in the value': adding('X-Session-ID: demo-session\0'),
      'a NUL in the name': adding('X-Session\0-ID: demo-session'),
      'a control character': adding('X-Session-ID: demo\x07-session'),
      'a name that is not ASCII': adding('X-Sessi\xf3n-ID: demo-session'),
      'a carriage return alone': adding(`X-A: b\r${ada}`),
      'a line feed alone': adding(`X-A: b\n${ada}`),
      'a path that is not ASCII': addingAt('/addresses/\xe9', ada),
      'a space in the path': addingAt('/addresses x', ada),
      'two hosts': adding(ada, 'Host: other.example'),
      'the same host twice': adding(ada, 'Host: paylog.example'),
      'a host with a path': adding(ada).replace('paylog.example', 'paylog.example/x'),
      'a host of two words': adding(ada).replace('paylog.example', 'paylog example'),
      'no host': adding(ada).replace('Host: paylog.example\r\n', ''),
      'another protocol': adding(ada).replace('HTTP/1.1', 'HTTP/2.0'),
      'an old protocol': adding(ada).replace('HTTP/1.1', 'HTTP/0.9'),
      'an unknown expectation': adding(ada, 'Expect: nonsense'),
      'an unknown method': adding(ada).replace('POST', 'STEAL'),
      'a tunnel': bytesOf('CONNECT other.example:80', [ada]),
      'a broken encoding in the path': bytesOf('PUT /addresses/%zz', [json, close, ada], '{"alias":"x"}'),
      'bytes in the path that are not UTF-8': bytesOf('PUT /addresses/%ff', [json, close, ada], '{"alias":"x"}'),
      'a NUL in the path': bytesOf('PUT /addresses/%00', [json, close, ada], '{"alias":"x"}'),
      'a duplicate key': bytesOf('POST /addresses', [json, close, ada], address.replace('{', '{"line1":"x",')),
      'a duplicate key that is escaped': bytesOf(
        'POST /addresses',
        [json, close, ada],
        address.replace('{', '{"\\u006cine1":"x",'),
      ),
      'a prototype in the body': bytesOf(
        'POST /addresses',
        [json, close, ada],
        address.replace('{', '{"__proto__":{},'),
      ),
    },
    400,
    'invalid_request',
  ),
)

t.test('a request with ambiguous framing is rejected, and the bytes after it are not read', (t) =>
  rejects(
    t,
    {
      'a length, then chunks': ending(['Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
      'chunks, then a length': ending(['Transfer-Encoding: chunked', 'Content-Length: 5'], '0\r\n\r\n'),
      'two lengths': ending(['Content-Length: 2', 'Content-Length: 30'], '{}'),
      'the same length twice': ending(['Content-Length: 2', 'Content-Length: 2'], '{}'),
      'a list of lengths': ending(['Content-Length: 2, 2'], '{}'),
      'a negative length': ending(['Content-Length: -2'], '{}'),
      'a length with a sign': ending(['Content-Length: +2'], '{}'),
      'a hexadecimal length': ending(['Content-Length: 0x2'], '{}'),
      'a length that is too large': ending(['Content-Length: 99999999999999999999'], '{}'),
      'no length': ending(['Content-Length:'], '{}'),
      'an unknown encoding': ending(['Transfer-Encoding: xchunked'], '0\r\n\r\n'),
      'chunks that are not the last encoding': ending(['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'),
      'two encodings': ending(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], '0\r\n\r\n'),
      'chunks twice': ending(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
      'an encoding with a control character': ending(['Transfer-Encoding: \x0bchunked'], '0\r\n\r\n'),
      'chunks in the old protocol': ending(['Transfer-Encoding: chunked'], '0\r\n\r\n', '1.0'),
      'a chunk without a size': ending(['Transfer-Encoding: chunked'], 'zz\r\n'),
      'a chunk size that is too large': ending(['Transfer-Encoding: chunked'], 'fffffffffffffffff\r\n'),
      'a chunk that is longer than its size': ending(['Transfer-Encoding: chunked'], '2\r\n{}xx\r\n0\r\n\r\n'),
      'a line feed in a chunk extension': ending(['Transfer-Encoding: chunked'], '2;a=\nb\r\n{}\r\n0\r\n\r\n'),
      'chunks with bare line feeds': ending(['Transfer-Encoding: chunked'], '2\n{}\n0\n\n'),
      'an encoding before the chunks': `${bytesOf('POST /addresses', [ada, json, close, 'Transfer-Encoding: gzip, chunked'])}${address.length.toString(16)}\r\n${address}\r\n0\r\n\r\n`,
    },
    400,
    'invalid_request',
  ),
)

t.test('method override headers are ignored', async (t) => {
  const [added] = await exchange(port, adding(ada))
  const { id } = JSON.parse(added?.body ?? '').data
  const overrides = ['X-HTTP-Method-Override: DELETE', 'X-Method-Override: DELETE', 'X-HTTP-Method: DELETE']
  await rejects(
    t,
    {
      POST: bytesOf(`POST /addresses/${id}`, [ada, close, ...overrides]),
      GET: bytesOf(`GET /addresses/${id}`, [ada, close, ...overrides]),
      query: bytesOf(`POST /addresses/${id}?_method=DELETE`, [ada, json, close], '{"_method":"DELETE"}'),
      TRACE: bytesOf(`TRACE /addresses/${id}`, [ada, close]),
    },
    404,
    'not_found',
  )
  const update = bytesOf(`PUT /addresses/${id}`, [ada, json, close, ...overrides], '{"alias":"kept"}')
  t.match(JSON.parse((await exchange(port, update))[0]?.body ?? ''), { success: true, data: { id, alias: 'kept' } })
})

t.test('equivalent raw requests get the same response', async (t) => {
  const cases = {
    'the absolute form': addingAt('http://other.example/addresses', ada),
    'the absolute form with a credential in it': addingAt('http://other.example/addresses?session_id=demo-session'),
    'an encoded parameter': addingAt('/addresses?%73ession_id=demo%2Dsession'),
    'another parameter with a broken encoding': addingAt('/addresses?%zz=%zz&session_id=demo-session'),
    'an encoded path': addingAt('/%61ddresses', ada),
    'white space around a value': adding('X-Session-ID:\t demo-session \t'),
    'empty lines before': `\r\n\r\n${adding(ada)}`,
    'an unsupported upgrade': adding(ada, 'Upgrade: h2c'),
  }
  for (const [name, bytes] of Object.entries(cases))
    t.same((await exchange(port, bytes)).map(ownerOf), [users.ada], name)
})

t.test('raw requests cause no logged server error', async (t) => t.same(logged, []))
