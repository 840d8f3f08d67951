// Rebuilds that are killed at any moment and repeated.

import { setTimeout as pause } from 'node:timers/promises'
import type { TestProcess } from '@paylog/testing/processes'
import { testCycles } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import type { Pool } from 'pg'
import t from 'tap'
import { payments } from '../payments/projection.ts'
import { projectorHarness } from '../testing/projectorHarness.ts'
import { startReaders } from '../testing/readers.ts'
import { rebuildOne, tableStates, verifyOne, waitForAgreement, wrongCheckpoints } from '../testing/readModelChecks.ts'
import { createSeededRandom } from '../testing/seededRandom.ts'
import { record, startTraffic } from '../testing/traffic.ts'

const phases = ['filling', 'comparing', 'indexing', 'catching up', 'switching'] as const
const ways = ['process', 'sessions', 'lock', 'everything'] as const
const kills = testCycles(ways.length)
type Way = (typeof ways)[number]

/** Ends database sessions, like an administrator, a crash or a restart. */
async function endSessions(pool: Pool, way: Exclude<Way, 'process'>): Promise<void> {
  const which = {
    sessions: "application_name = 'replay'",
    lock: "application_name = 'locks and channels'",
    // Not the readers: their own errors have to be recognizable.
    everything: "application_name <> 'reader'",
  }
  await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and ${which[way]}`)
}

async function killReplay(pool: Pool, replay: TestProcess, way: Way): Promise<void> {
  if (way === 'process') return await replay.kill('SIGKILL')
  await endSessions(pool, way)
  await replay.exited
}

t.test('a rebuild killed at any moment does not affect clients and can be repeated', async (t) => {
  const harness = await projectorHarness(t)
  const { pool, store, databaseUrl } = harness
  const { below, oneOf } = createSeededRandom(t)
  await harness.startProjector()
  await record(store, 100)
  await waitForAgreement(harness, [payments])
  const readers = startReaders(t, databaseUrl, 1)
  const traffic = startTraffic(t, store)
  const firstWay = below(ways.length)
  let switched = 0
  for (let round = 0; round < kills; round += 1) {
    const replay = await harness.startReplay('rebuild', 'payments')
    // Most kills hit the switch, the riskiest phase.
    const phase = round % 2 === 0 ? 'switching' : oneOf(phases)
    await waitFor(() => replay.output().includes(`phase ${phase}`) || replay.output().includes('done'), {
      what: phase,
    })
    await pause(below(phase === 'switching' ? 120 : 60))
    // All ways in turn, with a varying one at the switch.
    const way = ways[(firstWay + round) % ways.length] ?? 'process'
    await killReplay(pool, replay, way)
    const states = await tableStates(pool, payments)
    t.equal(states.filter((state) => state === 'live').length, 1, `${way} at ${phase}`)
    t.notOk(
      states.some((state) => state.startsWith('stray')),
      'no table is left over',
    )
    switched = states.filter((state) => state === 'retired').length
  }
  t.comment(`${switched} of ${kills} had already switched`)
  const last = await rebuildOne(harness, payments)
  t.match(last.comparison, { differing: 0 })
  t.same(
    await tableStates(pool, payments),
    [...Array(switched + 1).fill('retired'), 'live'],
    'no unfinished table is left',
  )
  await traffic.stop()
  t.same((await readers.stop()).wrong.slice(0, 10), [], 'readers saw no wrong data')
  await waitForAgreement(harness, [payments])
  t.match(await verifyOne(harness, payments), { differing: 0, differences: [] })
  t.same(await wrongCheckpoints(pool), [])
})
