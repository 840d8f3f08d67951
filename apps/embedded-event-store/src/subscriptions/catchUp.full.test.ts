// Catch-up over several pages, in events or bytes, with concurrent appends.
import { once } from 'node:events'
import { BACKWARDS, binaryEvent, END, type EventStoreDBClient } from '@eventstore/db-client'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { type OpenRead, openRead, type ReadForm, readRequest } from '../testing/rawReads.ts'
import { connectRaw } from '../testing/rawStreams.ts'
import { numbered, startServerHarness } from '../testing/serverHarness.ts'

const waitMs = 60_000
const largeBytes = 300_000

/** Over two pages of small events, then over two of large ones. */
async function writeLong(client: EventStoreDBClient, stream: string): Promise<void> {
  await client.appendToStream(stream, numbered(0, 700))
  await client.appendToStream('other', numbered(0, 300))
  await client.appendToStream(stream, numbered(700, 500))
  for (let count = 0; count < 12; count += 1) {
    const large = Array.from({ length: 3 }, () => binaryEvent({ type: 'Large', data: Buffer.alloc(largeBytes) }))
    await client.appendToStream(stream, large)
  }
}

const revisionsIn = (read: OpenRead, stream: string) =>
  read.messages.flatMap((message) => {
    const event = message.getEvent()?.getEvent()
    const name = Buffer.from(event?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()
    return event && name === stream ? [event.getStreamRevision()] : []
  })

t.test('subscriptions catch up over many pages, get each event once, and go live', async (t) => {
  const { node, client } = await startServerHarness(t)
  await writeLong(client, 'long')
  const raw = connectRaw(t, node.port)
  const filter = { by: 'stream', prefixes: ['long'], window: 1_000 } as const
  const forms: readonly ReadForm[] = [
    { stream: 'long', from: 'start', count: null },
    { stream: 'long', from: 'start', count: null, resolveLinks: true },
    { from: 'start', count: null },
    { from: 'start', count: null, resolveLinks: true },
    { from: 'start', count: null, filter },
  ]
  const reads = forms.map((form) => openRead(raw, readRequest(form)))
  const caughtUp = () => reads.every((read) => read.messages.some((message) => message.hasCaughtUp()))
  await waitFor(caughtUp, { what: 'all subscriptions to catch up', timeoutMs: waitMs })
  await client.appendToStream('long', numbered(0, 600))
  const expected: string[] = []
  for await (const { event } of client.readStream('long', { direction: BACKWARDS, fromRevision: END })) {
    if (event) expected.unshift(String(event.revision))
  }
  t.equal(expected.length, 700 + 500 + 36 + 600)
  for (const [index, read] of reads.entries()) {
    const what = JSON.stringify(forms[index])
    await waitFor(() => revisionsIn(read, 'long').length >= expected.length, { what, timeoutMs: waitMs })
    t.same(revisionsIn(read, 'long'), expected, what)
    read.cancel()
  }
})

t.test('a subscription from a position after the end of the log gets only events after that position', async (t) => {
  const { node, client } = await startServerHarness(t)
  const { position } = await client.appendToStream('s', numbered(0, 1))
  const beyond = (position?.commit ?? 0n) + 2n
  const read = openRead(connectRaw(t, node.port), readRequest({ from: beyond, count: null }))
  await waitFor(() => read.messages.some((message) => message.hasCaughtUp()), { what: 'the subscription to be live' })
  await client.appendToStream('s', numbered(1, 4))
  await waitFor(() => revisionsIn(read, 's').includes('4'), { what: 'the last event' })
  t.same(revisionsIn(read, 's'), ['3', '4'])
  read.cancel()
})

t.test('a stalled stream subscription that falls out of the tail catches up without duplicates', async (t) => {
  const { node, client } = await startServerHarness(t)
  const call = connectRaw(t, node.port).read(readRequest({ stream: 'flood', from: 'start', count: null }))
  call.on('error', () => undefined)
  await once(call, 'data')
  call.pause()
  // The server remembers 16 MiB, and the client itself reads 16 messages ahead.
  const floodEvents = 100
  for (let count = 0; count < floodEvents; count += 1) {
    const event = binaryEvent({ type: 'T', data: Buffer.alloc(largeBytes) })
    await client.appendToStream('flood', event)
  }
  const revisions: string[] = []
  // Messages before the first event are not counted.
  let timesCaughtUp = 0
  call.on('data', (message: ReadResp) => {
    const revision = message.getEvent()?.getEvent()?.getStreamRevision()
    if (revision !== undefined) revisions.push(revision)
    if (message.hasCaughtUp() && revisions.length > 0) timesCaughtUp += 1
  })
  call.resume()
  await waitFor(() => revisions.length >= floodEvents, { what: 'everything to arrive', timeoutMs: waitMs })
  await client.appendToStream('flood', numbered(0, 1))
  await waitFor(() => revisions.length > floodEvents, { what: 'the later event', timeoutMs: waitMs })
  t.same(
    revisions,
    Array.from({ length: floodEvents + 1 }, (_, index) => String(index)),
  )
  t.ok(timesCaughtUp >= 1 && timesCaughtUp <= 4, `${timesCaughtUp} caught-up messages`)
  call.cancel()
})
