// A node as a process of its own, on a Postgres of its own with durable settings, for whoever measures.

import { freePort } from '@paylog/testing/processes'
import { type PrivatePostgres, startPrivatePostgres } from '../harness/privatePostgres.ts'
import { startBenchmarkProgram } from '../harness/program.ts'
import { peakMiB, residentMiB } from '../harness/usage.ts'

export type PrivateServer = {
  /** `esdb://…` */
  readonly connectionString: string
  /** There for others as well. */
  readonly postgres: PrivatePostgres
  /** Of the node's process, another one after a restart. */
  pid(): number
  /** Resident memory of the node, Postgres not included. */
  memoryMiB(): number
  peakMiB(): number
  /** Stops the node and starts it again; how long it took until it served, in ms. */
  restart(): Promise<number>
}

/** @param stack with which both are stopped and the data deleted */
export async function startPrivateServer(stack: AsyncDisposableStack): Promise<PrivateServer> {
  const postgres = await startPrivatePostgres(stack)
  const port = await freePort()
  const env = { DATABASE_URL: postgres.databaseUrl, PORT: String(port), LOG_LEVEL: 'warn' }
  const start = () =>
    startBenchmarkProgram(new URL('../../../apps/embedded-event-store/src/main.ts', import.meta.url), { env, stack })
  let node = await start()
  return {
    connectionString: `esdb://127.0.0.1:${port}?tls=false`,
    postgres,
    pid: () => node.pid,
    memoryMiB: () => residentMiB(node.pid),
    peakMiB: () => peakMiB(node.pid),
    async restart() {
      await node.stop()
      const begin = performance.now()
      node = await start()
      return performance.now() - begin
    },
  }
}
