// Two program versions with different shapes of an event share one log, on the embedded event store.

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
import { followerHarness } from '../testing/followerHarness.ts'
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

const { connectionString, keys } = await startEventStore(t)
const [before, after] = [older, newer].map((codec) => {
  const store = createEventStore({ connectionString, keys, codec })
  t.teardown(() => store.close())
  return store
})
if (before === undefined || after === undefined) throw new Error('expected two stores')

const email = 'guest@example.com'
const storedMetadata = (schema: number) => ({
  $correlationId: metadata.correlationId,
  $causationId: metadata.causationId,
  actor: metadata.actor,
  schema,
})
const firstMetadata = storedMetadata(1)
/** A stream of `count` events, as the older program writes them. */
async function oldStream(count: number): Promise<string> {
  const stream = `guestToken-${uuid()}`
  const events = Array.from({ length: count }, (_, second) =>
    jsonEvent({ type: 'GuestTokenSeen', data: { email, second }, metadata: firstMetadata }),
  )
  await after?.client.appendToStream(stream, events)
  return stream
}
/** The newer program appends one event to it. */
const append = (stream: string) =>
  after.handle({ stream, fold: guestTokenFold, decide: () => [guestTokenSeen], metadata })
const summarize = (events: readonly Recorded[]) =>
  events.map(({ type, data, metadata }) => [type, data, metadata.schema])
const upcast = (second: number) => ['GuestTokenSeen', { guest_email: email, occurred_at: timeOf(second) }, 1]
const newest = ['GuestTokenSeen', guestTokenSeen.data, 2]

t.test('a newer program version reads events of an older one and appends in the newest shape', async (t) => {
  const stream = await oldStream(2)
  t.same(summarize(await after.readStream(stream)), [upcast(0), upcast(1)])
  t.match(await after.load(stream, guestTokenFold), {
    state: { guest_email: email, seen_at: timeOf(1), is_ambiguous: false },
    revision: 1n,
  })
  const handled = await append(stream)
  t.match(handled, { state: { guest_email: email, is_ambiguous: false }, revision: 2n })
  t.same(summarize(await after.readStream(stream)), [upcast(0), upcast(1), newest])
  const read: Recorded[] = []
  for await (const event of after.readLog({ prefixes: [stream] })) read.push(event)
  t.same(summarize(read), [upcast(0), upcast(1), newest])
})

t.test('upcasting and appending leave recorded events unchanged', async (t) => {
  const stream = await oldStream(1)
  await append(stream)
  const recorded: unknown[] = []
  for await (const { event } of after.client.readStream(stream))
    recorded.push([event?.type, event?.data, event?.metadata])
  const { guest_email: _sealed, ...open } = guestTokenSeen.data
  t.match(recorded, [
    ['GuestTokenSeen', { email, second: 0 }, firstMetadata],
    ['GuestTokenSeen.v2', open, storedMetadata(2)],
  ])
})

t.test('concurrent commands decide on a stream with events of both shapes', async (t) => {
  const stream = await oldStream(1)
  const results = await Promise.all(Array.from({ length: 4 }, () => append(stream)))
  t.same(results.map(({ revision }) => Number(revision)).sort(), [1, 2, 3, 4])
  t.same(summarize(await after.readStream(stream)), [upcast(0), newest, newest, newest, newest])
})

t.test('an older program version stops at an event of a newer one, and the newer one continues there', async (t) => {
  const stream = await oldStream(2)
  const reader = followerHarness(before, stream)
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
  t.same(reader.seen, [`${stream}@0`, `${stream}@1`], 'nothing is skipped')
  t.same(reader.interruptions, [], 'no retry')
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
    'it does not decide on partial state',
  )

  const successor = followerHarness(after, stream)
  successor.stored.checkpoint = reader.stored.checkpoint
  const run = successor.run()
  await waitFor(() => successor.seen.length === 1, { what: 'the new event' })
  t.same(summarize(successor.batches.flatMap(({ events }) => events)), [newest])
  await run.stop()
})
