import { createTestDatabase } from '@paylog/testing/testDatabase'
import { sql } from 'kysely'
import pg, { type QueryConfig } from 'pg'
import t from 'tap'
import { columnTypes, composerOf, defineQuery, type Given, type Queryable } from './runQuery.ts'

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

/** Runs nothing, and keeps the statements. */
function recording() {
  const statements: QueryConfig[] = []
  const query = async (statement: QueryConfig) => {
    statements.push(statement)
    return { rows: [] }
  }
  return { db: { query } as unknown as Queryable, statements }
}

t.test('a query is compiled once for each shape, and its values are those of each call', async (t) => {
  let composed = 0
  type Values = { readonly name: string; readonly size?: number; readonly isLarge?: boolean }
  const query = defineQuery((given: Given<Values>, order: 'id' | 'size') => {
    composed += 1
    const things = composer
      .selectFrom('things')
      .selectAll()
      .where(
        'id',
        '=',
        given.name.as((name) => name.toUpperCase()),
      )
    const sized = given.size === undefined ? things : things.where('size', '=', given.size)
    return (given.isLarge ? sized.where('size', '>', sql.lit(9)) : sized).orderBy(order)
  })
  const { db, statements } = recording()
  for (const name of ['a', 'b']) await query(db, { name }, 'id')
  await query(db, { name: 'c', size: 1 }, 'id')
  await query(db, { name: 'c', isLarge: true }, 'id')
  await query(db, { name: 'c', isLarge: false }, 'size')
  t.equal(composed, 4)
  t.equal(new Set(statements.map(({ name }) => name)).size, 4)
  const whole = 'select * from "things" where "id" = $1'
  t.strictSame(
    statements.map(({ text, values }) => [text, values]),
    [
      [`${whole} order by "id"`, ['A']],
      [`${whole} order by "id"`, ['B']],
      [`${whole} and "size" = $2 order by "id"`, ['C', 1]],
      [`${whole} and "size" > 9 order by "id"`, ['C']],
      [`${whole} order by "size"`, ['C']],
    ],
  )
})

t.test('a query with a value of one call is refused, because all calls of its shape would run with it', async (t) => {
  const id = 'a'
  const leaking = defineQuery(() => composer.selectFrom('things').where('id', '=', id))
  await t.rejects(leaking(recording().db, {}), { message: /^A query has a value that is not given/ })
})

t.test('a column that a table lacks, or a value of another type, does not compile', (t) => {
  const things = composer.selectFrom('things')
  // @ts-expect-error: no such column
  things.select('colour')
  // @ts-expect-error: it is a number
  things.where('size', '=', 'many')
  t.end()
})
