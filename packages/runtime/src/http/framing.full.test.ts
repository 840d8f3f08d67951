// Requests whose end is ambiguous, and headers that parsers read differently: what follows them is never another request.
import t, { type Test } from 'tap'
import { createLog } from '../telemetry/log.ts'
import { sendRaw } from '../testing/rawClient.ts'
import { createHttp } from './http.ts'

const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
const executed: unknown[] = []
http.post('/things', async ({ headers }) => {
  executed.push(headers['x-caller'])
  return { done: true }
})
const url = await http.listen({ host: '127.0.0.1', port: 0 })
t.teardown(() => http.close())

const ada = 'X-Caller: ada'
const request = (lines: readonly string[], body = '{}', start = 'POST /things HTTP/1.1\r\nHost: x') =>
  `${[start, 'Content-Type: application/json', ...lines].join('\r\n')}\r\n\r\n${body}`
const whole = (...lines: readonly string[]) => request(['Connection: close', 'Content-Length: 2', ...lines])
/** Must never be executed as a separate request. */
const hidden = whole('X-Caller: grace')
const chunked = (body: string, line = 'Transfer-Encoding: chunked') => request([ada, line], body) + hidden
const sized = (...lines: readonly string[]) => request([ada, ...lines]) + hidden

/** Sends a latin1 string, and reads until the server closes the connection. @returns statuses and error codes */
async function responsesTo(bytes: string): Promise<(readonly [status: number, code: string | undefined])[]> {
  const received = await sendRaw(t, url, bytes)
  return received.split(/(?=HTTP\/1\.1 \d)/).map((response) => {
    const [head = '', body = ''] = response.split('\r\n\r\n')
    return [Number(head.slice(9, 12)), JSON.parse(body).error?.code]
  })
}

async function rejects(t: Test, cases: Readonly<Record<string, string>>): Promise<void> {
  executed.length = 0
  for (const [name, bytes] of Object.entries(cases)) t.same(await responsesTo(bytes), [[400, 'invalid_request']], name)
  t.same(executed, [], 'nothing was executed')
}

t.test('the unmodified raw requests of these tests are executed', async (t) => {
  t.same(await responsesTo(whole(ada)), [[200, undefined]])
  t.same(await responsesTo(chunked('2\r\n{}\r\n0\r\n\r\n')), [
    [200, undefined],
    [200, undefined],
  ])
  t.same(executed.splice(0), ['ada', 'ada', 'grace'])
})

t.test('a request with ambiguous framing is rejected, and the bytes after it are not read', (t) =>
  rejects(t, {
    'a length, then chunks': request([ada, 'Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n') + hidden,
    'chunks, then a length': request([ada, 'Transfer-Encoding: chunked', 'Content-Length: 5'], '0\r\n\r\n') + hidden,
    'two lengths': sized('Content-Length: 2', 'Content-Length: 30'),
    'the same length twice': sized('Content-Length: 2', 'Content-Length: 2'),
    'a list of lengths': sized('Content-Length: 2, 2'),
    'a length with a sign': sized('Content-Length: +2'),
    'a hexadecimal length': sized('Content-Length: 0x2'),
    'a length that is too large': sized('Content-Length: 99999999999999999999'),
    'no length': sized('Content-Length:'),
    'an unknown encoding': chunked('0\r\n\r\n', 'Transfer-Encoding: xchunked'),
    'chunks that are not the last encoding': chunked('0\r\n\r\n', 'Transfer-Encoding: chunked, identity'),
    'two encodings': chunked('0\r\n\r\n', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity'),
    'an encoding before the chunks': chunked(
      '2\r\n{}\r\n0\r\n\r\n',
      'Connection: close\r\nTransfer-Encoding: gzip, chunked',
    ),
    'an encoding with a control character': chunked('0\r\n\r\n', 'Transfer-Encoding: \x0bchunked'),
    'chunks in the old protocol': chunked('0\r\n\r\n').replace('HTTP/1.1', 'HTTP/1.0'),
    'a chunk without a size': chunked('zz\r\n'),
    'a chunk size that is too large': chunked('fffffffffffffffff\r\n'),
    'a chunk that is longer than its size': chunked('2\r\n{}xx\r\n0\r\n\r\n'),
    'a line feed in a chunk extension': chunked('2;a=\nb\r\n{}\r\n0\r\n\r\n'),
    'chunks with bare line feeds': chunked('2\n{}\n0\n\n'),
  }),
)

t.test('a request with malformed headers is rejected', (t) =>
  rejects(t, {
    'a folded value': whole('X-Caller:\r\n ada'),
    'a header in the fold of another': whole(`X-A: b\r\n ${ada}`),
    'a space before the colon': whole('X-Caller : ada'),
    'a space before the name': whole(` ${ada}`),
    'a space in the name': whole('X-Call er: ada'),
    'no name': whole(': ada'),
    'no colon': whole('X-Caller'),
    'a NUL in the value': whole('X-Caller: ada\0'),
    'a control character': whole('X-Caller: a\x07da'),
    'a name that is not ASCII': whole('X-Call\xf3r: ada'),
    'a carriage return alone': whole(`X-A: b\r${ada}`),
    'a line feed alone': whole(`X-A: b\n${ada}`),
    'a space in the path': whole(ada).replace('/things', '/things x'),
    'two hosts': whole(ada, 'Host: other.example'),
    'a host with a path': whole(ada).replace('Host: x', 'Host: x/y'),
    'another protocol': whole(ada).replace('HTTP/1.1', 'HTTP/2.0'),
    'an unknown expectation': whole(ada, 'Expect: nonsense'),
    'an unknown method': whole(ada).replace('POST', 'STEAL'),
    'a tunnel': 'CONNECT other.example:80 HTTP/1.1\r\nHost: x\r\n\r\n',
    'a broken encoding in the path': whole(ada).replace('/things', '/%zz'),
  }),
)
