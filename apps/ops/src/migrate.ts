// `migrate`: creates or updates the tables of all schemas.

import { migrateOperations } from '@paylog/administration/migrate'
import { migrateAudit } from '@paylog/audit-log/migrate'
import { grantActivityAccess, migrateProviderActivity } from '@paylog/commands/provider-activity/migrate'
import { grantKeyAccess } from '@paylog/privacy/keysRole'
import { migratePrivacy } from '@paylog/privacy/migrate'
import { readModelMigrations } from '@paylog/projections/registry'
import { loadConfig } from '@paylog/runtime/config/environment'
import { text } from '@paylog/runtime/config/kinds'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { grantReadAccess, requireRole, UnknownRoleError } from '@paylog/runtime/postgres/readerRole'
import { migrateWebhooks } from '@paylog/webhooks/deliveries/migrate'
import { Type } from 'typebox'
import { OpsError } from './command.ts'
import { defineCommand } from './defineCommand.ts'
import type { Pool } from './system.ts'
import { databaseVariable } from './variables.ts'

const Config = Type.Object({
  ...databaseVariable,
  /** The Postgres login of the query API, or a role that it belongs to. It may read the views only. */
  READER_ROLE: Type.Optional(text()),
  /**
   * The Postgres login of the command API, or a role that it belongs to. It may read and add keys of personal data, and record what
   * providers refuse, and nothing else.
   */
  KEYS_ROLE: Type.Optional(text()),
})
const schemas = ['read_models', 'webhooks']

export const migrateTables = defineCommand({
  summary: 'Create or update the tables of all schemas',
  json: 'one object: the migrations that ran, the views that READER_ROLE can read, the tables of KEYS_ROLE',
  about: [
    'Migrations only go forward. The command may run while the previous version serves requests, repeatedly, and',
    'concurrently. READER_ROLE names a Postgres role that gets read access to all views and nothing else, which is all',
    'that the query API needs. KEYS_ROLE names one that may read and add keys of personal data, and record what providers',
    'refuse, which is all that the command API needs.',
  ],
  async run({ environment, open }) {
    const config = loadConfig(Config, environment)
    const done = await migrateAll(open.pool(), config)
    return { json: done, text: report(done, config).join('\n') }
  },
})

type Grants = { readonly READER_ROLE?: string; readonly KEYS_ROLE?: string }

async function migrateAll(pool: Pool, { READER_ROLE: reader, KEYS_ROLE: keysRole }: Grants) {
  // Checked before anything is changed.
  await requireRoleOf('READER_ROLE', pool, reader)
  await requireRoleOf('KEYS_ROLE', pool, keysRole)
  return {
    read_models: await migrate(pool, readModelMigrations),
    webhooks: await migrateWebhooks(pool),
    operations: await migrateOperations(pool),
    privacy: await migratePrivacy(pool),
    audit: await migrateAudit(pool),
    providers: await migrateProviderActivity(pool),
    readable: reader === undefined ? [] : await grantReadAccess(pool, { role: reader, schemas }),
    keys: keysRole === undefined ? [] : await grantKeyAccess(pool, keysRole),
    activity: keysRole === undefined ? [] : await grantActivityAccess(pool, keysRole),
  }
}

/** @throws OpsError */
async function requireRoleOf(variable: string, pool: Pool, role: string | undefined): Promise<void> {
  if (role === undefined) return
  await requireRole(pool, role).catch((error: unknown) => {
    if (error instanceof UnknownRoleError) throw new OpsError(`${variable}: ${error.message}`, { cause: error })
    throw error
  })
}

function report(done: Awaited<ReturnType<typeof migrateAll>>, { READER_ROLE, KEYS_ROLE }: Grants): readonly string[] {
  const { readable, keys, activity, ...migrations } = done
  const applied = Object.values(migrations).flat()
  return [
    applied.length === 0 ? 'Everything is up to date.' : `Applied ${applied.join(', ')}.`,
    ...(readable.length === 0 ? [] : [`${READER_ROLE} can read ${readable.join(', ')}.`]),
    ...(keys.length === 0 ? [] : [`${KEYS_ROLE} can read and add rows of ${keys.join(', ')}.`]),
    ...(activity.length === 0 ? [] : [`${KEYS_ROLE} can change rows of ${activity.join(', ')}.`]),
  ]
}
