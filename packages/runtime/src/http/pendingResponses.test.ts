import { once } from 'node:events'
import { connect } from 'node:net'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createLog } from '../telemetry/log.ts'
import { createHttp } from './http.ts'

/** A server whose `/slow` answers when it is told to, and a connection to it. */
async function connected(t: Test) {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const gate = Promise.withResolvers<void>()
  let waiting = 0
  http.get('/slow', async () => {
    waiting++
    await gate.promise
    return { slow: true }
  })
  http.get('/quick', async () => ({ quick: true }))
  http.post('/body', async ({ body }) => ({ body }))
  const port = Number(new URL(await http.listen({ host: '127.0.0.1', port: 0 })).port)
  const socket = connect(port, '127.0.0.1')
  t.teardown(async () => {
    socket.destroy()
    await http.close()
  })
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
  })
  const closed = once(socket, 'close')
  return {
    send: (bytes: string) => void socket.write(bytes),
    slowOnes: (count: number) => waitFor(() => waiting === count, { what: `${count} requests to wait` }),
    release: () => gate.resolve(),
    /** The statuses and bodies of all answers, once the server has closed. */
    async answers() {
      await closed
      return received.split(/(?=HTTP\/1\.1 )/).map((answer) => {
        const [head = '', body = ''] = answer.split('\r\n\r\n')
        const { error, ...rest } = JSON.parse(body)
        return [Number(head.slice(9, 12)), error?.code ?? rest]
      })
    },
    soFar: () => received,
  }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const chunked = 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
const refused = [400, 'invalid_request']

t.test('bytes that are no request are answered after the requests before them', async (t) => {
  const { send, slowOnes, release, answers, soFar } = await connected(t)
  send(get('/slow'))
  await slowOnes(1)
  send(get('/quick'))
  send('garbage\r\n\r\n')
  send('more garbage\r\n\r\n')
  const other = await connected(t)
  other.send(`${get('/quick')}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)
  t.same(await other.answers(), [[200, { quick: true }], refused], 'another connection is answered meanwhile')
  t.equal(soFar(), '', 'nothing that could be taken for the answer')
  release()
  t.same(await answers(), [[200, { slow: true }], [200, { quick: true }], refused])
})

t.test('a body that turns out to be none is the answer of its own request', async (t) => {
  const alone = await connected(t)
  alone.send(`${chunked}zz\r\n`)
  t.same(await alone.answers(), [refused])

  const behind = await connected(t)
  behind.send(get('/slow'))
  behind.send(`${chunked}2\r\n{}xx`)
  await behind.slowOnes(1)
  behind.release()
  t.same(await behind.answers(), [[200, { slow: true }], refused])
})

t.test('a request that was answered before its body came is not answered twice', async (t) => {
  const { send, answers, soFar } = await connected(t)
  send(`POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12`)
  await waitFor(() => soFar().endsWith('}'), { what: 'the answer' })
  send(`34567890GET /quick HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  t.same(await answers(), [
    [404, 'not_found'],
    [200, { quick: true }],
  ])
})
