// Sessions through PgBouncer, with its own defaults.

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { findPgBouncer, startPgBouncer } from '@paylog/testing/pgBouncer'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import t, { type Test } from 'tap'
import { createLog } from '../telemetry/log.ts'
import { holdLock } from './lock.ts'
import { createPool } from './pool.ts'
import { SharedSessionError } from './session.ts'

const skip = (await findPgBouncer()) === undefined && 'there is no pgbouncer'
const log = createLog({ app: 'test', level: 'silent' })

async function poolThrough(t: Test, settings: Readonly<Record<string, string>>) {
  const { databaseUrl } = await startPgBouncer(t, (await createTestDatabase(t)).databaseUrl, settings)
  const pool = createPool({ databaseUrl, applicationName: 'pooled', max: 3, settings: { work_mem: '1234kB' }, log })
  t.teardown(() => pool.end())
  return { databaseUrl, pool }
}

t.test('a pooler in session mode gives each client of a pool a session with its settings', { skip }, async (t) => {
  const { databaseUrl, pool } = await poolThrough(t, {})
  const read = `select pg_backend_pid() as pid, current_setting('statement_timeout') as timeout,
    current_setting('work_mem') as memory, current_setting('application_name') as name, current_setting('jit') as jit`
  const clients = await Promise.all([pool.connect(), pool.connect(), pool.connect()])
  const found = await Promise.all(clients.map(async (client) => (await client.query(read)).rows[0]))
  t.equal(new Set(found.map(({ pid }) => pid)).size, clients.length)
  for (const { pid: _, ...settings } of found)
    t.strictSame(settings, { timeout: '15s', memory: '1234kB', name: 'pooled', jit: 'off' })
  for (const client of clients) client.release(true)
  t.equal((await pool.query('select 1 as one')).rows[0]?.one, 1, 'a session that another client left was reset')
  const { signal } = new AbortController()
  const first = await holdLock({ databaseUrl, name: 'pooled', signal, log })
  const waiting = new Error('somebody holds it')
  const onWaiting = () => {
    throw waiting
  }
  await t.rejects(holdLock({ databaseUrl, name: 'pooled', onWaiting, signal, log }), waiting)
  await first.release()
})

for (const pool_mode of ['transaction', 'statement'])
  t.test(
    `the first statement through a pooler in ${pool_mode} mode fails, and says what to use`,
    { skip },
    async (t) => {
      const { pool } = await poolThrough(t, { pool_mode })
      await t.rejects(pool.query('select 1'), SharedSessionError)
      await t.rejects(pool.query('select 1'), /session mode/)
    },
  )

const noOpenssl = spawnSync('openssl', ['version']).status !== 0 && 'NOT TESTED: creating the certificate needs openssl'

/** A certificate for 127.0.0.1, which is its own authority. */
function certificate(directory: string, name: string): { readonly key: string; readonly certificate: string } {
  const [key, file] = [join(directory, `${name}.key`), join(directory, `${name}.pem`)]
  const subject = ['-subj', '/CN=paylog', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, '-keyout', key, '-out', file], {
    stdio: 'ignore',
  })
  // Of the user that the pooler runs as.
  chmodSync(key, 0o644)
  return { key, certificate: file }
}

t.test(
  'sslmode=require checks the certificate as verify-full does, and is one line in the log instead of a page',
  { skip: skip || noOpenssl },
  async (t) => {
    const directory = t.testdir({})
    const [own, other] = [certificate(directory, 'own'), certificate(directory, 'other')]
    const { databaseUrl } = await startPgBouncer(t, (await createTestDatabase(t)).databaseUrl, {
      client_tls_sslmode: 'require',
      client_tls_key_file: own.key,
      client_tls_cert_file: own.certificate,
    })
    const lines: string[] = []
    const kept = createLog({ app: 'test' }, { write: (line: string) => void lines.push(line) })
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    t.teardown(() => process.off('warning', onWarning))
    const poolFor = (parameters: Readonly<Record<string, string>>) => {
      const url = new URL(databaseUrl)
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      const pool = createPool({ databaseUrl: url.href, applicationName: 'secret', max: 1, log: kept })
      t.teardown(() => pool.end())
      return pool
    }
    const trusted = poolFor({ sslmode: 'require', sslrootcert: own.certificate })
    t.equal((await trusted.query('select 1 as one')).rows[0]?.one, 1)
    for (const sslrootcert of [other.certificate, ''])
      await t.rejects(
        poolFor({ sslmode: 'require', ...(sslrootcert && { sslrootcert }) }).query('select 1'),
        /certificate/,
      )
    await t.rejects(poolFor({}).query('select 1'), 'without TLS the pooler refuses')
    t.match(lines, [/"sslmode":"require".*the certificate of the server is checked/])
    t.equal(lines.length, 1)
    t.strictSame(warnings, [])
  },
)
