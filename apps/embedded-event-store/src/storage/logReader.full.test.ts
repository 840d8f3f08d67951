// Pages of the log are bounded in rows and bytes, without gaps, and the last one is marked.

import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import t, { type Test } from 'tap'
import {
  type Page,
  pageRows,
  type Queryable,
  readAllBackwards,
  readAllForwards,
  readStreamBackwards,
  readStreamForwards,
} from './logReader.ts'
import type { StoredEvent } from './storedEvent.ts'

/** Same as in logReader.ts. */
const pageBytes = 1 << 20
const beyond = 9223372036854775807n

async function openLog(t: Test): Promise<Queryable> {
  const { databaseUrl } = await createTestDatabase(t)
  const log = createLog({ app: 'embedded-event-store', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'pages test', max: 1, log })
  t.teardown(() => pool.end())
  await migrate(pool, { schema: 'event_store', directory: new URL('../migrations/', import.meta.url) })
  return pool
}

/** Writes events from position 2 and revision 0 on. Their bytes alternate between metadata and data. */
function write(db: Queryable, stream: string, count: number, bytes: number) {
  return db.query(
    `insert into event_store.events (position, stream, revision, event_id, type, is_json, created_ticks, metadata, data)
     select revision + 2, $1, revision, gen_random_uuid(), 'T', false, 1,
       convert_to(repeat('m', case when revision % 2 = 0 then $3 else 0 end), 'UTF8'),
       convert_to(repeat('d', case when revision % 2 = 1 then $3 else 0 end), 'UTF8')
     from generate_series(0::bigint, $2::bigint - 1) revision`,
    [stream, count, bytes],
  )
}

const size = (event: StoredEvent) => event.metadata.length + event.data.length
const sizeOf = (events: readonly StoredEvent[]) => events.reduce((sum, event) => sum + size(event), 0)

/** The four ways to read on from an event, or from the beginning or the end. */
const ways: Record<string, (db: Queryable, after: StoredEvent | undefined, limit: number) => Promise<Page>> = {
  'all forwards': (db, after, limit) => readAllForwards(db, after ? after.position + 1n : 2n, limit),
  'all backwards': (db, after, limit) => readAllBackwards(db, after?.position ?? beyond, limit),
  'a stream forwards': (db, after, limit) =>
    readStreamForwards(db, { ...wholeStream, first: after ? after.revision + 1n : 0n }, limit),
  'a stream backwards': (db, after, limit) =>
    readStreamBackwards(db, { ...wholeStream, last: after ? after.revision - 1n : beyond }, limit),
}
const wholeStream = { stream: 'read', first: 0n, last: beyond, oldestTicks: 0n }

async function pagesOf(db: Queryable, way: (typeof ways)[string], limit: number): Promise<Page[]> {
  const pages: Page[] = []
  for (let end = false; !end; ) {
    const page = await way(db, pages.at(-1)?.events.at(-1), limit)
    pages.push(page)
    end = page.end
  }
  return pages
}

function expected(way: string, count: number): bigint[] {
  const forwards = Array.from({ length: count }, (_, index) => BigInt(index))
  return way.endsWith('backwards') ? forwards.reverse() : forwards
}

const revisionsIn = (pages: readonly Page[]) =>
  pages.flatMap((page) => page.events.filter((event) => event.stream === 'read').map((event) => event.revision))

t.test('a page has at most the requested number of events', async (t) => {
  const db = await openLog(t)
  const count = 2 * pageRows + 76
  await write(db, 'read', count, 10)
  for (const [name, way] of Object.entries(ways)) {
    for (const limit of [pageRows, 100, 50]) {
      const pages = await pagesOf(db, way, limit)
      t.same(revisionsIn(pages), expected(name, count), `${name}, ${limit} at most`)
      t.ok(pages.slice(0, -1).every((page) => page.events.length === limit))
    }
  }
})

t.test('a page that is full in bytes is not the last page', async (t) => {
  const db = await openLog(t)
  const count = 60
  await write(db, 'read', count, 300_000)
  for (const [name, way] of Object.entries(ways)) {
    const pages = await pagesOf(db, way, pageRows)
    t.same(revisionsIn(pages), expected(name, count), name)
    t.ok(pages.length > 4)
    for (const { events, end } of pages) {
      t.ok(sizeOf(events.slice(0, -1)) < pageBytes, `${sizeOf(events)} bytes`)
      t.equal(sizeOf(events) < pageBytes, end)
    }
  }
})

t.test('an event larger than a page is a page by itself', async (t) => {
  const db = await openLog(t)
  await write(db, 'read', 3, pageBytes + 1)
  for (const [name, way] of Object.entries(ways)) {
    const pages = await pagesOf(db, way, pageRows)
    t.same(revisionsIn(pages), expected(name, 3), name)
    t.ok(pages.every((page) => page.events.length <= 1 || page.end))
  }
})
