// A private Postgres for tests that kill it, and direct queries on separate connections.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import { freezePostgres, postgresPid } from '@paylog/testing/frozenPostgres'
import { freePort } from '@paylog/testing/processes'
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
  let frozen: readonly number[] = []
  t.teardown(() => {
    for (const pid of frozen) process.kill(pid, 'SIGCONT')
  })
  return {
    databaseUrl: postgres.databaseUrl,
    async freeze() {
      frozen = await freezePostgres(home)
    },
    async thaw() {
      for (const pid of frozen) process.kill(pid, 'SIGCONT')
      frozen = []
    },
    async crash() {
      const ended = once(postgres.lost, 'abort')
      process.kill(await postgresPid(home), 'SIGQUIT')
      await ended
    },
    async restart() {
      postgres = await start()
    },
    stop: () => postgres.stop(),
  }
}
