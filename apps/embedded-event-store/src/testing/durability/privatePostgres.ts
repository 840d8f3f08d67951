// A private Postgres for tests that kill it, and direct queries on separate connections.

import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import type { Test } from 'tap'

export async function queryOnce(
  databaseUrl: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(text, [...values])
    return rows
  } finally {
    await client.end()
  }
}

const log = createLog({ app: 'test', level: 'silent' })

export type PrivatePostgres = {
  readonly databaseUrl: string
  /** Suspends all its processes, once none of them waits for the disk. Linux only. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** Postgres's immediate shutdown: processes end at once without writing memory to disk. */
  crash(): Promise<void>
  /** Restarts it with the same data and address. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** @param directory of its data; default: a temporary one */
export async function startPrivatePostgres(t: Test, directory?: string): Promise<PrivatePostgres> {
  const home = directory ?? (await mkdtemp(join(tmpdir(), 'paylog-private-postgres-')))
  if (directory === undefined) t.teardown(() => rm(home, { recursive: true, force: true }))
  const port = await freePort()
  const start = () => startEmbeddedPostgres({ directory: home, port, log })
  let postgres: EmbeddedPostgres = await start()
  t.teardown(() => postgres.stop())
  let frozen: number[] = []
  t.teardown(() => {
    for (const pid of frozen) process.kill(pid, 'SIGCONT')
  })
  const serverPid = async () => Number.parseInt(await readFile(join(home, 'cluster', 'postmaster.pid'), 'utf8'), 10)
  return {
    databaseUrl: postgres.databaseUrl,
    async freeze() {
      const server = await serverPid()
      // The postmaster first, so that it starts no further process.
      process.kill(server, 'SIGSTOP')
      frozen = [server, ...(await childrenOf(server))]
      for (const pid of frozen) process.kill(pid, 'SIGSTOP')
      const isFrozen = async () => (await Promise.all(frozen.map(isStopped))).every(Boolean)
      await waitFor(isFrozen, { what: 'Postgres to be suspended' })
    },
    async thaw() {
      for (const pid of frozen) process.kill(pid, 'SIGCONT')
      frozen = []
    },
    async crash() {
      const ended = once(postgres.lost, 'abort')
      process.kill(await serverPid(), 'SIGQUIT')
      await ended
    },
    async restart() {
      postgres = await start()
    },
    stop: () => postgres.stop(),
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return list.trim().split(' ').map(Number)
}

async function isStopped(pid: number): Promise<boolean> {
  // The state follows the process name, which is in parentheses and may contain anything.
  return /\) T /.test(await readFile(`/proc/${pid}/stat`, 'utf8'))
}
