// Runs the embedded Postgres as a process that stops with its supervisor.

import { startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { loadConfig } from '@paylog/runtime/config/environment'
import { port, text } from '@paylog/runtime/config/kinds'
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
  // Wait for the start before stopping: otherwise initdb would go on in the background.
  const stop = async () => {
    const started = await starting.catch(() => undefined)
    await started?.stop()
  }
  lifecycle.add('postgres', stop, () => ['the checkpoint of Postgres'])
  const postgres = await starting
  postgres.lost.addEventListener('abort', () => lifecycle.fail(postgres.lost.reason))
  return { databaseUrl: postgres.databaseUrl }
})
