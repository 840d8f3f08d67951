import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createRandom } from '../random.ts'
import { createLink, type Link } from './link.ts'

const heldMs = 100
/** For a busy machine. */
const replyMs = 10_000

/** A link to a server that sends everything back. */
async function echoLink(t: Test): Promise<Link> {
  const stack = new AsyncDisposableStack()
  const server = createServer((socket) => void socket.on('error', () => {}).pipe(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(async () => void server.close())
  const link = await createLink(stack, 'client → server')
  link.forwardTo((server.address() as AddressInfo).port)
  t.teardown(() => stack.disposeAsync())
  return link
}

async function openSocket(t: Test, { port }: Link): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

const closing = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

/** @returns what comes back, or why nothing does */
async function echo(socket: Socket, text: string, waitMs = replyMs): Promise<string> {
  const reply = new Promise<string>((resolve) => {
    socket.once('data', (data) => resolve(String(data))).once('close', () => resolve('closed'))
  })
  socket.write(text)
  return Promise.race([reply, pause(waitMs, 'nothing', { ref: false })])
}

t.test('a sound link forwards both ways, to the next server when one refuses', async (t) => {
  const link = await echoLink(t)
  t.equal(await echo(await openSocket(t, link), 'a'), 'a')
  const other = await echoLink(t)
  await other.cut()
  link.forwardTo(other.port, link.port)
  await other.restore()
  t.equal(await echo(await openSocket(t, other), 'b'), 'b')
})

t.test('a cut also ends a connection that is just being made', async (t) => {
  const link = await echoLink(t)
  for (let ticks = 0; ticks < 6; ticks++) {
    const socket = await openSocket(t, link)
    for (let tick = 0; tick < ticks; tick++) await setImmediate()
    const closed = closing(socket)
    await t.resolves(Promise.race([link.cut(), pause(1_000).then(() => Promise.reject(new Error('still open')))]))
    await closed
    await link.restore()
  }
})

t.test('a cut link resets its connections and refuses new ones until it is restored', async (t) => {
  const link = await echoLink(t)
  const socket = await openSocket(t, link)
  t.equal(await echo(socket, 'a'), 'a')
  const closed = closing(socket)
  await link.cut()
  await closed
  await t.rejects(openSocket(t, link), { code: 'ECONNREFUSED' })
  await link.restore()
  t.equal(await echo(await openSocket(t, link), 'b'), 'b')
})

t.test('a silent link holds data back, and delivers or resets when it is restored', async (t) => {
  const link = await echoLink(t)
  for (const way of ['both', 'replies'] as const) {
    const socket = await openSocket(t, link)
    t.equal(await echo(socket, 'a'), 'a')
    link.silence('held', way)
    t.equal(await echo(socket, 'b', heldMs), 'nothing')
    const reply = once(socket, 'data')
    await link.restore()
    t.equal(String((await reply)[0]), 'b')
    link.silence('lost', way)
    t.equal(await echo(socket, 'c', heldMs), 'nothing')
    const closed = closing(socket)
    await link.restore()
    await closed
  }
})

t.test('a slow link keeps the order of what it delays', async (t) => {
  const link = await echoLink(t)
  const socket = await openSocket(t, link)
  link.slow(20, createRandom(1, 'slow'))
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  const startedAt = performance.now()
  for (const part of ['a', 'b', 'c', 'd']) {
    socket.write(part)
    await pause(5)
  }
  while (received.length < 4 && !socket.destroyed) await pause(5)
  t.equal(received, 'abcd')
  t.ok(performance.now() - startedAt > 20, 'later than at once')
})
