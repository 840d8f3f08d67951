import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LookupAddress } from 'node:dns'
import { createServer } from 'node:http'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import t, { type Test } from 'tap'
import { createPoster, listening, tcpEndpoint } from '../../testing/webhookPoster.ts'

const v4 = (address: string): LookupAddress => ({ address, family: 4 })
const v6 = (address: string): LookupAddress => ({ address, family: 6 })

/** Records every address that this process connects to from now on. */
function watchDials(t: Test): string[] {
  const dialled: string[] = []
  const watch = (message: unknown) => {
    const socket = typeof message === 'object' && message !== null ? Reflect.get(message, 'socket') : undefined
    if (!(socket instanceof Socket)) throw new Error('Unexpected message on the net channel')
    socket.on('connectionAttempt', (address) => dialled.push(String(address)))
  }
  subscribe('net.client.socket', watch)
  t.teardown(() => unsubscribe('net.client.socket', watch))
  return dialled
}

/** Two servers on one port: one that is allowed, and one in the private network. Each responds and closes. */
async function outsideAndInside(t: Test) {
  const received = { outside: 0, inside: 0 }
  const server = (side: keyof typeof received) =>
    createServer((request, response) => {
      received[side]++
      request.resume().on('end', () => response.writeHead(200, { connection: 'close' }).end('ok'))
    })
  const [, port] = (await listening(t, server('outside'), '127.0.0.1')).split(':')
  await listening(t, server('inside'), '127.0.0.2', Number(port))
  return { url: `http://hooks.example.com:${port}/`, port, received }
}

t.test(
  'each connection checks the addresses it connects to, even when a name resolves differently every time',
  async (t) => {
    const { url, received } = await outsideAndInside(t)
    const dialled = watchDials(t)
    const resolutions = [[v4('127.0.0.1')], [v4('127.0.0.2')], [v4('169.254.169.254')], [v4('127.0.0.1')]]
    let lookups = 0
    const post = createPoster(t, ['127.0.0.1/32'], async () => resolutions[lookups++] ?? [])
    t.match(await post(url), { httpStatus: 200 })
    t.match(await post(url), { httpStatus: null, error: 'forbidden_address', responseBody: null })
    t.match(await post(url), { httpStatus: null, error: 'forbidden_address' })
    t.match(await post(url), { httpStatus: 200 })
    t.equal(lookups, 4, 'each attempt resolves the name once')
    t.same(received, { outside: 2, inside: 0 })
    t.same(dialled, ['127.0.0.1', '127.0.0.1'])
  },
)

t.test('of several addresses only the allowed ones are connected to, also when they fail', async (t) => {
  const { url, port, received } = await outsideAndInside(t)
  const dialled = watchDials(t)
  const mixed = [v4('127.0.0.2'), v6('::ffff:127.0.0.2'), v4('127.0.0.1'), v6('fd00:ec2::254'), v4('10.0.0.1')]
  const post = createPoster(t, ['127.0.0.1/32'], async () => mixed)
  t.match(await post(url), { httpStatus: 200 })
  t.same(dialled.splice(0), ['127.0.0.1'])
  t.same(received, { outside: 1, inside: 0 })
  // Nothing listens on ::1, so the next address is tried.
  const racing = createPoster(t, ['::1/128', '127.0.0.3/32'], async () => [v6('::1'), ...mixed, v4('127.0.0.3')])
  t.match(await racing(`http://hooks.example.com:${port}/`), { httpStatus: null, error: 'connection_refused' })
  t.same(dialled, ['::1', '127.0.0.3'])
  t.same(received, { outside: 1, inside: 0 })
})

t.test('an HTTPS endpoint with forbidden addresses only is not connected to', async (t) => {
  const dialled = watchDials(t)
  const post = createPoster(t, [], async () => [v4('127.0.0.1'), v6('::1')])
  t.match(await post('https://hooks.example.com/'), { httpStatus: null, error: 'forbidden_address' })
  t.match(await post('https://127.0.0.1/'), { error: 'forbidden_address' })
  t.match(await post('https://[::1]/'), { error: 'forbidden_address' })
  t.same(dialled, [])
})

