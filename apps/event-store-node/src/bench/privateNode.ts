// A node as a process of its own, on a Postgres of its own with durable settings, for whoever measures.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { createLog } from '@paylog/runtime/log'
import pg from 'pg'

const script = fileURLToPath(new URL('../main.ts', import.meta.url))

export type PrivateNode = {
  /** `esdb://…` */
  readonly connectionString: string
  /** Of the Postgres, which is there for others as well. */
  readonly databaseUrl: string
  /** Of the node's process, another one after a restart. */
  pid(): number
  /** What its answers are worth, as Postgres says. */
  readonly settings: string
  /** Resident memory of the node in MiB, Postgres not included. */
  memoryMiB(): number
  /** Stops the node and starts it again; how long it took until it served, in ms. */
  restart(): Promise<number>
  /** Stops everything and deletes the data. */
  stop(): Promise<void>
}

/** Starts both in a temporary directory. */
export async function startPrivateNode(): Promise<PrivateNode> {
  const directory = join(tmpdir(), `paylog-event-store-${randomUUID()}`)
  const log = createLog({ app: 'bench', level: 'error' })
  const postgres = await startEmbeddedPostgres({ directory, port: await freePort(), log })
  const cleanUp = async () => {
    await postgres.stop()
    await rm(directory, { recursive: true, force: true })
  }
  const port = await freePort()
  const env = { DATABASE_URL: postgres.databaseUrl, PORT: String(port), LOG_LEVEL: 'warn' }
  try {
    let node = await startNode(env)
    return {
      connectionString: `esdb://127.0.0.1:${port}?tls=false`,
      databaseUrl: postgres.databaseUrl,
      pid: () => node.pid ?? 0,
      settings: await durability(postgres.databaseUrl),
      memoryMiB: () => memoryMiB(node.pid ?? 0),
      async restart() {
        await stopNode(node)
        const begin = performance.now()
        node = await startNode(env)
        return performance.now() - begin
      },
      async stop() {
        await stopNode(node)
        await cleanUp()
      },
    }
  } catch (error) {
    await cleanUp()
    throw error
  }
}

async function startNode(env: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script], { env: { ...env }, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const refused = once(child, 'exit').then(([code]) => {
    throw new Error(`The node ended with ${code} before it served`)
  })
  await Promise.race([once(child, 'message'), refused])
  refused.catch(() => undefined)
  return child
}

async function stopNode(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}

async function durability(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      `select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'wal_sync_method') order by 1`,
    )
    return rows.map(({ name, setting }) => `${name}=${setting}`).join(', ')
  } finally {
    await client.end()
  }
}

function memoryMiB(pid: number): number {
  // A small Linux may be without `ps`, and other systems are without `/proc`.
  const kibibytes =
    process.platform === 'linux'
      ? /^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(kibibytes) / 1024
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
