// The server as a process that is killed and started again at the same address.
import { EventStoreDBClient } from '@eventstore/db-client'
import { freePort, startProcess, type TestProcess } from '@paylog/testing/processes'
import type { Test } from 'tap'

const script = new URL('../../main.ts', import.meta.url)

export type CrashingServer = {
  readonly port: number
  /** Starts it, or a successor that waits until the one that runs is gone. Resolves when it serves. */
  start(): Promise<void>
  /** Kills the one that serves, at once: nothing happens in between. */
  kill(): void
  /** Resolves when the last one that was killed is gone. */
  gone(): Promise<void>
  /** How often it was killed. */
  readonly kills: number
  /** Resolves at once while it serves. */
  untilUp(): Promise<void>
  /** The one that serves, or did last. */
  process(): TestProcess
  connect(): EventStoreDBClient
}

/** @param options `unexpectedEnd` is told when it ends without having been killed */
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
