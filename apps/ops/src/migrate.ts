// `migrate`: brings the tables of the read models and of the webhooks to this version.
import { loadConfig } from '@paylog/config/environment'
import { text, url } from '@paylog/config/kinds'
import { migrateWebhooks } from '@paylog/deliveries/migrate'
import { readModelMigrations } from '@paylog/projections/registry'
import { migrate } from '@paylog/runtime/postgres/postgres'
import { grantReadAccess, requireRole, UnknownRoleError } from '@paylog/runtime/postgres/readerRole'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readArguments } from './command.ts'
import { opsPool } from './database.ts'

const Config = Type.Object({
  DATABASE_URL: url(['postgres', 'postgresql']),
  /** Who may read the views, and nothing else: the login of the read side, or a role that it belongs to. */
  READER_ROLE: Type.Optional(text()),
})
const schemas = ['read_models', 'webhooks']

export const migrateTables: CliCommand = {
  usage: '[--json]',
  summary: 'Create or update the tables of the read models and of the webhooks',
  details:
    '  --json  one object: the migrations that ran, and the views that READER_ROLE can read\n\n' +
    'It only goes forward, may run while the version before serves, and may be called again at any time, by several at\n' +
    'once. READER_ROLE names a role of Postgres that may then read all views, and nothing else, which is all that the\n' +
    'query API needs.',
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], { json: { type: 'boolean' } })
    const { DATABASE_URL, READER_ROLE: role } = loadConfig(Config, environment)
    const { pool } = opsPool(DATABASE_URL, { max: 2, errors })
    try {
      // Known before anything is changed.
      if (role !== undefined) await requireRole(pool, role)
      const read_models = await migrate(pool, readModelMigrations)
      const webhooks = await migrateWebhooks(pool)
      const readable = role === undefined ? [] : await grantReadAccess(pool, { role, schemas })
      if (values.json) await print(JSON.stringify({ read_models, webhooks, readable }))
      else await print([applied([...read_models, ...webhooks]), ...granted(role, readable)].join('\n'))
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
  return views.length === 0 ? [] : [`${role} may read ${views.join(', ')}.`]
}
