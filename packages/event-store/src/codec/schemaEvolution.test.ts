// A log that two versions of the program share, between which the shape of an event changed: through the real client, on a
// real node.

import { jsonEvent } from '@eventstore/db-client'
import { guestTokenFold } from '@paylog/domain/guestToken'
import { recordedEvents, upcaster } from '@paylog/domain/recordedEvents'
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { Type } from 'typebox'
import { v4 as uuid } from 'uuid'
import { createEventStore } from '../eventStore.ts'
import { guestTokenSeen, metadata } from '../testing/eventStoreHarness.ts'
import { subscriberHarness } from '../testing/subscriberHarness.ts'
import { createCodec, type Recorded } from './codec.ts'

const Before = Type.Object({ email: Type.String(), second: Type.Integer() })
const timeOf = (second: number) => new Date(second * 1000).toISOString()
const older = createCodec({ current: { ...recordedEvents, GuestTokenSeen: Before }, former: {} })
const newer = createCodec({
  current: recordedEvents,
  former: {
    GuestTokenSeen: upcaster(Before, ({ email, second }) => ({ guest_email: email, occurred_at: timeOf(second) })),
  },
})

const { connectionString } = await startEventStore(t)
const [before, after] = [older, newer].map((codec) => {
  const store = createEventStore({ connectionString, codec })
  t.teardown(() => store.close())
  return store
})
if (before === undefined || after === undefined) throw new Error('There are two programs')

const email = 'guest@example.com'
const beside = { ...metadata, schema: 1 }
/** A stream as the older program has written it, of so many events. */
async function oldStream(count: number): Promise<string> {
  const stream = `guestToken-${uuid()}`
  const events = Array.from({ length: count }, (_, second) =>
    jsonEvent({ type: 'GuestTokenSeen', data: { email, second }, metadata: beside }),
  )
  await after?.client.appendToStream(stream, events)
  return stream
}
/** The newer program appends one event to it. */
const append = (stream: string) =>
  after.handle({ stream, fold: guestTokenFold, decide: () => [guestTokenSeen], metadata })
const told = (events: readonly Recorded[]) => events.map(({ type, data, metadata }) => [type, data, metadata.schema])
const upcast = (second: number) => ['GuestTokenSeen', { guest_email: email, occurred_at: timeOf(second) }, 1]
const newest = ['GuestTokenSeen', guestTokenSeen.data, 2]

t.test('the newer program reads what the older one has written, and writes what is newest', async (t) => {
  const stream = await oldStream(2)
  t.same(told(await after.readStream(stream)), [upcast(0), upcast(1)])
  t.match(await after.load(stream, guestTokenFold), {
    state: { guest_email: email, seen_at: timeOf(1), is_ambiguous: false },
    revision: 1n,
  })
  const handled = await append(stream)
  t.match(handled, { state: { guest_email: email, is_ambiguous: false }, revision: 2n })
  t.same(told(await after.readStream(stream)), [upcast(0), upcast(1), newest])
  const read: Recorded[] = []
  for await (const event of after.readLog({ prefixes: [stream] })) read.push(event)
  t.same(told(read), [upcast(0), upcast(1), newest])
})

t.test('what is recorded stays as it was written', async (t) => {
  const stream = await oldStream(1)
  await append(stream)
  const recorded: unknown[] = []
  for await (const { event } of after.client.readStream(stream))
    recorded.push([event?.type, event?.data, event?.metadata])
  t.same(recorded, [
    ['GuestTokenSeen', { email, second: 0 }, beside],
    ['GuestTokenSeen.v2', guestTokenSeen.data, { ...metadata, schema: 2 }],
  ])
})

t.test('a decision is made on history of both shapes, and made again when another was faster', async (t) => {
  const stream = await oldStream(1)
  const results = await Promise.all(Array.from({ length: 4 }, () => append(stream)))
  t.same(results.map(({ revision }) => Number(revision)).sort(), [1, 2, 3, 4])
  t.same(told(await after.readStream(stream)), [upcast(0), newest, newest, newest, newest])
})

t.test('the older program stops at what the newer one has written, and says so; the newer one goes on', async (t) => {
  const stream = await oldStream(2)
  const reader = subscriberHarness(before, stream)
  const { running } = reader.run()
  const stopped = t.rejects(running, {
    name: 'UnreadableEventError',
    message: new RegExp(
      `\\(GuestTokenSeen\\.v2, ${stream}@2, position \\d+\\) was written by a newer version of this program`,
    ),
  })
  await waitFor(() => reader.seen.length === 2, { what: 'the old events' })
  await append(stream)
  await stopped
  t.same(reader.seen, [`${stream}@0`, `${stream}@1`], 'it has not passed over anything')
  t.same(reader.interruptions, [], 'nor tried again')
  const readings: (() => Promise<unknown>)[] = [
    () => before.readStream(stream),
    () => before.load(stream, guestTokenFold),
  ]
  for (const reading of readings)
    await t.rejects(reading, { name: 'UnreadableEventError', message: /GuestTokenSeen\.v2.*newer version/ })
  const overLog = async () => {
    for await (const _event of before.readLog({ prefixes: [stream] }));
  }
  await t.rejects(overLog(), { name: 'UnreadableEventError', message: /newer version/ })
  await t.rejects(
    before.handle({ stream, fold: guestTokenFold, decide: () => [guestTokenSeen], metadata }),
    { name: 'UnreadableEventError' },
    'nor does it decide on half of the truth',
  )

  const successor = subscriberHarness(after, stream)
  successor.stored.checkpoint = reader.stored.checkpoint
  const run = successor.run()
  await waitFor(() => successor.seen.length === 1, { what: 'the new event' })
  t.same(told(successor.batches.flatMap(({ events }) => events)), [newest])
  await run.stop()
})
