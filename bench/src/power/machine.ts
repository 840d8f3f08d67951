// The machine that loses power: a disk with two Postgres, one for the log and one for everything else, and the embedded event
// store. Two, because a checkpoint that is ahead of the log could not be seen in one.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createDisk, type Disk } from '@paylog/testing/diskImage'
import { freezePostgres } from '@paylog/testing/frozenPostgres'
import { freePort } from '@paylog/testing/processes'
import { type BenchmarkProgram, startBenchmarkProgram } from '../harness/program.ts'
import { query } from './recovered.ts'

export type Machine = {
  /** `logUrl` and `tablesUrl` of Postgres, the same after a failure. */
  readonly logUrl: string
  readonly tablesUrl: string
  readonly eventStoreUrl: string
  startEventStore(): Promise<void>
  /** Syncs everything, so that only what happens from now on can be lost. */
  sync(): Promise<void>
  /** Everything that is not on the disk itself is gone; all processes are. */
  losePower(): Promise<void>
  /** Starts Postgres from what is left. @returns how long that took */
  powerOn(): Promise<number>
}

const main = new URL('../../../apps/embedded-event-store/src/main.ts', import.meta.url)
const names = ['log', 'tables'] as const
const silent = createLog({ app: 'power', level: 'silent' })

/** @param stack ends all of it @param isDurable false turns fsync off */
export async function startMachine(stack: AsyncDisposableStack, isDurable: boolean): Promise<Machine> {
  const ports = { log: await freePort(), tables: await freePort(), store: await freePort() }
  let disk: Disk = await createDisk()
  let servers: readonly EmbeddedPostgres[] = []
  let store: BenchmarkProgram | undefined
  const directories = () => names.map((name) => join(disk.directory, name))
  const start = async () => {
    servers = await Promise.all(
      names.map((name) =>
        startEmbeddedPostgres({ directory: join(disk.directory, name), port: ports[name], isDurable, log: silent }),
      ),
    )
  }
  stack.defer(async () => {
    await store?.stop()
    await Promise.all(servers.map((server) => server.stop()))
    await disk[Symbol.asyncDispose]()
  })
  await start()
  const [log, tables] = servers
  if (log === undefined || tables === undefined) throw new Error('Postgres was not started')
  // One call for the whole disk before the recovery, instead of one for each file.
  for (const { superuserUrl } of servers)
    await query(superuserUrl, `alter system set recovery_init_sync_method = syncfs`)
  return {
    logUrl: log.superuserUrl,
    tablesUrl: tables.superuserUrl,
    eventStoreUrl: `esdb://127.0.0.1:${ports.store}?tls=false`,
    async startEventStore() {
      const env = { DATABASE_URL: log.databaseUrl, PORT: String(ports.store), LOG_LEVEL: 'silent' }
      store = await startBenchmarkProgram(main, { env, stack })
    },
    sync: () => disk.sync(),
    async losePower() {
      const frozen = (await Promise.all(directories().map(freezePostgres))).flat()
      const copy = await disk.copy()
      if (store !== undefined) process.kill(store.pid, 'SIGKILL')
      for (const pid of frozen) process.kill(pid, 'SIGKILL')
      await Promise.all(servers.map((server) => server.stop()))
      await store?.stop()
      await disk[Symbol.asyncDispose]()
      disk = copy
      // A real machine gives its processes new ids after a failure.
      for (const directory of directories()) await rm(join(directory, 'cluster', 'postmaster.pid'), { force: true })
    },
    async powerOn() {
      const from = performance.now()
      await start()
      return performance.now() - from
    },
  }
}
