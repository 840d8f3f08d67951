// Loading, deciding and appending on the embedded event store.
import { jsonEvent } from '@eventstore/db-client'
import { type GuestTokenEvent, guestTokenFold } from '@paylog/domain/guestToken'
import { startEventStore } from '@paylog/testing/eventStore'
import pg from 'pg'
import t from 'tap'
import { v4 as uuid } from 'uuid'
import { causedBy, type EventStore, type LoadedState, newStream } from './eventStore.ts'
import { paymentStream, providerEventStream } from './streamName.ts'
import { connectEventStore, countFold, metadata } from './testing/eventStoreHarness.ts'

const seen = (n: number): GuestTokenEvent => ({
  type: 'GuestTokenSeen',
  data: { guest_email: `guest${n}@example.com`, occurred_at: '2026-01-02T03:04:05.000Z' },
})
const addOne = (store: EventStore, stream: string) =>
  store.handle({ stream, fold: countFold, decide: (count) => [seen(count)], metadata })

const log = await startEventStore(t)
const store = connectEventStore(t, log)
const freshStream = () => `guestToken-${uuid()}`

t.test('an appended event is read back with its metadata', async (t) => {
  const stream = freshStream()
  const event = seen(1)
  const handled = await store.handle({ stream, fold: guestTokenFold, decide: () => [event], metadata })
  t.equal(handled.revision, 0n)
  t.equal(handled.state?.guest_email, event.data.guest_email)
  const [recorded] = await store.readStream(stream)
  t.match(recorded, { ...event, stream, revision: 0n, metadata: { ...metadata, schema: 1 } })
  t.equal(recorded?.position.commit, handled.position?.commit)
  t.equal((await store.load(stream, guestTokenFold)).state?.guest_email, event.data.guest_email)
  t.ok((await store.head())?.commit)
})

t.test('the events of one append are caused by its first one, and so is what follows', async (t) => {
  const stream = freshStream()
  const handled = await store.handle({
    stream,
    fold: countFold,
    decide: () => [seen(0), seen(1), seen(2)],
    metadata,
  })
  const [first, ...others] = await store.readStream(stream)
  t.equal(first?.metadata.causationId, 'c')
  for (const { metadata } of others) t.equal(metadata.causationId, first?.id)
  t.same(causedBy(handled, metadata), { ...metadata, causationId: first?.id })
  const nothing = await store.handle({ stream, fold: countFold, decide: () => [], metadata })
  t.same(causedBy(nothing, metadata), metadata)
})

t.test('a decision without events appends nothing', async (t) => {
  const stream = freshStream()
  const handled = await store.handle({ stream, fold: countFold, decide: () => [], metadata })
  t.match(handled, { revision: 'no_stream', events: [], position: undefined })
  t.same(await store.readStream(stream), [])
})

t.test('concurrent commands on one stream are each applied exactly once', async (t) => {
  const stream = freshStream()
  const others = connectEventStore(t, log)
  await Promise.all(Array.from({ length: 10 }, (_, n) => addOne(n % 2 ? store : others, stream)))
  const events = await store.readStream(stream)
  t.same(
    events.map(({ revision, data }) => [revision, 'guest_email' in data && data.guest_email]),
    Array.from({ length: 10 }, (_, n) => [BigInt(n), `guest${n}@example.com`]),
  )
})

t.test('readStream with `last` returns the last events in order', async (t) => {
  const stream = freshStream()
  t.same(await store.readStream(stream, { last: 2 }), [])
  for (let n = 0; n < 4; n++) await addOne(store, stream)
  const revisionsOf = async (last: number) =>
    (await store.readStream(stream, { last })).map(({ revision }) => Number(revision))
  t.same(await revisionsOf(1), [3])
  t.same(await revisionsOf(3), [1, 2, 3])
  t.same(await revisionsOf(9), [0, 1, 2, 3])
})

t.test('a command with assumed state falls back to the real state when the assumption is wrong', async (t) => {
  const stream = freshStream()
  const assuming = (assumed: LoadedState<number>, decide = (count: number) => [seen(count)]) =>
    store.handle({ stream, fold: countFold, decide, metadata, assumed })
  const first = await assuming(newStream(countFold))
  t.match(first, { state: 1, revision: 0n })
  t.match(await assuming(first), { state: 2, revision: 1n })
  t.match(await assuming(first), { state: 3, revision: 2n }, 'stale assumed state')
  t.match(
    await assuming(newStream(countFold), () => []),
    { state: 3, revision: 2n, events: [] },
    'a decision without events on wrong assumed state',
  )
})

t.test('load with `until` returns the state after the first event of that type', async (t) => {
  const stream = freshStream()
  for (let n = 0; n < 3; n++) await addOne(store, stream)
  t.equal((await store.load(stream, countFold, 'GuestTokenSeen')).state, 1)
})

t.test('an event that does not fit its schema is not recorded', async (t) => {
  const stream = freshStream()
  const wrong = { ...seen(1), data: { ...seen(1).data, occurred_at: 'yesterday' } }
  await t.rejects(
    store.handle({ stream, fold: countFold, decide: () => [wrong], metadata }),
    /GuestTokenSeen cannot be recorded/,
  )
  t.same(await store.readStream(stream), [])
})

t.test('stream names are ASCII for every provider id', async (t) => {
  t.equal(paymentStream('a-b'), 'payment-a-b')
  t.match(providerEventStream('sandbox', 'é/ü %\n\ud800'), /^providerEvent-sandbox:[\x21-\x7e]+$/)
})

t.test('a stream of 3,000 events is read completely', async (t) => {
  const stream = freshStream()
  const events = () =>
    Array.from({ length: 1_000 }, () => {
      const { type, data } = seen(1)
      return jsonEvent({ type, data, metadata: { $correlationId: 'c', $causationId: 'c', actor: 'guest', schema: 1 } })
    })
  for (let thousands = 0; thousands < 3; thousands++) await store.client.appendToStream(stream, events())
  t.equal((await store.load(stream, countFold)).state, 3_000)
})

t.test('an append is refused at once while Postgres has no space, and recorded when it has again', async (t) => {
  const { databaseUrl } = log
  const stream = freshStream()
  await addOne(store, stream)
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  t.teardown(() => database.end())
  await database.query(`create function no_space() returns trigger language plpgsql as $$
    begin raise exception using errcode = 'disk_full'; end $$;
    create trigger no_space before insert on event_store.events execute function no_space()`)
  const begin = performance.now()
  const refused = { code: 'event_store_unavailable', message: /nothing was recorded/ }
  await Promise.all([1, 2, 3].map(() => t.rejects(addOne(store, freshStream()), refused)))
  await t.rejects(addOne(store, stream), refused)
  t.ok(performance.now() - begin < 3_000, 'an append with an unknown outcome is repeated for 15 s')
  t.equal(await addOne(connectEventStore(t, log), freshStream()).catch(({ code }) => code), refused.code)
  await database.query('drop trigger no_space on event_store.events')
  t.equal((await addOne(store, stream)).revision, 1n)
  t.equal((await store.readStream(stream)).length, 2)
})

t.test('1,000 concurrent appends succeed on a new connection', async (t) => {
  const fresh = connectEventStore(t, log)
  const stream = freshStream()
  const appends = Array.from({ length: 1_000 }, (_, n) =>
    fresh.handle({
      stream: `${stream}-${n}`,
      fold: countFold,
      decide: () => [seen(n)],
      metadata,
      assumed: newStream(countFold),
    }),
  )
  t.ok((await Promise.all(appends)).every(({ revision }) => revision === 0n))
})
