// Connections that are not HTTP/2, incomplete, silent, or flooding.
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { jsonEvent } from '@eventstore/db-client'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { connectAlone, frame, methods } from './testing/rawBytes.ts'
import { openRead, readRequest } from './testing/rawReads.ts'
import { batchRequest } from './testing/rawStreams.ts'
import { startServerProcess } from './testing/serverProcess.ts'

/** A ping after 10 s, a timeout after another 10 s. */
const deadPeerMs = 40_000
const manyAppends = 20_000
/** Several times Node's default limit of stream resets. */
const resetCalls = 5_000
const timeoutMs = 3_000

const node = await startServerProcess(t)

async function stillServes(t: Test): Promise<void> {
  t.ok((await node.client.appendToStream('others', jsonEvent({ type: 'T', data: {} }))).success)
  t.same(node.warnings(), [], 'nothing was logged')
}

async function dial(t: Test): Promise<Socket> {
  const socket = connect(node.port, '127.0.0.1').on('error', () => undefined)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

// Tests that only wait for the server's pings run in parallel.
t.jobs = 2
const waiting = { timeout: deadPeerMs * 2, buffered: true }

t.test('a connection that does not speak HTTP/2 is closed', async (t) => {
  for (const bytes of ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', '\x16\x03\x01\x02\x00\x01', '\0'.repeat(10_000)]) {
    const socket = await dial(t)
    socket.resume().write(bytes)
    if (!socket.destroyed) await once(socket, 'close')
  }
  await stillServes(t)
})

t.test('silent and incomplete connections are closed', waiting, async (t) => {
  const silent = await Promise.all(Array.from({ length: 200 }, () => dial(t)))
  const slow = await dial(t)
  slow.resume().write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  // An empty SETTINGS frame, then the beginning of HEADERS that never end.
  slow.write(Buffer.from('000000040000000000', 'hex'))
  slow.write(Buffer.from('0040000100000000018286', 'hex'))
  await stillServes(t)
  const sockets = [...silent, slow]
  for (const socket of sockets) socket.resume()
  const closed = () => sockets.every((socket) => socket.destroyed)
  await waitFor(closed, { what: 'the server to close them', timeoutMs: deadPeerMs })
  await stillServes(t)
})

t.test('the connection of a vanished peer is closed', waiting, async (t) => {
  const proxy = await startTcpProxy(t, node.port)
  const read = openRead(connectAlone(t, proxy.port), readRequest({ from: 'end', count: null }))
  await waitFor(() => read.messages.length > 1, { what: 'the subscription to be live' })
  proxy.freezeConnections()
  // The client sends no keepalive. It notices the closed connection, because the proxy passes the close on.
  await waitFor(() => read.ended(), { what: 'the server to close the connection', timeoutMs: deadPeerMs })
  t.pass('the connection is gone')
  await stillServes(t)
})

t.test('a flood of calls that are reset at once does not affect other clients', async (t) => {
  const session = connectHttp2(`http://127.0.0.1:${node.port}`).on('error', () => undefined)
  t.teardown(() => session.destroy())
  const before = await node.residentMegabytes()
  const body = frame(Buffer.from(readRequest({ from: 'start', count: null }).serializeBinary()))
  for (let count = 0; count < resetCalls; count += 1) {
    const call = session.request({ ':method': 'POST', ':path': methods.read, 'content-type': 'application/grpc' })
    call.on('error', () => undefined).end(body)
    call.close()
    if (count % 500 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await stillServes(t)
  const grown = (await node.residentMegabytes()) - before
  t.ok(grown < 200, `${Math.round(grown)} MB`)
})

t.test('thousands of unfinished appends do not delay other clients', async (t) => {
  const before = await node.residentMegabytes()
  const clients = Array.from({ length: 4 }, () => connectAlone(t, node.port))
  const calls = clients.flatMap((client) => Array.from({ length: 500 }, () => client.batchAppend()))
  for (const call of calls) {
    call.on('error', () => undefined).on('data', () => undefined)
    call.write(batchRequest({ stream: 'unfinished', events: [{ bytes: 1_000 }], final: false }))
  }
  await stillServes(t)
  const grown = (await node.residentMegabytes()) - before
  t.ok(grown < 200, `${Math.round(grown)} MB`)
  for (const call of calls) call.cancel()
})

t.test('a client that never reads its replies is paused and does not delay others', async (t) => {
  const before = await node.residentMegabytes()
  const session = connectHttp2(`http://127.0.0.1:${node.port}`).on('error', () => undefined)
  t.teardown(() => session.destroy())
  const call = session.request({ ':method': 'POST', ':path': methods.batchAppend, 'content-type': 'application/grpc' })
  call.on('error', () => undefined)
  // The name makes a reply as large as its request.
  const stream = 'n'.repeat(1_900)
  let taken = 0
  for (let blocked = false; !blocked && taken < manyAppends; taken += 1) {
    const request = batchRequest({ stream, expected: 'stream_exists', events: [{}] })
    const ready = call.write(frame(Buffer.from(request.serializeBinary())))
    if (!ready) blocked = !(await Promise.race([once(call, 'drain').then(() => true), patience()]))
  }
  t.ok(taken < manyAppends, `${taken} appends were taken`)
  const grown = (await node.residentMegabytes()) - before
  t.ok(grown < 200, `${Math.round(grown)} MB`)
  await stillServes(t)
})

/** Long enough for a server on a busy machine to take another message. */
function patience(): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), timeoutMs))
}
