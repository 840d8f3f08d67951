// Starts the servers for a test run, on free ports in a temporary directory.
import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../packages/embedded-postgres/src/embeddedPostgres.ts'
import { stopOrphan } from '../packages/embedded-postgres/src/postgresOrphan.ts'
import { isAlive } from '../packages/runtime/src/process/isAlive.ts'
import { createLog, type Logger } from '../packages/runtime/src/telemetry/log.ts'
import { createTemplate } from '../packages/testing/src/migratedDatabase.ts'
import { freePort } from '../packages/testing/src/processes.ts'
import { findRedis, startRedisProcess } from '../packages/testing/src/redisProcess.ts'
import { bundleLibraries } from './bundledLibraries.ts'

const directoryPrefix = 'paylog-test-'
const sharedMemory = '/dev/shm'
const neededBytes = 4 * 1024 ** 3

export type TestServers = {
  readonly directory: string
  /** Environment variables with the addresses of the servers. */
  readonly env: Record<string, string>
  /** A message about tests that this machine cannot run, printed at the end. */
  readonly skipped: string | undefined
  stop(): Promise<void>
}

/**
 * Starts Postgres, and Redis if it is installed. `TEST_POSTGRES` is the directory of another version's programs.
 * `TEST_DATABASE_URL` and `REDIS_TEST_URL` select existing servers instead; databases of failed tests are kept there for
 * inspection.
 */
export async function startServers(print: (line: string) => void): Promise<TestServers> {
  const log = createLog({ app: 'test', level: 'error' })
  const parent = await serverDirectory()
  await removeLeftovers(parent, log)
  const directory = await mkdtemp(join(parent, `${directoryPrefix}${process.pid}-`))
  // Processes of a file that timed out may still write there.
  const stops: (() => Promise<void>)[] = [() => rm(directory, { recursive: true, force: true, maxRetries: 5 })]
  const stop = async () => {
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) await last()
  }
  try {
    // Thousands of processes compile the same modules.
    const env: Record<string, string> = {
      NODE_COMPILE_CACHE: join(directory, 'compiled'),
      TEST_BUNDLED_LIBRARIES: await bundleLibraries(join(directory, 'libraries')),
    }
    if (!process.env.TEST_DATABASE_URL) {
      const postgres = await startEmbeddedPostgres({
        directory: join(directory, 'postgres'),
        port: await freePort(),
        // Dropping a database waits for the disk, which takes longer than most tests.
        isDurable: false,
        programs: process.env.TEST_POSTGRES,
        log,
      })
      stops.push(postgres.stop)
      // Tests create databases and roles.
      env.TEST_DATABASE_URL = postgres.superuserUrl
      env.TEST_DATABASE_TEMPLATE = await createTemplate(postgres.superuserUrl)
    }
    const redisProgram = await findRedis(process.env.PATH)
    const skipped =
      redisProgram === undefined && !process.env.REDIS_TEST_URL
        ? '!!! SKIPPED: everything that needs Redis. Install redis-server (or set REDIS_TEST_URL) to test it too.'
        : undefined
    if (skipped !== undefined) print(skipped)
    if (redisProgram !== undefined && !process.env.REDIS_TEST_URL) {
      const port = await freePort()
      const redis = await startRedisProcess({ program: redisProgram, port, directory, isDurable: false })
      stops.push(() => redis.stop())
      env.REDIS_TEST_URL = redis.url
    }
    return { directory, env, skipped, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

// Memory if possible: on a disk, the more than a hundred databases take a fifth of the run's time. Tests of durability
// use their own directories.
async function serverDirectory(): Promise<string> {
  try {
    const { bavail, bsize } = await statfs(sharedMemory)
    if (bavail * bsize >= neededBytes) return sharedMemory
  } catch {
    // Only Linux has it.
  }
  return tmpdir()
}

// Cleans up after a killed run: stops its Postgres and removes its files.
async function removeLeftovers(parent: string, log: Logger): Promise<void> {
  for (const name of await readdir(parent)) {
    const runner = Number(new RegExp(`^${directoryPrefix}(\\d+)-`).exec(name)?.[1])
    if (!(runner > 0) || isAlive(runner)) continue
    const directory = join(parent, name)
    try {
      await stopOrphan(join(directory, 'postgres'), join(directory, 'postgres', 'cluster'), log)
      await rm(directory, { recursive: true, force: true })
    } catch {
      // It belongs to another user, or another run is removing it.
    }
  }
}
