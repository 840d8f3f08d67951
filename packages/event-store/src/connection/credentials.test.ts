// Credentials without TLS: sent to the embedded event store on this machine, and never elsewhere.

import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { readEvents } from '../read/readPage.ts'
import { append, appendFirst, connectEventStore } from '../testing/eventStoreHarness.ts'
import { followerHarness } from '../testing/followerHarness.ts'
import { createRawClient } from './calls.ts'

const password = 'pass:w/rd%'
const { connectionString } = await startEventStore(t, { EVENTSTORE_CREDENTIALS: `paylog:${password}` })
const as = (credentials: string) => connectionString.replace('//', `//${credentials}@`)
const authorized = as(`paylog:${encodeURIComponent(password)}`)

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

t.test('appends, reads and followers use the credentials of the connection string', async (t) => {
  const store = connectEventStore(t, { connectionString: authorized })
  await append(store, 'guestToken-a', 3)
  t.equal((await store.readStream('guestToken-a')).length, 3)
  t.match(await store.lag(undefined, ['guestToken-']), { events: 3 })
  t.equal((await collect(store.readLog({ prefixes: ['guestToken-'] }))).length, 3)
  const follower = followerHarness(store, 'guestToken-')
  const run = follower.run()
  await waitFor(() => follower.seen.length === 3, { what: 'the followed events' })
  await run.stop()
  const raw = createRawClient({ name: 'the log', connectionString: authorized })
  t.teardown(() => raw.close())
  t.ok((await collect(readEvents(raw))).length >= 3)
})

t.test('wrong or missing credentials are rejected at once, and nothing is recorded', async (t) => {
  for (const connectionString of [as('paylog:wrong'), authorized.replace(/\/\/.*@/, '//')]) {
    const store = connectEventStore(t, { connectionString })
    const startedAt = performance.now()
    await t.rejects(appendFirst(store, 'guestToken-b'), {
      message: 'The event store rejected this; nothing was recorded',
    })
    await t.rejects(store.readStream('guestToken-b'), { code: 'event_store_unavailable' })
    t.ok(performance.now() - startedAt < 5_000, 'without retries')
    const raw = createRawClient({ name: 'the log', connectionString })
    await t.rejects(collect(readEvents(raw)), { message: /^the log: 16 UNAUTHENTICATED/ })
    await raw.close()
  }
  t.same(await connectEventStore(t, { connectionString: authorized }).readStream('guestToken-b'), [])
})
