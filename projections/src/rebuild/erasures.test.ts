// Erasures while projections run and are rebuilt: no table keeps what they erase.

import { userOwner } from '@paylog/domain/actor'
import { anyPaymentList } from '@paylog/queries/admin-payments/queries'
import { readCounted, readPage } from '@paylog/queries/lists/lists'
import { paymentList } from '@paylog/queries/payments/queries'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { liveCheckpoint } from '../apply/checkpoints.ts'
import { payments } from '../payments/projection.ts'
import { runProjection } from '../runProjection.ts'
import { makeTable } from '../tables/tables.ts'
import { projectorHarness } from '../testing/projectorHarness.ts'
import { tableStates, verifyOne, waitForAgreement } from '../testing/readModelChecks.ts'
import { record } from '../testing/traffic.ts'
import { rebuild } from './rebuild.ts'

const canary = 'u1@example.com'

t.test('a person who is erased during a rebuild is in no table, list or search afterwards', async (t) => {
  const harness = await projectorHarness(t)
  const { databaseUrl, pool, store } = harness
  const log = createLog({ app: 'test', level: 'silent' })
  const stopping = new AbortController()
  const common = { databaseUrl, pool, store, projection: payments, log, signal: stopping.signal }
  const running = runProjection({ ...common, awaited: new EventTarget() })
  t.teardown(async () => {
    stopping.abort()
    await running
  })
  await record(store, 24)
  await waitForAgreement(harness, [payments])
  const search = async () => (await readCounted(pool, anyPaymentList, { limit: 100, search: canary })).total
  t.equal(await search(), 18)

  let forgetting: ReturnType<typeof harness.forget> | undefined
  await rebuild({
    ...common,
    onProgress({ step }) {
      if (step === 'indexing') forgetting ??= harness.forget('u1')
    },
  })
  const position = (await forgetting)?.commit ?? 0n
  const isApplied = async () => ((await liveCheckpoint(pool, 'payments'))?.position?.commit ?? 0n) >= position
  await waitFor(isApplied, { what: 'the erasure in the live table' })
  await record(store, 3)
  await waitForAgreement(harness, [payments])
  t.match(await verifyOne(harness, payments), { differing: 0, live: { version: 2, rows: 21 } })
  t.equal(await search(), 3, 'only the payments since then')
  const { items, total } = await readPage(pool, paymentList, {
    ...{ owner: userOwner('u1'), offset: 0, limit: 100, search: canary },
  })
  t.same([items.length, total], [3, 3])

  await makeTable(pool, payments, 'building')
  const last = await harness.forget('u1')
  await waitFor(
    async () => ((await liveCheckpoint(pool, 'payments'))?.position?.commit ?? 0n) >= (last?.commit ?? 0n),
    {
      what: 'the second erasure in the live table',
    },
  )
  t.same(await tableStates(pool, payments), ['live'], 'tables that nobody keeps up to date are dropped')
  const { rows } = await pool.query('select from read_models.payments_v2 as t where t::text like $1', [`%${canary}%`])
  t.equal(rows.length, 0)
})
