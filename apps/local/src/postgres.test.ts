// The embedded Postgres process, stopped while it creates its database.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@paylog/testing/processes'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'

t.test('SIGTERM while the database is being created leaves no unfinished cluster', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-postgres-test-'))
  const data = join(directory, 'postgres')
  const child = spawn(process.execPath, [fileURLToPath(new URL('postgres.ts', import.meta.url))], {
    env: { PATH: process.env.PATH, ...moduleLoading, PORT: String(await freePort()), POSTGRES_DIRECTORY: data },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await exited
    rmSync(directory, { recursive: true, force: true })
  })
  const unfinished = join(data, 'cluster.unfinished')
  await waitFor(() => existsSync(join(unfinished, 'PG_VERSION')), { what: 'the database creation to begin' })
  child.kill('SIGTERM')
  t.same(await exited, [0, null])
  t.notOk(existsSync(unfinished))
})
