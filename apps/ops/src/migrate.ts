// `migrate`: creates or updates the tables of the read models, the webhooks and the operations.
import { loadConfig } from '@paylog/config/environment'
import { text, url } from '@paylog/config/kinds'
import { migrateWebhooks } from '@paylog/deliveries/migrate'
import { migrateOperations } from '@paylog/operator-routes/migrate'
import { readModelMigrations } from '@paylog/projections/registry'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { grantReadAccess, requireRole, UnknownRoleError } from '@paylog/runtime/postgres/readerRole'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readArguments } from './command.ts'
import { opsPool } from './database.ts'

const Config = Type.Object({
  DATABASE_URL: url(['postgres', 'postgresql']),
  /** The Postgres login of the query API, or a role that it belongs to. It may read the views only. */
  READER_ROLE: Type.Optional(text()),
})
const schemas = ['read_models', 'webhooks']

export const migrateTables: CliCommand = {
  usage: '[--json]',
  summary: 'Create or update the tables of the read models, the webhooks and the jobs',
  details:
    '  --json  one object: the migrations that ran, and the views that READER_ROLE can read\n\n' +
    'Migrations only go forward. The command may run while the previous version serves requests, repeatedly, and\n' +
    'concurrently. READER_ROLE names a Postgres role that gets read access to all views and nothing else, which is all\n' +
    'that the query API needs.',
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], { json: { type: 'boolean' } })
    const { DATABASE_URL, READER_ROLE: role } = loadConfig(Config, environment)
    const { pool } = opsPool(DATABASE_URL, { max: 2, errors })
    try {
      // Checked before anything is changed.
      if (role !== undefined) await requireRole(pool, role)
      const read_models = await migrate(pool, readModelMigrations)
      const webhooks = await migrateWebhooks(pool)
      const operations = await migrateOperations(pool)
      const readable = role === undefined ? [] : await grantReadAccess(pool, { role, schemas })
      if (values.json) await print(JSON.stringify({ read_models, webhooks, operations, readable }))
      else await print([applied([...read_models, ...webhooks, ...operations]), ...granted(role, readable)].join('\n'))
    } catch (error) {
      if (error instanceof UnknownRoleError) throw new OpsError(`READER_ROLE: ${error.message}`, { cause: error })
      throw error
    } finally {
      await pool.end()
    }
  },
}

function applied(names: readonly string[]): string {
  return names.length === 0 ? 'Everything is up to date.' : `Applied ${names.join(', ')}.`
}

function granted(role: string | undefined, views: readonly string[]): readonly string[] {
  return views.length === 0 ? [] : [`${role} can read ${views.join(', ')}.`]
}
