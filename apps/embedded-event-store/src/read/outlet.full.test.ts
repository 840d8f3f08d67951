// The sending side of a call, on a real connection whose client stops reading.
import { once } from 'node:events'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { streamsService } from '../services.ts'
import { readRequest } from '../testing/rawReads.ts'
import { connectRaw } from '../testing/rawStreams.ts'
import { caughtUpMessage, createOutlet, type Outlet, type ReadCall, streamNotFoundMessage } from './outlet.ts'

/** The outlet of one read, on a server that does nothing else, and the client's end of it. */
async function openOutlet(t: Test, stopping: AbortSignal) {
  const server = new Server()
  const opened = Promise.withResolvers<Outlet>()
  server.addService(streamsService, { read: (call: ReadCall) => opened.resolve(createOutlet(call, stopping)) })
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = ServerCredentials.createInsecure()
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)))
  })
  t.teardown(() => server.forceShutdown())
  const call = connectRaw(t, port).read(readRequest({ from: 'end', count: null }))
  call.on('error', () => undefined).pause()
  return { call, outlet: await opened.promise }
}

/** Much more than a connection buffers. */
const large = streamNotFoundMessage('s'.repeat(1 << 20))

/** Sends until the outlet waits for the client, which does not read. */
async function openStalled(t: Test, stopping: AbortSignal) {
  const { call, outlet } = await openOutlet(t, stopping)
  for (;;) {
    const slow = outlet.send(large)
    if (slow !== undefined) return { call, outlet, slow: { untilSent: slow } }
  }
}

t.test('a blocked send resolves when the client reads', async (t) => {
  const { call, outlet, slow } = await openStalled(t, new AbortController().signal)
  call.resume()
  await slow.untilSent
  t.notOk(outlet.signal.aborted)
})

t.test('a blocked send resolves when the client disconnects, and later sends do nothing', async (t) => {
  const { call, outlet, slow } = await openStalled(t, new AbortController().signal)
  const aborted = once(outlet.signal, 'abort')
  call.cancel()
  await aborted
  await slow.untilSent
  t.equal(outlet.send(caughtUpMessage()), undefined)
})

t.test('a blocked send resolves when the server stops', async (t) => {
  const stopping = new AbortController()
  const { outlet, slow } = await openStalled(t, stopping.signal)
  stopping.abort()
  await slow.untilSent
  t.ok(outlet.signal.aborted)
})

t.test('the outlet of a call that starts after the server has stopped is aborted', async (t) => {
  const { outlet } = await openOutlet(t, AbortSignal.abort())
  t.ok(outlet.signal.aborted)
  t.equal(outlet.send(caughtUpMessage()), undefined)
})
