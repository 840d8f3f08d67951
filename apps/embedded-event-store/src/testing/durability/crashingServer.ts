// The server as a process that a test kills and restarts at the same address.
import { EventStoreDBClient } from '@eventstore/db-client'
import { freePort, startProcess, type TestProcess } from '@paylog/testing/processes'
import type { Test } from 'tap'

const script = new URL('../../main.ts', import.meta.url)

export type CrashingServer = {
  readonly port: number
  /** Starts the server, or a successor that waits for the running one to end. Resolves when it is ready. */
  start(): Promise<void>
  /** Kills the running server synchronously. */
  kill(): void
  /** Resolves when the last killed server has ended. */
  gone(): Promise<void>
  /** The number of kills. */
  readonly kills: number
  /** Resolves when the server is ready. */
  untilUp(): Promise<void>
  /** The current or last server process. */
  process(): TestProcess
  connect(): EventStoreDBClient
}

/** @param options `unexpectedEnd` is called when the server ends without a kill */
export async function createCrashingServer(
  t: Test,
  options: { readonly databaseUrl: string; readonly unexpectedEnd: (output: string) => void },
): Promise<CrashingServer> {
  const port = await freePort()
  const env = {
    DATABASE_URL: options.databaseUrl,
    PORT: String(port),
    LOG_LEVEL: 'fatal',
  }
  let current: TestProcess | undefined
  let killed: TestProcess | undefined
  let up = Promise.withResolvers<void>()
  let kills = 0

  const serving = (): TestProcess => {
    if (current === undefined) throw new Error('the server was never started')
    return current
  }
  const node: CrashingServer = {
    port,
    get kills() {
      return kills
    },
    untilUp: () => up.promise,
    process: serving,
    async start() {
      const started = await startProcess(t, { script, env })
      current = started
      up.resolve()
      void started.exited.then(() => {
        if (started !== killed) options.unexpectedEnd(started.output())
      })
    },
    kill() {
      killed = serving()
      kills += 1
      up = Promise.withResolvers()
      process.kill(killed.pid, 'SIGKILL')
    },
    async gone() {
      await killed?.exited
    },
    connect() {
      const client = EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false`)
      t.teardown(() => client.dispose())
      return client
    },
  }
  return node
}
