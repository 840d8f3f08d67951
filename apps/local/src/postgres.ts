// The embedded Postgres, held by a process of its own: it stops when its supervisor asks or is gone.
import { loadConfig } from '@paylog/config/environment'
import { port, text } from '@paylog/config/kinds'
import { startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { Type } from 'typebox'

runApp('postgres', async ({ log, lifecycle }) => {
  const config = loadConfig(Type.Object({ PORT: port(), POSTGRES_DIRECTORY: text() }))
  const starting = startEmbeddedPostgres({
    directory: config.POSTGRES_DIRECTORY,
    port: config.PORT,
    signal: lifecycle.stopping,
    log,
  })
  // A stop during the start waits for it: a database that is just being made would go on being made behind our back.
  lifecycle.add('postgres', async () => {
    const started = await starting.catch(() => undefined)
    await started?.stop()
  })
  const postgres = await starting
  postgres.lost.addEventListener('abort', () => lifecycle.fail(postgres.lost.reason))
  return { databaseUrl: postgres.databaseUrl }
})
