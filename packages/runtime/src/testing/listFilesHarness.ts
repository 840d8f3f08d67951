// A list of numbers in Postgres, served as the apps serve lists, with an audit trail in memory.
import type { Actor } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { Right } from '@paylog/domain/rights'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import { testPool } from '@paylog/testing/testPool'
import { sql } from 'kysely'
import type { Test } from 'tap'
import { Type } from 'typebox'
import { createCallers } from '../http/callers.ts'
import { guardRoutes, type IntendedAction } from '../http/guardRoutes.ts'
import { type FileRows, fileBatchRows, type ListFile, listFiles } from '../http/listFiles.ts'
import { defineQuery, type Given, readBatches } from '../postgres/runQuery.ts'
import { apiHarness } from './apiHarness.ts'

const Item = Type.Object({
  id: Type.Integer(),
  amount_cents: Type.Integer(),
  currency: Type.String(),
  note: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
})
const example = { id: 1, amount_cents: 100, currency: 'EUR', note: 'n', created_at: '2026-03-01T00:00:00.000Z' }

const numbers = defineQuery(
  ({ rows }: Given<{ readonly rows: number }>) => sql<object>`
    select n as id, n as amount_cents, 'EUR' as currency, repeat('note ', 40) as note,
      timestamptz '2026-03-01 00:00:00Z' + n * interval '1 second' as created_at
    from generate_series(1, ${rows}::int) as n`,
)

/** A caller by the name of its rights. */
const actorOf = (rights: string): Actor => ({
  kind: 'session',
  user_id: rights,
  user_type: 'staff',
  user_email: 'staff@example.com',
  rights: rights.split(' ') as Right[],
  refund_limit_cents: null,
})

/**
 * GET /numbers?rows=&search=&limit= as JSON and as a file.
 * @param more replaces the rows, or what records actions
 */
export async function listFilesHarness(
  t: Test,
  more: {
    readonly rowsOf?: (rows: FileRows) => FileRows
    readonly record?: (action: IntendedAction) => void
    readonly origins?: string
  } = {},
) {
  const { databaseUrl } = await createTestDatabase(t)
  const pool = testPool(t, databaseUrl, 4)
  const watching = testPool(t, databaseUrl, 1)
  const audited: IntendedAction[] = []
  const ends: string[] = []
  const { url, logged } = await apiHarness(t, { CORS_ORIGINS: more.origins ?? '' }, async (http) => {
    const callers = createCallers(async ({ headers }) => {
      if (headers['x-rights'] === undefined) throw new DomainError('unauthenticated', 'no caller')
      return actorOf(String(headers['x-rights']))
    })
    guardRoutes(http, callers)
    listFiles(http, {
      pool,
      record: async (_request, action) => {
        more.record?.(action)
        audited.push(action)
        return async (outcome) => void ends.push(outcome)
      },
    })
    const file: ListFile = {
      name: 'numbers',
      item: Item,
      example,
      async open({ query }, client) {
        const rows = Number(query.rows)
        const statement = numbers.statementOf({ rows })
        const found = { count: rows, batches: readBatches<object>(client, statement, fileBatchRows) }
        return more.rowsOf?.(found) ?? found
      },
    }
    const querystring = Type.Object({
      rows: Type.Integer({ default: 3 }),
      search: Type.Optional(Type.String()),
      limit: Type.Integer({ default: 1 }),
    })
    const response = { 200: Type.Object({ data: Type.Array(Item) }) }
    http.get('/numbers', { config: { right: 'read', file }, schema: { querystring, response } }, async () => ({
      data: [example],
    }))
  })
  return {
    url,
    logged,
    audited,
    /** How the audited actions ended. */
    ends,
    get: (path: string, accept: string, { rights = 'read export', method = 'GET', ...options } = {}) =>
      fetch(`${url}${path}`, { method, headers: { 'x-rights': rights, accept, ...options } }),
    /** The sessions of files. */
    async sessions() {
      const { rows } = await watching.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`,
      )
      return rows[0]?.count ?? 0
    },
  }
}
