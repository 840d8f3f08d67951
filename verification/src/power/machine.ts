// The machine that loses power: a disk with two Postgres, one for the log and one for everything else, and the embedded event
// store. Two, because a checkpoint that is ahead of the log could not be seen in one.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type BenchmarkProgram, startBenchmarkProgram } from '@paylog/bench/harness/program'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { findFreePort } from '@paylog/runtime/process/ports'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createDisk } from '@paylog/testing/diskImage'
import { freezePostgres } from '@paylog/testing/frozenPostgres'
import { query } from './recovered.ts'

export type Machine = Awaited<ReturnType<typeof startMachine>>

const main = new URL('../../../apps/embedded-event-store/src/main.ts', import.meta.url)
const names = ['log', 'tables'] as const
const log = createLog({ app: 'power', level: 'silent' })

/**
 * @param stack ends all of it
 * @param isDurable false turns fsync off
 */
export async function startMachine(stack: AsyncDisposableStack, isDurable: boolean) {
  // Not one of the ports that tests take: this one is free for seconds after each failure.
  const taken = new Set<number>()
  const freePort = () => findFreePort(taken)
  const ports = { log: await freePort(), tables: await freePort(), store: await freePort() }
  let disk = await createDisk()
  let servers: readonly EmbeddedPostgres[] = []
  let store: BenchmarkProgram | undefined
  const startOne = (name: (typeof names)[number]) =>
    startEmbeddedPostgres({ directory: join(disk.directory, name), port: ports[name], isDurable, log })
  const start = async () => {
    servers = await Promise.all(names.map(startOne))
  }
  stack.defer(async () => {
    await store?.stop()
    await Promise.all(servers.map((server) => server.stop()))
    await disk[Symbol.asyncDispose]()
  })
  await start()
  const [logServer, tablesServer] = servers
  if (logServer === undefined || tablesServer === undefined) throw new Error('Postgres was not started')
  // One call for the whole disk before the recovery, instead of one for each file.
  for (const { superuserUrl } of servers)
    await query(superuserUrl, 'alter system set recovery_init_sync_method = syncfs')
  return {
    // The same after a failure.
    logUrl: logServer.superuserUrl,
    tablesUrl: tablesServer.superuserUrl,
    eventStoreUrl: `esdb://127.0.0.1:${ports.store}?tls=false`,
    async startEventStore() {
      const env = { DATABASE_URL: logServer.databaseUrl, PORT: String(ports.store), LOG_LEVEL: 'silent' }
      store = await startBenchmarkProgram(main, { env, stack })
    },
    /** Only what happens from now on can be lost. */
    sync: () => disk.sync(),
    /** Afterwards there is only what was on the disk itself, and no process. */
    async losePower() {
      const frozen = (await Promise.all(names.map((name) => freezePostgres(join(disk.directory, name))))).flat()
      const copy = await disk.copy()
      if (store !== undefined) process.kill(store.pid, 'SIGKILL')
      for (const pid of frozen) process.kill(pid, 'SIGKILL')
      await Promise.all([store, ...servers].map((ended) => ended?.stop()))
      await disk[Symbol.asyncDispose]()
      disk = copy
      // After a real failure no process has that id.
      for (const name of names) await rm(join(disk.directory, name, 'cluster', 'postmaster.pid'), { force: true })
    },
    /** Starts Postgres from what is left. @returns how long that took, in ms */
    async powerOn(): Promise<number> {
      const from = performance.now()
      await start()
      return performance.now() - from
    },
  }
}
