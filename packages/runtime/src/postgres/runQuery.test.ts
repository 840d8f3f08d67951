import { createTestDatabase } from '@paylog/testing/testDatabase'
import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { columnTypes, composerOf, type Given, queriesByShape } from './runQuery.ts'

const times = [
  '2026-03-01T10:00:00.000Z',
  '2026-03-01T10:00:00.120Z',
  '2026-07-01T23:59:59.999Z',
  '2026-12-31T23:30:00.001Z',
  '0099-03-01T00:00:00.000Z',
  '1883-01-01T12:00:00.000Z',
]

t.test('times are read as recorded in every time zone of the server', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  for (const zone of ['UTC', 'Europe/London', 'Asia/Kolkata', 'America/New_York', 'Pacific/Kiritimati']) {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(`set timezone to '${zone}'`)
    const text =
      'select at::timestamptz as at from unnest($1::text[]) with ordinality as given (at, place) order by place'
    const { rows } = await client.query<{ at: string }>({ text, values: [times], types: columnTypes })
    await client.end()
    t.same(
      rows.map(({ at }) => at),
      times,
      zone,
    )
  }
})

t.test('times are cut to milliseconds, and infinite ones are rejected', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const text = `select timestamptz '2026-03-01 10:00:00.123987Z' as fine, null::timestamptz as none, 12::bigint as amount`
  const { rows } = await client.query({ text, types: columnTypes })
  await client.end()
  t.same(rows, [{ fine: '2026-03-01T10:00:00.123Z', none: null, amount: 12 }])
})

const composer = composerOf<{ readonly things: { readonly id: string; readonly size: number } }>()

t.test('a query is compiled once for each shape, and its values are those of each call', (t) => {
  let composed = 0
  const byShape = queriesByShape((given: Given<{ readonly name: string }>, isSized: boolean) => {
    composed += 1
    const things = composer.selectFrom('things').selectAll()
    const id = given(({ name }) => name).as((name) => name.toUpperCase())
    return isSized ? things.where('id', '=', id).where('size', '>', sql.lit(1)) : things.where('id', '=', id)
  })
  const query = byShape(false)
  t.equal(byShape(false), query)
  t.not(byShape(true).name, query.name)
  t.equal(composed, 2)
  t.equal(query.text, 'select * from "things" where "id" = $1')
  for (const name of ['a', 'b']) t.same(query.valuesOf({ name }), [name.toUpperCase()])
  t.end()
})

t.test('a query with a value of one call is refused, because all calls of its shape would run with it', (t) => {
  const leaking = queriesByShape((_: Given<unknown>, id: string) => composer.selectFrom('things').where('id', '=', id))
  t.throws(() => leaking('a'), { message: /^A query has a value that is not given/ })
  t.end()
})

t.test('a column that a table lacks, or a value of another type, does not compile', (t) => {
  const things = composer.selectFrom('things')
  // @ts-expect-error: no such column
  things.select('colour')
  // @ts-expect-error: it is a number
  things.where('size', '=', 'many')
  t.end()
})
