// The Postgres of a campaign: durable, supervised, and replaced by a standby that was in step with it.
import { execFile } from 'node:child_process'
import { chown, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { findPostgresProgram } from '@paylog/embedded-postgres/postgresProgram'
import { createLog } from '@paylog/runtime/telemetry/log'
import { freePort } from '@paylog/testing/processes'
import pg from 'pg'
import { type SupervisedProcess, superviseProcess } from './supervisedProcess.ts'

export type CampaignPostgres = {
  /** The server of now. */
  process(): SupervisedProcess
  port(): number
  /** Of the owner of the tables, with this port. */
  urlAt(port: number): string
  /** Runs SQL as superuser. */
  administer(sql: string): Promise<void>
  /**
   * Copies the server to a standby that confirms every commit, kills the server in the middle of the load, and promotes the
   * standby. Then `port` is another one.
   */
  failOver(): Promise<void>
}

const run = promisify(execFile)
const pollMs = 50
const inStepTimeoutMs = 60_000
/** How long commits wait for the standby before the server dies. */
const inStepMs = 500

/** Postgres runs as another user, who may not reach the directory by its path. */
const dataDirectory = (cluster: string) => (process.platform === 'linux' ? '/proc/self/cwd' : cluster)

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  wal_keep_size: '512MB',
  wal_level: 'replica',
  max_wal_senders: '4',
  jit: 'off',
  timezone: 'UTC',
}

/** @param directory of its data; its log is in `logs` */
export async function startCampaignPostgres(
  stack: AsyncDisposableStack,
  { directory, logs }: { readonly directory: string; readonly logs: string },
): Promise<CampaignPostgres> {
  const log = createLog({ app: 'campaign', level: 'error' })
  const created = await startEmbeddedPostgres({ directory, port: await freePort(), log })
  await created.stop()
  const { postgres: program, runAs } = await findPostgresProgram()
  const urlAt = (url: string, port: number) => Object.assign(new URL(url), { port: String(port) }).href
  const superuserUrl = () => urlAt(created.superuserUrl, current.port)
  let servers = 0
  let current = await start(join(directory, 'cluster'))

  async function start(cluster: string, more: Readonly<Record<string, string>> = {}) {
    const port = await freePort()
    const flags = Object.entries({ ...settings, port: String(port), ...more })
    const words = [program, '-D', dataDirectory(cluster), ...flags.map(([name, value]) => `--${name}=${value}`)]
    servers++
    const server = superviseProcess(stack, 'postgres', {
      command: { words, env: {}, directory: cluster, runAs },
      logFile: join(logs, 'postgres.log'),
      isReady: () => succeeds(urlAt(created.superuserUrl, port), 'select 1'),
    })
    await server.untilReady()
    return { server, port, cluster }
  }

  async function copyCluster(): Promise<string> {
    const copy = join(directory, `cluster-${servers + 1}`)
    await withClient(superuserUrl(), async (client) => {
      await client.query(`select pg_backup_start('standby', true)`)
      // Files may vanish while it copies. Postgres repairs all that from its write-ahead log.
      await run('cp', ['-a', current.cluster, copy]).catch(() => {})
      const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
      await rm(join(copy, 'postmaster.pid'), { force: true })
      for (const [name, text] of [
        ['backup_label', rows[0]?.labelfile ?? ''],
        ['standby.signal', ''],
      ] as const) {
        await writeFile(join(copy, name), text)
        if (runAs.uid !== undefined && runAs.gid !== undefined) await chown(join(copy, name), runAs.uid, runAs.gid)
      }
    })
    return copy
  }

  return {
    process: () => current.server,
    port: () => current.port,
    urlAt: (port) => urlAt(created.databaseUrl, port),
    administer: (sql) => withClient(superuserUrl(), async (client) => void (await client.query(sql))),
    async failOver() {
      const old = current
      const { username, password } = new URL(created.superuserUrl)
      const standby = await start(await copyCluster(), {
        primary_conninfo: `host=127.0.0.1 port=${old.port} user=${username} password=${password}`,
      })
      const primary = superuserUrl()
      await withClient(primary, async (client) => {
        await client.query(`alter system set synchronous_standby_names = '*'`)
        await client.query('select pg_reload_conf()')
      })
      const inStep = `select 1 / count(*) from pg_stat_replication where sync_state = 'sync'`
      const deadline = performance.now() + inStepTimeoutMs
      while (!(await succeeds(primary, inStep))) {
        if (performance.now() > deadline) throw new Error('the standby does not get in step')
        await pause(pollMs)
      }
      await pause(inStepMs)
      await old.server.end()
      current = standby
      await withClient(superuserUrl(), async (client) => {
        await client.query('select pg_promote()')
        await client.query('alter system reset synchronous_standby_names')
        await client.query('select pg_reload_conf()')
      })
      await rm(old.cluster, { recursive: true, force: true })
    },
  }
}

async function withClient<Result>(url: string, use: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end().catch(() => {})
  }
}

const succeeds = (url: string, sql: string) =>
  withClient(url, (client) => client.query(sql)).then(
    () => true,
    () => false,
  )
