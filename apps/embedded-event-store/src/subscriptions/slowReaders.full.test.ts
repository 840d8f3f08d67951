// The cost of clients that stop reading or vanish.
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { binaryEvent, END, streamNameFilter } from '@eventstore/db-client'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { heapMegabytes } from '../testing/heap.ts'
import { connectAlone, frame, methods } from '../testing/rawBytes.ts'
import { openRead, readRequest } from '../testing/rawReads.ts'
import { connectRaw } from '../testing/rawStreams.ts'
import { startServerHarness } from '../testing/serverHarness.ts'
import { startServerProcess } from '../testing/serverProcess.ts'

/** More than the server keeps in memory of the end of the log. */
const floodEvents = 2_010
const floodEventBytes = 64_000
const stalledReaders = 2
const waitMs = 60_000

t.test('readers that stall during a flood get all events, with bounded memory and no effect on others', async (t) => {
  const node = await startServerProcess(t)
  const live = node.client.subscribeToAll({ fromPosition: END, filter: streamNameFilter({ prefixes: ['flood'] }) })
  await once(live, 'confirmation')
  let seenLive = 0
  live.on('data', () => {
    seenLive += 1
  })
  const raw = Array.from({ length: stalledReaders }, () => connectAlone(t, node.port))
  const request = readRequest({
    from: 'end',
    count: null,
    filter: { by: 'stream', prefixes: ['flood'], window: 1_000 },
  })
  const calls = raw.map((client) => client.read(request).on('error', () => undefined))
  for (const call of calls) {
    await once(call, 'data')
    call.pause()
  }
  const before = await node.residentMegabytes()
  const event = binaryEvent({ type: 'T', data: Buffer.alloc(floodEventBytes) })
  for (let sent = 0; sent < floodEvents; sent += 15) {
    await node.client.appendToStream(
      'flood',
      Array.from({ length: 15 }, () => ({ ...event, id: crypto.randomUUID() })),
    )
  }
  await waitFor(() => seenLive === floodEvents, { what: 'the fast reader to get all events', timeoutMs: waitMs })
  const grown = (await node.residentMegabytes()) - before
  t.ok(grown < 130, `${Math.round(grown)} MB for ${stalledReaders} readers that do not read`)
  const revisions = calls.map(() => -1)
  let disorder = 0
  for (const [index, call] of calls.entries()) {
    call.on('data', (message: ReadResp) => {
      const revision = message.getEvent()?.getEvent()?.getStreamRevision()
      if (revision === undefined) return
      if (Number(revision) !== (revisions[index] ?? 0) + 1) disorder += 1
      revisions[index] = Number(revision)
    })
    call.resume()
  }
  const complete = () => revisions.every((revision) => revision === floodEvents - 1)
  await waitFor(complete, { what: 'the stalled readers to get all events', timeoutMs: waitMs })
  t.equal(disorder, 0)
  for (const call of calls) call.cancel()
  await live.unsubscribe()
  t.same(node.warnings(), [])
})

t.test('a thousand ended subscriptions do not leak memory', async (t) => {
  const { node, client } = await startServerHarness(t)
  await client.appendToStream('s', binaryEvent({ type: 'T', data: Buffer.alloc(100) }))
  const raw = connectRaw(t, node.port)
  const requests = [
    readRequest({ from: 'start', count: null }),
    readRequest({ from: 'end', count: null, filter: { by: 'type', prefixes: ['none'] } }),
    readRequest({ stream: 's', from: 'start', count: null }),
  ]
  const openAndEnd = async (count: number) => {
    for (let done = 0; done < count; done += 50) {
      const reads = Array.from({ length: 50 }, (_, index) => {
        const request = requests[index % requests.length] ?? readRequest({ from: 'end', count: null })
        return openRead(raw, request)
      })
      const live = () => reads.every((read) => read.messages.some((message) => message.hasCaughtUp()))
      await waitFor(live, { what: 'the subscriptions to be live', timeoutMs: waitMs })
      for (const read of reads) read.cancel()
    }
  }
  await openAndEnd(300)
  const before = heapMegabytes()
  await openAndEnd(1_000)
  const grown = heapMegabytes() - before
  t.ok(grown < 4, `${grown.toFixed(1)} MB`)
})

t.test('clients that vanish with their connection do not leak memory', async (t) => {
  const { node, client } = await startServerHarness(t)
  await client.appendToStream('s', binaryEvent({ type: 'T', data: Buffer.alloc(100) }))
  const body = frame(Buffer.from(readRequest({ from: 'start', count: null }).serializeBinary()))
  const vanish = async () => {
    const session = connectHttp2(`http://127.0.0.1:${node.port}`).on('error', () => undefined)
    const calls = Array.from({ length: 20 }, () => {
      const call = session.request({ ':method': 'POST', ':path': methods.read, 'content-type': 'application/grpc' })
      call.on('error', () => undefined).end(body)
      return once(call, 'data')
    })
    await Promise.all(calls)
    session.socket.destroy()
    await once(session, 'close')
  }
  for (let count = 0; count < 5; count += 1) await vanish()
  const before = heapMegabytes()
  for (let count = 0; count < 40; count += 1) await vanish()
  const grown = heapMegabytes() - before
  t.ok(grown < 4, `${grown.toFixed(1)} MB`)
  t.ok((await client.appendToStream('s', binaryEvent({ type: 'T', data: Buffer.alloc(1) }))).success)
})