t.test('a forbidden address is never connected to, in any notation [10.4-private]', async (t) => {
  const endpoint = await startFakeEndpoint(t)
  const { port } = new URL(endpoint.url)
  const dialled = watchDials(t)
  const post = createPoster(t, [])
  const loopback = ['127.0.0.1', 'localhost', 'LOCALHOST', '127.0.0.1.', '2130706433', '0x7f.1', '127.1']
  const more = [
    '0177.0.0.1',
    '017700000001',
    '①②⑦.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '0',
    '0.0.0.0',
    '127.255.255.254',
  ]
  const six = [
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
    '[FE80::1]',
  ]
  const others = [
    '169.254.169.254',
    '0xa9fea9fe',
    '[fd00:ec2::254]',
    '255.255.255.255',
    '100.64.0.1',
    '224.0.0.1',
    '[ff02::1]',
  ]
  for (const host of [...loopback, ...more, ...six, ...others]) {
    t.match(await post(`http://${host}:${port}/`), { httpStatus: null, error: 'forbidden_address' }, host)
  }
  t.match(await post(`http://localhost.:${port}/`), { httpStatus: null }, 'some systems do not resolve this name')
  t.same(dialled, [])
  t.equal(endpoint.received.length, 0)
  const allowing = createPoster(t, ['127.0.0.0/8'])
  for (const host of ['localhost', '[::ffff:127.0.0.1]', '127.1']) {
    t.match(await allowing(`http://${host}:${port}/`), { httpStatus: 200 }, `${host} reaches the allowed address`)
  }
})

t.test('resolver results that are not IP addresses are not connected to', async (t) => {
  const dialled = watchDials(t)
  for (const address of ['', 'localhost', '127.1', '2130706433']) {
    const post = createPoster(t, ['127.0.0.0/8', '::/0'], async () => [v4(address)])
    t.match(await post('http://hooks.example.com/'), { error: 'forbidden_address' }, address || 'nothing')
  }
  t.match(await createPoster(t, ['0.0.0.0/0'], async () => [])('http://hooks.example.com/'), { httpStatus: null })
  t.same(dialled, [])
})

t.test('an open connection is reused only for the same host and port', async (t) => {
  const hosts = new Map<string | undefined, string[]>()
  const endpoint = await startFakeEndpoint(t, (response, _, request) => {
    const port = String(request.socket.remotePort)
    hosts.set(port, [...(hosts.get(port) ?? []), String(request.headers.host)])
    response.end('ok')
  })
  const { port } = new URL(endpoint.url)
  const post = createPoster(t, ['127.0.0.0/8'], async () => [v4('127.0.0.1')])
  for (const name of ['a.example.com', 'b.example.com', 'a.example.com', 'b.example.com']) {
    t.match(await post(`http://${name}:${port}/`), { httpStatus: 200 })
  }
  for (const named of hosts.values()) t.equal(new Set(named).size, 1)
})

t.test('webhooks are not sent through proxies from the environment', async (t) => {
  const endpoint = await startFakeEndpoint(t)
  let proxied = 0
  const proxy = `http://${await tcpEndpoint(t, (socket) => {
    proxied++
    socket.destroy()
  })}`
  const program = `
    import { createEndpointAgent } from ${JSON.stringify(new URL('./endpointAgent.ts', import.meta.url).href)}
    import { postWebhook } from ${JSON.stringify(new URL('./postWebhook.ts', import.meta.url).href)}
    const agent = createEndpointAgent(['127.0.0.0/8'])
    const node = { url: ${JSON.stringify(endpoint.url)}, format: 'json', timeoutMs: 5000 }
    const rest = { headers: {}, body: '{}', successStatus: '200', secrets: [], now: () => new Date() }
    const result = await postWebhook({ agent, endpoint: node, ...rest, signal: new AbortController().signal })
    console.log(result.httpStatus)
    await agent.destroy()`
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']
  const env = { ...Object.fromEntries(names.map((name) => [name, proxy])), NODE_USE_ENV_PROXY: '1' }
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { env })
  t.equal(stdout.trim(), '200')
  t.equal(endpoint.received.length, 1)
  t.equal(proxied, 0)
})
