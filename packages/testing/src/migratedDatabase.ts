// A database of its own for a test, with every table that there is, as it is before anything was recorded.
import type { Test } from 'tap'
import { administer, createTestDatabase } from './postgres.ts'

/** The tables come from the template that the run of the tests has made; a test that is run by itself makes them. */
export async function createMigratedDatabase(t: Test): Promise<{ databaseUrl: string }> {
  const template = process.env.TEST_DATABASE_TEMPLATE
  const database = await createTestDatabase(t, template === undefined ? {} : { template })
  if (template === undefined) {
    const { migrateEverything } = await import('./migrateEverything.ts')
    await migrateEverything(database.databaseUrl)
  } else {
    // Copies of one installation would take each other's jobs from a Redis that they share.
    await administer(database.databaseUrl, 'update webhooks.installation set id = gen_random_uuid()')
  }
  return database
}
