import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createLog } from '../telemetry/log.ts'
import { connectRaw } from '../testing/rawClient.ts'
import { createHttp } from './http.ts'

/** A server whose `/slow` responds after `release`, and a connection to it. */
async function connectionHarness(t: Test) {
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
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const { closed, received, write, destroy } = await connectRaw(t, url)
  t.teardown(async () => {
    destroy()
    await http.close()
  })
  return {
    send: write,
    waitForSlow: (count: number) => waitFor(() => waiting === count, { what: `${count} requests to wait` }),
    release: () => gate.resolve(),
    /** Statuses and bodies of all responses, once the server has closed the connection. */
    async responses() {
      await closed
      return received()
        .split(/(?=HTTP\/1\.1 )/)
        .map((response) => {
          const [head = '', body = ''] = response.split('\r\n\r\n')
          const { error, ...rest } = JSON.parse(body)
          return [Number(head.slice(9, 12)), error?.code ?? rest]
        })
    },
    soFar: received,
  }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const chunked = 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
const badRequest = [400, 'invalid_request']

t.test('the error for invalid HTTP is sent after the responses to earlier requests', async (t) => {
  const { send, waitForSlow, release, responses, soFar } = await connectionHarness(t)
  send(get('/slow'))
  await waitForSlow(1)
  send(get('/quick'))
  send('garbage\r\n\r\n')
  send('more garbage\r\n\r\n')
  const other = await connectionHarness(t)
  other.send(`${get('/quick')}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)
  t.same(
    await other.responses(),
    [[200, { quick: true }], badRequest],
    'another connection gets its responses meanwhile',
  )
  t.equal(soFar(), '', 'nothing before the first response')
  release()
  t.same(await responses(), [[200, { slow: true }], [200, { quick: true }], badRequest])
})

t.test('the error for an invalid chunked body is the response to its own request', async (t) => {
  const alone = await connectionHarness(t)
  alone.send(`${chunked}zz\r\n`)
  t.same(await alone.responses(), [badRequest])

  const queued = await connectionHarness(t)
  queued.send(get('/slow'))
  queued.send(`${chunked}2\r\n{}xx`)
  await queued.waitForSlow(1)
  queued.release()
  t.same(await queued.responses(), [[200, { slow: true }], badRequest])
})

t.test('a request that got a response before its invalid body gets no second one', async (t) => {
  const { send, responses, soFar } = await connectionHarness(t)
  send(`POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12`)
  await waitFor(() => soFar().endsWith('}'), { what: 'the response' })
  send(`34567890GET /quick HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  t.same(await responses(), [
    [404, 'not_found'],
    [200, { quick: true }],
  ])
})
