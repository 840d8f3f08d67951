import { sql } from 'kysely'
import t from 'tap'
import { views } from '../payments/queries.ts'
import { readModelDatabase, recordingPool } from '../testing/projectionHarness.ts'
import { prepareQuery, type QueryParameters } from './namedQuery.ts'

type Values = { readonly first: string; readonly second: string | undefined }
type Shape = { readonly doubled: boolean }

/** Both values: one in capitals, then the other. */
function capitals({ first, second }: QueryParameters<Values>, { doubled }: Shape) {
  const capital = first.through((text) => text.toUpperCase())
  const last = second === undefined ? sql`'nothing'` : sql`${second}::text`
  return sql<{ result: string }>`
    select concat_ws(' ', ${last}, ${capital}::text${doubled ? sql`, ${capital}::text` : sql``}) as result`
}

t.test('a query is composed once per shape and run with the values of each call', async (t) => {
  const { pool } = await readModelDatabase(t)
  let composed = 0
  const run = prepareQuery((parameters: QueryParameters<Values>, shape: Shape) => {
    composed += 1
    return capitals(parameters, shape)
  })
  const { db, queries } = recordingPool(pool)
  const result = async (first: string, second: string | undefined, doubled = false) =>
    (await run(db, { first, second }, { doubled })).map((row) => row.result)
  for (const round of ['a', 'b', 'c']) {
    t.same(await result(`x${round}`, `y${round}`), [`y${round} X${round.toUpperCase()}`])
    t.same(await result(round, undefined), [`nothing ${round.toUpperCase()}`])
    t.same(await result(round, '', true), [` ${round.toUpperCase()} ${round.toUpperCase()}`])
  }
  t.equal(composed, 3)
  t.equal(new Set(queries.map(({ name }) => name)).size, 3)
  t.equal(new Set(queries.map(({ text }) => text)).size, 3)
})

t.test('a query that ignores a value or adds a constant throws', async (t) => {
  const { pool } = await readModelDatabase(t)
  const values = { owner: 'user:alice', id: '00000000-0000-7000-8000-000000000000' }
  const withUnusedValue = prepareQuery(({ id }: QueryParameters<typeof values>) =>
    views.selectFrom('payments').select('id').where('id', '=', id),
  )
  await t.rejects(withUnusedValue(pool, values, {}), { message: /^The query does not use owner: select/ })
  const withConstant = prepareQuery(({ owner, id }: QueryParameters<typeof values>) =>
    views
      .selectFrom('payments')
      .select('id')
      .where('id', '=', id)
      .where('owner', '=', owner)
      .where('currency', '=', 'EUR'),
  )
  await t.rejects(withConstant(pool, values, {}), { message: /^A constant would be sent as a parameter of: select/ })
})

t.test('a query for a column that the view of another program version lacks is service_unavailable', async (t) => {
  const { pool } = await readModelDatabase(t)
  const withLaterColumn = prepareQuery(({ id }: QueryParameters<{ readonly id: string }>) =>
    views.selectFrom('payments').select(sql`later_column`.as('later')).where('id', '=', id),
  )
  const found = withLaterColumn(pool, { id: '00000000-0000-7000-8000-000000000000' }, {})
  await t.rejects(found, { name: 'DomainError', code: 'service_unavailable', cause: { code: '42703' } })
})
