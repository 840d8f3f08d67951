// A Postgres of our own for machines that have none: made, started and stopped as a child process.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeDirectory } from '@paylog/runtime/process/makeDirectory'
import type { Logger } from '@paylog/runtime/telemetry/log'
import pg from 'pg'
import { stopOrphan } from './postgresOrphan.ts'
import { findPostgresProgram, type PostgresProgram, type RunAs } from './postgresProgram.ts'

const readyTimeoutMs = 30_000
// Shorter than the ten seconds that an app has to stop, so that a hanging Postgres is ended by us and not beside us.
const stopTimeoutMs = 8_000
const pollMs = 20
const logLimitBytes = 5 * 1024 * 1024
const superuser = 'postgres'
/** The service's: it owns its database, and may do nothing beyond. */
const user = 'paylog'
const database = 'paylog'
/** Files with passwords, for their owner's eyes only. */
const superuserPasswordFile = 'superuser-password'
const passwordFile = 'password'

// Reachable from this machine only, and only with the password. Every commit is on disk when it is acknowledged.
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  synchronous_commit: 'on',
  // Nobody replicates from here, so the log holds no more than recovery needs.
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
}

// The data directory is named by way of the working directory: that is entered before the user is changed, so it may lie
// where the user that Postgres runs as could not get to (in root's home).
const dataDirectory = (cluster: string) => (process.platform === 'linux' ? '/proc/self/cwd' : cluster)

export type EmbeddedPostgres = {
  /** Of the database `paylog`, as its owner, who may do nothing elsewhere. */
  readonly databaseUrl: string
  /** The same database as the server's superuser, for tests and repairs. */
  readonly superuserUrl: string
  /** Aborts, with the reason, when Postgres ends without having been asked to. */
  readonly lost: AbortSignal
  stop(): Promise<void>
}

/**
 * Starts the Postgres of a directory on 127.0.0.1, making it first where the directory is new. A Postgres that a killed
 * process left running on the directory is stopped before.
 *
 * @param options `directory` holds the data, the passwords (readable by their owner only) and `postgres.log`; what is not
 *   durable outlives a killed Postgres, and no loss of power; `signal` breaks off the making of a new database
 * @throws when the port is in use, Postgres does not start, or the database is one of an earlier version, in which the
 *   service was superuser; the message says why
 */
export async function startEmbeddedPostgres({
  directory,
  port,
  isDurable = true,
  signal,
  log,
}: {
  directory: string
  port: number
  isDurable?: boolean
  signal?: AbortSignal
  log: Logger
}): Promise<EmbeddedPostgres> {
  const cluster = join(directory, 'cluster')
  makeDirectory(directory, 0o700)
  await stopOrphan(directory, cluster, log)
  const program = await ownedProgram(cluster)
  if ((await exists(cluster)) && !(await exists(join(directory, superuserPasswordFile))))
    throw new Error(
      `the database in ${directory} is of an earlier version, in which Paylog was its superuser: move it away and start again`,
    )
  const passwords = {
    // initdb opens it once more, as the user that it runs as.
    [superuser]: await ownPassword(join(directory, superuserPasswordFile), program.runAs),
    [user]: await ownPassword(join(directory, passwordFile), {}),
  }
  if (!(await exists(cluster))) await initialise(program, directory, cluster, signal)
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
    if (!stop.asked()) lost.abort(new Error(`Postgres ended (${signal ?? code}): ${await lastLogError(directory)}`))
  })
  log.info({ port, directory }, 'Postgres is up')
  return { databaseUrl: url(user, database), superuserUrl: url(superuser, database), lost: lost.signal, stop }
}

// Data that an ordinary user made stays that user's, also when root starts it.
async function ownedProgram(cluster: string): Promise<PostgresProgram> {
  const program = await findPostgresProgram()
  if (program.runAs.uid === undefined || !(await exists(cluster))) return program
  const { uid, gid } = await stat(cluster)
  return { ...program, runAs: { uid, gid } }
}

async function ownPassword(file: string, { uid, gid }: RunAs): Promise<string> {
  if (!(await exists(file))) {
    const unfinished = `${file}.${process.pid}`
    await writeFile(unfinished, randomBytes(24).toString('hex'), { mode: 0o600, flush: true })
    if (uid !== undefined && gid !== undefined) await chown(unfinished, uid, gid)
    await rename(unfinished, file)
  }
  return readFile(file, 'utf8')
}

// Made beside its place and renamed when complete: an interrupted start leaves nothing that looks like a database.
async function initialise(
  { initdb, runAs }: PostgresProgram,
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
  try {
    const flags = [
      `--pgdata=${dataDirectory(unfinished)}`,
      `--username=${superuser}`,
      '--auth=scram-sha-256',
      '--pwfile=/dev/stdin',
      '--encoding=UTF8',
      // The same order and the same upper and lower case on every machine, whatever locales it has.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ]
    const child = spawn(initdb, flags, { ...runAs, cwd: unfinished, env: {}, stdio: [password.fd, 'ignore', 'pipe'] })
    // initdb removes what it wrote. We wait for that below, because the next start uses the same directory.
    signal?.addEventListener('abort', () => child.kill(), { once: true })
    let errorOutput = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errorOutput += text
    })
    const [code] = await once(child, 'close')
    if (code !== 0) {
      await rm(unfinished, { recursive: true, force: true })
      throw new Error(`the database could not be made: ${errorOutput.trim()}`)
    }
  } finally {
    await password.close()
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
  const size = (await exists(file)) ? (await stat(file)).size : 0
  if (size > logLimitBytes) await rename(file, `${file}.old`)
  const output = await open(file, 'a', 0o600)
  try {
    const flags = Object.entries(ownSettings).map(([name, value]) => `--${name}=${value}`)
    const child = spawn(postgres, ['-D', dataDirectory(cluster), ...flags], {
      ...runAs,
      cwd: cluster,
      env: {},
      stdio: ['ignore', output.fd, output.fd],
    })
    await once(child, 'spawn')
    return child
  } finally {
    await output.close()
  }
}

function createStop(child: ChildProcess, exited: Promise<unknown>): { (): Promise<void>; asked(): boolean } {
  let isRequested = false
  // SIGINT is Postgres' fast stop: sessions are ended, everything is written. This one is for a process.exit elsewhere.
  const interrupt = () => child.kill('SIGINT')
  process.once('exit', interrupt)
  const stop = async () => {
    isRequested = true
    process.removeListener('exit', interrupt)
    interrupt()
    const overdue = setTimeout(() => child.kill('SIGQUIT'), stopTimeoutMs)
    // One that failed at once may have gone before anybody listened.
    if (isRunning(child)) await exited
    clearTimeout(overdue)
  }
  return Object.assign(stop, { asked: () => isRequested })
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
  // Postgres may have ended because somebody took its directory away, and the log with it.
  const text = await readFile(join(directory, 'postgres.log'), 'utf8').catch(() => '')
  const lines = text.trim().split('\n')
  return lines.findLast((line) => /FATAL|PANIC|ERROR/.test(line)) || lines.at(-1) || 'it said nothing'
}

async function ensureDatabase(url: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rowCount: roles } = await client.query('select 1 from pg_roles where rolname = $1', [user])
    if (roles === 0) await client.query(`create role ${user} login password ${client.escapeLiteral(password)}`)
    const { rowCount: databases } = await client.query('select 1 from pg_database where datname = $1', [database])
    if (databases === 0) await client.query(`create database ${database} owner ${user}`)
  } finally {
    await client.end()
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch {
    return false
  }
}
