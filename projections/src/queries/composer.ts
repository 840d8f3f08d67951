// Composes queries over views. Asking them is for `namedQuery.ts`: there is no connection here.
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'

/**
 * For the views of one folder, which nobody else composes queries over.
 * @param schema that the views are in
 */
export function queryBuilder<Views>(schema: string): Kysely<Views> {
  return new Kysely<Views>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }).withSchema(schema)
}
