import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { createLog } from '@paylog/runtime/log'
import { createEndpoint } from '@paylog/testing/endpoint'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { becomes, createFaultRig, everythingArrives, rawNode } from './testing/faultRig.ts'

const log = createLog({ app: 'test', level: 'silent' })

t.test('a worker whose Postgres is restarted under load is not ready meanwhile, and loses nothing', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-worker-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const server = { directory: join(directory, 'postgres'), port: await freePort(), log }
  let postgres = await startEmbeddedPostgres(server)
  t.teardown(() => postgres.stop())
  const endpoint = await createEndpoint(t)
  const rig = await createFaultRig(t, rawNode(1, endpoint.url), { databaseUrl: postgres.databaseUrl })
  const worker = await rig.start()
  const appending = rig.append(100)
  await waitFor(() => endpoint.received.length >= 20, { what: 'traffic', timeoutMs: 30_000 })
  await postgres.stop()
  t.match((await becomes(worker, 503)).checks.postgres, { ok: false })
  postgres = await startEmbeddedPostgres(server)
  await appending
  await becomes(worker, 200)
  await everythingArrives(t, rig, endpoint)
  await worker.stop()
  t.strictSame(await worker.exited, { code: 0, signal: null }, 'the worker itself has lived through it')
})
