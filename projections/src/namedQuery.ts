// Queries are composed with Kysely and run as named statements, which a connection parses only once.
import { createHash } from 'node:crypto'
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { Pool } from 'pg'
import type { AddressRecord } from './addresses/views.ts'
import type { PaymentMethodRecord } from './payment-methods/views.ts'
import type { PaymentRecord } from './payments/views.ts'

/** What reading needs of a pool. */
export type Queryable = Pick<Pool, 'query'>

/** The views that queries know. */
export type ReadModels = {
  readonly payments: PaymentRecord
  readonly payment_methods: PaymentMethodRecord
  readonly addresses: AddressRecord
}

/** Composes and compiles; it has no connection of its own. */
export const readModels = new Kysely<ReadModels>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
}).withSchema('read_models')

/**
 * Runs a composed query. The statement's name is derived from its text, and there are only as many texts as ways to
 * combine the filters, so the statements of a connection stay bounded.
 */
export async function runNamed<Row extends object>(db: Queryable, query: CompiledQuery<Row>): Promise<Row[]> {
  const name = createHash('sha256').update(query.sql).digest('base64url').slice(0, 24)
  const { rows } = await db.query<Row>({ name, text: query.sql, values: [...query.parameters] })
  return rows
}
