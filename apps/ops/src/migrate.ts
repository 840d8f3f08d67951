// `migrate`: brings the tables of the read models and of the webhooks to this version.
import { readModelMigrations } from '@paylog/projections/migrate'
import { loadConfig, url } from '@paylog/runtime/config'
import { createLog } from '@paylog/runtime/log'
import { createPool, migrate } from '@paylog/runtime/postgres'
import { migrateWebhooks } from '@paylog/worker/migrate'
import { Type } from 'typebox'
import { type Command, readArguments } from './command.ts'

export const migrateTables: Command = {
  name: 'migrate',
  usage: '[--json]',
  summary: 'Create or update the tables of the read models and of the webhooks',
  async run(args, { environment, print }) {
    const { values } = readArguments(args, [], { json: { type: 'boolean' } })
    const { DATABASE_URL } = loadConfig(Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) }), environment)
    const log = createLog({ app: 'ops', level: 'warn' }, process.stderr)
    const pool = createPool({ databaseUrl: DATABASE_URL, applicationName: 'paylog ops', max: 2, log })
    try {
      const read_models = await migrate(pool, readModelMigrations)
      const webhooks = await migrateWebhooks(pool)
      if (values.json) await print(JSON.stringify({ read_models, webhooks }))
      else await print(applied([...read_models, ...webhooks]))
    } finally {
      await pool.end()
    }
  },
}

function applied(names: readonly string[]): string {
  return names.length === 0 ? 'Everything is up to date.' : `Applied ${names.join(', ')}.`
}
