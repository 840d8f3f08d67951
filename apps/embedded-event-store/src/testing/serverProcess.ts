// The server as a separate process, to test its survival and measure its memory.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { EventStoreDBClient } from '@eventstore/db-client'
import { freePort, startProcess } from '@paylog/testing/processes'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import type { Test } from 'tap'

export type ServerProcess = {
  readonly port: number
  readonly client: EventStoreDBClient
  /** Memory use of the process. */
  residentMegabytes(): Promise<number>
  /** Log lines of level warn and above, except the one about fsync of the tests' Postgres. */
  warnings(): readonly string[]
}

export async function startServerProcess(t: Test): Promise<ServerProcess> {
  const { databaseUrl } = await createTestDatabase(t)
  const port = await freePort()
  const node = await startProcess(t, {
    script: new URL('../main.ts', import.meta.url),
    env: { DATABASE_URL: databaseUrl, PORT: String(port) },
  })
  const client = EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false`)
  t.teardown(() => client.dispose())
  return {
    port,
    client,
    async residentMegabytes() {
      const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(node.pid)])
      return Number(stdout.trim()) / 1024
    },
    warnings: () =>
      node
        .output()
        .split('\n')
        .filter((line) => line !== '' && !/^\{"level":"(?:trace|debug|info)"|Postgres runs with fsync off/.test(line)),
  }
}
