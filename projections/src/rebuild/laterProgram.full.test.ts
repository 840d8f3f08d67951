// A later version of the projector beside the present one.

import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { liveCheckpoint } from '../apply/checkpoints.ts'
import { payments } from '../payments/projection.ts'
import { laterVersionOf } from '../testing/laterProjection.ts'
import { projectorHarness } from '../testing/projectorHarness.ts'
import { startReaders } from '../testing/readers.ts'
import { rebuildOne, tableStates, verifyOne, waitForAgreement, wrongCheckpoints } from '../testing/readModelChecks.ts'
import { record, startTraffic } from '../testing/traffic.ts'

const laterPayments = laterVersionOf(payments)

t.test('a later projector version rebuilds changed projections once and takes over', async (t) => {
  const harness = await projectorHarness(t)
  const { pool, store, databaseUrl } = harness
  const present = await harness.startProjector()
  await record(store, 40)
  await waitForAgreement(harness, [payments])
  const readers = startReaders(t, databaseUrl, 1)
  const traffic = startTraffic(t, store)
  const later = await Promise.all([harness.startLater(), harness.startLater()])
  const isLater = async () => (await liveCheckpoint(pool, 'payments'))?.schema_version === laterPayments.schemaVersion
  await waitFor(isLater, { what: 'the later table' })
  const waitingMessage = 'the live table belongs to a newer program, waiting'
  await waitFor(() => present.output().includes(waitingMessage), { what: 'the present projector to stand by' })
  await waitFor(() => later.some((one) => one.output().includes('projection runs')), {
    what: 'a later projector to run',
  })
  await present.kill('SIGKILL')
  const again = await harness.startProjector()
  await waitFor(() => again.output().includes(waitingMessage), { what: 'the present projector to stand by again' })
  await traffic.stop()
  t.same((await readers.stop()).wrong.slice(0, 10), [], 'clients of the present version keep reading')

  await waitForAgreement(harness)
  t.same(await tableStates(pool, payments), ['retired', 'live'], 'the table was rebuilt once')
  t.same(await wrongCheckpoints(pool), [], 'only one of the two tables has a checkpoint')
  t.match(await verifyOne(harness, laterPayments), { differing: 0 })
  const { rows } = await pool.query('select distinct made_by from read_models.payments')
  t.same(rows, [{ made_by: 'somebody' }])
  await t.rejects(rebuildOne(harness, payments), { name: 'SchemaVersionError' }, 'an older version cannot rebuild')
  await t.rejects(verifyOne(harness, payments), { name: 'SchemaVersionError' })
  t.same(await tableStates(pool, payments), ['retired', 'live'])

  const waiting = await harness.startProjector()
  const logs = (what: string) => waiting.output().match(new RegExp(`"projection":"products".*${what}`)) !== null
  await waitFor(() => logs('another process holds the lock'), { what: 'another projector to wait for the lock' })
  await pool.query("update read_models.tables set schema_version = schema_version + 1 where projection = 'products'")
  await again.kill('SIGKILL')
  await waitFor(() => logs('projection runs') || logs(waitingMessage), { what: 'the lock to be taken' })
  t.notOk(logs('projection runs'), 'after waiting, the projector reads the live version again')
})
