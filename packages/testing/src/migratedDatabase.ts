// Test databases with all tables: those of the log, its tree, the read models, the webhooks, the operations, the keys of personal data
// and the providers' activity.

import { migrateOperations } from '@paylog/administration/migrate'
import { migrateAudit } from '@paylog/audit-log/migrate'
import { migrateProviderActivity } from '@paylog/commands/provider-activity/migrate'
import { migratePrivacy } from '@paylog/privacy/migrate'
import { readModelMigrations } from '@paylog/projections/registry'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { migrateWebhooks } from '@paylog/webhooks/deliveries/migrate'
import type { Test } from 'tap'
import { administer, createTestDatabase, databaseAt } from './testDatabase.ts'

const eventStoreMigrations = new URL('../../../apps/embedded-event-store/src/migrations/', import.meta.url)

/** Creates a template database, because copying one is faster than running the migrations. @returns its name */
export async function createTemplate(serverUrl: string): Promise<string> {
  const name = 'paylog_template'
  await administer(serverUrl, `create database ${name}`)
  await migrateEverything(databaseAt(serverUrl, name))
  return name
}

/** The migrations of `ops migrate` and of the embedded event store. The worker has started once, when the log was empty. */
async function migrateEverything(databaseUrl: string): Promise<void> {
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 1, log })
  try {
    await migrate(pool, { schema: 'event_store', directory: eventStoreMigrations })
    await migrate(pool, readModelMigrations)
    await migrateWebhooks(pool)
    await migrateOperations(pool)
    await migratePrivacy(pool)
    await migrateAudit(pool)
    await migrateProviderActivity(pool)
    // As a worker does at its first start, which tests may delay.
    await pool.query("insert into webhooks.checkpoints (name, updated_at) values ('webhooks', now())")
  } finally {
    await pool.end()
  }
}

/** Copies the test run's template, or runs the migrations when a test runs alone. */
export async function createMigratedDatabase(t: Test): Promise<{ databaseUrl: string }> {
  const template = process.env.TEST_DATABASE_TEMPLATE
  const database = await createTestDatabase(t, template === undefined ? {} : { template })
  if (template === undefined) {
    await migrateEverything(database.databaseUrl)
  } else {
    // Databases with the same installation id would take each other's jobs from a shared Redis.
    await administer(database.databaseUrl, 'update webhooks.installation set id = gen_random_uuid()')
  }
  return database
}
