// After a power failure, every acknowledged event is on the disk itself, not just in the memory of the system. Killing
// processes cannot test that, because the system keeps their writes. Only root can mount the disk of this test.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDisk, type Disk } from '@paylog/testing/diskImage'
import { freePort, startProcess } from '@paylog/testing/processes'
import t, { type Test } from 'tap'
import { connect } from '../serverHarness.ts'
import type { Attempt } from './journal.ts'
import { readInto, startLoadedServer } from './loadedServer.ts'
import { createLogCheck } from './logCheck.ts'
import { startPrivatePostgres } from './privatePostgres.ts'
import { seed } from './seededRandom.ts'

const failures = 3
const script = new URL('../../main.ts', import.meta.url)
const isRequested = process.env.PAYLOG_TEST_DISK_SNAPSHOT === '1'
const reason = 'power failures: set PAYLOG_TEST_DISK_SNAPSHOT=1 as root on Linux'
if (!isRequested) t.comment(`NOT TESTED: ${reason}`)

/** Starts the database and the server from the copy, and checks their log against the acknowledged attempts. */
async function faultsOnCopy(t: Test, disk: Disk, acknowledged: readonly Attempt[]): Promise<string[]> {
  const directory = join(disk.directory, 'postgres')
  // After a real power failure no process would have that id. Here the original still runs.
  await rm(join(directory, 'cluster', 'postmaster.pid'))
  const postgres = await startPrivatePostgres(t, directory)
  const port = await freePort()
  const env = { DATABASE_URL: postgres.databaseUrl, PORT: String(port), LOG_LEVEL: 'fatal' }
  const node = await startProcess(t, { script, env })
  const check = createLogCheck()
  await readInto(check, connect(t, port))
  await node.stop()
  await postgres.stop()
  return check.faults(acknowledged)
}

t.test(
  `all acknowledged events are on disk after each of ${failures} power failures under load`,
  { skip: isRequested ? false : reason },
  async (t) => {
    const disk = await createDisk()
    t.teardown(() => disk[Symbol.asyncDispose]())
    const postgres = await startPrivatePostgres(t, join(disk.directory, 'postgres'))
    const { databaseUrl } = postgres
    const writerCounts = { owners: 12, sharers: 3, racers: 3 }
    const { journal, random, finish } = await startLoadedServer(t, {
      seed,
      writerCounts,
      databaseUrl,
      nodeDatabaseUrl: databaseUrl,
    })
    await disk.sync()
    const acknowledged: Attempt[] = []
    for (let failure = 1; failure <= failures; failure += 1) {
      // Checks the method: a copy has synced data and loses unsynced data.
      await writeFile(join(disk.directory, `synced-${failure}`), 'x', { flush: true })
      await writeFile(join(disk.directory, `unsynced-${failure}`), 'x')
      const loaded = Promise.withResolvers<void>()
      journal.afterAcknowledged(random.between(100, 600), loaded.resolve)
      await loaded.promise
      await postgres.freeze()
      acknowledged.push(...journal.takeSettled())
      const copy = await disk.copy()
      t.teardown(() => copy[Symbol.asyncDispose]())
      await postgres.thaw()
      t.equal(await readFile(join(copy.directory, `synced-${failure}`), 'utf8'), 'x')
      t.equal(await readFile(join(copy.directory, `unsynced-${failure}`), 'utf8').catch(() => ''), '')
      const faults = await faultsOnCopy(t, copy, acknowledged)
      t.same(faults, [], `none of ${acknowledged.length} acknowledged attempts is lost (seed ${seed})`)
    }
    await finish()
  },
)
