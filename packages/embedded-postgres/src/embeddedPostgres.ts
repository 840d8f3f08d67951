// Creates, starts and stops an embedded Postgres as a child process, for local mode.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeDirectory } from '@paylog/runtime/process/makeDirectory'
import type { Logger } from '@paylog/runtime/telemetry/log'
import pg from 'pg'
import { stopOrphan } from './postgresOrphan.ts'
import { findPostgresProgram, type PostgresProgram, type RunAs } from './postgresProgram.ts'

const readyTimeoutMs = 30_000
// Shorter than the ten seconds that an app has to stop, so that there is time to kill a hanging Postgres.
const stopTimeoutMs = 8_000
const pollMs = 20
const logLimitBytes = 5 * 1024 * 1024
const superuser = 'postgres'
/** The role of the service: it owns its database and has no other privileges. */
const user = 'paylog'
const database = 'paylog'
/** Password files, readable by their owner only. */
const superuserPasswordFile = 'superuser-password'
const passwordFile = 'password'

// Reachable from this machine only, with the password. A commit is on disk before it is acknowledged.
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  // A reused file of the write-ahead log keeps what it held until it is overwritten: erased personal data among it.
  wal_recycle: 'off',
  synchronous_commit: 'on',
  // There are no replicas, so the WAL needs only what recovery needs.
  wal_level: 'minimal',
  max_wal_senders: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
}

// We pass the data directory as an open file, because it may lie in a place that the user of Postgres cannot reach, such as
// root's home. Not as the working directory, which Postgres before 16 leaves and cannot enter again.
const dataDirectory = (cluster: string) => (process.platform === 'linux' ? '/proc/self/fd/3' : cluster)
const openData = (cluster: string) => (process.platform === 'linux' ? open(cluster, 'r') : undefined)

export type EmbeddedPostgres = {
  /** Connects to the database `paylog` as its owner, an ordinary role. */
  readonly databaseUrl: string
  /** Connects to the same database as superuser, for tests and repairs. */
  readonly superuserUrl: string
  /** Aborts with the reason when Postgres ends unexpectedly. */
  readonly lost: AbortSignal
  stop(): Promise<void>
}

/**
 * Starts the Postgres of a directory on 127.0.0.1, and creates the database if the directory is new. First stops a Postgres
 * that a killed process left running on the directory.
 *
 * @param options `directory` holds the data, the passwords (readable by their owner only) and `postgres.log`; without
 *   `isDurable`, data survives a killed Postgres but not a power failure; `programs` is the directory of another version's programs; `signal`
 *   cancels the creation of a new database
 * @throws when the port is in use, or Postgres does not start
 */
export async function startEmbeddedPostgres({
  directory,
  port,
  isDurable = true,
  programs,
  signal,
  log,
}: {
  directory: string
  port: number
  isDurable?: boolean
  programs?: string | undefined
  signal?: AbortSignal
  log: Logger
}): Promise<EmbeddedPostgres> {
  const cluster = join(directory, 'cluster')
  makeDirectory(directory, 0o700)
  await stopOrphan(directory, cluster, log)
  const program = await ownedProgram(cluster, programs)
  const passwords = {
    // initdb reopens this file as the user that it runs as.
    [superuser]: await readOrCreatePassword(join(directory, superuserPasswordFile), program.runAs),
    [user]: await readOrCreatePassword(join(directory, passwordFile), {}),
  }
  if (!existsSync(cluster)) await initialise(program, directory, cluster, signal)
  const child = await spawnPostgres(program, directory, cluster, {
    ...settings,
    port: String(port),
    fsync: isDurable ? 'on' : 'off',
  })
  const exited = once(child, 'exit')
  const stop = createStop(child, exited)
  const lost = new AbortController()
  const url = (role: keyof typeof passwords, name: string) =>
    `postgresql://${role}:${passwords[role]}@127.0.0.1:${port}/${name}`
  try {
    await untilReady(url(superuser, 'postgres'), child, () => startFailure(directory, port))
    await ensureDatabase(url(superuser, 'postgres'), passwords[user])
  } catch (error) {
    await stop()
    throw error
  }
  void exited.then(async ([code, signal]) => {
    if (!stop.isRequested())
      lost.abort(new Error(`Postgres ended (${signal ?? code}): ${await lastLogError(directory)}`))
  })
  log.info({ port, directory }, 'Postgres started')
  return { databaseUrl: url(user, database), superuserUrl: url(superuser, database), lost: lost.signal, stop }
}

// Data that an ordinary user created stays with that user, even if root starts Postgres later.
async function ownedProgram(cluster: string, programs: string | undefined): Promise<PostgresProgram> {
  const program = await findPostgresProgram(programs)
  if (program.runAs.uid === undefined || !existsSync(cluster)) return program
  const { uid, gid } = await stat(cluster)
  return { ...program, runAs: { uid, gid } }
}

