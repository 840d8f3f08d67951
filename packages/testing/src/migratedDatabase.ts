// Makes every table that there is: those of the log, of the read models and of the webhooks.

import { migrateWebhooks } from '@paylog/deliveries/migrate'
import { readModelMigrations } from '@paylog/projections/registry'
import { createPool, migrate } from '@paylog/runtime/postgres/postgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import type { Test } from 'tap'
import { administer, createTestDatabase, databaseAt } from './testDatabase.ts'

const ofEventStore = new URL('../../../apps/embedded-event-store/src/migrations/', import.meta.url)

/** Makes a database that is copied faster than its tables are made. @returns its name */
export async function createTemplate(serverUrl: string): Promise<string> {
  const name = 'paylog_template'
  await administer(serverUrl, `create database ${name}`)
  await migrateEverything(databaseAt(serverUrl, name))
  return name
}

/** What `ops migrate` does, and an event store node at its start. */
async function migrateEverything(databaseUrl: string): Promise<void> {
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 1, log })
  try {
    await migrate(pool, { schema: 'event_store', directory: ofEventStore })
    await migrate(pool, readModelMigrations)
    await migrateWebhooks(pool)
  } finally {
    await pool.end()
  }
}

/** The tables come from the template that the run of the tests has made; a test that is run by itself makes them. */
export async function createMigratedDatabase(t: Test): Promise<{ databaseUrl: string }> {
  const template = process.env.TEST_DATABASE_TEMPLATE
  const database = await createTestDatabase(t, template === undefined ? {} : { template })
  if (template === undefined) {
    await migrateEverything(database.databaseUrl)
  } else {
    // Copies of one installation would take each other's jobs from a Redis that they share.
    await administer(database.databaseUrl, 'update webhooks.installation set id = gen_random_uuid()')
  }
  return database
}
