// All projections, and the migrations that create their tables.

import type { ClientBase } from 'pg'
import { addresses } from './addresses/projection.ts'
import { auditTrail } from './audit-trail/projection.ts'
import type { RowOf } from './columns.ts'
import { defaults } from './defaults/projection.ts'
import { disputes } from './disputes/projection.ts'
import { paymentMethods } from './payment-methods/projection.ts'
import { payments } from './payments/projection.ts'
import { products } from './products/projection.ts'
import type { Projection } from './projection.ts'
import { refunds } from './refunds/projection.ts'
import { listTables, makeFirstTable, tableName } from './tables/tables.ts'

const defined = [payments, refunds, disputes, paymentMethods, addresses, defaults, products, auditTrail] as const

export const projections: readonly Projection[] = defined

/** The rows of the views, by their names. */
export type ReadModels = {
  readonly [Of in (typeof defined)[number] as `read_models.${Of['name']}`]: {
    readonly id: string
    readonly revision: number
  } & RowOf<Of['columns']> &
    RowOf<Of['computed']>
}

/** For the runtime's `migrate`: numbered SQL files, applied once and only forward, then the tables of new projections. */
export const readModelMigrations = {
  schema: 'read_models',
  directory: new URL('./migrations/', import.meta.url),
  finish: makeMissingTables,
}

/**
 * Creates the first table of every projection that has none, within the transaction of `client`, whose search path starts
 * with the schema.
 * @returns their names
 */
async function makeMissingTables(client: ClientBase): Promise<string[]> {
  const existing = new Set((await listTables(client)).map(({ projection }) => projection))
  const missing = projections.filter(({ name }) => !existing.has(name))
  for (const projection of missing) await makeFirstTable(client, projection)
  return missing.map((projection) => tableName(projection, 1))
}
