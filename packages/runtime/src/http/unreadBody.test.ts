import { connect } from 'node:net'
import { DomainError } from '@paylog/domain/errors'
import t, { type Test } from 'tap'
import { createLog } from '../telemetry/log.ts'
import { createHttp } from './http.ts'

const reject = async () => {
  throw new DomainError('unauthenticated', 'no credential')
}

async function startServer(t: Test) {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  http.post('/body', async () => ({ ok: true }))
  http.post('/guarded', { onRequest: reject, handler: async () => ({ ok: true }) })
  const { port } = new URL(await http.listen({ host: '127.0.0.1', port: 0 }))
  t.teardown(() => http.close())
  return Number(port)
}

type Sent = {
  readonly headers?: readonly string[]
  readonly path?: string
  readonly body: Buffer
  readonly length?: number
}

const pieceBytes = 32 * 1024

/** Sends the whole request before it reads anything, as a proxy may. @returns everything it received */
async function sendAll(t: Test, port: number, { headers = ['Connection: close'], path = '/body', body, length }: Sent) {
  const socket = connect(port, '127.0.0.1').pause()
  t.teardown(() => socket.destroy())
  const failures: Error[] = []
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', (error) => failures.push(error))
  const size = `Content-Length: ${length ?? body.length}`
  const head = [`POST ${path} HTTP/1.1`, 'Host: example.com', 'Content-Type: application/json', size, ...headers]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  for (let sent = 0; sent < body.length; sent += pieceBytes)
    await new Promise((resolve) => socket.write(body.subarray(sent, sent + pieceBytes), resolve))
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.resume()
  await closed
  t.same(failures, [], 'no connection reset')
  return received
}

const large = Buffer.alloc(20_000_000, 'x')

for (const headers of [['Connection: close'], []]) {
  t.test(
    `a body that is too large gets 413 without a connection reset: ${headers.join() || 'keep-alive'} [8-body-unread]`,
    async (t) => {
      const port = await startServer(t)
      for (let time = 0; time < 10; time++)
        t.match(await sendAll(t, port, { headers, body: large }), /^HTTP\/1.1 413 .*"body_too_large"/s)
    },
  )
}

t.test('a large body of an unauthenticated request gets 401 without a connection reset', async (t) => {
  const port = await startServer(t)
  for (const [path, status] of [
    ['/guarded', 401],
    ['/nowhere', 413],
  ] as const)
    t.match(await sendAll(t, port, { path, body: large }), new RegExp(`^HTTP/1.1 ${status} `))
})

t.test('an error response waits at most two seconds for a body that does not arrive', async (t) => {
  const port = await startServer(t)
  const startedAt = performance.now()
  const received = await sendAll(t, port, { body: Buffer.alloc(1000), length: 2_000_000 })
  t.match(received, /^HTTP\/1.1 413 /)
  const ms = performance.now() - startedAt
  t.ok(ms > 1_000 && ms < 10_000, `${ms} ms: well before the request has to be there`)
})