async function readOrCreatePassword(file: string, { uid, gid }: RunAs): Promise<string> {
  if (!existsSync(file)) {
    const unfinished = `${file}.${process.pid}`
    await writeFile(unfinished, randomBytes(24).toString('hex'), { mode: 0o600, flush: true })
    if (uid !== undefined && gid !== undefined) await chown(unfinished, uid, gid)
    await rename(unfinished, file)
  }
  return readFile(file, 'utf8')
}

// Created under a temporary name and renamed when complete, so that an interrupted start leaves no half-made database.
async function initialise(
  { initdb, runAs, locale }: PostgresProgram,
  directory: string,
  cluster: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted()
  const unfinished = `${cluster}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  if (runAs.uid !== undefined && runAs.gid !== undefined) await chown(unfinished, runAs.uid, runAs.gid)
  const password = await open(join(directory, superuserPasswordFile), 'r')
  const data = await openData(unfinished)
  try {
    const flags = [
      `--pgdata=${dataDirectory(unfinished)}`,
      `--username=${superuser}`,
      '--auth=scram-sha-256',
      '--pwfile=/dev/stdin',
      '--encoding=UTF8',
      ...locale,
    ]
    const stdio: StdioOptions = [password.fd, 'ignore', 'pipe', data?.fd ?? 'ignore']
    const child = spawn(initdb, flags, { ...runAs, cwd: '/', env: {}, stdio })
    // initdb removes what it wrote. We wait for that below because the next start uses the same directory.
    signal?.addEventListener('abort', () => child.kill(), { once: true })
    let errorOutput = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errorOutput += text
    })
    const [code] = await once(child, 'close')
    if (code !== 0) {
      await rm(unfinished, { recursive: true, force: true })
      throw new Error(`the database could not be created: ${errorOutput.trim()}`)
    }
  } finally {
    await password.close()
    await data?.close()
  }
  await rename(unfinished, cluster)
}

async function spawnPostgres(
  { postgres, runAs }: PostgresProgram,
  directory: string,
  cluster: string,
  ownSettings: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const file = join(directory, 'postgres.log')
  const size = existsSync(file) ? (await stat(file)).size : 0
  if (size > logLimitBytes) await rename(file, `${file}.old`)
  const output = await open(file, 'a', 0o600)
  const data = await openData(cluster)
  try {
    const flags = Object.entries(ownSettings).map(([name, value]) => `--${name}=${value}`)
    const child = spawn(postgres, ['-D', dataDirectory(cluster), ...flags], {
      ...runAs,
      cwd: '/',
      env: {},
      stdio: ['ignore', output.fd, output.fd, data?.fd ?? 'ignore'],
    })
    await once(child, 'spawn')
    return child
  } finally {
    await output.close()
    await data?.close()
  }
}

function createStop(child: ChildProcess, exited: Promise<unknown>): { (): Promise<void>; isRequested(): boolean } {
  let isRequested = false
  // SIGINT is a fast shutdown: Postgres ends the sessions and writes everything. The exit handler covers process.exit.
  const interrupt = () => child.kill('SIGINT')
  process.once('exit', interrupt)
  const stop = async () => {
    isRequested = true
    process.removeListener('exit', interrupt)
    interrupt()
    const forceTimer = setTimeout(() => child.kill('SIGQUIT'), stopTimeoutMs)
    // A child that failed early may have exited before we listened for it.
    if (isRunning(child)) await exited
    clearTimeout(forceTimer)
  }
  return Object.assign(stop, { isRequested: () => isRequested })
}

const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null

async function untilReady(url: string, child: ChildProcess, explain: () => Promise<Error>): Promise<void> {
  const giveUpAt = performance.now() + readyTimeoutMs
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
    try {
      await client.connect()
      return await client.end()
    } catch (cause) {
      if (!isRunning(child)) throw await explain()
      if (performance.now() > giveUpAt) throw new Error('Postgres did not become ready', { cause })
    }
    await pause(pollMs)
  }
}

async function startFailure(directory: string, port: number): Promise<Error> {
  const message = await lastLogError(directory)
  return new Error(
    message.includes('could not create any TCP/IP sockets')
      ? `port ${port} on 127.0.0.1 is in use`
      : `Postgres did not start: ${message}`,
  )
}

async function lastLogError(directory: string): Promise<string> {
  // Postgres may have ended because its directory was deleted, log included.
  const text = await readFile(join(directory, 'postgres.log'), 'utf8').catch(() => '')
  const lines = text.trim().split('\n')
  return lines.findLast((line) => /FATAL|PANIC|ERROR/.test(line)) || lines.at(-1) || 'no log output'
}

async function ensureDatabase(url: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rowCount: roles } = await client.query('select 1 from pg_roles where rolname = $1', [user])
    if (roles === 0) await client.query(`create role ${user} login password ${client.escapeLiteral(password)}`)
    // To remove the traces of erased data from the disk: see `ops privacy scrub`.
    await client.query(`grant pg_checkpoint, pg_read_all_stats to ${user}`)
    const { rowCount: databases } = await client.query('select 1 from pg_database where datname = $1', [database])
    if (databases === 0) await client.query(`create database ${database} owner ${user}`)
  } finally {
    await client.end()
  }
}
