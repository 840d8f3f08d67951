// The views of the read models, for composing queries over them.
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type { AddressRecord } from './addresses/views.ts'
import type { PaymentMethodRecord } from './payment-methods/views.ts'
import type { PaymentRecord } from './payments/views.ts'
import type { ProductRecord } from './products/views.ts'

/** The views that queries know. */
export type ReadModels = {
  readonly payments: PaymentRecord
  readonly payment_methods: PaymentMethodRecord
  readonly addresses: AddressRecord
  readonly products: ProductRecord
}

/** Composes and compiles queries over the views of a schema; it has no connection of its own. */
export function composer<Views>(schema: string): Kysely<Views> {
  return new Kysely<Views>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }).withSchema(schema)
}

export const readModels = composer<ReadModels>('read_models')
